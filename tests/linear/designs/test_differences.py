"""XY-designs: against linear programs, exact cases and an accurate solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linprog

from bai_gym.linear.designs import basis_design, xy_optimal


def sphere(count: int, size: int, width: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((count, size, width))
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def largest(features: np.ndarray, weights: np.ndarray, candidates: np.ndarray) -> float:
    """The largest variance of a difference of two candidates, by a pseudo-inverse."""
    inverse = np.linalg.pinv(features.T @ (weights[:, None] * features), rcond=1e-12)
    rows = features[candidates]
    differences = (rows[:, None] - rows[None]).reshape(-1, features.shape[1])
    return float(((differences @ inverse) * differences).sum(axis=1).max())


@pytest.mark.each(("size", "width"), [(3, 2), (12, 6)])
def test_for_one_pair_it_is_a_linear_program(size: int, width: int) -> None:
    # Elfving's theorem: the least variance of x - x' is the square of the least sum |w| with sum w x = x - x'.
    features = sphere(5, size, width)
    candidates = np.arange(size) < 2
    for x, found in zip(features, xy_optimal(features, candidates, tolerance=5e-3).max_variance, strict=True):
        program = linprog(np.ones(2 * size), A_eq=np.hstack([x.T, -x.T]), b_eq=x[0] - x[1])
        assert program.fun**2 * (1 - 1e-6) <= found <= program.fun**2 * 1.005


@pytest.mark.each("size", [2, 7])
def test_unit_vectors_share_equally(size: int) -> None:
    # V^-1 = K I, and differences of unit vectors have the squared length 2.
    design = xy_optimal(np.eye(size))
    np.testing.assert_allclose(design.weights, 1.0 / size)
    assert design.max_variance == pytest.approx(2.0 * size)


def test_a_third_arm_tells_two_apart() -> None:
    # (1, 0) and (cos w, sin w) differ in the second direction nearly alone: the unit vector there gets the weight.
    w = 0.1
    features = np.array([[1.0, 0.0], [np.cos(w), np.sin(w)], [0.0, 1.0]])
    design = xy_optimal(features, np.array([True, True, False]), tolerance=1e-3)
    # sum |w| = (1 - cos w) + sin w, by the unit vectors alone.
    share = np.sin(w) / (1.0 - np.cos(w) + np.sin(w))
    assert design.weights[2] == pytest.approx(share, abs=0.01)
    assert design.max_variance == pytest.approx((1.0 - np.cos(w) + np.sin(w)) ** 2, rel=0.01)


@pytest.mark.each(("size", "width"), [(8, 3), (16, 5)])
def test_it_is_as_near_the_optimum_as_the_certificate_says(
    optimum: Callable[[np.ndarray, np.ndarray], float], size: int, width: int
) -> None:
    features = sphere(5, size, width, seed=1)
    one, other = np.triu_indices(size, 1)
    least = np.array([optimum(x, x[one] - x[other]) for x in features])
    for tolerance in (1e-2, 2e-3):
        design = xy_optimal(features, tolerance=tolerance, max_iterations=10_000)
        assert (design.excess <= tolerance * (1 + 1e-9)).all(), tolerance
        assert (design.max_variance / least - 1.0 <= design.excess + 1e-6).all(), tolerance
        assert (design.max_variance >= least * (1.0 - 1e-6)).all(), tolerance
    # A design that was left early is proved less, and the proof holds.
    early = xy_optimal(features, max_iterations=5)
    assert (early.excess > 1e-2).all() and (early.max_variance / least - 1.0 <= early.excess + 1e-6).all()


def test_the_variance_is_that_of_the_weights() -> None:
    features = sphere(6, 9, 4, seed=2)
    candidates = np.random.default_rng(0).random((6, 9)) < 0.6
    candidates[:, 0] = True
    design = xy_optimal(features, candidates)
    np.testing.assert_allclose(design.weights.sum(axis=-1), 1.0)
    assert (design.weights >= 0).all()
    for x, weights, mask, variance in zip(features, design.weights, candidates, design.max_variance, strict=True):
        assert largest(x, weights, mask) == pytest.approx(variance)


def test_arms_of_no_use_have_no_weight() -> None:
    # Two unit vectors of four are compared; the start has all four.
    design = xy_optimal(np.eye(4), np.array([True, True, False, False]))
    assert (design.weights[2:] == 0.0).all() and design.max_variance == pytest.approx(4.0, rel=1e-2)
    # A weight that is small and needed stays: the third direction is needed for 1e-4 of the difference.
    features = np.vstack([np.eye(3), [[0.0, 1.0, 1e-4]]])
    design = xy_optimal(features, np.array([True, False, False, True]))
    assert largest(features, design.weights, np.array([True, False, False, True])) == pytest.approx(design.max_variance)


def test_instances_stop_at_their_targets() -> None:
    features = sphere(3, 10, 4, seed=3)
    free = xy_optimal(features)
    targets = free.max_variance * np.array([0.0, 1.2, 1.05])
    design = xy_optimal(features, target=targets)
    assert (design.iterations < free.iterations).all()
    assert (design.max_variance[1:] <= targets[1:]).all()
    for target in (0.5, 0.9, 0.97):  # out of reach, which is proved before the optimum is found
        design = xy_optimal(features, target=target * free.max_variance)
        assert (design.max_variance / (1.0 + design.excess) > target * free.max_variance).all(), target
        assert (design.iterations < free.iterations).all(), target


def test_one_batch_is_many_instances() -> None:
    features = sphere(300, 24, 5, seed=4)  # more than is worked on at a time
    batch = xy_optimal(features, max_iterations=20)
    for number in (0, 150, 299):
        alone = xy_optimal(features[number], max_iterations=20)
        np.testing.assert_allclose(alone.weights, batch.weights[number])
    shared = xy_optimal(features[0], np.stack([np.arange(24) < 3, np.arange(24) < 20]), max_iterations=20)
    assert shared.weights.shape == (2, 24) and shared.max_variance.shape == (2,)


def test_where_there_is_nothing_to_compare() -> None:
    features = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    for candidates in ([True, False, False], [True, True, False]):  # one arm, and one arm twice
        design = xy_optimal(features, np.array(candidates))
        assert design.max_variance == 0.0 and design.excess == 0.0 and design.iterations == 0
        np.testing.assert_allclose(design.weights, basis_design(features))
    nothing = xy_optimal(np.zeros((4, 3)))
    np.testing.assert_allclose(nothing.weights, 0.25)
    assert nothing.max_variance == 0.0
