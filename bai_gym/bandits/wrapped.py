"""A wrapper that delegates rewards to another bandit and adds facts about its arms."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits.base import Bandit
from bai_gym.bandits.table import ArmTable
from bai_gym.gaussian_process import GaussianPrior
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["WrappedBandit"]


class WrappedBandit(Bandit):
    """Delegates everything to the inner model; a subclass defines ``select`` and ``replace``.

    Attributes:
        rewards: The reward model.
    """

    rewards: Bandit

    def wrap(self, rewards: Bandit) -> None:
        """Adopt the reward model."""
        self.rewards = rewards
        self.means, self.variances, self.known = rewards.means, rewards.variances, rewards.known
        self.state_size = rewards.state_size

    @property
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, read-only, where they have any."""
        return self.rewards.features

    @property
    def prior(self) -> GaussianPrior | None:
        """The distribution of the means, if it is a known normal one."""
        return self.rewards.prior

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm."""
        return self.rewards.pull(flat, rng)

    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the statistics of the blocks."""
        return self.rewards.draw_blocks(flat, counts, rng, variances=variances)

    def limits(self) -> tuple[float, float]:
        """Return the limits of the rewards."""
        return self.rewards.limits()

    def scale(self) -> float:
        """Return the sub-Gaussian scale of the rewards."""
        return self.rewards.scale()

    def table(self) -> ArmTable | None:
        """Return the arms as tables for draws in compiled code, if they have that form."""
        return self.rewards.table()
