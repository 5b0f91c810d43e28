"""Gaussian arms with known or heterogeneous variances."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_means, check_range
from bai_gym.bandits.draws import Draws
from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros
from bai_gym.validation import LARGEST

__all__ = ["GaussianBandit"]


class GaussianArms(NamedTuple):
    """Means and standard deviations, ``(N, K)``."""

    means: FloatArray
    deviations: FloatArray


def draw_gaussian(arms: GaussianArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of an arm of instance n."""
    return arms.means[n, arm] + arms.deviations[n, arm] * rng.standard_normal()


class GaussianBandit(Bandit):
    """Rewards N(mean, variance).

    Args:
        means: ``(K,)`` or ``(N, K)``, at most 1e50 in magnitude.
        variances: Like ``means``, from 0 to 1e100 (0: the reward is always the mean); a scalar holds for all.

    Raises:
        InstanceError: NaN or infinite values, negative variances, different shapes, fewer than two arms.
    """

    by_instance = ("_deviations",)

    def __init__(self, means: object, variances: object = 1.0) -> None:
        """Check and copy the parameters."""
        self.means = check_means(means)
        if np.ndim(variances) == 0:  # type: ignore[arg-type]
            variances = np.full(self.means.shape, variances)
        self.variances = check_means(variances, "variances", most=LARGEST**2)
        if self.variances.shape != self.means.shape:
            shapes = f"means of shape {self.means.shape} and variances of shape {self.variances.shape} are given"
            if len(self.means) == len(self.variances):
                shapes = f"{self.means.shape[1]} means and {self.variances.shape[1]} variances are given"
            raise InstanceError(f"{shapes}: give one variance for each mean, or a single one for all arms")
        check_range(self.variances, 0.0, np.inf, "variances", "a variance cannot be negative")
        self._deviations = np.sqrt(self.variances)

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return self.means.take(flat) + self._deviations.take(flat) * rng.standard_normal(len(flat))

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw mean and variance of each arm's block: independent, normal and scaled chi-square."""
        means = rng.standard_normal(counts.size)
        means *= self._deviations.reshape(-1)[flat]
        means /= np.sqrt(counts)
        means += self.means.reshape(-1)[flat]
        if not variances:
            return Statistics(counts, means, zeros(means.shape))
        freedom = counts - 1
        chi_square = rng.standard_gamma(0.5 * freedom)
        chi_square *= 2.0
        chi_square *= self.variances.reshape(-1)[flat]
        chi_square /= np.maximum(freedom, 1)
        return Statistics(counts, means, chi_square)

    @override
    def scale(self) -> float:
        return float(np.sqrt(self.variances.max()))

    @override
    def draws(self) -> Draws:
        return Draws(draw_gaussian, GaussianArms(self.means, self._deviations))
