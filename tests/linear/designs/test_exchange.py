"""Roundings with exchanges: against all allocations of small cases, and never worse than where they start."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bai_gym.linear.designs import exchange_design, frank_wolfe, g_optimal, round_design, variances


def allocations(size: int, pulls: int) -> np.ndarray:
    """All ways to share pulls."""
    bars = itertools.combinations(range(size + pulls - 1), size - 1)
    return np.array([np.diff((-1, *bar, size + pulls - 1)) - 1 for bar in bars])


def log_det(features: np.ndarray, counts: np.ndarray) -> float:
    sign, value = np.linalg.slogdet(features.T @ (counts[:, None] * features))
    return float(value) if sign > 0 else -np.inf


@pytest.mark.each(("size", "width", "pulls"), [(4, 2, 3), (5, 3, 6)])
def test_it_is_nearly_the_best_of_all_allocations(size: int, width: int, pulls: int) -> None:
    # Local optima of exchanges are rare in cases this small; the variance is that of the best within a third.
    every = allocations(size, pulls)
    for seed in range(10):
        x = np.random.default_rng(seed).standard_normal((size, width))
        counts = exchange_design(x, g_optimal(x).weights, pulls)
        assert counts.sum() == pulls and (counts >= 0).all()
        spanning = every[[log_det(x, one) > -20.0 for one in every]]
        best = min(variances(x, one).max() for one in spanning)
        assert variances(x, counts).max() <= best * 4.0 / 3.0


def test_it_is_never_worse_than_where_it_starts(many: list[np.ndarray]) -> None:
    for x in many[:16]:
        weights = frank_wolfe(x).weights
        support = int((weights > 0).sum())
        for budget in (support, 2 * support + 3):
            start = round_design(weights, budget)
            counts = exchange_design(x, weights, budget)
            assert counts.sum() == budget and (counts >= 0).all()
            before, after = variances(x, start).max(), variances(x, counts).max()
            assert after <= before * (1 + 1e-6)


def test_traces_of_weight_do_not_use_up_the_pulls() -> None:
    # 24 arms in the plane, of which two matter; Frank-Wolfe leaves traces on all.
    angles = np.concatenate([[0.0], np.full(22, np.pi / 4) + np.linspace(-0.1, 0.1, 22), [3 * np.pi / 4]])
    x = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    weights = frank_wolfe(x).weights
    assert (weights > 0).all()
    plain = variances(x, round_design(weights, 25)).max() * 25 / 2
    assert plain > 3.0 and variances(x, exchange_design(x, weights, 25)).max() * 25 / 2 < 1.1


def test_directions_without_a_pull_get_one() -> None:
    # Three pulls for three unit vectors and many arms beside the first, which have more weight.
    x = np.vstack([np.eye(3), [[1.0, 0.01, 0.0], [1.0, 0.0, 0.01], [1.0, 0.01, 0.01]]])
    weights = np.array([0.2, 0.1, 0.1, 0.2, 0.2, 0.2])
    counts = exchange_design(x, weights, 3)
    assert counts.sum() == 3 and np.linalg.matrix_rank(x[counts > 0]) == 3 and variances(x, counts).max() < 3.0


@pytest.mark.each("pulls", [1, 2])
def test_fewer_pulls_than_dimensions(pulls: int) -> None:
    counts = exchange_design(np.eye(4), np.full(4, 0.25), pulls)
    assert counts.sum() == pulls and counts.max() == 1


def test_degenerate_features() -> None:
    assert exchange_design(np.zeros((3, 2)), np.full(3, 1 / 3), 7).sum() == 7
    line = exchange_design(np.array([[1.0], [3.0], [-2.0]]), np.array([0.4, 0.3, 0.3]), 5)
    assert line.tolist() == [0, 5, 0]
    assert exchange_design(np.eye(2), np.array([0.5, 0.5]), 9).tolist() in ([5, 4], [4, 5])


def test_one_batch_is_many_instances() -> None:
    x = np.random.default_rng(0).standard_normal((700, 20, 4))  # more than is worked on at a time
    weights = frank_wolfe(x, max_iterations=20).weights
    together = exchange_design(x, weights, 15)
    for number in (0, 350, 699):
        np.testing.assert_array_equal(exchange_design(x[number], weights[number], 15), together[number])
    budgets = np.arange(700) % 7 + 4
    np.testing.assert_array_equal(exchange_design(x, weights, budgets).sum(axis=-1), budgets)
