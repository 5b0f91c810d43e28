"""Successive rejects by the differences on common items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import best_mean, keep_best, pulls_of_an_arm
from bai_gym.agents.tools.rejects import budget_of_phases, phase_lengths
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray

__all__ = ["PairedSR"]


@dataclass(kw_only=True)
class PairedSR(Agent):
    """In each phase of successive rejects drops the arm that is most surely worse than the leader on common items.

    The phases are those of SR. With L the arm of largest mean, m means over N common items, and W_i the sum of squared
    deviations of the differences X_L - X_i from their mean, it drops the arm of largest
    (m_L - m_i) / sqrt((W_i + 2 v) / (N + 2)): v, the mean of all W_i / N (0 for the leader), stands for two more items,
    and keeps an arm that differs from the leader by a constant from being certain.

    An agent of this library, and experimental. The phases are from Audibert, Bubeck and Munos (2010).

    Args:
        cap: ``"budget"`` (default) or ``"items"``, as for SR.
    """

    cap: str = "budget"

    name = "PairedSR"
    uses_variances = False
    uses_pairs = True
    minimum_budget = budget_of_phases

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.most = pulls_of_an_arm(self.cap, info, self.name)

    @override
    def plan(self) -> Plan:
        if self.budget <= self.num_arms:
            return (yield from few_pulls(self))
        active = np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms))
        items = 0
        for length in phase_lengths(self.num_arms, self.budget, self.most).tolist():
            if length > items:  # n_k does not grow in every phase
                yield Block(np.full(active.shape, length - items), active)
            items = length
            size = active.shape[1] - 1
            choice = keep_best(-self.doubts(active, items), size, self.tie, self.rng)
            active = active[choice].reshape(self.batch, size)
        return active[:, 0]

    def doubts(self, active: np.ndarray, items: int) -> FloatArray:
        """Return how surely each of ``(N, k)`` active arms is worse than the leader, 0 for the leader itself."""
        leader = best_mean(self.statistics.take(active, variances=False), "first", self.rng)
        rows = np.arange(self.batch)
        place = rows[:, None], active[rows, leader][:, None], active
        behind, variance = self._seen["differences"][place], self._seen["difference_variances"][place]  # (N, k)
        scatter = variance * (items - 1)  # W
        shared = scatter.mean(axis=1, keepdims=True) / items  # v
        with np.errstate(invalid="ignore", divide="ignore"):
            doubts = behind / np.sqrt((scatter + 2.0 * shared) / (items + 2))
        return np.where(behind > 0.0, np.where(shared > 0.0, doubts, behind), 0.0)
