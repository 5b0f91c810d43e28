"""What rewards say about which arm is best, and what more rewards would add: draws from the posterior of the means."""

from __future__ import annotations

import math

import numpy as np

from bai_gym.analysis.posterior import MeansPosterior
from bai_gym.common.seeding import generator
from bai_gym.rewards import Rewards
from bai_gym.statistics import AnyArray, FloatArray, IntArray

__all__ = ["Posterior"]

_DRAWS = 4000  # of the means: a probability of 0.95 has a standard error of 0.003
_CANDIDATE = 0.01  # least probability of being best with which an arm is worth more rewards
_STEPS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # numbers of further rewards, as multiples of those that exist


class Posterior:
    """Draws from the posterior of the means of K arms, see :mod:`bai_gym.analysis.posterior`; equal data, equal draws.

    Args:
        pulls: ``(K,)`` rewards of each arm.
        means: ``(K,)`` their means; not read without a reward.
        variances: ``(K,)`` their unbiased variances; not read below two rewards.
        rewards: The kind of rewards.

    Attributes:
        known: Whether something is known about all arms: each has a reward, and a variance can be estimated.
        best: ``(K,)`` probability that the arm has the largest mean; NaN unless ``known``.
        draws: ``(S, K)`` draws of the means; only if ``known``.
    """

    def __init__(self, pulls: AnyArray, means: FloatArray, variances: FloatArray, rewards: Rewards) -> None:
        """Draw the means."""
        self._pulls, self._means, self._rewards = pulls, means, rewards
        posterior = MeansPosterior(pulls, means, variances, rewards)
        self.known = posterior.known
        self.best = np.full(pulls.size, np.nan)
        if not self.known:
            return
        self.draws, self._variances = posterior.draw(_DRAWS, generator(0, "posterior"))
        self._largest = self.draws.argmax(axis=1)
        self.best = np.bincount(self._largest, minlength=pulls.size) / _DRAWS

    def better(self, one: int, other: int) -> float:
        """Return the probability that the mean of one arm is above that of another; only if ``known``."""
        return float((self.draws[:, one] > self.draws[:, other]).mean())

    def loss(self, arm: int) -> float:
        """Return by how much the mean of an arm is expected to be below the largest one; only if ``known``."""
        return float((self.draws.max(axis=1) - self.draws[:, arm]).mean())

    @property
    def candidates(self) -> IntArray:
        """The arms that may well be the best, at least two, by decreasing probability of it; only if ``known``."""
        order = np.argsort(-self.best, kind="stable")
        return order[: max(2, int((self.best >= _CANDIDATE).sum()))]

    def further(self, probability: float, most: float = math.inf, each: IntArray | None = None) -> tuple[int, float]:
        """Return how many further rewards are needed to choose the best arm with a probability; only if ``known``.

        They are divided equally among the :attr:`candidates`, as far as these can have more, and the arm of largest
        mean is chosen afterwards. Each draw of the means is once taken for the truth.

        Args:
            probability: The probability wanted.
            most: Largest number of further rewards.
            each: ``(K,)`` how many further rewards an arm can have; None: any number.

        Returns:
            The number, and the probability that it gives; the last number tried, if none gives the wanted one.
        """
        rng, arms = generator(0, "further"), self.candidates
        room = np.full(arms.size, np.inf) if each is None else each[arms].astype(np.float64)
        truth, deviations = self.draws[:, arms], np.sqrt(self._variances[:, arms])
        more, reached = 0, float(self.best.max())
        for multiple in _STEPS:
            wanted = min(multiple * float(self._pulls.sum()), most)
            counts = np.minimum(max(1.0, wanted // arms.size), room)
            if most < arms.size or counts.sum() <= more:
                break
            more = int(counts.sum())
            made = np.maximum(counts, 1.0)
            found = truth + deviations / np.sqrt(made) * rng.standard_normal(truth.shape)
            found = found.clip(self._rewards.low, self._rewards.high)
            means = np.broadcast_to(self._means, self.draws.shape).copy()
            means[:, arms] = (self._pulls[arms] * self._means[arms] + counts * found) / (self._pulls[arms] + counts)
            reached = float((means.argmax(axis=1) == self._largest).mean())
            if reached >= probability:
                break
        return more, reached
