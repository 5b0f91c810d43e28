"""Designs with a certificate: against a convex solver, and the farthest pairs of many points."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from bai_gym.errors import ParameterError
from bai_gym.linear.designs import minimax_design, pair_design
from bai_gym.linear.designs.minimax import farthest_pairs


def test_designs_are_those_of_a_convex_solver(optimum: Callable[[np.ndarray, np.ndarray], float]) -> None:
    rng = np.random.default_rng(0)
    for case in range(20):
        arms, dimension = int(rng.integers(4, 9)), int(rng.integers(2, 4))
        x = rng.standard_normal((arms, dimension))
        y = rng.standard_normal((int(rng.integers(1, 7)), dimension))
        found = minimax_design(x, y)
        assert found.lower <= found.value <= found.lower * (1 + 1e-6), case
        assert found.value == pytest.approx(optimum(x, y), rel=1e-4), case
        assert found.weights.min() >= 0 and found.weights.sum() == pytest.approx(1.0), case
        attained = np.einsum("jd,de,je->j", y, np.linalg.pinv(x.T @ (found.weights[:, None] * x)), y).max()
        assert found.value == pytest.approx(attained, rel=1e-6), case


def test_pairs_are_found_among_many_candidates() -> None:
    rng = np.random.default_rng(1)
    x, z = rng.standard_normal((7, 3)), rng.standard_normal((12, 3))
    one, other = np.triu_indices(12, 1)
    every, found = minimax_design(x, z[one] - z[other], tolerance=1e-3), pair_design(x, z, tolerance=1e-3)
    assert found.value == pytest.approx(every.value, rel=2e-3)
    angle = 0.78 + 0.1 * rng.random(9_998)
    plane = np.vstack([[1.0, 0.0], [-0.707, 0.707], np.column_stack([np.cos(angle), np.sin(angle)])])
    assert pair_design(plane, plane).value == pytest.approx(4.0, rel=0.01)
    for seed in (7, 13):  # the search among some pairs is near its end before that among all is
        points = np.random.default_rng(seed).standard_normal((300, 3))
        found = pair_design(points, points, tolerance=1e-3)
        assert found.value <= found.lower * (1 + 1e-3)


def test_farthest_pairs() -> None:
    rng = np.random.default_rng(2)
    t = rng.random(900)
    for points in (
        rng.standard_normal((700, 1)),
        rng.standard_normal((700, 3)),
        np.column_stack([np.cos(t), np.sin(t)]),
        np.ones((600, 2)),
        rng.standard_normal((40, 2)),
    ):
        first, second = farthest_pairs(points, 5)
        lengths = np.linalg.norm(points[first] - points[second], axis=1)
        assert lengths[0] == pytest.approx(cdist(points, points).max())


def test_cases_without_a_design() -> None:
    nothing = minimax_design(np.eye(2), np.zeros((1, 2)))
    assert nothing.value == nothing.lower == 0.0 and nothing.weights.tolist() == [0.5, 0.5]
    assert math.isinf(minimax_design([[1.0, 0.0], [2.0, 0.0]], [[0.0, 1.0]]).value)
    for wrong in ([1.0, 2.0], [[np.nan, 1.0]], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ParameterError):
            minimax_design(np.eye(2), wrong)
