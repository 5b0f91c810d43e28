"""A bandit that leaves the rewards to another one and says more about its arms."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits.base import Bandit, Stream
from bai_gym.gaussian_process import GaussianPrior
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["WrappedBandit"]


class WrappedBandit(Bandit):
    """Everything is what the model within says; a subclass defines ``select`` and ``replace``.

    Attributes:
        rewards: The model that pays.
    """

    rewards: Bandit

    def wrap(self, rewards: Bandit) -> None:
        """Take over the model that pays."""
        self.rewards = rewards
        self.means, self.variances, self.known = rewards.means, rewards.variances, rewards.known

    @property
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, not to be written to, where they have any."""
        return self.rewards.features

    @property
    def prior(self) -> GaussianPrior | None:
        """The law that the means were drawn from, where it is a known normal one."""
        return self.rewards.prior

    @property
    def continuous(self) -> bool:
        """Whether the means of two arms' rewards differ with probability 1 (False: perhaps not)."""
        return self.rewards.continuous

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm."""
        return self.rewards.pull(flat, rng)

    def pull_often(self, flat: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
        """Return several rewards for each pulled arm."""
        return self.rewards.pull_often(flat, times, rng)

    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the statistics of the blocks."""
        return self.rewards.draw_blocks(flat, counts, rng, variances=variances)

    def stream(self, arms: IntArray | None, rng: np.random.Generator) -> Stream:
        """Return a source of single pulls."""
        return self.rewards.stream(arms, rng)
