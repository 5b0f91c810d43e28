"""Bernoulli bandits whose means come from the uniform prior."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from bai_gym.bandits import BernoulliBandit
from bai_gym.problems.base import Problem, arm_count

__all__ = ["BernoulliPriorProblem"]


class BernoulliPriorProblem(Problem):
    """Each mean is drawn from the uniform distribution on [0, 1], that is Beta(1, 1), independently.

    Args:
        num_arms: K, at least 2.

    Raises:
        InstanceError: Fewer than two arms.
    """

    def __init__(self, num_arms: int = 10) -> None:
        """Check the number of arms."""
        self.num_arms = arm_count(num_arms)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> BernoulliBandit:
        return BernoulliBandit(rng.random((batch, self.num_arms)))
