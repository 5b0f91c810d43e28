"""Intervals of proportions and means: published values, by hand, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.analysis.intervals import clopper_pearson, mean_intervals, normal, wilson
from bai_gym.errors import ParameterError

# By errors and runs: Wilson's interval and the exact one.
PUBLISHED = {
    (81, 263): ((0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148): ((0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20): ((0.0, 0.1611), (0.0, 0.1684)),
    (1, 29): ((0.0061, 0.1718), (0.0009, 0.1776)),
}

counts = st.integers(1, 400).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))
levels = st.floats(0.5, 0.9999)


def test_published_intervals() -> None:
    for count, (expected, exact) in PUBLISHED.items():
        assert wilson(*count) == pytest.approx(expected, abs=5.1e-5)
        assert clopper_pearson(*count) == pytest.approx(exact, abs=5.1e-5)


def test_no_error_in_ten_runs_by_hand() -> None:
    # Exact, at 90 %: upper bound p solves (1 - p)^10 = 0.05. Wilson: z^2 / (10 + z^2), at 95 % and 99 %.
    assert clopper_pearson(0, 10, 0.9) == pytest.approx((0.0, 1 - 0.05**0.1), rel=1e-10, abs=0)
    for level, z in ((0.95, 1.959963984540054), (0.99, 2.5758293035489004)):
        assert wilson(0, 10, level) == pytest.approx((0.0, z**2 / (10 + z**2)), rel=1e-12, abs=0)


@given(count=counts, level=levels)
def test_bounds_hold_the_estimate_and_stay_in_the_unit_interval(count: tuple[int, int], level: float) -> None:
    errors, runs = count
    for interval in (wilson, clopper_pearson):
        lower, upper = interval(errors, runs, level)
        assert 0.0 <= lower <= errors / runs <= upper <= 1.0
        assert lower < upper


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
    lower, upper = mean_intervals(
        np.array([4, 4]), np.array([2e-20, 0.0]), np.array([4e-40, 0.0])
    )  # not zeros and ones
    assert (lower[0], upper[0]) == pytest.approx(normal(2e-20, 1e-20), rel=1e-6)


@pytest.mark.each(
    ("arguments", "message"),
    [
        ((0, 0), "runs"),
        ((-1, 5), "errors"),
        ((6, 5), "errors"),
        ((0.5, 5), "errors"),
        ((1, 5, 1.0), "level"),
        ((1, 5, math.nan), "level"),
        ((1, 5, "95 %"), "level"),
    ],
)
def test_impossible_counts_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    for interval in (wilson, clopper_pearson):
        with pytest.raises(ParameterError, match=message):
            interval(*arguments)
