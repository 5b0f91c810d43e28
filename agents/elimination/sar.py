"""SAR: successive accepts and rejects, for the m best arms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import shuffled_arms, spread_evenly
from bai_gym.agents.tools.rejects import budget_of_phases, phase_lengths
from bai_gym.sampling import Block
from bai_gym.statistics import BoolArray, IntArray, Statistics
from bai_gym.tasks import BestArm, TopM

__all__ = ["SAR"]


@dataclass(kw_only=True)
class SAR(Agent):
    """In each of K - 1 phases pulls all active arms equally often, and decides about the one of largest empirical gap.

    That arm is accepted if it is above the border between the m best and the rest, else rejected. The last arm is
    accepted if the set is not full. For m = 1 it is successive rejects.

    Paper: Bubeck, Wang and Viswanathan (2013), "Multiple Identifications in Multi-Armed Bandits", Figure 1.

    Requires no oracle knowledge. Minimum budget: K + 1, so that the first phase has a pull of each arm; pulls lost to
    rounding are left unspent.
    """

    name = "SAR"
    tasks = frozenset({BestArm.name, TopM.name})
    uses_variances = False
    quick = True
    minimum_budget = budget_of_phases

    @override
    def plan(self) -> Plan:
        if self.budget <= self.num_arms:
            return (yield from few_pulls(self))
        active = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        accepted = np.zeros(active.shape, np.int64)
        wanted = np.full(self.batch, self.task.m)
        left = self.budget
        for length in np.diff(phase_lengths(self.num_arms, self.budget), prepend=0):
            size = active.shape[1]
            pulls = min(int(length) * size, left)
            left -= pulls
            if pulls:  # n_k does not grow in every phase
                yield Block(spread_evenly(self.batch, size, pulls, self.tie, self.rng), active)
            slots, accepts = decide(self.statistics.take(active, variances=False), wanted)
            rows = np.flatnonzero(accepts)
            accepted[rows, active[rows, slots[rows]]] = 1
            wanted -= accepts
            active = active[np.arange(size) != slots[:, None]].reshape(self.batch, size - 1)
        rows = np.flatnonzero(wanted)
        accepted[rows, active[rows, 0]] = 1
        return accepted if isinstance(self.task, TopM) else accepted.argmax(axis=-1)


def decide(now: Statistics, wanted: IntArray) -> tuple[IntArray, BoolArray]:
    """Return the slot of largest empirical gap in each episode, and whether its arm is accepted.

    Args:
        now: ``(N, k)`` statistics of the active arms.
        wanted: ``(N,)`` arms still to be accepted.
    """
    means = np.where(now.pulls > 0, now.means, -np.inf)
    order = np.argsort(-means, axis=-1, kind="stable")
    ranked = np.take_along_axis(means, order, -1)
    rows, size = np.arange(len(means)), means.shape[1]
    inner = np.clip(wanted, 1, size - 1)  # where it is clipped, the gaps are not read
    with np.errstate(invalid="ignore"):  # -inf less -inf, of arms without a pull
        to_accept = ranked[:, 0] - ranked[rows, inner]
        to_reject = ranked[rows, inner - 1] - ranked[:, -1]
    accepts = (wanted == size) | ((wanted > 0) & (wanted < size) & (to_accept > to_reject))
    return np.where(accepts, order[:, 0], order[:, -1]), accepts
