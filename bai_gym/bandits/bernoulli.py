"""Bernoulli arms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_means, check_range
from bai_gym.bandits.draws import Draws
from bai_gym.rewards import BINARY, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["BernoulliBandit"]


class BernoulliArms(NamedTuple):
    """Means, ``(N, K)``."""

    means: FloatArray


def draw_bernoulli(arms: BernoulliArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of an arm of instance n."""
    return 1.0 if rng.random() < arms.means[n, arm] else 0.0


class BernoulliBandit(Bandit):
    """Rewards 1 with probability ``means`` and 0 otherwise.

    Args:
        means: ``(K,)`` or ``(N, K)`` probabilities in [0, 1].

    Raises:
        InstanceError: Values outside [0, 1], NaN, fewer than two arms.
    """

    def __init__(self, means: object) -> None:
        """Check and copy the probabilities."""
        self.means = check_means(means)
        check_range(self.means, 0.0, 1.0, "means", "a Bernoulli mean lies in [0, 1]")
        self.variances = self.means * (1.0 - self.means)

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return (rng.random(len(flat)) < self.means.take(flat)).astype(np.float64)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the number of successes of each arm: binomial; it determines the variance too."""
        means = rng.binomial(counts, self.means.reshape(-1)[flat]) / counts
        if not variances:
            return Statistics(counts, means, zeros(means.shape))
        return Statistics(counts, means, means * (1.0 - means) * counts / np.maximum(counts - 1, 1))

    @property
    @override
    def rewards(self) -> Rewards:
        """Rewards 0 and 1."""
        return BINARY

    @override
    def draws(self) -> Draws:
        """Return the probabilities."""
        return Draws(draw_bernoulli, BernoulliArms(self.means))
