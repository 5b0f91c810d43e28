"""T* of linear instances: exact values, linear programs, a convex solver, and the formula for independent arms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.theory import characteristic_time, linear_characteristic_time, optimal_weights


def soare(dimension: int, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The instance of Soare, Lazaric and Munos (2014): unit vectors, and one arm close to the best of them."""
    features = np.vstack([np.eye(dimension), np.zeros(dimension)])
    features[-1, :2] = math.cos(angle), math.sin(angle)
    return features, 2.0 * np.eye(dimension)[0]


def test_soares_instances() -> None:
    for dimension, angle, time in ((2, 0.1, 220.150), (2, 0.01, 20200.17), (5, 0.1, 221.73), (6, 0.1, 222.25)):
        found = linear_characteristic_time(*soare(dimension, angle))
        assert found.time == pytest.approx(time, rel=3e-5)
        assert found.lower <= found.time <= found.lower * (1 + 1e-6)
    # In the plane there is one rival that matters, and Elfving's theorem gives the time: 2 ||u||_1^2.
    gap = 2 * (1 - math.cos(0.1))
    assert linear_characteristic_time(*soare(2, 0.1)).time == pytest.approx(
        2 * ((1 - math.cos(0.1) + math.sin(0.1)) / gap) ** 2, rel=1e-6
    )


def test_unit_vectors_are_independent_arms() -> None:
    rng = np.random.default_rng(0)
    for means in ([0.5, 0.3, 0.1], *rng.random((5, 6))):
        found = linear_characteristic_time(np.eye(len(means)), means, 0.25)
        assert found.time == pytest.approx(float(characteristic_time(means, 0.25)), rel=2e-6)
        np.testing.assert_allclose(found.weights, optimal_weights(means, 0.25), atol=1e-3)


def test_one_rival_is_a_linear_program() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        x, theta = rng.standard_normal((9, 4)), rng.standard_normal(4)
        z = rng.standard_normal((2, 4))
        y = (z[0] - z[1]) / (theta @ (z[0] - z[1]))
        program = linprog(np.ones(18), A_eq=np.hstack([x.T, -x.T]), b_eq=y)
        found = linear_characteristic_time(x, theta, candidates=z)
        assert found.time == pytest.approx(2 * program.fun**2, rel=2e-6)


def test_candidates_against_a_direct_minimisation() -> None:
    rng = np.random.default_rng(4)
    for _ in range(4):
        x, z, theta = rng.standard_normal((5, 3)), rng.standard_normal((6, 3)), rng.standard_normal(3)
        means = z @ theta
        best = int(means.argmax())
        y = np.delete((z[best] - z) / np.maximum(means[best] - means, 1e-300)[:, None], best, axis=0)

        def largest(weights: np.ndarray, x: np.ndarray = x, y: np.ndarray = y) -> np.ndarray:
            return np.einsum("md,de,me->m", y, np.linalg.inv((x.T * weights) @ x), y)

        # The least level t with every variance at most t.
        start = np.append(np.full(5, 0.2), largest(np.full(5, 0.2)).max())
        limits = (
            {"type": "ineq", "fun": lambda v: 1.0 - largest(v[:5]) / v[5]},
            {"type": "eq", "fun": lambda v: v[:5].sum() - 1.0},
        )
        bounds = [(1e-6, 1.0)] * 5 + [(1e-3, None)]
        least = minimize(lambda v: math.log(v[5]), start, bounds=bounds, constraints=limits, options={"maxiter": 1000})
        found = linear_characteristic_time(x, theta, 1.5, candidates=z)
        assert found.time == pytest.approx(3.0 * least.x[5], rel=1e-3)
        assert found.time == pytest.approx(3.0 * largest(found.weights).max(), rel=1e-6)


def test_maps_of_the_features_and_a_lower_rank_change_nothing() -> None:
    rng = np.random.default_rng(2)
    x, theta = rng.standard_normal((8, 3)), rng.standard_normal(3)
    wide = rng.standard_normal((3, 5))
    same = linear_characteristic_time(x @ wide, np.linalg.lstsq(wide, theta, rcond=None)[0])
    assert same.time == pytest.approx(linear_characteristic_time(x, theta).time, rel=1e-5)


def test_cases_without_a_finite_time() -> None:
    assert linear_characteristic_time(np.eye(3), [1.0, 1.0, 0.0]).time == np.inf  # two best arms
    outside = linear_characteristic_time(np.eye(3)[:2], [1.0, 0.5, 0.1], candidates=np.eye(3))
    assert outside.time == outside.lower == np.inf  # no pull says anything about the third candidate
    assert linear_characteristic_time(np.eye(3), [1.0, 0.0, 0.0], candidates=np.ones((2, 3))).time == 0.0


def test_errors() -> None:
    for arguments, error in (
        ((np.eye(3), [1.0, 0.0]), InstanceError),
        ((np.full((2, 2), np.nan), [1.0, 0.0]), InstanceError),
        ((np.eye(2), [1.0, 0.0], -1.0), ParameterError),
    ):
        with pytest.raises(error):
            linear_characteristic_time(*arguments)
