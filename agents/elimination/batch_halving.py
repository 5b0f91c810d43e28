"""Sequential halving in rounds of pulls whose rewards arrive together: breadth first, and advance first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import Count
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import best_remaining, largest
from bai_gym.agents.tools.halving import all_samples, budget_of_stages, num_stages
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import BoolArray, IntArray, Statistics

__all__ = ["AdvanceFirstHalving", "BatchHalving", "target_pulls"]


@dataclass(kw_only=True)
class BatchHalving(Agent):
    """Sequential halving, breadth first: every pull goes to the best arm that has the next target number of pulls.

    The targets are the numbers of pulls that an arm has in sequential halving, stage by stage: as many arms as are left
    get their next pull, then their next but one. In the middle of a round, the best arm is chosen by the rewards that
    have arrived, and a stage that ends there passes on arms by them.

    Paper: Koyamada, Nishimori and Ishii (2024), "A Batch Sequential Halving Algorithm without Performance Degradation"
    (arXiv 2406.00424), where it is BSH.

    Args:
        batch_size: Pulls of a round, at least 1; None (default): as many as in the rounds of the environment.

    Requires no oracle knowledge. Minimum budget: K ceil(log2 K).
    """

    batch_size: Count | None = None

    name = "BatchSH"
    uses_variances = False
    advance_first: ClassVar[bool] = False
    minimum_budget = budget_of_stages

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.round_size = info.rounds.batch_size if self.batch_size is None else self.batch_size
        self.late = info.rounds.late

    @override
    def plan(self) -> Plan:
        """Pull round by round, and recommend the best of the arms that are left."""
        targets = target_pulls(self.num_arms, self.budget, advance_first=self.advance_first)
        if self.budget < self.num_arms or not targets:
            return (yield from few_pulls(self))
        arms = np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms))
        for begin in range(0, len(targets), self.round_size):
            seen = all_samples(self, arms)
            counts = self.next_round(seen, targets[begin : begin + self.round_size])
            left = (seen.pulls + counts) > max(targets)
            if begin + self.round_size >= len(targets) and self.late:  # so that the last rewards arrive
                counts += self._rest(left, self.budget - len(targets))
            yield Block(counts)
        return best_remaining(all_samples(self, arms), left, self.tie, self.rng)

    def next_round(self, seen: Statistics, targets: list[int]) -> IntArray:
        """Return the ``(N, K)`` pulls of a round.

        Args:
            seen: ``(N, K)`` statistics of all rewards so far.
            targets: Pulls that the arm of each pull has before it, those of the round included.
        """
        rows, under_way = np.arange(self.batch), np.zeros_like(seen.pulls)
        scale = np.abs(seen.means).max(axis=1)
        means = np.where(seen.pulls > 0, seen.means, seen.means.min() - 1.0)  # arms without a reward come last
        for target in targets:
            ready = seen.pulls + under_way == target
            if self.advance_first:  # an arm whose rewards are under way begins no stage, unless there is no other
                settled = ready & (under_way == 0)
                ready = np.where(settled.any(axis=1, keepdims=True), settled, ready)
            best = largest(np.where(ready, means, -np.inf), scale, seen.pulls, self.tie, self.rng)
            under_way[rows, best] += 1
        return under_way

    def _rest(self, left: BoolArray, pulls: int) -> IntArray:
        """Return pulls that no stage needs, of arms that have been dropped."""
        dropped = np.where(left.all(axis=1, keepdims=True), True, ~left)
        place = np.cumsum(dropped, axis=1) - 1
        number = dropped.sum(axis=1, keepdims=True)
        return np.where(dropped, pulls // number + (place < pulls % number), 0)


@dataclass(kw_only=True)
class AdvanceFirstHalving(BatchHalving):
    """Sequential halving, advance first: an arm makes all its pulls of a stage before the next arm begins it.

    The best arms begin the next stage while the rewards of others are under way. If there are at least
    max(4, K / b) ceil(log2 K) rounds of b pulls, the recommendation is that of sequential halving (SH-Reuse with
    ``rounding="equal"``) with the same rewards of each arm.

    Paper: Koyamada, Nishimori and Ishii (2024), "A Batch Sequential Halving Algorithm without Performance Degradation"
    (arXiv 2406.00424), where it is ASH. Difference: an arm begins a stage only when the rewards of its last one have
    arrived, unless no other arm can.

    Args:
        batch_size: Pulls of a round, at least 1; None (default): as many as in the rounds of the environment.

    Requires no oracle knowledge. Minimum budget: K ceil(log2 K).
    """

    name = "ASH"
    advance_first = True


def target_pulls(num_arms: int, budget: int, *, advance_first: bool) -> list[int]:
    """Return how many pulls the arm of each pull has before it, in the order of the pulls.

    Stage r has the ceil(K / 2^r) best arms, each of which gets floor(n / (arms x stages)) pulls.

    Args:
        num_arms: K.
        budget: n.
        advance_first: Whether an arm makes all its pulls of a stage in a row.
    """
    stages, size, before = num_stages(num_arms), num_arms, 0
    targets: list[int] = []
    for _ in range(stages):
        each = budget // (size * stages)
        stage = range(before, before + each)
        targets += [*stage] * size if advance_first else [target for target in stage for _ in range(size)]
        before, size = before + each, -(-size // 2)
    return targets
