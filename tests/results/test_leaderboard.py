"""Leaderboards: ranks and their intervals by hand, paired or not, over one budget or several."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from bai_gym import Comparison, compare, leaderboards
from bai_gym.analysis.intervals import wilson
from bai_gym.errors import ParameterError
from bai_gym.results.evaluations import collect

MADE = run_path(str(Path(__file__).with_name("made.py")))
episodes, compared = MADE["episodes"], MADE["compared"]
first = partial(MADE["first"], runs=40)


# B errs where A does not in 20 runs, McNemar 2 / 2^20, and C in one run more, p-value 1.
WRONG = {"A": first(0), "B": first(20), "C": first(21)}
OUTCOMES = {(agent, "E", 100): episodes(wrong) for agent, wrong in WRONG.items()}


def test_by_hand() -> None:
    (board,) = leaderboards(compared(OUTCOMES))
    assert (board.env, board.budgets, board.overall, board.paired, board.left_out) == ("E", (100,), False, True, ())
    assert [(row.agent, row.rank, row.rank_interval) for row in board.standings] == [
        ("A", 1, (1, 1)),
        ("B", 2, (2, 3)),
        ("C", 3, (2, 3)),
    ]
    assert [row.error_probability for row in board.standings] == [0.0, 0.5, 21 / 40]
    assert [row.interval for row in board.standings] == [wilson(errors, 40) for errors in (0, 20, 21)]
    ab, ac, bc = board.pairs
    assert (ab.agent_a, ab.agent_b, ab.difference) == ("A", "B", -0.5)
    # Holm: the smaller p-value, 2 / 2^21, times 6/2; the next one times 5/2.
    assert (ac.p_value, ac.adjusted) == pytest.approx((2 / 2**21, 3 * 2 / 2**21))
    assert (ab.p_value, ab.adjusted) == pytest.approx((2 / 2**20, 2.5 * 2 / 2**20))
    assert (bc.p_value, bc.adjusted) == (1.0, 1.0)


def test_equal_agents_share_a_rank_and_one_agent_is_the_first() -> None:
    (board,) = leaderboards(compared({("A", "E", 9): episodes(first(3)), ("B", "E", 9): episodes(first(3))}))
    assert [(row.rank, row.rank_interval) for row in board.standings] == [(1, (1, 2))] * 2
    (board,) = leaderboards(compared({("A", "E", 9): episodes([True])}))
    assert [(row.rank, row.rank_interval) for row in board.standings] == [(1, (1, 1))]
    assert board.pairs == () and board.paired


def test_the_level_decides() -> None:
    # Five discordant runs: p-value 2/32, with two agents the correction is none.
    outcomes = {("A", "E", 9): episodes(first(0, runs=30)), ("B", "E", 9): episodes(first(5, runs=30))}
    sure, unsure = leaderboards(compared(outcomes), level=0.93)[0], leaderboards(compared(outcomes), level=0.94)[0]
    assert [row.rank_interval for row in sure.standings] == [(1, 1), (2, 2)]
    assert [row.rank_interval for row in unsure.standings] == [(1, 2), (1, 2)]
    assert sure.standings[0].interval == wilson(0, 30, 0.93)


def test_without_single_runs_the_tests_are_not_paired_and_say_so() -> None:
    rows = compared(OUTCOMES, ("range",), ("a note",)).results
    (board,) = leaderboards(rows)
    assert not board.paired and not any(pair.paired for pair in board.pairs)
    # Of C(80, 20) ways in which 20 errors fall on 80 runs, C(40, 20) leave the first 40 free of them.
    assert board.pairs[0].p_value == pytest.approx(2 * math.comb(40, 20) / math.comb(80, 20))
    assert board.standings[0].knows == ("range",) and board.standings[0].notes == ("a note",)
    mixed = leaderboards(Comparison(rows, {key: OUTCOMES[key] for key in list(OUTCOMES)[:2]}))[0]
    assert [pair.paired for pair in mixed.pairs] == [True, False, False]


def test_other_numbers_of_runs_are_not_paired() -> None:
    outcomes = {("A", "E", 9): episodes(first(0, runs=50)), ("B", "E", 9): episodes(first(20))}
    (board,) = leaderboards(compared(outcomes))
    assert [pair.paired for pair in board.pairs] == [False]
    assert [row.runs for row in board.standings] == [50, 40]


def test_over_several_budgets_runs_count_as_one() -> None:
    # At both budgets B errs in the same two runs, and A never: differences 2, 2, so p = 2/4 and not 2/16.
    outcomes = {
        (agent, "E", budget): episodes(first(errors)) for agent, errors in (("A", 0), ("B", 2)) for budget in (50, 100)
    }
    low, high, both = leaderboards(compared(outcomes))
    assert (low.budgets, high.budgets, both.budgets) == ((50,), (100,), (50, 100))
    assert both.overall and both.paired and "mean over budgets 50, 100" in str(both)
    assert both.pairs[0].p_value == pytest.approx(0.5)
    assert both.pairs[0].difference == -0.05
    assert [row.error_probability for row in both.standings] == [0.0, 0.05]
    (lower, upper) = both.standings[1].interval
    assert 0 < lower < 0.05 < upper < 0.2
    assert both.standings[0].interval[0] == 0.0 < both.standings[0].interval[1] < 0.1


def test_intervals_over_budgets_know_that_instances_are_shared() -> None:
    # The same runs err at all four budgets: as uncertain as one budget alone.
    rng = np.random.default_rng(0)
    wrong = rng.random(1000) < 0.3
    same = {("A", "E", budget): episodes(wrong) for budget in (1, 2, 3, 4)}
    apart = {("A", "E", budget): episodes(rng.random(1000) < 0.3) for budget in (1, 2, 3, 4)}
    widths = [np.diff(leaderboards(compared(runs))[-1].standings[0].interval)[0] for runs in (same, apart)]
    one = wilson(int(wrong.sum()), 1000)
    assert widths[0] == pytest.approx(one[1] - one[0], rel=0.1)
    assert widths[0] / widths[1] == pytest.approx(2.0, rel=0.15)


def test_who_has_not_played_everywhere_is_left_out_of_the_mean() -> None:
    runs = {"D": 60}  # others have 40
    outcomes = {(a, "E", budget): episodes(first(3, runs=runs.get(a, 40))) for a in "ABCDF" for budget in (50, 100)}
    del outcomes["A", "E", 50]
    outcomes["C", "E", 100] = episodes(first(3, runs=30))
    rows = [replace(row, knows=("range",) if row.budget == 100 else ()) for row in compared(outcomes)]
    *_, board = leaderboards(Comparison(tuple(rows), outcomes))
    assert board.left_out == ("A", "C", "D")
    assert [(row.agent, row.knows) for row in board.standings] == [("B", ("range",)), ("F", ("range",))]
    # Rows alone, without single runs: no mean over budgets.
    assert [board.overall for board in leaderboards(compared(outcomes).results)] == [False, False]


def test_gaps_to_the_optimum() -> None:
    outcomes = {("A", "E", budget): episodes(first(errors)) for budget, errors in ((50, 8), (100, 4))}
    low, high, both = leaderboards(compared(outcomes), optima={("E", 50): 0.9, ("E", 100): 0.95})
    assert low.standings[0].excess_error is not None and both.standings[0].excess_error is not None
    assert low.standings[0].excess_error.value == pytest.approx(0.2 - 0.1)
    assert both.standings[0].excess_error.value == pytest.approx(0.15 - 0.075)
    assert both.standings[0].excess_error.lower == pytest.approx(both.standings[0].interval[0] - 0.075)
    some = leaderboards(compared(outcomes), optima={("E", 50): 0.9})
    assert [board.standings[0].excess_error is None for board in some] == [False, True, True]


def test_order_of_the_input_does_not_matter_and_a_seed_gives_the_same_again() -> None:
    rng = np.random.default_rng(5)
    outcomes = {(a, e, b): episodes(rng.random(200) < 0.3) for a in "ABC" for e in "EF" for b in (10, 20)}
    boards = leaderboards(compared(outcomes))
    assert [(board.env, board.budgets) for board in boards] == [
        ("E", (10,)),
        ("E", (20,)),
        ("E", (10, 20)),
        ("F", (10,)),
        ("F", (20,)),
        ("F", (10, 20)),
    ]
    assert leaderboards(compared(dict(reversed(outcomes.items())))) == boards
    assert leaderboards(compared(outcomes), seed=1) != boards


def test_comparisons_and_lists_of_them() -> None:
    ones, twos = (
        compare(["Uniform", "SH"], env, budgets=[40, 80], runs=50) for env in ("BAI-Gaussian8-v0", "BAI-Bernoulli3-v0")
    )
    boards = leaderboards([ones, twos])
    assert boards == (*leaderboards(twos), *leaderboards(ones))
    assert all(board.paired for board in boards) and boards[0].standings[0].knows == ()
    test = ones.paired("SH", "Uniform", budget=40)
    assert boards[3].pairs[0].p_value == test.p_value and boards[3].pairs[0].difference == test.difference
    assert not leaderboards(list(ones))[0].paired  # rows


def test_checkpoints_do_not_count() -> None:
    comparison = compare(["Uniform"], "BAI-Gaussian8-v0", budgets=[40], runs=20, checkpoints=20)
    assert len(comparison) == 2
    (board,) = leaderboards(comparison)
    assert board.standings[0].error_probability == comparison.final[0].error_probability
    assert len(collect(list(comparison))) == 1


def test_impossible_input_is_refused() -> None:
    found = compared(OUTCOMES)
    rows = found.results
    others = {**OUTCOMES, ("B", "E", 100): episodes(first(20, runs=60))}
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([], {}, "no results"),
        (7, {}, "not int"),
        ("results", {}, "not str"),
        ([3], {}, "not int"),
        (found, {"level": 95}, "level"),
        (found, {"samples": 5}, "at least 100"),
        (found, {"seed": -1}, "seed"),
        ([*rows, replace(rows[0], errors=3)], {}, "A has two results"),
        (Comparison(rows, others), {}, "has 20 errors in 40 runs, its outcomes 20 in 60"),
    ]
    for source, options, message in cases:
        with pytest.raises(ParameterError, match=message):
            leaderboards(source, **options)
