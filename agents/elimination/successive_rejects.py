"""Successive rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import best_mean, keep_best, pulls_of_an_arm, spread_evenly
from bai_gym.agents.tools.rejects import phase_lengths
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, exact_sums
from bai_gym.validation import choice

__all__ = ["SuccessiveRejects"]


@dataclass(kw_only=True)
class SuccessiveRejects(Agent):
    """In each of K - 1 phases the active arms are pulled equally often; then the one of smallest mean is dropped.

    After phase k an active arm has n_k = ceil((n - K) / (logbar(K) (K + 1 - k))) pulls, and its mean is that of all of
    them; logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K. The survivor is recommended. Pulls left over by rounding are not
    made, unless ``leftover`` says otherwise. If a budget n of at most K is allowed, n arms get one pull each, and the
    agent recommends the best mean.

    Where arms have different costs, the lengths n_k are scaled by one factor, so that the schedule costs the budget if
    the arms left are dropped in random order. After each phase the factor is set again, to the money and the arms left.

    Paper: Audibert, Bubeck and Munos (2010), "Best Arm Identification in Multi-Armed Bandits", Figure 3.

    Args:
        leftover: ``"drop"`` (default, as published) or ``"last"``: share the pulls left over among the last two arms.
        cap: ``"budget"`` (default): the budget alone limits the pulls of an arm. ``"items"``: where rewards are those
            of a number of items, drawn without replacement, no arm is pulled more often than there are items. Pulls
            that this saves lengthen the earlier phases by a common factor (Lyu et al. 2026).

    Requires no oracle knowledge. Minimum budget: K + 1.
    """

    leftover: str = "drop"
    cap: str = "budget"

    name: ClassVar[str] = "SR"
    uses_variances: ClassVar[bool] = False
    uses_costs: ClassVar[bool] = True
    quick: ClassVar[bool] = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return the smallest budget with a pull in the first phase."""
        return num_arms + 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.leftover, ("drop", "last"), f"leftover of {self.name}")
        self.most = pulls_of_an_arm(self.cap, info, self.name)

    @override
    def plan(self) -> Plan:
        if self.budget <= self.num_arms:
            made = yield Block(spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng))
            return best_mean(made, self.tie, self.rng)
        active = np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms))
        if self.arm_costs is not None:
            return (yield from self.plan_for_money(active, self.arm_costs))
        sums: FloatArray = np.zeros(active.shape)
        left, before = self.budget, 0
        for length in phase_lengths(self.num_arms, self.budget, self.most).tolist():
            size = active.shape[-1]
            each = length - before
            counts = np.full((self.batch, size), each, np.int64)
            if size == 2 and self.leftover == "last":
                pulls = left if self.most is None else min(left, size * (self.most - before))
                counts = spread_evenly(self.batch, size, pulls, self.tie, self.rng)
            pulls = int(counts[0].sum())
            if pulls:  # n_k does not grow in every phase
                made = yield Block(counts, active if size < self.num_arms else None)
                sums += made.sums
                exact_sums(sums)  # so that equal sums of whole rewards are equal
            # Arms with equally many pulls are in the order of their sums.
            values = sums if pulls == each * size else sums / (counts + before)
            kept = keep_best(values, size - 1, self.tie, self.rng)
            active = active[kept].reshape(self.batch, size - 1)
            sums = sums[kept].reshape(self.batch, size - 1)
            left, before = left - pulls, length
        return active[:, 0]

    def plan_for_money(self, active: IntArray, costs: FloatArray) -> Plan:
        """Run the phases where arms have costs: phase k has n_k - n_(k-1) pulls of each of its K + 1 - k arms.

        Args:
            active: ``(N, K)`` all arms.
            costs: ``(K,)`` their costs.
        """
        sizes = np.arange(self.num_arms, 1, -1)
        growth = np.diff(1.0 / sizes, prepend=0.0)  # n_k - n_(k-1), up to the factor
        sums: FloatArray = np.zeros(active.shape)
        for phase, size in enumerate(sizes.tolist()):
            schedule = (growth[phase:] * sizes[phase:]).sum() * costs[active].mean(axis=-1)
            each = np.floor(self.money_left * growth[phase] / schedule * (1.0 + ROUNDING))
            counts = np.broadcast_to(each[:, None], active.shape).astype(np.int64)
            made = yield Block(counts, active if size < self.num_arms else None)
            sums += made.sums
            exact_sums(sums)
            kept = keep_best(sums, size - 1, self.tie, self.rng)  # all have equally many pulls
            active = active[kept].reshape(self.batch, size - 1)
            sums = sums[kept].reshape(self.batch, size - 1)
        return active[:, 0]
