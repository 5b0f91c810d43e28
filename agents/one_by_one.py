"""What agents have in common that decide about each pull: first pulls of every arm, then a sampling rule to the end."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.choosing import best_answer, shuffled_arms, spread_evenly
from bai_gym.problems import Briefing
from bai_gym.sampling import Block, Request, SamplingRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["OneByOneAgent", "first_block", "reward_bounds"]

SMALLEST_BOUND = 1e-9  # of rewards, in their unit


@dataclass(kw_only=True)
class OneByOneAgent(Agent):
    """Pulls every arm once or more, then follows :meth:`rule`, and recommends the best mean unless it says otherwise.

    A budget that does not suffice for the first pulls, where it is allowed, is shared as equally as possible.

    Attributes:
        first_pulls: First pulls of each arm.
    """

    first_pulls: ClassVar[int] = 1
    anytime: ClassVar[bool] = True

    def minimum_budget(self, num_arms: int) -> int:
        """Return the first pulls of all arms."""
        return self.first_pulls * num_arms

    def allocate(self, observation: Observation) -> Request:
        """Make the first pulls, then one at a time."""
        remaining = int(observation["remaining"].flat[0])
        if remaining < self.budget:
            return self.rule(remaining)
        return first_block(self, min(self.first_pulls * self.num_arms, self.budget))

    @abstractmethod
    def rule(self, steps: int) -> SamplingRule:
        """Return the sampling rule for the remaining pulls."""

    def recommend(self, observation: Observation) -> IntArray:
        """Return the recommendation of largest means."""
        return best_answer(Statistics.of(observation), self.task, self.tie, self.rng)


def first_block(agent: Agent, pulls: int) -> Block:
    """Return a block that shares pulls equally; in random order, where a checkpoint would show the order."""
    counts = spread_evenly(agent.batch, agent.num_arms, pulls, agent.tie, agent.rng)
    if agent.tie == "first" or not any(point < pulls for point in agent.checkpoints):
        return Block(counts)
    arms = shuffled_arms(agent.batch, agent.num_arms, agent.tie, agent.rng)
    return Block(np.take_along_axis(counts, arms, 1), arms)


def reward_bounds(b: float | None, briefing: Briefing) -> FloatArray:
    """Return ``(N,)`` bounds of the rewards: b, or what the briefing tells where b is None."""
    if b is not None:
        return np.full(briefing.batch, float(b))
    # Rewards that are all negative have no bound of this form; a tiny one leaves the widths to the variances.
    return np.maximum(briefing.reward_bound, SMALLEST_BOUND)
