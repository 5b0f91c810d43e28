"""Successive rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import keep_best, pulls_of_an_arm
from bai_gym.agents.tools.halving import candidates, every_arm, gaps_of_arms, last_answer
from bai_gym.agents.tools.rejects import Schedule, budget_of_phases
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, exact_sums
from bai_gym.tasks import BestArm

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

    For other tasks than the best arm, which the paper does not consider, the arm is dropped about which the answer is
    most certain, see :func:`bai_gym.agents.tools.halving.gaps_of_arms`, and the answer for the sample means is
    recommended; :class:`bai_gym.agents.elimination.sar.SAR` is the published form for the m best arms.

    Paper: Audibert, Bubeck and Munos (2010), "Best Arm Identification in Multi-Armed Bandits", Figure 3.

    Args:
        leftover: ``"drop"`` (default, as published) or ``"last"``: share the pulls left over among the last two arms.
        cap: ``"budget"`` (default): the budget alone limits the pulls of an arm. ``"items"``: where rewards are those
            of a number of items, drawn without replacement, no arm is pulled more often than there are items. Pulls
            that this saves lengthen the earlier phases by a common factor (Lyu et al. 2026).

    Requires no oracle knowledge. Minimum budget: K + 1.
    """

    leftover: Literal["drop", "last"] = "drop"
    cap: str = "budget"

    name = "SR"
    uses_variances = False
    uses_costs = True
    quick = True
    general = True
    minimum_budget = budget_of_phases

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.most = pulls_of_an_arm(self.cap, info, self.name)

    @override
    def plan(self) -> Plan:
        if self.budget <= self.num_arms:
            return (yield from few_pulls(self))
        active, schedule = every_arm(self), Schedule(self, self.most, self.leftover)
        sums: FloatArray = np.zeros(active.shape)
        before: IntArray = np.zeros((self.batch, 1), np.int64)  # pulls of every active arm
        while (size := active.shape[1]) > 1:
            counts = schedule.counts(active)  # n_k - n_(k-1)
            if counts.any():  # n_k does not grow in every phase
                made = yield Block(counts, candidates(self, active))
                sums += made.sums
                exact_sums(sums)  # so that equal sums of whole rewards are equal
            # Arms with equally many pulls are in the order of their sums; only in the last phase they may differ.
            if isinstance(self.task, BestArm):
                values = sums / np.maximum(before + counts, 1) if size == 2 else sums
            else:
                values = -gaps_of_arms(self.task, self.statistics.means, active)
            kept = keep_best(values, size - 1, self.tie, self.rng)
            active = active[kept].reshape(self.batch, size - 1)
            sums = sums[kept].reshape(self.batch, size - 1)
            before = before + counts[:, :1]
        return last_answer(self, active)
