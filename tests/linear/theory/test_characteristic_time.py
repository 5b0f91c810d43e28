"""T* of linear instances: exact values, linear programs, a convex solver, and the formula for independent arms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.linear import linear_characteristic_time
from bai_gym.theory import characteristic_time, optimal_weights


def soare(dimension: int, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The instance of Soare, Lazaric and Munos (2014): unit vectors, and one arm close to the best of them."""
    features = np.vstack([np.eye(dimension), np.zeros(dimension)])
    features[-1, :2] = math.cos(angle), math.sin(angle)
    return features, 2.0 * np.eye(dimension)[0]


def test_soares_instances() -> None:
    for dimension, angle, time in ((2, 0.01, 20200.17), (5, 0.1, 221.73)):
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
    for means in ([0.5, 0.3, 0.1], rng.random(6)):
        found = linear_characteristic_time(np.eye(len(means)), means, 0.25)
        assert found.time == pytest.approx(float(characteristic_time(means, 0.25)), rel=2e-6)
        np.testing.assert_allclose(found.weights, optimal_weights(means, 0.25), atol=1e-3)


def test_one_rival_is_a_linear_program() -> None:
    rng = np.random.default_rng(1)
    for _ in range(3):
        x, theta = rng.standard_normal((9, 4)), rng.standard_normal(4)
        z = rng.standard_normal((2, 4))
        y = (z[0] - z[1]) / (theta @ (z[0] - z[1]))
        program = linprog(np.ones(18), A_eq=np.hstack([x.T, -x.T]), b_eq=y)
        found = linear_characteristic_time(x, theta, candidates=z)
        assert found.time == pytest.approx(2 * program.fun**2, rel=2e-6)


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
