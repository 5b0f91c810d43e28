"""The sufficient statistics of an episode: pulls, sample means and sample variances of every arm.

This triple is what an observation holds. It is updated by single pulls, merged with whole blocks of pulls, and
split into "before" and "since then" for algorithms that use the samples of one stage only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "IntArray", "Observation", "Statistics"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Observation = dict[str, npt.NDArray[Any]]


@lru_cache(maxsize=8)
def _factors(size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return 1/T, (T-2)/(T-1) and 1/T again but 0 below two pulls, for T = 0 .. size-1."""
    pulls = np.arange(size, dtype=np.float64)
    inverse = 1.0 / np.maximum(pulls, 1.0)
    decay = np.where(pulls >= 2.0, (pulls - 2.0) / np.maximum(pulls - 1.0, 1.0), 0.0)
    gain = np.where(pulls >= 2.0, inverse, 0.0)
    for table in (inverse, decay, gain):
        table.flags.writeable = False
    return inverse, decay, gain


@dataclass(slots=True)
class Statistics:
    """Pulls, means and unbiased variances of arms, all of one shape.

    Attributes:
        pulls: Number of pulls of each arm, int64.
        means: Sample means; 0 for arms without a pull.
        variances: Unbiased sample variances (divisor: pulls minus one); 0 below two pulls.
    """

    pulls: IntArray
    means: FloatArray
    variances: FloatArray

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Statistics:
        """Return the statistics before the first pull."""
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape))

    @classmethod
    def of(cls, observation: Observation) -> Statistics:
        """Return the statistics that an observation holds, without copying.

        An observation without ``"variances"`` (an agent that declared not to read them) gives zero variances.
        """
        means = observation["means"]
        variances = observation["variances"] if "variances" in observation else np.zeros_like(means)
        return cls(observation["pulls"], means, variances)

    @property
    def sums(self) -> FloatArray:
        """Sums of the rewards."""
        return np.asarray(self.pulls * self.means)

    @property
    def squares(self) -> FloatArray:
        """Sums of the squared rewards."""
        return np.asarray(self.variances * np.maximum(self.pulls - 1, 0) + self.pulls * self.means**2)

    def copy(self) -> Statistics:
        """Return a deep copy."""
        return Statistics(self.pulls.copy(), self.means.copy(), self.variances.copy())

    def take(self, arms: IntArray) -> Statistics:
        """Return the statistics of ``arms``, shape ``(N, k)``, from statistics of shape ``(N, K)``."""
        flat = arms + np.arange(arms.shape[0])[:, None] * self.pulls.shape[-1]
        return Statistics(self.pulls.take(flat), self.means.take(flat), self.variances.take(flat))

    def transposed(self) -> Statistics:
        """Return a contiguous copy with the axes of a matrix exchanged."""
        return Statistics(*(np.ascontiguousarray(a.T) for a in (self.pulls, self.means, self.variances)))

    def add(
        self, flat: IntArray | int, rewards: FloatArray | float, most: int
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Add one reward to each of some arms, in place, and return the new statistics of just those.

        Args:
            flat: Positions in the flattened arrays, each at most once; an int for a single arm.
            rewards: One reward for each position.
            most: No arm has more pulls than this after the update (the budget); sizes the factor tables.

        Returns:
            Pulls, means and variances at ``flat`` after the update, shaped like ``flat``.

        Source: Welford's update, with the variance in place of the sum of squared deviations.
        """
        inverse, decay, gain = _factors(most + 1)
        pulls, means, variances = self.pulls.reshape(-1), self.means.reshape(-1), self.variances.reshape(-1)
        count = pulls[flat] + 1
        step = rewards - means[flat]
        mean = means[flat] + step * inverse[count]
        variance = variances[flat] * decay[count] + step * step * gain[count]
        pulls[flat] = count
        means[flat] = mean
        variances[flat] = variance
        return count, mean, variance

    def merge(self, part: Statistics) -> None:
        """Add the pulls of ``part`` (same shape) in place: the parallel form of the variance formula."""
        total = self.pulls + part.pulls
        weight = part.pulls / np.maximum(total, 1)
        step = part.means - self.means
        deviations = (
            self.variances * np.maximum(self.pulls - 1, 0)
            + part.variances * np.maximum(part.pulls - 1, 0)
            + step * step * weight * self.pulls
        )
        self.means += step * weight
        self.variances[...] = deviations / np.maximum(total - 1, 1)
        self.pulls[...] = total

    def since(self, before: Statistics) -> Statistics:
        """Return the statistics of the pulls made since ``before``, an earlier state of the same arms.

        The inverse of :meth:`merge`. Deviations are taken about the earlier mean, so that a mean far from 0 does not
        cost precision.
        """
        pulls = self.pulls - before.pulls
        divisor = np.maximum(pulls, 1)
        shift = self.means - before.means
        mean_shift = np.where(pulls > 0, shift * self.pulls / divisor, 0.0)
        deviations = (
            self.variances * np.maximum(self.pulls - 1, 0)
            + shift * shift * self.pulls
            - before.variances * np.maximum(before.pulls - 1, 0)
            - mean_shift * mean_shift * pulls
        )
        variances = np.where(pulls > 1, np.maximum(deviations, 0.0) / np.maximum(pulls - 1, 1), 0.0)
        return Statistics(pulls, np.where(pulls > 0, before.means + mean_shift, 0.0), variances)
