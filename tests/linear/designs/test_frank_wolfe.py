"""Optimal designs: worked by hand, by the theorem of Kiefer and Wolfowitz, and in batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.linear.designs import Design, frank_wolfe, g_optimal, variances, wynn

Plain = Callable[[np.ndarray, np.ndarray], np.ndarray]
SOLVERS = (g_optimal, wynn, frank_wolfe)


# By hand


@pytest.mark.each("solve", SOLVERS)
@pytest.mark.each("size", [1, 5])
def test_a_basis_is_pulled_equally(solve: Callable[..., Design], size: int) -> None:
    design = solve(np.eye(size) * 3.0)
    np.testing.assert_allclose(design.weights, 1 / size)
    np.testing.assert_allclose(design.max_variance, size)
    assert design.rank == size and design.iterations == 0 and design.support == size


@pytest.mark.each("solve", SOLVERS)
def test_a_regular_simplex_is_pulled_equally(solve: Callable[..., Design]) -> None:
    design = solve(np.eye(6) - 1 / 6, tolerance=1e-4, max_iterations=1000)
    np.testing.assert_allclose(design.weights, 1 / 6, atol=0.01)
    assert design.rank == 5 and 5 <= design.max_variance <= 5.001


@pytest.mark.each("solve", SOLVERS)
def test_one_dimension_takes_the_longest_arm(solve: Callable[..., Design]) -> None:
    design = solve([[1.0], [-2.0]])
    assert design.weights.tolist() == [0.0, 1.0] and design.max_variance == 1.0 and design.rank == 1
    np.testing.assert_allclose(variances([[1.0], [-2.0]], design.weights), [0.25, 1.0])


def test_polynomial_regression() -> None:
    # The classics: of degree 2 at -1, 0, 1, of degree 3 at +-1 and +-1/sqrt(5), equal weights (Fedorov 1972).
    grid = np.union1d(np.linspace(-1, 1, 11), [-(0.2**0.5), 0.2**0.5])
    for degree, points in ((2, [-1.0, 0.0, 1.0]), (3, [-1.0, -(0.2**0.5), 0.2**0.5, 1.0])):
        design = g_optimal(grid[:, None] ** np.arange(degree + 1), tolerance=1e-6)
        expected = np.where(np.isclose(grid[:, None], points).any(axis=1), 1 / (degree + 1), 0.0)
        np.testing.assert_allclose(design.weights, expected, atol=1e-4)


def test_arms_with_weight_have_the_largest_variance_within_the_tolerance() -> None:
    x = np.random.default_rng(0).standard_normal((40, 4))
    design = g_optimal(x, tolerance=1e-3)
    assert variances(x, design.weights)[design.weights > 0].min() >= (1 - 1e-3) * 4


def test_a_step_of_fedorov() -> None:
    # Equal weights: V = diag(4/3, 2/3), variances 3, 3/2, 3/2; the length is (3/2 - 1) / (3 - 1) = 1/4.
    x = [[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    np.testing.assert_allclose(wynn(x, max_iterations=1).weights, [0.5, 0.25, 0.25])
    np.testing.assert_allclose(frank_wolfe(x, max_iterations=1).weights, [0.5, 0.25, 0.25])
    np.testing.assert_allclose(wynn(x, max_iterations=0).max_variance, 3.0)


@pytest.mark.each("seed", range(2))
def test_line_searches_are_exact(seed: int, plain: Plain) -> None:
    x = np.random.default_rng(seed).standard_normal((12, 4))
    start = np.full(12, 1 / 12)
    vertex = np.eye(12)[plain(x, start).argmax()]

    def along(length: float) -> np.ndarray:
        return (1 - length) * start + length * vertex

    lengths = np.linspace(0, 0.99, 2000)
    least = min(plain(x, along(length)).max() for length in lengths)
    reached = frank_wolfe(x, max_iterations=1).max_variance
    assert least * 0.999 <= reached <= least
    most = max(np.linalg.slogdet(x.T @ (along(length)[:, None] * x))[1] for length in lengths)
    got = np.linalg.slogdet(x.T @ (wynn(x, max_iterations=1).weights[:, None] * x))[1]
    assert most <= got <= most + 1e-3


# Kiefer and Wolfowitz: the largest variance of the optimum is the rank


def check(design: Design, x: np.ndarray, plain: Plain, tolerance: float) -> None:
    assert design.weights.shape == (len(x),) and (design.weights >= 0).all()
    np.testing.assert_allclose(design.weights.sum(), 1.0)
    scale = np.abs(x).max(axis=0)
    rank = np.linalg.matrix_rank(x / np.where(scale > 0, scale, 1.0), tol=1e-6) if x.any() else 0
    assert design.rank == rank
    largest = plain(x, design.weights).max() if rank else 0.0
    np.testing.assert_allclose(design.max_variance, largest, rtol=1e-6)
    assert rank * (1 - 1e-9) <= largest <= rank * (1 + tolerance) + 1e-9
    assert abs(design.excess) <= tolerance + 1e-9


def test_the_largest_variance_is_the_rank(many: list[np.ndarray], plain: Plain) -> None:
    for x in many[::3]:
        check(g_optimal(x), x, plain, 1e-3)


# Batches


@pytest.mark.each("solve", SOLVERS)
def test_a_batch_is_its_instances(solve: Callable[..., Design]) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 8, 25, 5))
    x[0, :4, :, 3:] = 0.0  # rank 3
    x[1, 0] = 0.0
    x[1, 1, :, 1:] = 0.0
    batch = solve(x, max_iterations=30)
    assert batch.weights.shape == (2, 8, 25) and batch.max_variance.shape == batch.rank.shape == (2, 8)
    assert batch.iterations.shape == batch.excess.shape == batch.support.shape == (2, 8)
    for at in np.ndindex(2, 8):
        single = solve(x[at], max_iterations=30)
        np.testing.assert_allclose(batch.weights[at], single.weights, atol=1e-9)
        np.testing.assert_allclose(batch.max_variance[at], single.max_variance)
        assert batch.rank[at] == single.rank and batch.iterations[at] == single.iterations
    empty = solve(np.empty((0, 9, 3)))
    assert empty.weights.shape == (0, 9) and empty.max_variance.shape == (0,)


@pytest.mark.each("solve", SOLVERS)
def test_features_of_zero_are_pulled_equally(solve: Callable[..., Design]) -> None:
    design = solve(np.zeros((4, 2)))
    np.testing.assert_allclose(design.weights, 1 / 4)
    assert design.rank == design.max_variance == design.excess == 0


# Invariance


@pytest.mark.each("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_units_do_not_matter(scale: float) -> None:
    x = np.random.default_rng(5).standard_normal((20, 4))
    np.testing.assert_allclose(g_optimal(x * scale).weights, g_optimal(x).weights, atol=1e-9)
    assert g_optimal(x * scale).rank == 4
