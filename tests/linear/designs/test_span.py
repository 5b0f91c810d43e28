"""Projection onto the span of the arms, and variances there."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.linear.designs import project, variances


def test_coordinates_are_orthonormal_and_span_the_arms(many: list[np.ndarray]) -> None:
    for x in many[::3]:
        found = project(x)
        rank = int(found.rank)
        assert found.coordinates.shape == (len(x), min(x.shape))
        assert not found.coordinates[:, rank:].any()
        basis = found.coordinates[:, :rank]
        np.testing.assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-9)
        np.testing.assert_allclose(basis @ (basis.T @ x), x, atol=1e-8 * max(np.abs(x).max(), 1e-300))


def test_ranks() -> None:
    x = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    masks = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 1], [0, 0, 1, 0, 1], [0, 0, 0, 0, 1]])
    assert project(x * masks[..., None]).rank.tolist() == [3, 2, 1, 0]


@pytest.mark.each(("noise", "rank"), [(1e-13, 2), (1e-6, 3)])
def test_the_tolerance_of_the_rank(noise: float, rank: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((10, 2)) @ rng.standard_normal((2, 3)) + noise * rng.standard_normal((10, 3))
    assert project(x).rank == rank


def test_variances_by_hand() -> None:
    x = [[1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [0.0, 0.0]]
    np.testing.assert_allclose(variances(x, [0.5, 0.5, 0, 0]), [2.0, 2.0, 4.0, 0.0])
    np.testing.assert_allclose(variances(x, [3, 1, 0, 7]), [1 / 3, 1.0, 4 / 3, 0.0])
    assert variances(x, [2, 0, 0, 0]).tolist() == [pytest.approx(0.5), math.inf, math.inf, 0.0]
    assert variances([[1.0, 0.0], [1.0, 0.01], [0.0, 1.0]], [1, 0, 0]).tolist()[1] == math.inf
    assert variances(x, [0, 0, 0, 1]).tolist() == [math.inf, math.inf, math.inf, 0.0]


def test_variances_are_those_of_least_squares(many: list[np.ndarray], plain: Callable[..., np.ndarray]) -> None:
    rng = np.random.default_rng(2)
    for x in many[::3]:
        weights = rng.random(len(x))
        np.testing.assert_allclose(variances(x, weights), plain(x, weights), rtol=1e-5)


def test_variances_of_a_batch() -> None:
    rng = np.random.default_rng(4)
    x, weights = rng.standard_normal((3, 2, 7, 3)), rng.random((3, 2, 7))
    batch = variances(x, weights)
    assert batch.shape == (3, 2, 7)
    np.testing.assert_allclose(batch[2, 1], variances(x[2, 1], weights[2, 1]))
    np.testing.assert_allclose(variances(x, weights[0, 0])[2, 1], variances(x[2, 1], weights[0, 0]))
