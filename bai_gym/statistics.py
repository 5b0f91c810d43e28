"""The sufficient statistics of an episode: pulls, sample means and sample variances of every arm.

This triple is what an observation holds. It is updated by single pulls, merged with whole blocks of pulls, and
split into "before" and "since then" for algorithms that use the samples of one stage only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "ROUNDING",
    "AnyArray",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Observation",
    "Statistics",
    "exact_means",
    "exact_sums",
    "zeros",
]

AnyArray = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Observation = Mapping[str, AnyArray]

ROUNDING = 2.0**-46  # a relative difference this small is rounding: 64 times the spacing of floats near 1


def exact_means(means: FloatArray, counts: AnyArray | int, scale: FloatArray) -> FloatArray:
    """Return means freed from rounding errors, where the rewards are integers of one sign (0 or 1, ratings).

    Where mean x count is within rounding of a multiple of 1/1024, that is taken for the sum of the rewards. This
    restores exact ties, which the tie rules need, and variances of 0. All other means stay unchanged.

    Args:
        means: Means that carry rounding errors.
        counts: Number of rewards behind each mean.
        scale: At least 0: the largest magnitude in the computation of mean x count.
    """
    sums = means * counts
    simple = _simple(sums)
    return np.where(np.abs(sums - simple) <= ROUNDING * scale, simple / np.maximum(counts, 1), means)


def exact_sums(sums: FloatArray) -> None:
    """Free sums of rewards from rounding errors in place, as :func:`exact_means` does means."""
    simple = _simple(sums)
    error = sums - simple
    np.copyto(sums, simple, where=np.abs(error, out=error) <= ROUNDING * np.abs(sums))


def _simple(sums: FloatArray) -> FloatArray:
    """Return the next multiples of 1/1024."""
    simple = sums * 1024.0
    np.rint(simple, out=simple)
    simple /= 1024.0
    return simple


@dataclass(slots=True)
class Statistics:
    """Pulls, means and unbiased variances of arms, all of one shape.

    Attributes:
        pulls: Number of pulls of each arm, int64.
        means: Sample means; 0 for arms without a pull.
        variances: Unbiased sample variances (divisor: pulls minus one); 0 below two pulls.
    """

    pulls: AnyArray
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

    def repeated(self, batch: int) -> Statistics:
        """Return copies of ``(1, K)`` statistics, one for each of ``batch`` episodes."""
        return Statistics(*(values.repeat(batch, axis=0) for values in (self.pulls, self.means, self.variances)))

    def take(self, arms: IntArray, *, variances: bool = True) -> Statistics:
        """Return the statistics of ``arms``, shape ``(N, k)``, from statistics of shape ``(N, K)``.

        Args:
            arms: ``(N, k)`` arms.
            variances: If False, the variances are left out (0), for callers that do not read them.
        """
        flat = arms + np.arange(arms.shape[0])[:, None] * self.pulls.shape[-1]
        spread = self.variances.take(flat) if variances else zeros(arms.shape)
        return Statistics(self.pulls.take(flat), self.means.take(flat), spread)

    def add(
        self, flat: IntArray | int, rewards: FloatArray | float, *, variances: bool = True
    ) -> tuple[AnyArray, FloatArray, FloatArray]:
        """Add one reward to each of some arms, in place, and return the new statistics of just those.

        Args:
            flat: Positions in the flattened arrays, each at most once; an int for a single arm.
            rewards: One reward for each position.
            variances: If False, the variances stay unchanged (and are not returned), for callers that do not read them.

        Returns:
            Pulls, means and variances at ``flat`` after the update, shaped like ``flat``; without ``variances``, the
            third is meaningless.

        Source: Welford's update, with the variance in place of the sum of squared deviations.
        """
        all_pulls, all_means, all_variances = self.pulls.reshape(-1), self.means.reshape(-1), self.variances.reshape(-1)
        before, mean = all_pulls[flat], all_means[flat]
        step = rewards - mean
        count = before + 1
        shift = step / count
        mean += shift
        all_pulls[flat], all_means[flat] = count, mean
        if not variances:
            return count, mean, shift
        variance = all_variances[flat]
        shift *= step
        shift *= before
        variance *= before - 1
        variance += shift
        variance /= np.maximum(before, 1)
        all_variances[flat] = variance
        return count, mean, variance

    def flat(self) -> tuple[IntArray, Statistics]:
        """Return the ``(R,)`` positions of arms with pulls in the flattened arrays, and their statistics."""
        made = np.flatnonzero(self.pulls)
        return made, Statistics(self.pulls.take(made), self.means.take(made), self.variances.take(made))

    def merge(self, flat: IntArray, part: Statistics, *, variances: bool = True) -> None:
        """Add blocks of pulls to some arms in place: the parallel form of the variance formula.

        Args:
            flat: ``(R,)`` positions in the flattened arrays, each at most once.
            part: ``(R,)`` statistics of the new pulls, at least one for each.
            variances: If False, the variances stay unchanged.
        """
        pulls, means, variances_now = self.pulls.reshape(-1), self.means.reshape(-1), self.variances.reshape(-1)
        before = pulls.take(flat)
        total = before + part.pulls
        mean = means.take(flat)
        step = part.means - mean
        weight = part.pulls / total
        pulls[flat] = total
        means[flat] = mean + step * weight
        if variances:
            deviations = variances_now.take(flat) * np.maximum(before - 1, 0)
            deviations += part.variances * (part.pulls - 1)
            step *= step
            step *= weight
            step *= before
            deviations += step
            variances_now[flat] = deviations / np.maximum(total - 1, 1)

    def since(self, before: Statistics, *, variances: bool = True) -> Statistics:
        """Return the statistics of the pulls made since ``before``, an earlier state of the same arms.

        The inverse of :meth:`merge`, likewise from the difference of the means alone, so that a mean far from 0 does
        not cost precision in the variance. Rounding errors are removed where that restores exact values: sums of
        whole rewards (see :func:`exact_means`), and variances of 0.

        Args:
            before: Statistics of the same shape.
            variances: If False, the variances are left out (0), for callers that do not read them.
        """
        pulls = self.pulls - before.pulls
        divisor = np.maximum(pulls, 1)
        shift = self.means - before.means
        scale = self.pulls * np.maximum(np.abs(self.means), np.abs(before.means))
        means = exact_means(before.means + shift * (self.pulls / divisor), pulls, scale)
        if not pulls.all():
            means[pulls == 0] = 0.0
        if not variances:
            return Statistics(pulls, means, zeros(pulls.shape))
        all_deviations = self.variances * np.maximum(self.pulls - 1, 0)
        deviations = all_deviations - before.variances * np.maximum(before.pulls - 1, 0)
        shift *= shift
        shift *= self.pulls
        shift *= before.pulls
        shift /= divisor
        deviations -= shift
        deviations[deviations <= ROUNDING * all_deviations] = 0.0
        deviations /= np.maximum(divisor - 1, 1)
        deviations[pulls < 2] = 0.0
        return Statistics(pulls, means, deviations)


def zeros(shape: tuple[int, ...]) -> FloatArray:
    """Return read-only zeros that take no memory."""
    return np.broadcast_to(0.0, shape)
