"""Least squares on grouped data: cases by hand, what defines the estimate, and other implementations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.errors import InstanceError
from bai_gym.linear.designs import project
from bai_gym.linear.regression import least_squares, scores

Draw = Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]
SEEDS = st.integers(0, 2**32)


@pytest.mark.each(
    ("features", "pulls", "means", "theta"),
    [
        ([[1.0, 0.0], [1.0, 1.0]], [2, 1], [1.0, 3.0], [1.0, 2.0]),  # as many arms as dimensions: solved exactly
        ([[1.0], [2.0]], [3, 1], [1.0, 4.0], [11 / 7]),  # V = 3 + 4, sum of x y = 3 + 8
        ([[3.0, 4.0]], [7], [5.0], [0.6, 0.8]),  # the shortest theta with x^T theta = 5: 5 x / 25
        ([[1.0, 1.0], [1.0, 1.0]], [1, 3], [1.0, 5.0], [2.0, 2.0]),  # duplicates: x^T theta = 16/4
        ([[1.0, 0.0], [0.0, 1.0]], [4, 0], [2.0, 9.0], [2.0, 0.0]),  # the mean of an arm without a pull is not read
        ([[1.0, 0.0], [0.0, 1.0]], [4, 0], [2.0, np.nan], [2.0, 0.0]),
        ([[1.0, 0.0], [0.0, 1.0]], [0, 0], [2.0, 9.0], [0.0, 0.0]),
        ([[0.0, 0.0], [0.0, 0.0]], [5, 6], [2.0, 9.0], [0.0, 0.0]),
    ],
)
def test_by_hand(features: Any, pulls: Any, means: Any, theta: Any) -> None:
    np.testing.assert_allclose(least_squares(features, pulls, means), theta, rtol=1e-14, atol=1e-15)


@given(seed=SEEDS)
def test_no_pull_is_explained_better_and_none_shorter(seed: int, data: Draw) -> None:
    x, pulls, means = data(seed)
    theta = least_squares(x, pulls, means)
    # The normal equations: residuals are orthogonal to the features.
    np.testing.assert_allclose(x.T @ (pulls * (means - x @ theta)), 0.0, atol=1e-9 * (1 + pulls.sum()))
    # The shortest solution lies in the span of the pulled arms: nothing is left after projecting on it.
    rows = x[pulls > 0]
    np.testing.assert_allclose(np.linalg.pinv(rows) @ (rows @ theta), theta, atol=1e-9)


@given(seed=SEEDS, exponent=st.integers(-150, 150))
def test_units_and_weights_do_not_matter(seed: int, exponent: int, data: Draw) -> None:
    x, pulls, means = data(seed)
    theta, unit = least_squares(x, pulls, means), 2.0**exponent
    np.testing.assert_allclose(least_squares(x * unit, pulls, means) * unit, theta, rtol=1e-12)
    np.testing.assert_allclose(least_squares(x, pulls, means * unit), theta * unit, rtol=1e-12)
    np.testing.assert_allclose(least_squares(x, pulls * unit, means), theta, rtol=1e-9, atol=1e-12)


def test_a_batch_is_its_instances(data: Draw) -> None:
    several = [data(seed, arms=6, width=4) for seed in range(12)]
    x, pulls, means = (np.stack(part).reshape(3, 4, *part[0].shape) for part in zip(*several, strict=True))
    theta = least_squares(x, pulls, means)
    assert theta.shape == (3, 4, 4)
    for row, one in zip(theta.reshape(12, 4), several, strict=True):
        np.testing.assert_allclose(row, least_squares(*one), rtol=1e-12, atol=1e-12)
    shared = least_squares(x[0, 0], pulls, means[0])  # (6, 4), (3, 4, 6), (4, 6)
    np.testing.assert_allclose(shared[2, 1], least_squares(x[0, 0], pulls[2, 1], means[0, 1]), atol=1e-12)


@pytest.mark.each("tilt", [1e-12, 1e-7])
def test_the_rank_is_that_of_the_designs(tilt: float) -> None:
    x = np.array([[1.0, 0.0], [1.0, tilt]])
    theta = least_squares(x, [5, 5], [1.0, 2.0])
    if project(x).rank == 1:
        np.testing.assert_allclose(theta, [1.5, 0.0], atol=1e-9)  # two pulls of one arm
    else:
        np.testing.assert_allclose(theta, [1.0, 1.0 / tilt], rtol=1e-6)
    assert (tilt == 1e-12) == (project(x).rank == 1)


def test_the_largest_numbers() -> None:
    for big in (1e300, 1e-300):
        np.testing.assert_allclose(least_squares([[big, 0], [0, 2 * big]], [1, 10**12], [big, big]), [1.0, 0.5])
    with pytest.raises(InstanceError, match="theta is larger than 1.8e308: features or means are in units"):
        least_squares([[1e-300]], [1], [1e300])


def test_scores_of_equal_arms_are_equal_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    x = np.repeat(rng.standard_normal((50, 3, 11)), 7, axis=1)
    z = scores(x, rng.standard_normal((50, 11)))
    assert (z.reshape(50, 3, 7) == z.reshape(50, 3, 7)[..., :1]).all()
    assert scores([[1.0, 2.0], [0.0, -1.0]], [3.0, 4.0]).tolist() == [11.0, -4.0]
