"""Designs with a certificate: against a convex solver, and the farthest pairs of many points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from bai_gym.designs import minimax_design, pair_design
from bai_gym.designs.minimax import farthest_pairs
from bai_gym.errors import ParameterError


def optimum(x: np.ndarray, y: np.ndarray) -> float:
    """The least largest y^T A^-1 y, as a smooth problem with constraints."""
    arms = len(x)

    def inverse(v: np.ndarray) -> np.ndarray:
        return np.linalg.inv(x.T @ (v[:arms, None] * x) + 1e-12 * np.eye(x.shape[1]))

    start = np.append(np.full(arms, 1.0 / arms), 0.0)
    start[-1] = np.einsum("jd,de,je->j", y, inverse(start), y).max()
    found = minimize(
        lambda v: v[-1],
        start,
        jac=lambda v: np.eye(arms + 1)[-1],
        bounds=[(1e-9, 1.0)] * arms + [(0.0, None)],
        constraints=[
            {
                "type": "ineq",
                "fun": lambda v: v[-1] - np.einsum("jd,de,je->j", y, inverse(v), y),
                "jac": lambda v: np.hstack([(y @ inverse(v) @ x.T) ** 2, np.ones((len(y), 1))]),
            },
            {"type": "eq", "fun": lambda v: v[:arms].sum() - 1.0, "jac": lambda v: 1.0 - np.eye(arms + 1)[-1]},
        ],
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-9},
    )
    return float(found.fun)


def test_designs_are_those_of_a_convex_solver_on_fifty_instances() -> None:
    rng = np.random.default_rng(0)
    for case in range(50):
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
