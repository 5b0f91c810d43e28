"""Greedy allocations: against brute force, and where they are weak."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.linear.designs import basis_design, greedy_allocation


def brute_force(x: np.ndarray, counts: np.ndarray, budget: int, ridge: float) -> np.ndarray:
    """Add pulls to ``counts`` one by one, with everything computed from scratch."""

    def norms(mass: np.ndarray) -> np.ndarray:
        return np.array([row @ np.linalg.inv(x.T @ (mass[:, None] * x)) @ row for row in x])

    counts = counts.copy()
    while counts.sum() < budget:
        tried = [counts + ridge + np.eye(len(x))[arm] for arm in range(len(x))]
        score = np.array([norms(mass).max() for mass in tried])
        tied = score <= score.min() + 1e-9 * abs(score.min())
        own = np.where(tied, norms(counts + ridge), -np.inf)
        counts[np.flatnonzero(own >= own.max() * (1 - 1e-9))[0]] += 1
    return counts


@pytest.mark.each("start", ["basis", "ridge"])
@pytest.mark.each(("size", "width"), [(5, 2), (12, 4)])
def test_it_is_brute_force(size: int, width: int, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bai_gym.linear.designs.greedy.RIDGE", 0.01)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((size, width))
        first = (basis_design(x) > 0).astype(np.int64)
        ridge = 0.0
        if start == "ridge":
            first, ridge = np.zeros(size, np.int64), 0.01
        expected = brute_force(x, first, 25, ridge)
        assert greedy_allocation(x, 25, start=start).tolist() == expected.tolist()


def test_many_pulls_stay_exact() -> None:
    # V^-1 is updated more often than it is computed afresh.
    x = np.random.default_rng(5).standard_normal((8, 3))
    expected = brute_force(x, (basis_design(x) > 0).astype(np.int64), 180, 0.0)
    assert greedy_allocation(x, 180).tolist() == expected.tolist()


def test_a_basis_is_pulled_in_turn() -> None:
    # All scores are equal until one variance is left; the first arm must not get everything.
    assert greedy_allocation(np.eye(4), 11).tolist() == [3, 3, 3, 2]


def test_low_ranks() -> None:
    assert greedy_allocation([[1.0], [-3.0], [2.0]], 4).tolist() == [0, 4, 0]
    assert greedy_allocation(np.zeros((4, 2)), 5).tolist() == [2, 1, 1, 1]


def test_a_batch_is_its_instances() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 6, 10, 3))
    x[0, 0], x[0, 1, :, 1:] = 0.0, 0.0
    budget = rng.integers(3, 30, (2, 6))
    batch = greedy_allocation(x, budget)
    assert (batch.sum(axis=-1) == budget).all()
    for at in np.ndindex(2, 6):
        alone = greedy_allocation(x[at], budget[at])
        assert batch[at].tolist() == alone.tolist()
    assert greedy_allocation(np.empty((0, 4, 2)), 5).shape == (0, 4)


def test_blocks_of_instances_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(2).standard_normal((7, 10, 3))
    whole = greedy_allocation(x, 20)
    monkeypatch.setattr("bai_gym.linear.designs.greedy.BLOCK", 250)
    assert (greedy_allocation(x, 20) == whole).all()
