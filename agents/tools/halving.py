"""The meta-algorithm of sequential halving, shared by SH, SHVar and SHAdaVar."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import best_mean, keep_best, spread_evenly
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Request
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import choice

__all__ = ["FORGETS", "HalvingAgent", "Stage", "all_samples", "num_stages", "run_stages"]

FORGETS = "each stage forgets the samples of the stages before, which usually raises the error probability"

Stage = Generator[Request, Any, Statistics]
"""Yields the requests of one stage, and returns the ``(N, k)`` statistics of its pulls."""


def num_stages(num_arms: int, rate: int = 2) -> int:
    """Return ceil(log K) to the base ``rate``: the stages until one arm is left, if each keeps 1 / rate, rounded up.

    Computed in integers: rounding can push a whole logarithm above its value.
    """
    stages = 0
    while num_arms > 1:
        num_arms = -(-num_arms // rate)
        stages += 1
    return stages


@dataclass(kw_only=True)
class HalvingAgent(Agent):
    """Algorithm 1 of Lalitha et al. (2023): in each of ceil(log2 K) stages the better half of the arms survives.

    Every stage has floor(n / stages) pulls. Leftover pulls are not made, unless ``leftover`` says otherwise. A stage's
    estimates come from its own samples only, unless ``samples`` says otherwise. If a budget n below K is allowed, n
    arms get one pull each, and the agent recommends the best mean.

    Args:
        samples: ``"stage"`` (default, as published): estimates from the samples of the stage. ``"all"``: from all
            samples so far.
        leftover: ``"drop"`` (default) or ``"last"``: give pulls left over by rounding to the last stage.

    Minimum budget: K ceil(log2 K), one pull per arm in the first stage.
    """

    samples: str = "stage"
    leftover: str = "drop"

    quick: ClassVar[bool] = True

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if stages forget samples."""
        return () if self.samples == "all" else (f"{self.name}: {FORGETS}; samples=all keeps them",)

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm in the first stage."""
        return num_arms * num_stages(num_arms)

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.samples, ("stage", "all"), f"samples of {self.name}")
        choice(self.leftover, ("drop", "last"), f"leftover of {self.name}")

    @override
    def plan(self) -> Plan:
        if self.budget < self.num_arms:
            made = yield Block(spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng))
            return best_mean(made, self.tie, self.rng)
        active = np.broadcast_to(np.arange(self.num_arms), (self.batch, self.num_arms))
        return (yield from run_stages(self, active, 2, self.samples, self.leftover, self.pull_stage, observed_means))

    @abstractmethod
    def pull_stage(self, active: IntArray, pulls: int) -> Stage:
        """Yield the requests of one stage, and return the ``(N, k)`` statistics of its pulls.

        Args:
            active: ``(N, k)`` arms of the stage, in the order in which the stages began.
            pulls: Pulls that the stage has.
        """

    def candidates(self, active: IntArray) -> IntArray | None:
        """Return the candidate arms for a request: None, which is faster, as long as all arms are active."""
        return active if active.shape[-1] < self.num_arms else None


def run_stages(
    agent: Agent,
    active: IntArray,
    rate: int,
    samples: str,
    leftover: str,
    pull_stage: Callable[[IntArray, int], Stage],
    values: Callable[[IntArray, Statistics], FloatArray],
) -> Plan:
    """Keep the best 1 / rate of the arms, rounded up, stage after stage, and return the survivors.

    Args:
        agent: The agent whose plan this is.
        active: ``(N, k)`` the arms of the first stage.
        rate: At least 2.
        samples: ``"stage"`` or ``"all"``, see :class:`HalvingAgent`.
        leftover: ``"drop"`` or ``"last"``, likewise.
        pull_stage: Makes the pulls of a stage, see :meth:`HalvingAgent.pull_stage`.
        values: Returns the ``(N, k)`` values that rank arms, from the active arms and their statistics.
    """
    stages = num_stages(active.shape[-1], rate)
    stage_budget, rest = divmod(agent.budget, stages)
    for stage in range(1, stages + 1):
        last = stage == stages and leftover == "last"
        estimates = yield from pull_stage(active, stage_budget + rest * last)
        if samples == "all":
            estimates = all_samples(agent, active)
        size = -(-active.shape[-1] // rate)
        kept = keep_best(values(active, estimates), size, agent.tie, agent.rng)
        active = active[kept].reshape(agent.batch, size)
    return active[:, 0]


def all_samples(agent: Agent, active: IntArray) -> Statistics:
    """Return the statistics of all samples of ``(N, k)`` arms so far, without variances."""
    everything = agent.statistics.take(active, variances=False)
    return everything.since(Statistics.zeros(active.shape), variances=False)  # exact ties, see `since`


def observed_means(active: IntArray, estimates: Statistics) -> FloatArray:
    """Return the sample means, -inf without a pull."""
    if estimates.pulls.all():
        return estimates.means
    return np.where(estimates.pulls > 0, estimates.means, -np.inf)
