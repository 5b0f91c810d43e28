"""Results worked out by hand, on instances without any noise."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym import Comparison, Result, compare, evaluate
from bai_gym.analysis.intervals import wilson
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.report.tables import arms_tables, results_table
from bai_gym.results.reader import read_results
from bai_gym.results.result import Runs, summarize

ARMS = {"means": [1.0, 0.25, 0.5], "variances": 0.0, "shuffle": False}


class Alternating:
    """Pulls arm 0 three times, arm 2 once, and stops; recommends arm 0 in even runs and arm 1 in odd ones."""

    notes = ("made for a test",)
    knows = ("range",)

    def reset(self, info: Any) -> None:
        self.batch = info.batch

    def allocate(self, observation: Any) -> Any:
        return np.tile([3, 0, 1], (self.batch, 1)) if observation["pulls"].sum() == 0 else None

    def recommend(self, observation: Any) -> Any:
        # Without noise the means are exact after the first pull.
        assert (observation["means"] == [1.0, 0.0, 0.5]).all()
        return np.arange(self.batch) % 2


class Best(Alternating):
    """As above, but right."""

    name = "best"
    notes = ()
    knows = ()

    def recommend(self, observation: Any) -> Any:
        return np.zeros(self.batch, int)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare([Alternating, Best], "BAI-Custom-v0", budgets=[6, 10], runs=10, env_kwargs=ARMS)


def test_by_hand(comparison: Comparison) -> None:
    result = comparison[0]
    assert (result.agent, result.budget, result.runs) == ("Alternating", 6, 10)
    assert result.env == "BAI-Custom-v0(means=[1.0, 0.25, 0.5], variances=0.0, shuffle=false)"
    assert (result.errors, result.error_probability, result.interval) == (5, 0.5, wilson(5, 10))
    assert result.simple_regret == 0.375  # 1 - 0.25 in half of the runs
    assert result.simple_regret_se == pytest.approx(math.sqrt(0.375**2 * 10 / 9 / 10), rel=1e-12)
    assert result.mean_pulls.tolist() == [3.0, 0.0, 1.0] and result.unspent == 2.0
    (own, listed) = result.notes
    assert (result.knows, own) == (("range",), "made for a test") and "shuffle=False" in listed
    assert result.seconds > 0
    assert [(row.agent, row.budget, row.errors, row.unspent) for row in comparison][1:] == [
        ("best", 6, 0, 2.0),
        ("Alternating", 10, 5, 6.0),
        ("best", 10, 0, 6.0),
    ]
    assert comparison[1].simple_regret_se == 0.0
    single = evaluate(Best, "BAI-Custom-v0", budget=4, runs=1, env_kwargs={**ARMS, "means": [1.0, 0.0, 0.5]})
    assert math.isnan(single.simple_regret_se) and single.interval == wilson(0, 1)


def test_arms_of_a_log_have_names(tmp_path: Path) -> None:
    """The first arm, a, is the worst, and Named recommends it in 4 of 10 runs, else b."""
    (tmp_path / "log.csv").write_text("page,bought\na,no\nb,yes\nc,yes\nc,yes\n")
    log = {"path": str(tmp_path / "log.csv"), "arm_column": "page", "reward_column": "bought", "shuffle": False}
    played = compare([Named], "BAI-Table-v0", budgets=[6], runs=10, env_kwargs=log, out=tmp_path / "results")
    (table,) = read_results(tmp_path / "results")
    for row in (played[0], table.results[0]):
        assert row.arm_names == ("a", "b", "c") and row.arm_means == (0.0, 1.0, 1.0)
        assert (row.best_arms, row.recommended, row.most_recommended) == (("b", "c"), (4, 6, 0), ("b", 0.6))
        assert "b (60 %)" in str(row)
    text = results_table(table.results).markdown()
    assert "| b (60 %) |" in text and f"\nBest of {played[0].env}: 'b' and 'c', with a mean of 1" in text
    (arms,) = arms_tables(table.results)
    # Named pulls arm a three times of four, and c once.
    assert [line.split("|")[1:4] for line in arms.markdown().splitlines()[-3:]] == [
        [" b ", " 1 ", " 60.0 %, 0.0 % "],
        [" c ", " 1 ", " 0.0 %, 25.0 % "],
        [" a ", " 0 ", " 40.0 %, 75.0 % "],
    ]
    assert arms_tables(table.results, most=2) == []
    smaller = replace(table.results[0], budget=3, recommended=(10, 0, 0))
    assert arms_tables([smaller, *table.results])[0].markdown() == arms.markdown()  # of the largest budget
    line = next(csv.DictReader(io.StringIO(results_table(table.results).csv())))
    assert (line["arms"], line["best_arms"]) == ("a;b;c", "b;c")


class Named(Best):
    """Recommends arm 0 in 4 of 10 runs, and arm 1 in the others."""

    name = "Named"

    def recommend(self, observation: Any) -> Any:
        return np.minimum(np.arange(self.batch) % 10 // 4, 1)


def test_sets_of_named_arms_are_counted_by_arm() -> None:
    episodes = Runs(
        recommendation=np.array([[1, 1, 0], [1, 0, 1]]),
        correct_recommendation=np.array([[1, 1, 0]] * 2),
        correct=np.array([True, False]),
        simple_regret=np.zeros(2),
        spent=np.array([6, 6]),
        truncated=np.zeros(2, bool),
        pulls=np.array([4, 4, 4]),
    )
    row = summarize("A", "E", 6, episodes, (), (), arms=[("a", 3.0), ("b", 2.0), ("c", 1.0)])
    assert row.recommended == (2, 1, 1) and row.best_arms == ("a",) and row.most_recommended == ("a", 1.0)


def test_find(comparison: Comparison) -> None:
    assert comparison.find("best", 10) is comparison[3]
    assert comparison.find("best", 6, comparison[0].env) is comparison[1]
    for where, words in (
        (("best",), "2 results of best"),
        (("bset", 6), r"unknown result 'bset'. Did you mean best\?"),
        (("best", 7), "budget 7; there are: BAI-Custom"),
        (("best", None, "BAI-X-v0"), "no result of best on BAI-X"),
    ):
        with pytest.raises((ParameterError, UnknownNameError), match=words):
            comparison.find(*where)


def test_paired(comparison: Comparison) -> None:
    test = comparison.paired("Alternating", "best", 6)
    assert (test.only_a_errs, test.only_b_errs, test.runs) == (5, 0, 10)
    assert test.p_value == 2 * 0.5**5
    assert comparison.paired("Alternating", "best", 6, level=0.5).interval[0] > test.interval[0]
    with pytest.raises(UnknownNameError, match="unknown result 'nobody'"):
        comparison.paired("best", "nobody", 6)


def test_against(comparison: Comparison) -> None:
    env = comparison[0].env
    rivals = comparison.against("best")
    assert [(rival.agent, rival.env, rival.budget) for rival in rivals] == [("Alternating", env, n) for n in (6, 10)]
    assert rivals[0].test == comparison.paired("best", "Alternating", 6, env)
    assert (rivals[0].test.only_a_errs, rivals[0].test.only_b_errs) == (0, 5)  # the reference errs less
    assert comparison.against("best", level=0.5)[0].test.level == 0.5
    with pytest.raises(UnknownNameError, match="'bset'"):
        comparison.against("bset")


def test_joined_episodes_add_up() -> None:
    part = Runs(
        recommendation=np.array([0, 1]),
        correct_recommendation=np.array([0, 0]),
        correct=np.array([True, False]),
        simple_regret=np.array([0.0, 0.5]),
        spent=np.array([4, 6]),
        truncated=np.array([False, True]),
        pulls=np.array([7, 3]),
        seconds=1.5,
    )
    result: Result = summarize("a", "e", 8, Runs.joined([part, part, part]), (), ())
    assert (result.runs, result.errors, result.unspent, result.seconds) == (6, 3, 3.0, 4.5)
    assert result.mean_pulls.tolist() == [3.5, 1.5]
