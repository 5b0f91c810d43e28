"""Complexities of thresholding by hand, on the published experiments, and their inequalities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.errors import ParameterError
from bai_gym.theory import threshold_gaps, threshold_h1, threshold_h2, threshold_sigma_h1, threshold_sigma_h2
from bai_gym.theory.complexity import log_bar

# Gaps 1/2. Sigma = 1/3: sigma^2 + (16/3) / 2 = 25/9, so the numerator is 1/3 + 5/3 = 2.
MEANS, SIGMA = np.array([0.75, 0.75, -0.25, 0.75]), 1 / 3
instances = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.25)), min_size=2, max_size=7).map(np.array)


def harmonic(size: int) -> float:
    return sum(1 / i for i in range(1, size + 1))


def test_by_hand() -> None:
    assert threshold_gaps(MEANS, 0.25).tolist() == [0.5] * 4
    assert threshold_h1(MEANS, 0.25) == 16.0
    assert threshold_h1(MEANS, 0.25, 0.5) == 4.0
    assert threshold_h2(MEANS, 0.25) == 16.0
    # Four times 2 / (1/4), or 4 / (1/4) squared; the fourth smallest of four equal terms counts four times.
    assert threshold_sigma_h1(MEANS, SIGMA**2, 0.25) == pytest.approx(32, rel=1e-12)
    assert threshold_sigma_h1(MEANS, SIGMA**2, 0.25, squared=True) == pytest.approx(64, rel=1e-12)
    assert threshold_sigma_h2(MEANS, SIGMA**2, 0.25) == pytest.approx(32, rel=1e-12)
    # b = 1/4: (16/3) b gap = 2/3; sigma^2 = 1/25 would do: 1/5 + sqrt(0.04 + 2/3).
    root = 0.2 + math.sqrt(0.04 + 2 / 3)
    assert threshold_sigma_h1(MEANS, 0.04, 0.25, b=0.25) == pytest.approx(16 * root, rel=1e-12)


def test_thresholds_go_with_the_leading_axes() -> None:
    assert threshold_h2([[0.0, 1.0], [0.0, 2.0]], [0.5, 0.0]).tolist() == [8.0, math.inf]
    assert threshold_h1([0.0, 1.0], [0.5, 1.0, 3.0]).tolist() == [8.0, math.inf, pytest.approx(1 / 9 + 1 / 4)]


# Experiments 1 to 5 of Mukherjee et al. (2017), the random variances at their mean.
FIRST = np.array([0.5] * 5 + [0.6] * 5 + [0.4] * 90)
SECOND = np.array([0.3] * 5 + [0.8] * 5 + [0.25] * 90)
SECOND_MEANS = [0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8]
EXPERIMENTS = {
    1: ([0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8], FIRST, 9993.11, 9200, 16088.6, 25939.6, 14706.6),
    2: (
        [0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8],
        FIRST,
        10289.48,
        9200,
        16597.9,
        26808.2,
        15141.3,
    ),
    3: ([0.1] * 3 + [0.35, 0.45, 0.55, 0.65] + [0.9] * 3, FIRST, 9926.39, 9200, 15960.5, 25698.0, 14706.6),
    4: ([0.45] * 5 + [0.55] * 5, FIRST, 13000, 10000, 20963.4, 33825.8, 15985.5),
    5: ([0.45] * 5 + [0.55] * 5, SECOND, 13000, 10000, 18921.0, 28076.5, 13850.6),
}


@pytest.mark.parametrize("number", EXPERIMENTS)
def test_the_published_experiments(number: int) -> None:
    first, variances, h1, h2, sigma_h1, squared_h1, sigma_h2 = EXPERIMENTS[number]
    means = np.array(first + [0.4] * 90)
    assert threshold_h1(means, 0.5) == pytest.approx(h1, abs=0.005)
    assert threshold_h2(means, 0.5) == pytest.approx(h2, abs=0.05)
    assert threshold_sigma_h1(means, variances, 0.5) == pytest.approx(sigma_h1, abs=0.05)
    assert threshold_sigma_h1(means, variances, 0.5, squared=True) == pytest.approx(squared_h1, abs=0.05)
    assert threshold_sigma_h2(means, variances, 0.5) == pytest.approx(sigma_h2, abs=0.05)


@given(instances, st.floats(0, 1))
def test_sums_lie_between_the_ranked_maximum_and_the_harmonic_number_times_it(
    arms: np.ndarray, threshold: float
) -> None:
    means, variances = arms.T
    slack = 1 + 1e-12
    for h1, h2 in (
        (threshold_h1(means, threshold), threshold_h2(means, threshold)),
        (threshold_sigma_h1(means, variances, threshold), threshold_sigma_h2(means, variances, threshold)),
    ):
        assert h2 <= h1 * slack
        assert h1 <= harmonic(means.size) * h2 * slack


@pytest.mark.parametrize("size", [2, 3, 4, 50])
def test_the_printed_factors_are_too_small(size: int) -> None:
    # Mukherjee et al. (2017), section 3, print logbar(K) and log K. Gaps sqrt(i): terms 1/i, ranked 1.
    means = np.sqrt(np.arange(1, size + 1))
    h1, h2 = threshold_h1(means, 0.0), threshold_h2(means, 0.0)
    assert h2 == pytest.approx(1)
    assert h1 == pytest.approx(harmonic(size))
    assert h1 > max(log_bar(size), math.log(size)) * h2
    assert (h1 > math.log(2 * size) * h2) == (size <= 4)


@given(instances, st.floats(0, 1), st.data())
def test_the_order_of_the_arms_and_the_side_of_the_threshold_do_not_matter(
    arms: np.ndarray, threshold: float, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(arms))))
    means, variances = arms.T
    for complexity in (threshold_sigma_h1, threshold_sigma_h2):
        value = complexity(means, variances, threshold)
        np.testing.assert_allclose(complexity(means[order], variances[order], threshold), value, rtol=1e-12)
        np.testing.assert_allclose(complexity(-means, variances, -threshold), value, rtol=1e-12)


@pytest.mark.parametrize(
    ("threshold", "says"),
    [
        (math.nan, "threshold must be a finite number"),
        ("high", "threshold must be a number or an array of numbers, not 'high'"),
        (10**400, "threshold must be finite numbers of at most 1.8e308"),
    ],
    ids=["nan", "text", "huge"],
)
def test_thresholds_are_checked(threshold: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        threshold_h2(MEANS, threshold)


def test_epsilon_is_checked() -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number of at least 0"):
        threshold_h1(MEANS, 0.5, -1.0)


def test_b_is_checked() -> None:
    with pytest.raises(ParameterError, match="b must be a positive number"):
        threshold_sigma_h2(MEANS, 1.0, 0.5, b=-1.0)
