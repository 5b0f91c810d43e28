"""What algorithms share that keep the better part of the arms, stage after stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent
from bai_gym.agents.tools.choosing import best_recommendation, keep_best
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm, Task

__all__ = [
    "FORGETS",
    "HalvingAgent",
    "all_samples",
    "budget_of_stages",
    "candidates",
    "every_arm",
    "gaps_of_arms",
    "last_answer",
    "num_stages",
    "observed_means",
    "survivors",
]

FORGETS = "each stage forgets the samples of the stages before, which usually raises the error probability"


def num_stages(num_arms: int, rate: int = 2) -> int:
    """Return ceil(log K) to the base ``rate``: the stages until one arm is left, if each keeps 1 / rate, rounded up.

    Computed in integers: rounding can push a whole logarithm above its value.
    """
    stages = 0
    while num_arms > 1:
        num_arms = -(-num_arms // rate)
        stages += 1
    return stages


def budget_of_stages(agent: Agent, num_arms: int) -> int:
    """Return one pull per arm in the first of equal stages."""
    return num_arms * num_stages(num_arms)


@dataclass(kw_only=True)
class HalvingAgent(Agent):
    """Algorithm 1 of Lalitha et al. (2023): in each of ceil(log2 K) stages the better half of the arms survives.

    Every stage has floor(n / stages) pulls. Leftover pulls are not made, unless ``leftover`` says otherwise. A stage's
    estimates come from its own samples only, unless the agent keeps those of earlier stages. If a budget n below K is
    allowed, n arms get one pull each, and the agent recommends the best mean.

    For other tasks than the best arm, which the paper does not consider, the better half are the arms about which the
    answer is least certain, see :func:`gaps_of_arms`, and the answer for the last estimate of each arm is recommended.

    Args:
        leftover: ``"drop"`` (default) or ``"last"``: give pulls left over by rounding to the last stage.

    Attributes:
        keeps_samples: Whether estimates come from all samples so far.
        latest: ``(N, K)`` the last estimates of all arms, for other tasks.

    Minimum budget: K ceil(log2 K), one pull per arm in the first stage.
    """

    leftover: Literal["drop", "last"] = "drop"

    quick = True
    general = True
    keeps_samples: ClassVar[bool] = False
    minimum_budget = budget_of_stages

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if stages forget samples."""
        return () if self.keeps_samples else (f"{self.name}: {FORGETS}; {self.name}-Reuse keeps them",)

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.latest = Statistics.zeros((self.batch, self.num_arms))

    def better_half(self, active: IntArray, made: Statistics) -> IntArray:
        """Return the ``(N, ceil(k / 2))`` arms of largest mean, or for other tasks of smallest gap.

        Args:
            active: ``(N, k)`` arms of a stage.
            made: Statistics of its pulls.
        """
        estimates = all_samples(self, active) if self.keeps_samples else made
        if isinstance(self.task, BestArm):
            values = observed_means(estimates)
        else:
            np.put_along_axis(self.latest.pulls, active, estimates.pulls, 1)
            np.put_along_axis(self.latest.means, active, estimates.means, 1)
            values = -gaps_of_arms(self.task, self.latest.means, active)
        return survivors(self, active, values, -(-active.shape[1] // 2))


def every_arm(agent: Agent) -> IntArray:
    """Return ``(N, K)`` all arms, which are active in the first stage."""
    return np.broadcast_to(np.arange(agent.num_arms), (agent.batch, agent.num_arms))


def candidates(agent: Agent, active: IntArray) -> IntArray | None:
    """Return the candidate arms for a request: None, which is faster, as long as all arms are active."""
    return active if active.shape[1] < agent.num_arms else None


def survivors(agent: Agent, active: IntArray, values: FloatArray, size: int) -> IntArray:
    """Return the ``(N, size)`` arms of largest value, in their order; ties are broken by the rule.

    Args:
        agent: The agent whose plan this is.
        active: ``(N, k)`` arms.
        values: ``(N, k)``.
        size: From 1 to k.
    """
    return active[keep_best(values, size, agent.tie, agent.rng)].reshape(agent.batch, size)


def last_answer(agent: Agent, last: IntArray, estimates: Statistics | None = None) -> IntArray:
    """Return what an elimination recommends that ends with ``(N, 1)`` arms: that arm, or for other tasks by all means.

    Args:
        agent: The agent whose plan this is.
        last: ``(N, 1)`` the arm that is left.
        estimates: ``(N, K)`` estimates of all arms, for other tasks than the best arm; None: those of all samples.
    """
    if isinstance(agent.task, BestArm):
        return last[:, 0]
    return best_recommendation(estimates or agent.statistics, agent.task, agent.tie, agent.rng)


def gaps_of_arms(task: Task, means: FloatArray, active: IntArray) -> FloatArray:
    """Return ``(N, k)`` by how much the weakest contrast of the answer holds that each arm is in; inf if it is in none.

    Of a group of contrasts, which are overturned together only, the strongest one counts.

    Args:
        task: The task.
        means: ``(N, K)``.
        active: ``(N, k)`` arms.
    """
    weakest = np.full((len(means), means.shape[1] + 1), np.inf)  # the last column is that of no arm
    for row, mean in enumerate(means):
        c = task.contrasts_at(mean)
        strongest = np.full(c.group.size, -np.inf)
        np.maximum.at(strongest, c.group, c.gaps(mean))
        for arms in (c.first, c.second):
            np.minimum.at(weakest[row], arms, strongest[c.group])
    return np.take_along_axis(weakest, active, 1)


def all_samples(agent: Agent, active: IntArray) -> Statistics:
    """Return the statistics of all samples of ``(N, k)`` arms so far, without variances."""
    everything = agent.statistics.take(active, variances=False)
    return everything.since(Statistics.zeros(active.shape), variances=False)  # exact ties, see `since`


def observed_means(estimates: Statistics) -> FloatArray:
    """Return the sample means, -inf without a pull."""
    if estimates.pulls.all():
        return estimates.means
    return np.where(estimates.pulls > 0, estimates.means, -np.inf)
