"""The table of a paper, on results made by hand, and comparisons over several environments."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bai_gym import Comparison, compare, evaluate
from bai_gym.analysis.pulls import compare_pulls
from bai_gym.errors import MissingPackageError, ParameterError, UnknownNameError
from bai_gym.report import error_curves
from bai_gym.results.paper import paper_table
from bai_gym.results.reader import read_results
from bai_gym.results.result import Runs, summarize


def comparison(*cells: tuple[str, str, int, str, list[int] | None], knows: tuple[str, ...] = ()) -> Comparison:
    """Return results of agents with some errors (a 1 for each wrong run) and pulls."""
    results, outcomes = [], {}
    for agent, env, budget, errors, spent in cells:
        wrong = np.array([word == "1" for word in errors])
        runs = wrong.size
        episodes = Runs(
            recommendation=wrong.astype(int),
            correct_recommendation=np.zeros(runs, int),
            correct=~wrong,
            simple_regret=wrong * 0.1,
            spent=np.full(runs, budget) if spent is None else np.array(spent),
            truncated=np.zeros(runs, bool),
            pulls=np.array([runs, runs]),
        )
        results.append(summarize(agent, env, budget, episodes, knows if agent == "B" else (), ()))
        outcomes[agent, env, budget] = episodes
    return Comparison(tuple(results), outcomes)


NONE, FEW, MANY = 30 * "0", 3 * "1" + 27 * "0", 15 * "1" + 15 * "0"


def bold_of(text: str) -> list[list[bool]]:
    """Which cells of a LaTeX table are bold, row by row."""
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    return [["\\textbf" in cell for cell in line.split(" & ")[1:]] for line in body.splitlines()]


def test_the_best_is_bold_and_what_cannot_be_told_from_it() -> None:
    """Against no error, 3 discordant runs of 30 have p = 1/4 (exact), and 15 have p = 2^-14."""
    found = comparison(
        ("A", "E", 50, MANY, None), ("B", "E", 50, NONE, None), ("C", "E", 50, FEW, None), knows=("means",)
    )
    text = found.to_latex()
    assert bold_of(text) == [[False], [True], [True]]
    assert "agent & n = 50 \\\\" in text
    assert "A & 0.50 [0.33, 0.67]" in text  # Wilson
    assert (
        "B\\textsuperscript{1} & \\textbf{" in text and "\\textsuperscript{1} is given oracle knowledge: means" in text
    )
    assert "on E, 30 runs" in text
    # 5 discordant runs have p = 1/16, at which a level of 90 % rejects: Holm multiplies the smallest of 2 by 2.
    five = 5 * "1" + 25 * "0"
    found = comparison(("A", "E", 50, five, None), ("B", "E", 50, NONE, None))
    assert bold_of(found.to_latex(level=0.9)) == [[False], [True]]
    assert bold_of(found.to_latex(level=0.95)) == [[True], [True]]
    found = comparison(("A", "E", 50, five, None), ("B", "E", 50, NONE, None), ("C", "E", 50, five, None))
    assert bold_of(found.to_latex(level=0.9)) == [[True], [True], [True]]


def test_columns_are_what_differs() -> None:
    for settings, headings in (
        ([("E", 50), ("E", 1000)], ["n = 50", "n = 1,000"]),
        ([("E", 50), ("F", 50)], ["E", "F"]),
        ([("E", 50), ("F", 50), ("F", 60)], ["E, n = 50", "F, n = 50", "F, n = 60"]),
    ):
        found = comparison(*(("A", env, budget, FEW, None) for env, budget in settings))
        table = paper_table(found.results, found.outcomes)
        assert [column.heading for column in table.columns] == ["agent", *headings]


def test_pulls_of_agents_that_stop() -> None:
    pulls = {"A": list(range(100, 130)), "B": list(range(60, 90)), "C": [61, 59] * 15}
    pulls["C"] = [value + (-1) ** number * 3 for number, value in enumerate(pulls["B"])]
    found = comparison(*((agent, "E", 500, NONE, pulls[agent]) for agent in "ABC"))
    assert bold_of(found.to_latex("pulls")) == [[False], [True], [True]]
    assert "A & 114.5 $\\pm$ 1.6" in found.to_latex("pulls")  # sqrt(77.5 / 30)
    assert found.paired_pulls("A", "B") == compare_pulls(pulls["A"], pulls["B"])
    assert " 114 / 114 / 128 / 129 / 129 " in str(found[0])


def test_what_is_refused() -> None:
    found = comparison(("A", "E", 50, FEW, None))
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        (("regret",), {}, "measure must be"),
        (("pulls", 1.0), {}, "level"),
        ((), {"digits": -1}, "digits"),
        ((), {"intervals": "no"}, "intervals"),
    ]
    for arguments, options, words in cases:
        with pytest.raises(ParameterError, match=words):
            found.to_latex(*arguments, **options)
    for envs, words in ((["BAI-Bernoulli3-v0"] * 2, "SH is given twice"), ([], "environment")):
        with pytest.raises(ParameterError, match=words):
            compare(["SH"], envs, runs=2)
    with pytest.raises(ParameterError, match="env must be one"):
        evaluate("SH", ["BAI-Bernoulli3-v0"], runs=2)  # type: ignore[call-overload]


def test_environments_group_columns_and_have_names() -> None:
    found = comparison(*(("A", env, budget, FEW, None) for env, budget in (("E_1", 50), ("E_1", 60), ("F", 50))))
    text = found.to_latex(grouped=True, intervals=False, digits=3, names={"F": "Fast", "A": "Agent & A"})
    head, _, body = text.partition("\\toprule\n")[2].partition("\\midrule\n")
    assert head.splitlines() == [
        r" & \multicolumn{2}{c}{E\_1} & \multicolumn{1}{c}{Fast} \\",
        r"\cmidrule(lr){2-3}\cmidrule(lr){4-4}",
        r"agent & n = 50 & n = 60 & n = 50 \\",
    ]
    assert body.startswith("Agent \\& A & \\textbf{0.100} & \\textbf{0.100} & \\textbf{0.100} \\\\\n")
    assert "[" not in body.partition("\\bottomrule")[0] and "Wilson" not in body
    assert "| agent | E_1, n = 50 | E_1, n = 60 | Fast, n = 50 |" in found.to_markdown(names={"F": "Fast"})


def test_a_notebook_shows_the_table() -> None:
    found = comparison(("<A>", "E", 50, FEW, None), ("<A>", "F", 50, FEW, None), ("B", "F", 50, NONE, None))
    assert "<td>&lt;A&gt;</td>" in found._repr_html_()
    assert found._repr_html_() == paper_table(found.final, found.outcomes).html()
    assert "| B | - | **0.00" in found.to_markdown()
    assert Comparison(found.results, {})._repr_html_().startswith("<pre>agent  env  budget")


def test_all_pairs_are_tested() -> None:
    """Against no error, 3 discordant runs of 30 have p = 1/4, and 15 have p = 2^-14; 12 of MANY are not of FEW."""
    cells = [
        (agent, env, 50, errors, None) for env in "EF" for agent, errors in zip("ABC", (MANY, NONE, FEW), strict=True)
    ]
    found = comparison(*cells)
    table = found.pairs()
    assert [(row.agent_a, row.agent_b, row.env) for row in table.rows] == [
        (*pair, env) for env in "EF" for pair in ("AB", "AC", "BC")
    ]
    first = table.rows[:3]
    assert [row.test for row in first] == [found.paired(*pair, env="E") for pair in ("AB", "AC", "BC")]
    assert [row.test.p_value for row in first] == pytest.approx([2**-14, 2**-11, 1 / 4])
    assert [row.adjusted for row in first] == pytest.approx([3 * 2**-14, 2.5 * 2**-11, 2 * 1 / 4])  # with directions
    assert f"{3 * 2**-14:.2g}" in str(table) and "<table>" in table._repr_html_() and "tabular" in table.latex()
    assert table.csv().splitlines()[0].endswith("p_value,p_value_holm")
    with pytest.raises(ParameterError, match="level"):
        found.pairs(1.5)


def test_a_comparison_draws_itself(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = comparison(*(("A", env, budget, FEW, None) for env in "EF" for budget in (50, 60)))
    path = found.plot(tmp_path / "figure.png", env="E")
    rows = [row for row in found if row.env == "E"]
    same = error_curves(rows, tmp_path / "same.png", chance=None, log=True)
    assert path.read_bytes() == same.read_bytes()
    picture = found.plot(env="F", title="Of a notebook")._repr_svg_()
    assert picture.startswith("<?xml") and "Of a notebook" in picture
    with pytest.raises(ParameterError):
        found.plot()
    with pytest.raises(UnknownNameError, match="'G'"):
        found.plot(env="G")


def test_as_a_data_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(["SH", "Uniform"], "BAI-Bernoulli3-v0", budgets=[9, 12], runs=20, out=tmp_path)
    pd.testing.assert_frame_equal(found.to_pandas(), pq.read_table(tmp_path / "results.parquet").to_pandas())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPackageError, match="pandas"):
        found.to_pandas()


# ------------------------------------------------------------------------------------------------ environments


def test_several_environments_are_several_comparisons(tmp_path: Path) -> None:
    envs = ["BAI-Bernoulli3-v0", gym.make("BAI-Custom-v0", budget=30), "BAI-Bernoulli4-v0"]
    found = compare((name for name in ("SH", "Uniform")), envs, runs=20, seed=3, out=tmp_path)
    alone = [compare(["SH", "Uniform"], env, runs=20, seed=3) for env in envs]
    assert [(row.agent, row.env, row.budget, row.errors) for row in found] == [
        (row.agent, row.env, row.budget, row.errors) for part in alone for row in part
    ]
    assert found.paired("SH", "Uniform", env="BAI-Bernoulli4-v0") == alone[2].paired("SH", "Uniform")
    (table,) = read_results(tmp_path)
    assert len(table.results) == 6
    commands = table.command.splitlines()  # none for the object
    assert [command.split()[2] for command in commands] == ["BAI-Bernoulli3-v0", "BAI-Bernoulli4-v0"]
