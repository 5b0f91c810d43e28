"""The meta-algorithm of sequential halving, which SH, SHVar and SHAdaVar fill in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.choosing import best_mean, keep_best, spread_evenly
from bai_gym.agents.parameters import check_choice
from bai_gym.problems import Briefing
from bai_gym.sampling import Block, Request
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["HalvingAgent", "num_stages"]


def num_stages(num_arms: int, rate: int = 2) -> int:
    """Return ceil(log K), to the base ``rate``: how often a share of 1 / rate, rounded up, is kept until one is left.

    In whole numbers: a logarithm that should be whole may come out above itself.
    """
    stages = 0
    while num_arms > 1:
        num_arms = -(-num_arms // rate)
        stages += 1
    return stages


@dataclass(kw_only=True)
class HalvingAgent(Agent):
    """Algorithm 1 of Lalitha et al. (2023): in each of ceil(log2 K) stages the better half of the arms survives.

    Every stage has floor(n / stages) pulls. Pulls that this leaves over are not made, unless ``leftover`` says
    otherwise. A stage's estimates come from its own samples only, unless ``samples`` says otherwise. A budget below K,
    where it is allowed, is one pull for each of that many arms, and the best mean.

    Args:
        samples: ``"stage"`` (default, as published): estimates from the samples of the stage. ``"all"``: from all
            samples so far.
        leftover: ``"drop"`` (default) or ``"last"``: give the pulls left over by rounding to the last stage.

    Minimum budget: K ceil(log2 K), one pull per arm in the first stage.
    """

    samples: str = "stage"
    leftover: str = "drop"

    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm in the first stage."""
        return num_arms * num_stages(num_arms)

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        check_choice(self.samples, ("stage", "all"), "samples", self.name)
        check_choice(self.leftover, ("drop", "last"), "leftover", self.name)

    def plan(self) -> Plan:
        """Run the stages."""
        if self.budget < self.num_arms:
            made = yield Block(spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng))
            return best_mean(made, self.tie, self.rng)
        return (yield from self.run_stages(np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms)), 2))

    def run_stages(self, active: IntArray, rate: int) -> Plan:
        """Keep the best 1 / rate of the arms ``(N, K)``, rounded up, stage after stage, and return the survivors."""
        stages = num_stages(self.num_arms, rate)
        stage_budget, leftover = divmod(self.budget, stages)
        for stage in range(1, stages + 1):
            last = stage == stages and self.leftover == "last"
            estimates = yield from self.pull_stage(active, stage_budget + leftover * last)
            if self.samples == "all":
                everything = self.statistics.take(active, variances=False)
                estimates = everything.since(Statistics.zeros(active.shape), variances=False)  # exact ties, see `since`
            size = -(-active.shape[-1] // rate)
            kept = keep_best(self.values(active, estimates), size, self.tie, self.rng)
            active = active[kept].reshape(self.batch, size)
        return active[:, 0]

    def values(self, active: IntArray, estimates: Statistics) -> FloatArray:
        """Return what arms are ranked by, ``(N, k)``: their means, -inf without a pull.

        Args:
            active: ``(N, k)`` arms of the stage.
            estimates: ``(N, k)`` statistics of the samples that count.
        """
        if estimates.pulls.all():
            return estimates.means
        return np.where(estimates.pulls > 0, estimates.means, -np.inf)

    @abstractmethod
    def pull_stage(self, active: IntArray, pulls: int) -> Generator[Request, Any, Statistics]:
        """Yield the requests of one stage, and return the ``(N, k)`` statistics of its pulls.

        Args:
            active: ``(N, k)`` arms of the stage, in the order in which the stages began.
            pulls: Pulls that the stage has.
        """

    def candidates(self, active: IntArray) -> IntArray | None:
        """Return the candidate arms for a request: None, which is faster, as long as all arms are active."""
        return active if active.shape[-1] < self.num_arms else None
