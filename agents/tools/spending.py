"""Counts of pulls that some money pays for, where arms have costs."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import Episode, PerArm, State
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.validation import choice

__all__ = ["SPLITS", "PricedState", "bought_counts", "can_pay", "check_split"]

SPLITS = ("equal", "sqrt")
"""How money is split: equally many pulls, or pulls in proportion to 1 / sqrt(cost)."""


def check_split(split: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless there is such a split."""
    choice(split, SPLITS, f"costs of {agent}")


def bought_counts(money: FloatArray, costs: FloatArray, split: str) -> IntArray:
    """Return the pulls of each arm that the money pays for, rounded down.

    With rewards of equal variance, counts in proportion to 1 / sqrt(cost) minimise the variance of the difference of
    two means for a given sum of money, which equal counts do only where costs are equal. An arm too expensive for its
    share gets one pull, and all share what is left.

    Args:
        money: ``(N,)``, at least the sum of the costs.
        costs: ``(N, k)`` costs of the arms.
        split: One of :data:`SPLITS`.

    Returns:
        ``(N, k)`` counts, at least 1, which cost at most the money.
    """
    weights = np.ones_like(costs) if split == "equal" else 1.0 / np.sqrt(costs)
    share = weights / (weights * costs).sum(axis=-1, keepdims=True)
    counts = np.floor(money[:, None] * share * (1.0 + ROUNDING))
    short = (counts < 1).any(axis=-1)
    if short.any():
        rest = np.maximum(money - costs.sum(axis=-1), 0.0)
        counts[short] = 1.0 + np.floor(rest[:, None] * share)[short]
    return counts.astype(np.int64)


class PricedState(State):
    """What the rules of sequential agents use where arms have costs."""

    cost: PerArm  # of a pull
    money: float  # of the episode, and of pulls before it


def can_pay(e: Episode, s: PricedState, w: PricedState, arm: int) -> bool:
    """Return whether the money left pays for a pull of an arm."""
    left = s.money * (1.0 + ROUNDING)
    for other in range(e.num_arms):
        left -= w.cost[other] * e.pulls[other]
    return bool(w.cost[arm] <= left)
