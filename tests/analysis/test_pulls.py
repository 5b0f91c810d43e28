"""Paired comparisons of numbers of pulls: by hand, against SciPy, and in extreme cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from bai_gym.analysis.pulls import compare_pulls
from bai_gym.errors import ParameterError


def test_by_hand() -> None:
    """Differences 1, 2, 3, 2: mean 2, standard deviation sqrt(2/3), standard error sqrt(1/6), t = 2 sqrt(6)."""
    test = compare_pulls([11, 12, 13, 12], [10, 10, 10, 10], level=0.9)
    assert (test.difference, test.ratio, test.runs, test.level) == (2.0, 1.2, 4, 0.9)
    reach = 2.3533634 * math.sqrt(1 / 6)  # the 95 % quantile of Student's distribution with 3 degrees of freedom
    assert test.interval == pytest.approx((2 - reach, 2 + reach))
    assert test.p_value == 2 / 2**4  # the t-test's 0.0163 is less than any test of four signs can give


def test_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.geometric(0.01, 200), rng.geometric(0.012, 200)
    test, expected = compare_pulls(a, b), stats.ttest_rel(a, b)
    bounds = expected.confidence_interval(0.95)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert test.interval == pytest.approx((bounds.low, bounds.high), rel=1e-9)


def test_an_agent_may_stop_before_the_first_pull() -> None:
    assert compare_pulls([4, 8], [0, 0]).ratio == math.inf and math.isnan(compare_pulls([0], [0]).ratio)
    assert compare_pulls([0, 0], [4, 8]).difference == -6.0


@pytest.mark.each(
    "a, b, p",
    [([5, 6, 7], [5, 6, 7], 1.0), ([6, 7, 8], [5, 6, 7], 1 / 4), ([6], [5], 1.0)],
)
def test_equal_differences_are_no_certainty(a: list[int], b: list[int], p: float) -> None:
    test = compare_pulls(a, b)
    assert test.p_value == p and all(map(math.isnan, test.interval))


@pytest.mark.each(
    "a, b, words",
    [
        ([1, 2], [1], "2 runs of A and 1 of B cannot be paired"),
        ([], [], "pulls_a must hold the number of pulls of each run"),
        ([[1]], [1], "pulls_a must hold"),
        ([True], [1], "pulls_a must hold"),
        ([1], [-1], "pulls_b must be finite numbers of at least 0"),
        ([math.inf], [1], "pulls_a must be finite"),
    ],
)
def test_what_is_refused(a: object, b: object, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        compare_pulls(a, b)  # type: ignore[arg-type]
