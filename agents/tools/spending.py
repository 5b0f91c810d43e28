"""What agents buy with their budget: pulls, which they divide as integers, or what money pays for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.tools.choosing import spread_evenly
from bai_gym.common.budget import TOLERANCE
from bai_gym.sampling import STOP, Episode, PerArm, State
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.validation import choice

__all__ = ["SPLITS", "PricedState", "affordable", "bought_counts", "buys", "check_split", "prices", "shares"]

SPLITS = ("equal", "sqrt")
"""How money is split: equally many pulls, or pulls in proportion to 1 / sqrt(cost)."""


def check_split(split: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless there is such a split."""
    choice(split, SPLITS, f"costs of {agent}")


def shares(agent: Agent, stages: int, leftover: str = "drop") -> Iterator[Any]:
    """Yield the share of each stage of a plan, all of them equal: pulls, rounded down, or ``(N,)`` money.

    Of money a stage has the part of what is then left, so nothing is lost by rounding.

    Args:
        agent: The agent whose plan this is.
        stages: Their number.
        leftover: Pulls lost by rounding are not made (``"drop"``), or belong to the last stage (``"last"``).
    """
    each, rest = divmod(agent.budget, stages)
    for stage in range(1, stages + 1):
        if agent.funds.costs is not None:
            yield agent.left / (stages + 1 - stage)
        else:
            yield each + rest * (stage == stages and leftover == "last")


def buys(
    agent: Agent, share: Any, arms: IntArray, *, split: str = "equal", rounding: str = "stage", most: float = np.inf
) -> IntArray:
    """Return the pulls of each arm that a share buys, equally many of each.

    Args:
        agent: The agent whose plan this is.
        share: Pulls, or ``(N,)`` money, see :func:`shares`.
        arms: ``(N, k)`` the arms.
        split: Of money: one of :data:`SPLITS`.
        rounding: Of pulls: whether the remainder is spread over random arms (``"stage"``), or not made (``"equal"``),
            unless it is all.
        most: The most pulls of an arm.

    Returns:
        ``(N, k)`` counts.
    """
    size = arms.shape[1]
    if agent.funds.costs is not None:
        return np.minimum(bought_counts(share, agent.funds.price(arms), split), most).astype(np.int64)
    if rounding == "equal" and share >= size:
        share -= share % size
    return spread_evenly(len(arms), size, int(min(share, most * size)), agent.tie, agent.rng)


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
    """What a rule uses that takes account of costs."""

    cost: PerArm  # of a pull
    money: float  # left before the pull made last


def prices(agent: Agent) -> dict[str, Any]:
    """Return the fields of :class:`PricedState`; a budget of pulls ends a rule by its number of steps, not by money."""
    if agent.funds.costs is None:
        return {"cost": np.ones(agent.num_arms), "money": np.inf}
    return {"cost": np.array(agent.funds.costs), "money": agent.left + 0.5 * TOLERANCE * agent.funds.total}


def affordable(e: Episode, s: PricedState, w: PricedState, arm: int) -> int:
    """Return the arm, or ``STOP`` if the money left does not pay for a pull of it; called once for every choice."""
    if e.pulled >= 0:
        s.money -= w.cost[e.pulled]
    return arm if w.cost[arm] <= s.money else STOP
