"""Estimates of the arms' means from the rewards of an experiment, and from earlier ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bai_gym.agents.tools.mixtures import bounded_upper_end, student_width
from bai_gym.analysis.intervals import are_binary, mean_intervals, normal
from bai_gym.live.pairs import Pairs
from bai_gym.live.posterior import Posterior
from bai_gym.rewards import BINARY, REAL, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["NONE", "Estimates", "Pull"]

NONE = "none"
"""What is recommended where guardrails hold for no arm: by its name and number one more arm, without a pull."""

_EVER = 0.05  # probability that any lasting interval ever misses its mean


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull.

    Attributes:
        arm: 0 to K-1.
        reward: Its reward.
        error: Reason of a failure, if the reward is ``worst``; None for an observed reward.
        cost: What it has cost, if that was reported; else None.
        item: Number of the item that it was played on; None without items.
        guarded: Its other metrics, in a study with guardrails.
    """

    arm: int
    reward: float
    error: str | None = None
    cost: float | None = None
    item: int | None = None
    guarded: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Estimates:
    """Statistics of each arm; arrays are read-only.

    Attributes:
        pulls: ``(K,)`` pulls, earlier ones included.
        means: ``(K,)`` mean rewards; NaN without a pull.
        standard_errors: ``(K,)`` standard deviations of these means, from the unbiased variances; NaN where these are
            unknown or 0: equal rewards are no certainty.
        intervals: ``(K, 2)`` ends of 95 % intervals, Wilson's where all rewards were 0 or 1, else normal ones, cut at
            the bounds of the rewards; NaN where nothing can be estimated.
        binary: Whether all rewards were 0 or 1.
        earlier: ``(K,)`` earlier results, which all others include; None: there are none.
        rewards: The kind of rewards.
        pairs: The rewards on common items; None without items.
        values: ``(K,)`` by what the best arm is chosen: the means; with guardrails, -inf where these do not hold.
        guards: What is said of guardrails; None without any. With them the last arm is :data:`NONE`.
    """

    pulls: IntArray
    means: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    binary: bool
    earlier: IntArray | None
    rewards: Rewards = REAL
    pairs: Pairs | None = None
    values: Any = None
    guards: Any = None

    @classmethod
    def of(
        cls,
        log: Sequence[Pull],
        num_arms: int,
        earlier: Statistics | None = None,
        rewards: Rewards = REAL,
        guardrails: Any = None,
    ) -> Estimates:
        """Compute them from the log, in two passes, for accuracy, and from earlier statistics, ``(1, K)``."""
        arms = np.array([pull.arm for pull in log], np.int64)
        values = np.array([pull.reward for pull in log], np.float64)
        pulls = np.bincount(arms, minlength=num_arms).astype(np.int64)
        before = None
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.bincount(arms, values, num_arms) / pulls  # 0 / 0 is NaN
            squares = np.bincount(arms, (values - means[arms]) ** 2, num_arms)
            variances = squares / (pulls - 1)
            if earlier is not None:
                before = earlier.pulls[0].copy()
                pulls, means, variances = _with_earlier(pulls, means, variances, earlier)
            errors = np.sqrt(variances / pulls)
        errors[(pulls < 2) | (errors == 0.0)] = np.nan
        intervals = np.stack(mean_intervals(pulls, means, variances), axis=1).clip(rewards.low, rewards.high)
        items = [pull.item for pull in log if pull.item is not None]
        pairs = None
        if items and len(items) == len(log) and earlier is None:
            pairs = Pairs(arms.tolist(), items, values.tolist(), num_arms)
        for array in (pulls, means, errors, intervals, *(() if before is None else (before,))):
            array.setflags(write=False)
        guards = guardrails and guardrails.judge(log, num_arms - 1, rewards)
        return cls(
            pulls,
            means,
            errors,
            intervals,
            are_binary(pulls, means, variances),
            before,
            rewards,
            pairs,
            guards.values if guards else means,
            guards,
        )

    @cached_property
    def lasting(self) -> FloatArray:
        """``(K, 2)`` ends of intervals that all contain their means at all times, with probability at least 95 %.

        They hold jointly, each at level 1 - 0.05 / K (the inequality of Bonferroni): also that of an arm which was
        chosen by the rewards, such as the recommended one, and however often one looks. They assume independent rewards
        of the kind given; **real ones are taken for normal**, of unknown variances, and nothing is proved for others.
        NaN where nothing can be said, as of counts. See :mod:`bai_gym.agents.tools.mixtures`.
        """
        ends = np.full((self.pulls.size, 2), np.nan)
        rewards, level = self.rewards, math.log(self.pulls.size / _EVER)
        known = np.flatnonzero(self.pulls).tolist() if rewards.kind != "counts" else []
        for arm in known:
            n, mean, error = float(self.pulls[arm]), float(self.means[arm]), float(self.standard_errors[arm])
            if np.isfinite(rewards.width):
                scaled = min(max((mean - rewards.low) / rewards.width, 0.0), 1.0)
                upper, lower = bounded_upper_end(n, scaled, level), 1.0 - bounded_upper_end(n, 1.0 - scaled, level)
                ends[arm] = rewards.low + rewards.width * lower, rewards.low + rewards.width * upper
            elif math.isfinite(error):
                width = student_width(n, error * error * (n - 1.0), level)
                ends[arm] = (mean - width, mean + width) if math.isfinite(width) else (np.nan, np.nan)
        ends.setflags(write=False)
        return ends

    def difference(self, one: int, other: int) -> tuple[float, float, float]:
        """Return the mean of one arm less that of another, and its normal 95 % interval; NaN where that is unknown.

        Where both were played on at least two items, it is the mean difference on these.
        """
        common, difference, error = (0, math.nan, math.nan) if self.pairs is None else self.pairs.difference(one, other)
        if common < 2:
            difference = float(self.means[one] - self.means[other])
            error = math.hypot(*self.standard_errors[[one, other]])
        lower, upper = normal(difference, error if error > 0.0 else math.nan)
        return difference, max(lower, -self.rewards.width), min(upper, self.rewards.width)

    @cached_property
    def posterior(self) -> Posterior:
        """What the rewards say about which arm is best, of those whose guardrails hold."""
        if self.guards:
            return self.guards  # type: ignore[no-any-return]
        variances = np.nan_to_num(self.pulls * self.standard_errors**2)
        kind = BINARY if self.binary else self.rewards
        if self.pairs is None:
            return Posterior(self.pulls, self.means, variances, kind)
        return Posterior(*self.pairs.compared(self.means, variances), kind)


