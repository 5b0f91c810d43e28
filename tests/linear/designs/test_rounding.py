"""Rounding: exact sums, and the factors that are promised."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bai_gym.linear.designs import ROUNDINGS, ceil_allocation, round_design


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, int]:
    """Draw weights, some of them equal or 0, and a budget of at least one pull for each arm with weight."""
    parts = draw(
        st.lists(st.integers(0, 30) | st.floats(0, 10), min_size=1, max_size=40).filter(lambda p: sum(p) > 1e-3)
    )
    weights = np.array(parts, dtype=np.float64) / sum(parts)
    return weights, int((weights > 0).sum()) + draw(st.integers(0, 10_000) | st.integers(0, 20))


def factor(weights: np.ndarray, counts: np.ndarray) -> float:
    """The largest n w_i / n_i: by what factor, at most, variances are larger than those of n w pulls."""
    held = weights > 0
    with np.errstate(divide="ignore"):
        return float((counts.sum() * weights[held] / counts[held]).max())


def promised(weights: np.ndarray, budget: int, method: str) -> float:
    """The bound on the factor that the docstring of ``round_design`` states for each method."""
    held = weights[weights > 0]
    if method == "largest-remainder":
        least = budget * held.min()
        return float(least / (least - 1)) if least > 1 else math.inf
    return budget / (budget - held.size) if budget > held.size else budget * held.max()


# By hand


@pytest.mark.each(
    ("method", "expected"),
    [
        # Least n_i / w_i: 8/.78, 1/.11, 1/.11 is better than 9 and 0, or than 8, 2, 0.
        ("efficient", [8, 1, 1]),
        # 7.8, 1.1, 1.1: 7, 1, 1; one is left.
        ("largest-remainder", [8, 1, 1]),
    ],
)
def test_the_methods_differ(method: str, expected: list[int]) -> None:
    assert round_design([0.78, 0.11, 0.11], 10, method).tolist() == expected


def test_small_weights_get_a_pull_but_not_by_remainders() -> None:
    weights = [0.97, 0.01, 0.02]
    assert round_design(weights, 10, "efficient").tolist() == [8, 1, 1]
    assert round_design(weights, 10, "largest-remainder").tolist() == [10, 0, 0]


@pytest.mark.each("weights", [[0.5, 0.3, 0.2], [0.9, 0.05, 0.05], [0.62, 0.0, 0.38]])
def test_efficient_is_the_best_of_all(weights: list[float]) -> None:
    for budget in range(3, 12):
        every = [c for c in itertools.product(range(budget + 1), repeat=3) if sum(c) == budget]
        best = min(factor(np.array(weights), np.array(counts)) for counts in every)
        np.testing.assert_allclose(factor(np.array(weights), round_design(weights, budget)), best)


# In general


@settings(deadline=None)
@given(case=cases(), method=st.sampled_from(ROUNDINGS))
def test_sums_are_exact_and_factors_kept(case: tuple[np.ndarray, int], method: str) -> None:
    weights, budget = case
    counts = round_design(weights, budget, method)
    assert counts.dtype == np.int64 and counts.sum() == budget and (counts >= 0).all()
    assert not counts[weights == 0].any()
    assert factor(weights, counts) <= promised(weights, budget, method) * (1 + 1e-6)
    if method == "largest-remainder":
        assert (np.abs(counts - budget * weights) < 1 + 1e-6).all()
    else:
        assert (counts[weights > 0] >= 1).all()
        arms = (weights > 0).sum()
        assert (counts >= (budget - arms) * weights * (1 - 1e-6)).all()


@pytest.mark.each("method", ROUNDINGS)
def test_a_batch_is_its_instances(method: str) -> None:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(9, 0.3), (3, 4))
    weights[0, 0, :5] = 0.0
    weights /= weights.sum(axis=-1, keepdims=True)
    budget = rng.integers(9, 60, (3, 4))
    batch = round_design(weights, budget, method)
    assert (batch.sum(axis=-1) == budget).all()
    for at in np.ndindex(3, 4):
        assert batch[at].tolist() == round_design(weights[at], budget[at], method).tolist()
    assert (
        round_design(weights[0, 0], budget, method)[1, 1] == round_design(weights[0, 0], budget[1, 1], method)
    ).all()
    assert (round_design(weights, 30, method).sum(axis=-1) == 30).all()
    assert round_design(np.empty((0, 3)), 4, method).shape == (0, 3)


@pytest.mark.each("method", ROUNDINGS)
def test_ties_are_broken_as_asked(method: str) -> None:
    weights = np.full((500, 4), 0.25)
    assert (round_design(weights, 6, method) == [2, 2, 1, 1]).all()
    counts = round_design(weights, 6, method, rng=np.random.default_rng(0))
    assert (np.sort(counts, axis=-1) == [1, 1, 2, 2]).all()
    assert (np.abs(counts.mean(axis=0) - 1.5) < 0.1).all()
    assert (counts == round_design(weights, 6, method, rng=np.random.default_rng(0))).all()
    # Where there is no tie, there is nothing to draw.
    clear = [0.614, 0.03, 0.356]
    shuffled = round_design([clear] * 20, 50, method, rng=np.random.default_rng(1))
    assert (shuffled == round_design(clear, 50, method)).all()


def test_small_budgets_if_allowed() -> None:
    weights = [[0.1, 0.4, 0.2, 0.3], [0.0, 0.5, 0.5, 0.0]]
    counts = round_design(weights, 2, "efficient", allow_small_budget=True)
    assert counts.tolist() == [[0, 1, 0, 1], [0, 1, 1, 0]]
    assert round_design(weights, 1, "largest-remainder").tolist() == [[0, 1, 0, 0], [0, 1, 0, 0]]


# Rounding up


@settings(deadline=None)
@given(case=cases(), mass=st.floats(0, 1000))
def test_ceil_allocation(case: tuple[np.ndarray, int], mass: float) -> None:
    weights, _ = case
    counts = ceil_allocation(weights, mass)
    assert (counts >= mass * weights * (1 - 1e-8)).all() and (counts <= mass * weights + 1).all()
    assert counts.sum() < mass + (weights > 0).sum() + 1e-6


def test_ceil_allocation_does_not_round_up_noise() -> None:
    assert 0.1 * 3 * 10 > 3
    assert ceil_allocation([0.1 * 3, 1 - 0.1 * 3], 10).tolist() == [3, 7]
    assert ceil_allocation([[0.5, 0.5], [0.25, 0.75]], [3.0, 2.0]).tolist() == [[2, 2], [1, 2]]
    assert ceil_allocation([0.5 + 4e-7, 0.5 + 4e-7], 2e6).tolist() == [10**6] * 2  # weights that nearly sum to 1
    assert ceil_allocation([0.5, 0.5], 0).tolist() == [0, 0]
