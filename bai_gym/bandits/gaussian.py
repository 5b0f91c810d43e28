"""Gaussian arms with variances of their own."""

from __future__ import annotations

from typing import Self

import numpy as np

from bai_gym.bandits.base import Bandit, Stream, check_means, gather
from bai_gym.errors import InstanceError
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Statistics, zeros

__all__ = ["GaussianBandit"]

NORMALS_AT_ONCE = 65536  # drawn ahead of single pulls: enough to hide the call, small enough for the cache


class GaussianBandit(Bandit):
    """Rewards N(mean, variance).

    Args:
        means: ``(K,)`` or ``(N, K)``, finite.
        variances: Like ``means``, finite and at least 0 (0: the reward is always the mean); a scalar holds for all.

    Raises:
        InstanceError: NaN or infinite values, negative variances, different shapes, fewer than two arms.
    """

    def __init__(self, means: object, variances: object = 1.0) -> None:
        """Check and copy the parameters."""
        self.means = check_means(means)
        if np.ndim(variances) == 0:  # type: ignore[arg-type]
            variances = np.full(self.means.shape, variances)
        self.variances = check_means(variances, "variances")
        if self.variances.shape != self.means.shape:
            given = f"{self.means.shape[-1]} means and {self.variances.shape[-1]} variances"
            shapes = f"shapes {self.means.shape} and {self.variances.shape}"
            raise InstanceError(f"{given} given ({shapes}): there must be one variance per mean")
        if self.variances.min() < 0:
            arm = int(np.argwhere(self.variances < 0)[0, 1])
            value = self.variances[self.variances < 0][0]
            raise InstanceError(f"variances: arm {arm} has {value}; a variance cannot be negative")
        self._deviations = np.sqrt(self.variances)

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm."""
        return self.means.take(flat) + self._deviations.take(flat) * rng.standard_normal(len(flat))

    def pull_often(self, flat: IntArray, times: int, rng: np.random.Generator) -> FloatArray:
        """Return several rewards for each pulled arm."""
        rewards = rng.standard_normal((times, flat.size))
        rewards *= self._deviations.take(flat)
        rewards += self.means.take(flat)
        return rewards

    @property
    def continuous(self) -> bool:
        """Whether every arm has noise that rounding leaves."""
        return bool((self._deviations > ROUNDING * np.abs(self.means)).all())

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

    def stream(self, arms: IntArray | None, rng: np.random.Generator) -> Stream:
        """Return a source of single pulls."""
        return _GaussianStream(gather(self.means, arms), gather(self._deviations, arms), self.batch, rng)

    def select(self, rows: IntArray) -> Self:
        """Return the given instances."""
        return type(self)(self.means[rows], self.variances[rows])

    def replace(self, rows: IntArray, other: Self) -> None:
        """Put other instances in the place of the given ones."""
        self.means[rows] = other.means
        self.variances[rows] = other.variances
        self._deviations[rows] = other._deviations


class _GaussianStream(Stream):
    def __init__(self, means: FloatArray, deviations: FloatArray, batch: int, rng: np.random.Generator) -> None:
        self._means = means
        self._deviations = deviations
        self._rng = rng
        self._noise = np.empty((max(1, NORMALS_AT_ONCE // batch), batch))
        self._next = len(self._noise)

    def draw(self, flat: IntArray) -> FloatArray:
        if self._next == len(self._noise):
            self._rng.standard_normal(out=self._noise)
            self._next = 0
        rewards: FloatArray = self._noise[self._next]  # each row is used once, so it may be overwritten
        self._next += 1
        rewards *= self._deviations.take(flat)
        rewards += self._means.take(flat)
        return rewards