def _with_earlier(
    pulls: IntArray, means: FloatArray, variances: FloatArray, earlier: Statistics
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the statistics of both, NaN where there are too few pulls."""
    both = earlier.copy()
    made = np.flatnonzero(pulls)
    both.merge(made, Statistics(pulls[made], means[made], np.where(pulls > 1, variances, 0.0)[made]))
    n = both.pulls[0]
    return n, np.where(n > 0, both.means[0], np.nan), np.where(n > 1, both.variances[0], np.nan)


def widened(earlier: Statistics | None, num_arms: int) -> Statistics:
    """Return ``(1, K)`` statistics of earlier rewards, which may be of fewer arms."""
    both = Statistics.zeros((1, num_arms))
    if earlier is not None:
        made, part = earlier.flat()
        both.merge(made, part)
    return both


def statistics_of(arms: IntArray, rewards: FloatArray, num_arms: int, earlier: Statistics | None) -> Statistics:
    """Return ``(1, K)`` statistics of rewards and of earlier ones, which may be of fewer arms."""
    both = widened(earlier, num_arms)
    for arm in np.unique(arms):
        values = rewards[arms == arm]
        variance = values.var(ddof=1) if values.size > 1 else 0.0
        both.merge(np.array([arm]), Statistics(*(np.array([one]) for one in (values.size, values.mean(), variance))))
    return both
