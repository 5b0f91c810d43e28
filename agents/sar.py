"""SAR: successive accepts and rejects, for the m best arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Plan, PlannedAgent
from bai_gym.agents.choosing import best_answer, shuffled_arms, spread_evenly
from bai_gym.agents.rejects import phase_lengths
from bai_gym.problems import Briefing
from bai_gym.sampling import Block
from bai_gym.statistics import IntArray
from bai_gym.tasks import BestArm, TopM

__all__ = ["SAR"]


@dataclass(kw_only=True)
class SAR(PlannedAgent):
    """In each of K - 1 phases pulls all active arms equally often, and decides about the one of largest empirical gap.

    That arm is accepted if it is above the border between the m best and the rest, else rejected. The last arm is
    accepted if the set is not full. For m = 1 it is successive rejects.

    Paper: Bubeck, Wang and Viswanathan (2013), "Multiple Identifications in Multi-Armed Bandits", Figure 1.

    Knows nothing. Minimum budget: K + 1, so that the first phase has a pull of each arm; pulls lost to rounding are
    left unspent.
    """

    name: ClassVar[str] = "SAR"
    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name})
    uses_variances: ClassVar[bool] = False

    def minimum_budget(self, num_arms: int) -> int:
        """Return one more than the number of arms."""
        return num_arms + 1

    def begin(self, briefing: Briefing) -> None:
        """Accept nothing yet."""
        self._accepted = np.zeros((self.batch, self.num_arms), np.int64)
        self._wanted = np.full(self.batch, self.task.m)
        self._active = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)

    def plan(self) -> Plan:
        """Run the phases."""
        if self.budget <= self.num_arms:
            yield Block(spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng))
            self._accepted = best_answer(self.statistics, TopM(self.task.m), self.tie, self.rng)
            return
        lengths = phase_lengths(self.num_arms, self.budget)
        left = self.budget
        for length in np.diff(lengths, prepend=0):
            size = self._active.shape[1]
            pulls = min(int(length) * size, left)
            left -= pulls
            if pulls:  # n_k does not grow in every phase
                yield Block(spread_evenly(self.batch, size, pulls, self.tie, self.rng), self._active)
            self._decide()
        self._accept(np.flatnonzero(self._wanted > 0), np.zeros(self.batch, np.int64))

    def _decide(self) -> None:
        """Accept or reject an arm of every episode."""
        now = self.statistics.take(self._active)
        means = np.where(now.pulls > 0, now.means, -np.inf)
        order = np.argsort(-means, axis=-1, kind="stable")
        ranked = np.take_along_axis(means, order, -1)
        episodes, size = np.arange(self.batch), means.shape[1]
        wanted = self._wanted
        inner = np.clip(wanted, 1, size - 1)  # where it is clipped, the gaps are not read
        with np.errstate(invalid="ignore"):  # -inf less -inf, of arms without a pull
            to_accept = ranked[:, 0] - ranked[episodes, inner]
            to_reject = ranked[episodes, inner - 1] - ranked[:, -1]
        accepts = (wanted == size) | ((wanted > 0) & (wanted < size) & (to_accept > to_reject))
        slots = np.where(accepts, order[:, 0], order[:, -1])
        self._accept(np.flatnonzero(accepts), slots)
        kept = np.arange(size) != slots[:, None]
        self._active = self._active[kept].reshape(self.batch, size - 1)

    def _accept(self, rows: IntArray, slots: IntArray) -> None:
        self._accepted[rows, self._active[rows, slots[rows]]] = 1
        self._wanted[rows] -= 1

    def answer(self) -> IntArray:
        """Return the accepted arms."""
        return self._accepted if isinstance(self.task, TopM) else self._accepted.argmax(axis=-1)
