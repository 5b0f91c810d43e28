"""What rewards say about which arm is best, and what more rewards would add: draws from posteriors of independent arms.

Means of rewards of 0 and 1 have Beta posteriors, from a uniform prior. Others have Student's, from the prior that is
flat in the mean and in the logarithm of the deviation; an arm whose deviation cannot be estimated, since it has one
reward or only equal ones, has that of all arms together.
"""

from __future__ import annotations

import numpy as np

from bai_gym.seeding import generator
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Posterior"]

_DRAWS = 4000  # of the means: a probability of 0.95 has a standard error of 0.003
_CANDIDATE = 0.01  # least probability of being best with which an arm is worth more rewards
_STEPS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # numbers of further rewards, as multiples of those that exist


class Posterior:
    """The posterior of the means of K arms, as draws; equal data give equal draws.

    Args:
        pulls: ``(K,)`` rewards of each arm.
        means: ``(K,)`` their means; not read without a reward.
        errors: ``(K,)`` standard errors of the means; NaN where they cannot be estimated.
        binary: Whether all rewards were 0 or 1.

    Attributes:
        known: Whether something is known about all arms: each has a reward, and some deviation can be estimated.
        best: ``(K,)`` probability that the arm has the largest mean; NaN unless ``known``.
    """

    def __init__(self, pulls: IntArray, means: FloatArray, errors: FloatArray, *, binary: bool) -> None:
        """Draw the means."""
        self._pulls, self._means, self._binary = pulls, means, binary
        estimated = ~np.isnan(errors)
        self.known = bool(pulls.all() and (binary or estimated.any()))
        self.best = np.full(pulls.size, np.nan)
        if not self.known:
            return
        rng = generator(0, "posterior")
        shape = (_DRAWS, pulls.size)
        if binary:
            self._draws = rng.beta(1.0 + pulls * means, 1.0 + pulls * (1.0 - means), shape)
        else:
            freedom = np.where(estimated, pulls - 1, (pulls - 1)[estimated].sum())
            variances = pulls * errors**2
            pooled = ((pulls - 1) * variances)[estimated].sum() / (pulls - 1)[estimated].sum()
            self._deviations = np.sqrt(np.where(estimated, variances, pooled))
            self._draws = means + self._deviations / np.sqrt(pulls) * rng.standard_t(freedom, shape)
        self._largest = self._draws.argmax(axis=1)
        self.best = np.bincount(self._largest, minlength=pulls.size) / _DRAWS

    def better(self, one: int, other: int) -> float:
        """Return the probability that the mean of one arm is above that of another; only if ``known``."""
        return float((self._draws[:, one] > self._draws[:, other]).mean())

    def loss(self, arm: int) -> float:
        """Return by how much the mean of an arm is expected to be below the largest one; only if ``known``."""
        return float((self._draws.max(axis=1) - self._draws[:, arm]).mean())

    @property
    def candidates(self) -> IntArray:
        """The arms that may well be the best, at least two, by decreasing probability of it; only if ``known``."""
        order = np.argsort(-self.best, kind="stable")
        return order[: max(2, int((self.best >= _CANDIDATE).sum()))]

    def further(self, probability: float) -> tuple[int, float]:
        """Return how many further rewards are needed to choose the best arm with a probability; only if ``known``.

        They are divided equally among the :attr:`candidates`, and the arm of largest mean is chosen afterwards. Each
        draw of the means is once taken for the truth.

        Returns:
            The number, and the probability that it gives; the last number tried, if none gives the wanted one.
        """
        rng = generator(0, "further")
        arms = self.candidates
        more, reached = 0, 0.0
        for multiple in _STEPS:
            each = max(1, round(multiple * int(self._pulls.sum()) / arms.size))
            more = each * arms.size
            truth = self._draws[:, arms]
            if self._binary:
                sums = rng.binomial(each, truth).astype(np.float64)
            else:
                sums = each * truth + np.sqrt(each) * self._deviations[arms] * rng.standard_normal(truth.shape)
            means = np.broadcast_to(self._means, self._draws.shape).copy()
            means[:, arms] = (self._pulls[arms] * self._means[arms] + sums) / (self._pulls[arms] + each)
            reached = float((means.argmax(axis=1) == self._largest).mean())
            if reached >= probability:
                break
        return more, reached
