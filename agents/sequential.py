"""Sequential agents, which decide after every pull: first pulls of every arm, then a rule to the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.choosing import best_recommendation, shuffled_arms, spread_evenly
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Played, Rule, Sequential
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import real

__all__ = ["SequentialAgent", "first_block", "reward_bounds"]

SMALLEST_BOUND = 1e-9  # of rewards, in their unit


@dataclass(kw_only=True)
class SequentialAgent(Agent):
    """Pulls every arm at least once, then follows a rule; recommends the arm of largest sample mean by default.

    A subclass sets :attr:`rule`, and in :meth:`begin` the :attr:`parameters` of its functions. If a budget too small
    for the first pulls is allowed, arms share it as equally as possible.

    Attributes:
        rule: How each pull is decided.
        first_pulls: First pulls of each arm.
        memory: Numbers that the rule stores in each episode.
        parameters: ``(N, P)`` parameters of the rule, see :func:`bai_gym.sampling.columns`; by default there are none.
    """

    rule: ClassVar[Rule]
    first_pulls: ClassVar[int] = 1
    anytime: ClassVar[bool] = True
    memory: ClassVar[int] = 0

    def minimum_budget(self, num_arms: int) -> int:
        """Return the first pulls of all arms."""
        return self.first_pulls * num_arms

    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Begin new episodes, see :meth:`Agent.reset`."""
        self.parameters: FloatArray = np.empty((info.batch, 0))
        super().reset(info, rng)

    def plan(self) -> Plan:
        """Make the first pulls, then follow the rule."""
        first = min(self.first_pulls * self.num_arms, self.budget)
        if first:
            yield first_block(self, first)
        if first == self.budget:
            return self.recommend(self._seen)
        played = yield self.sequential(self.budget - first)
        return self.conclude(played)

    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones.

        Args:
            steps: Their number.
            **options: Further fields of :class:`bai_gym.sampling.Sequential`.
        """
        return Sequential(
            self.rule, steps, self.parameters, self.tie, self.rng, self.memory, agent=self.name, **options
        )

    def conclude(self, played: Played) -> IntArray:
        """Return the final recommendation: that of :meth:`recommend` on the final statistics."""
        statistics = played.statistics
        remaining = np.zeros((self.batch, 1), np.int64)
        observation = {"pulls": statistics.pulls, "means": statistics.means, "variances": statistics.variances}
        return self.recommend({**self._seen, **observation, "remaining": remaining})

    def recommend(self, observation: Observation) -> IntArray:
        """Return the recommendation of largest means."""
        return best_recommendation(Statistics.of(observation), self.task, self.tie, self.rng)


def first_block(agent: Agent, pulls: int) -> Block:
    """Return a block that shares pulls equally; in random order if a checkpoint falls within it."""
    counts = spread_evenly(agent.batch, agent.num_arms, pulls, agent.tie, agent.rng)
    if agent.tie == "first" or not any(point < pulls for point in agent.checkpoints):
        return Block(counts)
    arms = shuffled_arms(agent.batch, agent.num_arms, agent.tie, agent.rng)
    return Block(np.take_along_axis(counts, arms, 1), arms)


def reward_bounds(b: float | None, info: ProblemInfo, agent: str) -> FloatArray:
    """Return ``(N,)`` bounds of the rewards: an agent's b, checked, or if it is None the one of the problem info."""
    if b is not None:
        return np.full(info.batch, real(b, f"b of {agent}", above=0))
    # Rewards that are all negative have no bound of this form; a tiny one leaves the widths to the variances.
    return np.maximum(info.reward_bound, SMALLEST_BOUND)
