"""The schedule of successive rejects, which several algorithms follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.tools.choosing import spread_evenly
from bai_gym.statistics import ROUNDING, IntArray
from bai_gym.theory.complexity import log_bar

__all__ = ["Schedule", "budget_of_phases", "phase_ends", "phase_lengths", "rejection_times"]


def budget_of_phases(agent: Agent, num_arms: int) -> int:
    """Return the smallest budget with a pull of each arm in the first phase."""
    return num_arms + 1


class Schedule:
    """The pulls of the active arms in each phase of successive rejects: n_k - n_(k-1) of each.

    With a budget of money n_k is proportional to 1 / (K + 1 - k). Before each phase its factor is set so that the
    schedule costs the money left if the arms left are dropped in random order.

    Args:
        agent: The agent whose plan this is.
        most: The most pulls of an arm.
        leftover: What becomes of pulls lost by rounding: ``"drop"``, or ``"last"``: the last two arms share them.
    """

    def __init__(self, agent: Agent, most: float = np.inf, leftover: str = "drop") -> None:
        """Compute the lengths of the phases."""
        self._agent, self._last = agent, leftover == "last"
        self._room: Any = most  # with money, ``(N,)`` pulls of an arm that are left
        self._sizes = np.arange(agent.num_arms, 1, -1)  # K + 1 - k
        priced = agent.funds.costs is not None
        self._ends: Any = 1.0 / self._sizes if priced else phase_lengths(agent.num_arms, agent.budget, most)

    def counts(self, active: IntArray) -> IntArray:
        """Return the ``(N, k)`` pulls of the active arms in the next phase."""
        agent, size = self._agent, active.shape[1]
        growth = np.diff(self._ends, prepend=0)[-(size - 1) :]  # n_k - n_(k-1) of this phase and the next ones
        if agent.funds.costs is None:
            each, before = int(growth[0]), int(self._ends[1 - size] - growth[0])
            if size == 2 and self._last:
                pulls = min(int(agent.left[0]), size * (self._room - before))
                return spread_evenly(agent.batch, size, int(pulls), agent.tie, agent.rng)
            return np.full(active.shape, each, np.int64)
        cost = (growth * self._sizes[1 - size :]).sum() * agent.funds.price(active).mean(axis=1)
        bought = np.floor(agent.left * growth[0] / cost * (1.0 + ROUNDING))
        bought = np.minimum(bought, self._room)
        self._room = self._room - bought
        return np.broadcast_to(bought[:, None], active.shape).astype(np.int64)


def phase_lengths(num_arms: int, budget: int, most: float = np.inf) -> IntArray:
    """Return n_1, ..., n_(K-1): the pulls that an arm has at the end of phase k, if it was active until then.

    n_k = ceil((n - K) / (logbar(K) (K + 1 - k))), where logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K; all 0 for n <= K.

    Args:
        num_arms: K.
        budget: n.
        most: No n_k exceeds it. The pulls that this saves lengthen all other phases by a common factor,
            rounded down, again until none exceeds it.

    Source: Audibert, Bubeck and Munos (2010), Figure 3; with ``most``, Lyu, Nejma, Wegel, Yang and Dorner (2026).
    """
    left = np.arange(num_arms, 1, -1)
    share = max(budget - num_arms, 0) / (log_bar(num_arms) * left)
    # An integer that rounding has pushed just above its value stays the same.
    lengths = np.ceil(share * (1.0 - ROUNDING)).astype(np.int64)
    arms = np.where(left == 2, 2, 1)  # that have n_k pulls in the end: one is dropped after each phase but the last
    while (saved := int(arms @ np.maximum(lengths - most, 0))) > 0:
        lengths = np.minimum(lengths, most)
        shorter = lengths < most
        total = int((arms * lengths)[shorter].sum())
        if total:
            lengths[shorter] = lengths[shorter] * (total + saved) // total
    return np.asarray(lengths)


def phase_ends(num_arms: int, budget: int) -> IntArray:
    """Return t_1, ..., t_(K-1): the pulls that successive rejects has made at the end of phase k, at most n.

    t_k = n_1 + ... + n_(k-1) + (K + 1 - k) n_k.
    """
    lengths = phase_lengths(num_arms, budget)
    return np.asarray(np.cumsum(lengths) - lengths + np.arange(num_arms, 1, -1) * lengths)


def rejection_times(num_arms: int, budget: int) -> IntArray:
    """Return the pulls at which the 1st, ..., (K-1)th arm is dropped if no pull is left over: the last are n."""
    times = np.minimum(phase_ends(num_arms, budget), budget)
    times[-1] = budget
    return times
