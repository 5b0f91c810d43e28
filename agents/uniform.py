"""Uniform allocation: the baseline that every method has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.choosing import best_answer, shuffled_arms, spread_evenly
from bai_gym.agents.parameters import check_choice
from bai_gym.problems import Briefing
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.tasks import TASKS

__all__ = ["Uniform"]


@dataclass(kw_only=True)
class Uniform(Agent):
    """Pulls all arms equally often and recommends the one of largest sample mean (or the best few, or one per bandit).

    Args:
        mode: ``"cycle"`` (default): round-robin in random order, so that pulls differ by at most one. ``"random"``:
            every pull goes to an arm drawn uniformly.

    Requires no oracle knowledge. Minimum budget: K.
    """

    mode: str = "cycle"

    name: ClassVar[str] = "Uniform"
    uses_variances: ClassVar[bool] = False
    tasks: ClassVar[frozenset[str]] = frozenset(TASKS)
    anytime: ClassVar[bool] = True

    def begin(self, briefing: Briefing) -> None:
        """Check the mode, and draw the order of the arms where it can be seen."""
        check_choice(self.mode, ("cycle", "random"), "mode", self.name)
        if self.checkpoints and self.mode == "cycle":
            self._ranks = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)

    def allocate(self, observation: Observation) -> IntArray:
        """Spend the whole budget at once, or what is left until the next checkpoint."""
        if self.checkpoints:
            return self._until_checkpoint(self.budget - int(observation["remaining"].flat[0]))
        if self.mode == "random":
            shares = np.full(self.num_arms, 1.0 / self.num_arms)
            return self.rng.multinomial(self.budget, shares, size=self.batch)
        return spread_evenly(self.batch, self.num_arms, self.budget, self.tie, self.rng)

    def _until_checkpoint(self, made: int) -> IntArray:
        end = next((point for point in self.checkpoints if point > made), self.budget)
        if self.mode == "random":
            return self.rng.multinomial(end - made, np.full(self.num_arms, 1.0 / self.num_arms), size=self.batch)
        # The arm of rank r has had ceil((t - r) / K) of the first t pulls.
        before, after = (-((self._ranks - pulls) // self.num_arms) for pulls in (made, end))
        return after - before

    def recommend(self, observation: Observation) -> IntArray:
        """Return the recommendation of largest means."""
        return best_answer(Statistics.of(observation), self.task, self.tie, self.rng)
