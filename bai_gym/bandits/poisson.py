"""Poisson arms: rewards are counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, gammaln, xlogy
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_means, check_range
from bai_gym.bandits.draws import Draws
from bai_gym.rewards import COUNTS, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["PoissonBandit"]

LARGEST_MEAN = 1e6  # a block with variances goes through some 16 sqrt(mean) values
TAIL = 10.0  # standard deviations below the mean, beyond which a reward has probability below 2e-22


class PoissonArms(NamedTuple):
    """Means, ``(N, K)``."""

    means: FloatArray


def draw_poisson(arms: PoissonArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of an arm of instance n."""
    return float(rng.poisson(arms.means[n, arm]))


class PoissonBandit(Bandit):
    """Rewards 0, 1, 2, ... with Poisson distributions; the variance is the mean.

    Args:
        means: ``(K,)`` or ``(N, K)`` means, from 0 to 1,000,000.

    Raises:
        InstanceError: Values outside that range, NaN, fewer than two arms.
    """

    def __init__(self, means: object) -> None:
        """Check and copy the means."""
        self.means = check_means(means)
        check_range(self.means, 0.0, LARGEST_MEAN, "means", f"a Poisson mean lies in [0, {LARGEST_MEAN:.0f}]")
        self.variances = self.means.copy()

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return rng.poisson(self.means.take(flat)).astype(np.float64)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the sums, which are Poisson too; with variances, the counts of each value: multinomial."""
        expected = self.means.reshape(-1)[flat]
        if not variances:
            means = rng.poisson(expected * counts) / counts
            return Statistics(counts, means, zeros(means.shape))
        return _histograms(expected, counts, rng)

    @property
    @override
    def rewards(self) -> Rewards:
        """Whole numbers from 0."""
        return COUNTS

    @override
    def draws(self) -> Draws:
        return Draws(draw_poisson, PoissonArms(self.means))


def _histograms(expected: FloatArray, counts: IntArray, rng: np.random.Generator) -> Statistics:
    """Return the statistics of blocks of Poisson rewards, from the number of pulls with each value.

    Among pulls without a smaller value, this value has its conditional probability: a chain of binomials.
    The work depends on the means, not on the numbers of pulls.
    """
    centre = np.rint(expected).astype(np.int64)  # whole, so that the sums below are exact
    value = np.maximum(0, np.floor(expected - TAIL * np.sqrt(expected))).astype(np.int64)
    left = counts.astype(np.int64)
    sums, squares = np.zeros(counts.size, np.int64), np.zeros(counts.size)
    live = np.arange(counts.size)
    while live.size:
        now, mean = value.take(live), expected.take(live)
        mass = np.exp(xlogy(now, mean) - mean - gammaln(now + 1.0))
        at_least = np.where(now > 0, gammainc(np.maximum(now, 1), mean), 1.0)  # P(reward >= now)
        share = np.divide(mass, at_least, out=np.ones(live.size), where=at_least > 0)
        hits = rng.binomial(left.take(live), np.minimum(share, 1.0))
        step = now - centre.take(live)
        sums[live] += hits * step
        squares[live] += hits * (step.astype(np.float64) ** 2)
        left[live] -= hits
        value[live] += 1
        live = live[left.take(live) > 0]
    deviations = squares - sums.astype(np.float64) ** 2 / counts
    variances = np.maximum(deviations, 0.0) / np.maximum(counts - 1, 1)
    return Statistics(counts, (centre * counts + sums) / counts, variances)
