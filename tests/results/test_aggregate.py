"""Scores over many environments: worked by hand, paired, covered by their intervals, and refused where they mislead."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import bai_gym
from bai_gym import aggregate
from bai_gym.analysis.metrics import AGGREGATES
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.results.result import Runs, summarize

Outcomes = dict[tuple[str, str, int], Runs]


MADE = run_path(str(Path(__file__).with_name("made.py")))
first, episodes, compared = MADE["first"], MADE["episodes"], MADE["compared"]


def random_outcomes(agents: str = "ABC", envs: str = "EFGH", runs: int = 100, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    return {
        (a, e, 10): episodes(rng.random(runs) < 0.1 * (i + 1) + 0.05 * j)
        for i, a in enumerate(agents)
        for j, e in enumerate(envs)
    }


# ------------------------------------------------------------------------------------------------ by hand


def test_scores_by_hand() -> None:
    # Of 20 runs A errs in 2, 4, 6, 8, 10 and B in none: A scores 0.9, 0.8, 0.7, 0.6, 0.5.
    outcomes = {("A", "E", n): episodes(first(n)) for n in (2, 4, 6, 8, 10)}
    outcomes |= {("B", "E", n): episodes(first(0)) for n in (2, 4, 6, 8, 10)}
    scores = aggregate(compared(outcomes))
    assert scores.agents == ("B", "A") and len(scores) == 2 and scores[1] is scores.find("A")
    assert scores.tasks == tuple(("E", n) for n in (2, 4, 6, 8, 10)) and scores.runs == (20,) * 5
    assert scores.scores == pytest.approx(np.array([[1.0] * 5, [0.9, 0.8, 0.7, 0.6, 0.5]]))
    a = scores.find("A")
    assert [getattr(a, name).value for name in AGGREGATES] == pytest.approx([0.7, 0.7, 0.7, 0.3])
    for row in scores:
        for name in AGGREGATES:
            estimate = getattr(row, name)
            assert estimate.lower <= estimate.value <= estimate.upper and estimate.lower < estimate.upper
    assert scores.difference("B", "A").value == pytest.approx(0.3)
    assert scores.difference("A", "B", "optimality_gap").value == pytest.approx(0.3)
    assert "B: interquartile mean 1.0000" in str(scores)
    assert aggregate(compared(outcomes), agents=["A"])[0] == a  # whoever else takes part


def test_scale_from_a_guess_to_the_optimum() -> None:
    # 15 of 20 right: 0.75. With 4 arms a guess is right with 0.25: 2/3 on the way to 1, 5/6 on the way to 0.85.
    outcomes = {("A", "E", 10): episodes(first(5))}
    value = {
        "one arm": aggregate(compared(outcomes), chance="one arm")[0].mean.value,
        "number": aggregate(compared(outcomes), chance=0.5)[0].mean.value,
        "mapping": aggregate(compared(outcomes), chance={("E", 10): 0.75})[0].mean.value,
        "best": aggregate(compared(outcomes), chance="one arm", optima={("E", 10): 0.85})[0].mean.value,
    }
    assert value == pytest.approx({"one arm": 2 / 3, "number": 0.5, "mapping": 2 / 3, "best": 5 / 6})
    words = aggregate(compared(outcomes), chance="one arm", optima={("E", 10): 0.85}).description
    assert words.endswith("a random guess scores 0 and the best possible agent 1")
    two = {**outcomes, ("A", "F", 10): episodes(first(5))}
    assert "1 of 2 tasks" in aggregate(compared(two), optima={("E", 10): 0.85}).description


def test_better_than_the_optimum_by_luck_makes_up_for_nothing() -> None:
    # Right in 0.9 and 0.5 of the runs where 0.8 is the best possible: gaps 0 and 0.3 / 0.8.
    outcomes = {("A", "E", 1): episodes(first(2)), ("A", "E", 2): episodes(first(10))}
    (row,) = aggregate(compared(outcomes), optima={("E", 1): 0.8, ("E", 2): 0.8})
    assert row.optimality_gap.value == pytest.approx(0.375 / 2)
    assert row.mean.value == pytest.approx((0.9 + 0.5) / 2 / 0.8)


def test_probability_of_improvement_by_hand() -> None:
    # Run by run: A right and B wrong, both right, both wrong (A's arm is better), A wrong and B right.
    a = episodes([False, False, True, True], [0.0, 0.0, 0.1, 0.5])
    b = episodes([True, False, True, False], [0.2, 0.0, 0.3, 0.0])
    scores = aggregate(compared({("A", "E", 1): a, ("B", "E", 1): b, ("A", "E", 2): a, ("B", "E", 2): a}))
    # Task 1: 1, 1/2, 1/2, 0 by being right; 1, 1/2, 1, 0 by simple regret. Task 2: 1/2.
    assert scores.improvement("A", "B").value == pytest.approx((0.5 + 0.5) / 2)
    better, worse = (scores.improvement(*pair, by="simple_regret") for pair in (("A", "B"), ("B", "A")))
    assert better.value == pytest.approx((0.625 + 0.5) / 2)
    assert (worse.value, worse.lower, worse.upper) == (1 - better.value, 1 - better.upper, 1 - better.lower)
    assert 0 <= better.lower < better.value < better.upper <= 1


def test_profile_by_hand() -> None:
    outcomes = {("A", "E", n): episodes(first(n)) for n in (2, 4, 6, 8)}  # scores 0.9, 0.8, 0.7, 0.6
    profile = aggregate(compared(outcomes)).profile()
    assert profile.thresholds.tolist() == np.linspace(0, 1, 101).tolist()
    # Above, and not at the threshold: 0.9 is above 0.8 alone.
    assert profile.shares[0, [0, 65, 75, 80, 95, 100]].tolist() == [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    assert profile.of == "tasks" and profile.agents == ("A",) and profile.knows == ((),)
    assert (profile.lower <= profile.shares).all() and (profile.shares <= profile.upper).all()
    # A score of 0.8 in 20 runs may well be below 0.75, or one of 0.7 above.
    assert profile.lower[0, 75] < 0.5 < profile.upper[0, 75]
    low = aggregate(compared({("A", "E", 1): episodes(first(18))}), chance="one arm")  # 0.1 right, -0.2 on the scale
    assert low.profile().thresholds[0] == pytest.approx(-0.2)


def test_run_profile_by_hand() -> None:
    outcomes = {
        ("A", "E", 1): episodes([False, True, True, True], [0.0, 1.0, 2.0, 3.0]),
        ("A", "F", 1): episodes([False, True], [0.0, 40.0]),
    }
    scores = aggregate(compared(outcomes))
    # Scales: mean regret of the runs that have any, 2 and 40. At thresholds of 0, 0.6 and 1.1 of them: 1/4, 1/2 and 3/4
    # of the runs; 1/2, 1/2 and 1.
    profile = scores.run_profile()
    assert profile.thresholds[0] == 0 and 1.4 < profile.thresholds[-1] <= 1.5
    at = np.searchsorted(profile.thresholds, [0.0, 0.6, 1.1])
    assert profile.shares[0, at] == pytest.approx([0.375, 0.5, 0.875])
    assert profile.of == "runs" and (profile.lower < profile.upper).all()
    assert (np.diff(profile.shares) >= 0).all()
    assert (np.diff(profile.lower) >= -1e-12).all() and (np.diff(profile.upper) >= -1e-12).all()


# ------------------------------------------------------------------------------------------------ intervals


def test_who_never_errs_may_err_all_the_same() -> None:
    outcomes = {("A", "E", n): episodes(first(0, 200)) for n in range(8)}
    (row,) = aggregate(compared(outcomes))
    assert row.mean.upper == row.mean.value == 1.0
    # No error in 1,600 runs: Jeffreys' interval of all of them together ends at about 2.5 / 1,600.
    assert 1 - row.mean.lower == pytest.approx(beta(0.5, 1600.5).ppf(0.975), rel=0.25)
    assert row.iqm.lower < 1


def test_a_single_run_has_no_interval() -> None:
    outcomes = {("A", "E", 1): episodes([True]), ("A", "E", 2): episodes(first(3))}
    scores = aggregate(compared(outcomes))
    assert scores[0].mean.value == pytest.approx(0.425) and math.isnan(scores[0].mean.lower)
    assert math.isnan(scores.difference("A", "A").upper)
    assert np.isnan(scores.profile().lower).all() and np.isnan(scores.run_profile().upper).all()


def test_differences_are_paired() -> None:
    # B errs where A does, and in a few runs more: much surer than two intervals apart.
    rng = np.random.default_rng(1)
    outcomes: Outcomes = {}
    for env in "EFGH":
        wrong = rng.random(1000) < 0.4
        outcomes["A", env, 1] = episodes(wrong)
        outcomes["B", env, 1] = episodes(wrong | (rng.random(1000) < 0.02))
    scores = aggregate(compared(outcomes))
    difference = scores.difference("A", "B", "mean")
    mean = scores.find("A").mean
    assert difference.lower > 0
    assert difference.upper - difference.lower < 0.5 * (mean.upper - mean.lower)
    assert scores.improvement("A", "B").lower > 0.5


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    # Eight tasks whose runs share half of their luck. 5-sigma bounds of a share of 300, and 0.01 for quantiles of
    # 400 samples.
    chances = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8])
    rng, level, repeats, covered = np.random.default_rng(13), 0.9, 300, Counter[str]()
    for repeat in range(repeats):
        luck, own = rng.random((200, 1)), rng.random((200, 8))
        wrong = np.where(rng.random((200, 8)) < 0.5, luck, own) < chances
        outcomes = {("A", f"E{t}", 1): episodes(wrong[:, t]) for t in range(8)}
        (row,) = aggregate(compared(outcomes), level=level, samples=400, seed=repeat)
        for name, true in AGGREGATES.items():
            estimate = getattr(row, name)
            covered[name] += estimate.lower <= float(true(1 - chances)) <= estimate.upper
    margin = 5 * math.sqrt(level * (1 - level) / repeats) + 0.01
    assert all(abs(covered[name] / repeats - level) < margin for name in AGGREGATES), covered


# ------------------------------------------------------------------------------------------------ reproducible


def equal(one: Any, other: Any) -> bool:
    return bool(one.rows == other.rows and (one.scores == other.scores).all())


def test_order_of_the_input_does_not_matter_and_a_seed_gives_the_same_again() -> None:
    outcomes = random_outcomes()
    scores = aggregate(compared(outcomes))
    assert equal(aggregate(compared(outcomes)), scores)
    assert equal(aggregate(compared(dict(reversed(outcomes.items())))), scores)
    assert equal(aggregate(compared(outcomes), agents=["C", "A", "B"]), scores)
    assert not equal(aggregate(compared(outcomes), seed=1), scores)
    for method, arguments in (("improvement", ("A", "B")), ("difference", ("A", "B"))):
        assert getattr(scores, method)(*arguments) == getattr(aggregate(compared(outcomes)), method)(*arguments)
    assert (scores.run_profile().lower == aggregate(compared(outcomes)).run_profile().lower).all()


def test_comparisons_and_what_agents_know() -> None:
    comparisons = [
        bai_gym.compare(["Uniform", "SHVar"], env, budgets=[64, 128], runs=50)
        for env in ("BAI-Gaussian8-v0", "BAI-Bernoulli3-v0")
    ]
    scores = bai_gym.aggregate(comparisons, chance="one arm")
    assert scores.find("SHVar").knows == ("variances",) and scores.find("Uniform").knows == ()
    assert "(oracle knowledge: variances)" in str(scores)
    right = 1 - comparisons[0].find("SHVar", budget=64).error_probability
    index = scores.tasks.index(("BAI-Gaussian8-v0", 64))
    assert scores.scores[scores.agents.index("SHVar"), index] == pytest.approx((right - 1 / 8) / (7 / 8))


# ------------------------------------------------------------------------------------------------ who played where


def test_what_not_all_have_played_is_refused_or_left_out() -> None:
    outcomes = random_outcomes("AB", "EF")
    del outcomes["B", "F", 10]
    with pytest.raises(ParameterError, match="B has not played F"):
        aggregate(compared(outcomes))
    scores = aggregate(compared(outcomes), common=True)
    assert scores.tasks == (("E", 10),) and scores.left_out == (("F", 10),)
    assert len(aggregate(compared(outcomes), agents=["A"]).tasks) == 2
    del outcomes["A", "E", 10]
    with pytest.raises(ParameterError, match="and 1 more such pairs"):
        aggregate(compared(outcomes))
    with pytest.raises(ParameterError, match="A, B"):
        aggregate(compared(outcomes), common=True)


def test_other_numbers_of_runs_are_refused_or_cut() -> None:
    outcomes = {("A", "E", 10): episodes(first(5, 30)), ("B", "E", 10): episodes(first(5, 20))}
    with pytest.raises(ParameterError, match="B has 20 runs"):
        aggregate(compared(outcomes))
    scores = aggregate(compared(outcomes), common=True)
    assert scores.runs == (20,) and scores.scores.tolist() == [[0.75], [0.75]]
    assert [scores.improvement("A", "B", by).value for by in ("correct", "simple_regret")] == [0.5, 0.5]
    # Tasks may have different numbers of runs.
    outcomes = {("A", "E", 10): episodes(first(5, 30)), ("A", "F", 10): episodes(first(5))}
    assert aggregate(compared(outcomes)).runs == (30, 20)


def test_impossible_arguments_are_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"agents": "A"}, r"agents=\['A'\]"),
        ({"agents": []}, "at least one agent"),
        ({"agents": ["Z"]}, "agents that played: A, B, C"),
        ({"samples": 10}, "at least 100"),
        ({"level": 1.0}, "level"),
        ({"seed": "x"}, "seed"),
        ({"chance": 1.2}, "chance is 1.2"),
        ({"chance": "top-m"}, "chance is 'top-m'"),
        ({"chance": {("E", 10): 0.5}}, "no error probability of a guess on F"),
        ({"chance": 0.5, "optima": {("E", 10): 0.4}}, "a guess is correct with probability 0.5"),
        ({"optima": {("E", 10): 1.1}}, "1.1"),
    ]
    for options, message in cases:
        with pytest.raises((ParameterError, UnknownNameError), match=message):
            aggregate(compared(random_outcomes()), **options)
    scores = aggregate(compared(random_outcomes()))
    calls: list[tuple[str, tuple[Any, ...], str]] = [
        ("find", ("Z",), "agents scored"),
        ("difference", ("A", "B", "mode"), "'iqm'"),
        ("improvement", ("A", "B", "luck"), "'simple_regret'"),
    ]
    for method, arguments, message in calls:
        with pytest.raises((ParameterError, UnknownNameError), match=message):
            getattr(scores, method)(*arguments)
    with pytest.raises(ParameterError, match="only counts are known"):
        aggregate([summarize("A", "E", 10, episodes(first(5)), (), ())])


def test_a_guess_at_a_set_of_arms_must_be_given() -> None:
    outcomes = {("A", "E", 10): episodes(first(5), sets=True)}
    with pytest.raises(ParameterError, match="not one arm is recommended"):
        aggregate(compared(outcomes), chance="one arm")
    assert aggregate(compared(outcomes), chance=0.9)[0].mean.value == pytest.approx((0.75 - 0.1) / 0.9)
