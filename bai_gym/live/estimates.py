"""Estimates of the arms' means from the rewards of an experiment, and from earlier ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bai_gym.analysis.intervals import are_binary, mean_intervals, normal
from bai_gym.live.posterior import Posterior
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Estimates", "Pull"]


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull.

    Attributes:
        arm: 0 to K-1.
        reward: Its reward.
        error: Reason of a failure, if the reward is ``worst``; None for an observed reward.
    """

    arm: int
    reward: float
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Estimates:
    """Statistics of each arm; arrays are read-only.

    Attributes:
        pulls: ``(K,)`` pulls, earlier ones included.
        means: ``(K,)`` mean rewards; NaN without a pull.
        standard_errors: ``(K,)`` standard deviations of these means, from the unbiased variances; NaN where these are
            unknown or 0: equal rewards are no certainty.
        intervals: ``(K, 2)`` ends of 95 % intervals, Wilson's where all rewards were 0 or 1, else normal ones; NaN
            where nothing can be estimated.
        binary: Whether all rewards were 0 or 1.
        earlier: ``(K,)`` earlier results, which all others include; None: there are none.
    """

    pulls: IntArray
    means: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    binary: bool
    earlier: IntArray | None

    @classmethod
    def of(cls, log: Sequence[Pull], num_arms: int, earlier: Statistics | None = None) -> Estimates:
        """Compute them from the log, in two passes, for accuracy, and from earlier statistics, ``(1, K)``."""
        arms = np.array([pull.arm for pull in log], np.int64)
        rewards = np.array([pull.reward for pull in log], np.float64)
        pulls = np.bincount(arms, minlength=num_arms).astype(np.int64)
        before = None
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(arms, rewards, num_arms) / pulls  # 0 / 0 is NaN
            squares = np.bincount(arms, (rewards - means[arms]) ** 2, num_arms)
            variances = squares / (pulls - 1)
            if earlier is not None:
                before = earlier.pulls[0].copy()
                pulls, means, variances = _with_earlier(pulls, means, variances, earlier)
            errors = np.sqrt(variances / pulls)
        errors[(pulls < 2) | (errors == 0.0)] = np.nan
        intervals = np.stack(mean_intervals(pulls, means, variances), axis=1)
        for array in (pulls, means, errors, intervals, *(() if before is None else (before,))):
            array.setflags(write=False)
        return cls(pulls, means, errors, intervals, are_binary(pulls, means, variances), before)

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return the mean of one arm less that of another, and its normal 95 % interval; NaN where that is unknown."""
        difference = float(self.means[one] - self.means[other])
        lower, upper = normal(difference, math.hypot(*self.standard_errors[[one, other]]))
        return difference, lower, upper

    @property
    def posterior(self) -> Posterior:
        """What the rewards say about which arm is best."""
        return Posterior(self.pulls, self.means, self.standard_errors, binary=self.binary)


def _with_earlier(
    pulls: IntArray, means: FloatArray, variances: FloatArray, earlier: Statistics
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the statistics of both, NaN where there are too few pulls."""
    both = earlier.copy()
    made = np.flatnonzero(pulls)
    both.merge(made, Statistics(pulls[made], means[made], np.where(pulls > 1, variances, 0.0)[made]))
    n = both.pulls[0]
    return n, np.where(n > 0, both.means[0], np.nan), np.where(n > 1, both.variances[0], np.nan)
