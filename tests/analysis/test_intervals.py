"""Intervals of proportions: published values, exact coverage, and honest refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bai_gym.analysis.intervals import clopper_pearson, mean_intervals, normal, wilson, z_score
from bai_gym.errors import ParameterError

# R. G. Newcombe (1998), "Two-sided confidence intervals for the single proportion: comparison of seven methods",
# Statistics in Medicine 17, 857-872, Table I: 95 % intervals.
PUBLISHED_COUNTS = [(81, 263), (15, 148), (0, 20), (1, 29)]
PUBLISHED_WILSON = [(0.2553, 0.3662), (0.0624, 0.1605), (0.0, 0.1611), (0.0061, 0.1718)]
PUBLISHED_EXACT = [(0.2527, 0.3676), (0.0578, 0.1617), (0.0, 0.1684), (0.0009, 0.1776)]

counts = st.integers(1, 400).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
levels = st.floats(0.5, 0.9999)


@pytest.mark.each(("count", "expected"), list(zip(PUBLISHED_COUNTS, PUBLISHED_WILSON, strict=True)))
def test_wilson_matches_newcombe(count: tuple[int, int], expected: tuple[float, float]) -> None:
    assert wilson(*count) == pytest.approx(expected, abs=5.1e-5)


@pytest.mark.each(("count", "expected"), list(zip(PUBLISHED_COUNTS, PUBLISHED_EXACT, strict=True)))
def test_clopper_pearson_matches_newcombe(count: tuple[int, int], expected: tuple[float, float]) -> None:
    assert clopper_pearson(*count) == pytest.approx(expected, abs=5.1e-5)


def test_no_error_in_ten_runs_by_hand() -> None:
    # Exact: upper bound p solves (1 - p)^10 = 0.025. Wilson: z^2 / (10 + z^2).
    z = 1.959963984540054
    assert clopper_pearson(0, 10) == pytest.approx((0.0, 1 - 0.025**0.1), rel=1e-10, abs=0)
    assert wilson(0, 10) == pytest.approx((0.0, z**2 / (10 + z**2)), rel=1e-12, abs=0)


def test_z_score_by_table() -> None:
    assert z_score(0.95) == pytest.approx(1.959963984540054)
    assert z_score(0.99) == pytest.approx(2.5758293035489004)


@given(count=counts, level=levels)
def test_bounds_hold_the_estimate_and_stay_in_the_unit_interval(count: tuple[int, int], level: float) -> None:
    errors, runs = count
    for interval in (wilson, clopper_pearson):
        lower, upper = interval(errors, runs, level)
        assert 0.0 <= lower <= errors / runs <= upper <= 1.0
        assert lower < upper


@given(count=counts, level=levels)
def test_swapping_errors_and_successes_mirrors_the_interval(count: tuple[int, int], level: float) -> None:
    errors, runs = count
    for interval in (wilson, clopper_pearson):
        lower, upper = interval(errors, runs, level)
        assert interval(runs - errors, runs, level) == pytest.approx((1 - upper, 1 - lower), abs=1e-9)


@given(count=counts)
def test_a_higher_level_is_wider(count: tuple[int, int]) -> None:
    for interval in (wilson, clopper_pearson):
        narrow, wide = interval(*count, 0.9), interval(*count, 0.99)
        assert wide[0] <= narrow[0] and narrow[1] <= wide[1] and wide != narrow


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(runs=st.integers(1, 60), p=st.floats(1e-9, 1 - 1e-9), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_covers_at_least_its_level(runs: int, p: float, level: float) -> None:
    x = np.arange(runs + 1)
    lower, upper = np.transpose([clopper_pearson(errors, runs, level) for errors in range(runs + 1)])
    coverage = binom.pmf(x, runs, p)[(lower <= p) & (p <= upper)].sum()  # exact, no simulation
    assert coverage >= level - 1e-9


@pytest.mark.each("level", [0.9, 0.95, 0.99])
@pytest.mark.each("runs", [20, 100])
def test_wilson_covers_its_level_on_average(runs: int, level: float) -> None:
    x = np.arange(runs + 1)
    lower, upper = np.transpose([wilson(errors, runs, level) for errors in range(runs + 1)])
    p = (np.arange(2000) + 0.5)[:, None] / 2000
    coverage = (binom.pmf(x, runs, p) * ((lower <= p) & (p <= upper))).sum(axis=1)  # (2000,), exact
    assert coverage.mean() == pytest.approx(level, abs=0.1 * (1 - level) + 0.002)


def test_plain_numbers_come_back() -> None:
    for interval in (wilson, clopper_pearson):
        assert all(type(bound) is float for errors in (0, 3, 20) for bound in interval(errors, np.int64(20)))


@pytest.mark.each("interval", [wilson, clopper_pearson])
@pytest.mark.each(
    ("arguments", "message"),
    [
        ((0, 0), "runs must be an integer of at least 1, not 0"),
        ((-1, 5), r"errors must be an integer in 0\.\.5, not -1"),
        ((6, 5), r"errors must be an integer in 0\.\.5, not 6"),
        ((1, 5, 1.0), "level"),
        ((1, 5, math.nan), "level"),
        ((1, 5, "95 %"), "level"),
        ((1, 5, None), "level"),
        ((0.5, 5), "errors must be an integer"),
    ],
)
def test_impossible_counts_are_refused(interval: object, arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        interval(*arguments)  # type: ignore[operator]


def test_normal_by_hand() -> None:
    assert normal(1.0, 0.5) == pytest.approx((1 - 1.959964 / 2, 1 + 1.959964 / 2), abs=1e-6)
    assert all(math.isnan(end) for end in normal(1.0, math.nan))


def test_means_of_rewards_of_0_and_1_have_wilson_intervals() -> None:
    """Arms with 0, 1 and 20 pulls, 0, 1 and 5 of them rewarded."""
    lower, upper = mean_intervals(np.array([0, 1, 20]), np.array([0.0, 1.0, 0.25]), np.array([0.0, 0.0, 3.75 / 19]))
    assert np.isnan([lower[0], upper[0]]).all()
    assert (lower[1], upper[1]) == pytest.approx(wilson(1, 1))
    assert (lower[2], upper[2]) == pytest.approx(wilson(5, 20))


def test_other_means_have_normal_intervals_and_equal_rewards_none() -> None:
    lower, upper = mean_intervals(np.array([4, 4, 1]), np.array([2.0, 3.0, 1.0]), np.array([4.0, 0.0, 0.0]))
    assert (lower[0], upper[0]) == pytest.approx(normal(2.0, 1.0))
    assert np.isnan([*lower[1:], *upper[1:]]).all()
