"""``bai-gym reproduce``: what is played, judged, drawn and saved, with made-up experiments of few runs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bai_gym.envs.registration import IDS
from bai_gym.errors import OutputError, ParameterError
from bai_gym.papers import Claim, Experiment, Panel, Setting
from bai_gym.papers import commands as reproduce
from bai_gym.papers.model import Lower
from bai_gym.theory import optimal_value

BERNOULLI = {"means": [0.9, 0.3, 0.1], "distribution": "bernoulli"}
CLAIMS = (
    Claim("B errs more.", (Lower("Uniform", "BayesOptimal"),)),
    Claim("It is close.", (Lower("BayesOptimal", "A-GapE"),)),
)
SETTINGS = tuple(Setting("BAI-Bernoulli3-v0", budget, budget) for budget in (6, 12))
MADE = Experiment(
    "made-1",
    "Three agents",
    "nowhere",
    (Panel("", "as it is", SETTINGS), Panel("other", "SR in its place", SETTINGS, variants={"Uniform": "SR"})),
    ("BayesOptimal", "A-GapE", "Uniform"),
    CLAIMS,
    notes=("a note",),
    reference="BayesOptimal",
    optimum=True,
    claims_are="Hypotheses of somebody",
)
Reproduce = Callable[..., tuple[str, str]]


@pytest.fixture
def reproduced(command: Reproduce, monkeypatch: pytest.MonkeyPatch) -> Reproduce:
    """Reproduce a made-up experiment in this process, in an empty folder, and return what was printed."""

    def run(experiment: Experiment, *words: str) -> tuple[str, str]:
        monkeypatch.setattr(reproduce, "find", {experiment.id: experiment}.__getitem__)
        return command("reproduce", experiment.id, "--workers", "1", *words)

    return run


def verdicts(text: str) -> list[str]:
    """The verdict on each claim, in the order of the text."""
    lines = [line.strip().partition(" ") for line in text.splitlines()]
    return [word for word, _, rest in lines if rest.strip() in {claim.text for claim in CLAIMS}]


def test_a_figure_is_played_judged_and_saved(reproduced: Reproduce) -> None:
    pytest.importorskip("matplotlib")
    out, err = reproduced(MADE, "--runs", "2000")
    assert err == "" and "made-1: Three agents (nowhere)" in out and "a note" in out
    assert "excess error [95 %]" in out and "\nHypotheses of somebody, at joint level 95 % each:" in out
    given = verdicts(out)
    assert len(given) == 4 and given[0] == "refuted" and "undecided" in given
    # Every verdict but a confirmation comes with the points that it is due to.
    assert out.count("against it: ") + out.count("undecided: ") >= 4 - given.count("confirmed")
    folder = Path("results/made-1")
    ends = (".parquet", ".csv", ".md", ".png", "-claims.txt", "-paired.csv", "-paired.md")
    names = {f"{panel}{end}" for panel in ("made-1", "made-1-other") for end in ends}
    assert {path.name for path in folder.iterdir()} == {"chunks", *names}
    assert [name for name in names if f": {folder / name}\n" not in out] == []
    # The file says the same as the terminal, and what it was computed from.
    said = [(folder / f"{panel}-claims.txt").read_text() for panel in ("made-1", "made-1-other")]
    assert [word for text in said for word in verdicts(text)] == given
    assert all("2000 runs, seed 0" in text for text in said)
    # The results of the agents without a variant are those of the first panel.
    one, other = (
        {(row["agent"], row["budget"]): row["errors"] for row in pq.read_table(folder / f"{panel}.parquet").to_pylist()}
        for panel in ("made-1", "made-1-other")
    )
    assert {agent for agent, _ in set(other) - set(one)} == {"SR"}
    assert [key for key in set(one) & set(other) if one[key] != other[key]] == []
    with (folder / "made-1.csv").open(encoding="utf-8") as file:
        optima = {(int(row["budget"]), float(row["optimum"])) for row in csv.DictReader(file)}
    assert optima == {(budget, optimal_value(3, budget)) for budget in (6, 12)}
    with (folder / "made-1-paired.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            budget = int(row["budget"])
            difference = (one["BayesOptimal", budget] - one[row["agent"], budget]) / 2000
            assert row["reference"] == "BayesOptimal" and float(row["difference"]) == pytest.approx(difference)


@pytest.mark.slow
def test_more_runs_settle_what_is_undecided(reproduced: Reproduce, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # figures would take most of the time
    few = replace(MADE, panels=MADE.panels[:1])
    cells, seeds = reproduce._cells, set()
    monkeypatch.setattr(reproduce, "_cells", lambda *given: (seeds.add(given[-1]), cells(*given))[1])
    before, after = (verdicts(reproduced(few, "--runs", "20", *more)[0]) for more in ((), ("--settle", "200")))
    changed = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert changed and all(one == "undecided" for one, _ in changed)
    assert "with 4,000 runs: " in reproduced(few, "--runs", "20", "--settle", "200")[0]  # all of it is there already
    assert Path("results/made-1/settled/chunks").is_dir() and seeds == {0}
    assert "--seed 0 --settle 200" in str(pq.read_schema("results/made-1/made-1.parquet").metadata)


def test_other_pictures_are_drawn(reproduced: Reproduce) -> None:
    """Stopping times, simple regrets, pulls of a fixed instance, and curves over the pulls of a run."""
    pytest.importorskip("matplotlib")
    fixed, stops = ((Setting(env, 500, 500, BERNOULLI),) for env in ("BAI-Custom-v0", "BAI-FC-Custom-v0"))
    within = (Setting("BAI-CustomThresholding-v0", 60, 60),)
    variants = {"LUCB": "LUCB(delta=0.01)"}
    made = {
        "stopping": (Panel("", "p", stops, picture="stopping", variants=variants), ("UGapEc", "LUCB")),
        "regrets": (Panel("", "p", fixed, picture="regrets"), ("SH", "SR")),
        "arms": (Panel("", "p", fixed, picture="arms"), ("SH", "SR")),
        "within": (Panel("", "p", within, "checkpoint", 30), ("APT", "CSAR")),
    }
    for name, (panel, agents) in made.items():
        out, err = reproduced(Experiment(name, "title", "nowhere", (panel,), agents), "--runs", "20")
        assert err == "" and Path(f"results/{name}/{name}.png").read_bytes().startswith(b"\x89PNG")
        rows = pq.read_table(f"results/{name}/{name}.parquet").to_pylist()
        assert [row["checkpoint"] for row in rows[:2]] == ([30, 60] if name == "within" else [None, None])
        if name == "stopping":
            assert "Lower bound: kl(delta" in out
            assert [(row["agent"], row["delta"]) for row in rows] == [("UGapEc", 0.1), ("LUCB(delta=0.01)", 0.01)]
            assert len({row["lower_bound"] for row in rows}) == 2


def test_instances_are_drawn(reproduced: Reproduce, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    panel = Panel("", "p", (Setting("BAI-Gaussian8-v0", 60, 60),))
    out, err = reproduced(Experiment("made-2", "title", "nowhere", (panel,), instances=3))
    assert err == "" and "best arm of the first run" in out
    assert Path("results/made-2/made-2.png").read_bytes().startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    _, err = reproduced(Experiment("made-2", "title", "nowhere", (panel,), instances=3))
    assert err == 'no figure: drawing figures needs matplotlib; pip install "bai-gym[plots]"\n'


def test_a_posterior_is_drawn(reproduced: Reproduce) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("bai_gym.correlated", reason="functions of a Gaussian process are a wing")
    panel = Panel("", "p", (Setting("BAI-GP10-v0", 10, 10),))
    reproduced(Experiment("made-3", "title", "nowhere", (panel,), instances=1))
    assert Path("results/made-3/made-3.png").read_bytes().startswith(b"\x89PNG")


def test_what_data_are_played_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing data are replaced by a look-alike or by those of the library, or the panel is left out."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path))
    traffic: dict[str, Any] = {"data": "los-loop"}
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("BAI-Custom-v0", {}, "BAI-Custom-v0", ""),
        (
            "BAI-MovieLens64-v0",
            {},
            "BAI-MovieLensLike64-v0",
            "Data: the synthetic look-alike BAI-MovieLensLike64-v0, NOT",
        ),
        ("BAI-AutoML160-v0", {"data": "wine-quality"}, "BAI-AutoML160-v0", "Data: the real data 'diabetes' that come"),
        ("BAI-Traffic357-v0", traffic, "", "Left out: p. data set 'los-loop' is not in"),
        ("BAI-Traffic357-v0", traffic, "BAI-Traffic357-v0", "Data: the real data 'los-loop' of BAI-Traffic357-v0."),
    ]
    known = {entry.id for entry in IDS}
    for number, (env, keywords, played, said) in enumerate(cases):
        if env not in known:
            continue
        if number == len(cases) - 1:
            (tmp_path / "los-loop").mkdir()
            readings = [[60.0 + moment % 7 + sensor for sensor in range(5)] for moment in range(2016)]
            lines = ["1,2,3,4,5", *(",".join(map(str, row)) for row in readings)]
            (tmp_path / "los-loop" / "los_speed.csv").write_text("\n".join(lines))
        panel, sentence = reproduce._with_available_data(Panel("", "p", (Setting(env, 9, 9, keywords),)))
        assert sentence.startswith(said) and bool(sentence) == bool(said)
        assert [setting.env for setting in (panel.settings if panel else ())] == ([played] if played else [])


def test_mistakes_are_found_before_the_work(reproduced: Reproduce, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="runs must be"):
        reproduced(MADE, "--runs", "0")
    assert list(tmp_path.iterdir()) == []
    for name in ("made-1-other.png", "made-1-other-claims.txt", "made-1-paired.md"):
        taken = tmp_path / name / "made-1" / name
        taken.mkdir(parents=True)
        with pytest.raises(OutputError, match=f"{name}: it is a folder"):
            reproduced(MADE, "--runs", "3", "--out", name)
        assert [path.name for path in taken.parent.iterdir()] == [name]
