"""A problem says how the instances of episodes come about."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from bai_gym.bandits import Bandit

__all__ = ["FixedProblem", "FrozenProblem", "Problem"]


class Problem(ABC):
    """A distribution over bandit instances.

    Attributes:
        num_arms: Number of arms K of every instance.
        notes: Sentences that every report about this problem must carry, for example that data are synthetic.
        arm_names: Names of the arms, where they have any.
    """

    num_arms: int
    notes: tuple[str, ...] = ()
    arm_names: tuple[str, ...] | None = None

    @abstractmethod
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return ``batch`` instances, one per episode."""


class FixedProblem(Problem):
    """Every episode gets the same given instance.

    Args:
        bandit: A bandit of one instance.
    """

    def __init__(
        self, bandit: Bandit, notes: tuple[str, ...] = (), arm_names: tuple[str, ...] | None = None
    ) -> None:
        """Keep the instance."""
        self._bandit = bandit.select(np.zeros(1, np.int64))
        self.num_arms = bandit.num_arms
        self.notes = notes
        self.arm_names = arm_names

    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return copies of the instance; ``rng`` is not used."""
        return self._bandit.select(np.zeros(batch, np.int64))


class FrozenProblem(FixedProblem):
    """Every episode gets the same instance, drawn once from another problem.

    Args:
        problem: Where the instance comes from.
        seed: Seed of the draw, at least 0.
    """

    def __init__(self, problem: Problem, seed: int) -> None:
        """Draw the instance."""
        super().__init__(problem.draw(1, np.random.default_rng(seed)), problem.notes, problem.arm_names)
