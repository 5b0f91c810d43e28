"""Round-robin episodes of a stopping rule, many at a time: statistics at each look, from the exact distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bai_gym.auditing.instances import Instance
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["Coverage", "Episodes", "IntervalRule", "Looks", "RoundRobin", "Rule", "look_rounds"]

FIRST_LOOKS = 32
ENTRIES_AT_ONCE = 1 << 16  # of an array, so that it stays in the cache
ROUNDING = 1e-12
GROWTH = 1.1  # of the number of rounds from one look to the next, with looks="geometric"


@dataclass(frozen=True)
class Looks:
    """What a stopping rule sees at a look: sufficient statistics of all rewards so far.

    Leading axes are episodes and looks, or none for a plain function; they broadcast against each other.

    Attributes:
        pulls: ``(..., K)`` pulls of each arm.
        means: ``(..., K)`` sample means.
        variances: ``(..., K)`` unbiased sample variances; 0 below two pulls.
        sigma: ``(K,)`` standard deviations that a rule may assume: the true ones of Gaussian arms, else half the
            length of the interval that holds the rewards.
        number: Number of this look, from 1; an array of the leading axes.
        planned: Looks until the cap.
    """

    pulls: FloatArray
    means: FloatArray
    variances: FloatArray
    sigma: FloatArray
    number: Any
    planned: int


Rule = Callable[[Looks, float], IntArray]
"""A stopping rule: the arm that it recommends in each episode, of the leading axes' shape; -1 where it goes on."""

IntervalRule = Callable[[Looks, float], tuple[FloatArray, FloatArray]]
"""Confidence intervals: ``(..., K)`` lower and upper ends of the means of all arms."""


@dataclass(frozen=True)
class Episodes:
    """N finished episodes.

    Attributes:
        recommendation: ``(N,)`` recommended arms; -1 where the rule did not stop before the cap.
        pulls: ``(N,)`` pulls until it stopped, or the cap.
    """

    recommendation: IntArray
    pulls: IntArray

    def wrong(self, instance: Instance, epsilon: float) -> BoolArray:
        """Return whether each episode stopped with an arm that is worse than the best by more than epsilon."""
        means = instance.means
        bad = means.max() - means > epsilon
        return np.asarray((self.recommendation >= 0) & bad[self.recommendation])

    @classmethod
    def joined(cls, parts: Sequence[Episodes]) -> Episodes:
        """Return several groups of episodes as one."""
        return cls(
            np.concatenate([part.recommendation for part in parts]), np.concatenate([part.pulls for part in parts])
        )


def look_rounds(looks: int | str, cap: int, num_arms: int) -> IntArray:
    """Return the rounds after which a rule looks, ascending; a round pulls each arm once.

    Args:
        looks: Pulls from one look to the next, each at the end of a round; or ``"geometric"``, where the number of
            rounds grows by a tenth.
        cap: Largest number of pulls.
        num_arms: K.
    """
    last = cap // num_arms
    if looks == "geometric":
        rounds = np.unique(np.ceil(GROWTH ** np.arange(np.log(max(last, 1)) / np.log(GROWTH) + 1.0)))
    else:
        pulls = np.arange(int(looks), cap + 1, int(looks), dtype=np.float64)
        rounds = np.unique(np.ceil(pulls / num_arms))
    return rounds[rounds <= last].astype(np.int64)


@dataclass(frozen=True)
class RoundRobin:
    """Plays all arms in turn, and lets a rule look at the statistics.

    Attributes:
        rule: The rule.
        delta: Its allowed error probability.
        cap: Largest number of pulls of an episode.
        looks: See :func:`look_rounds`.
    """

    rule: Rule
    delta: float
    cap: int
    looks: int | str = 1

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes of an instance."""
        num_arms = instance.num_arms
        rounds = look_rounds(self.looks, self.cap, num_arms)
        recommendation, pulls = np.full(runs, -1), np.full(runs, self.cap)
        active, stream = np.arange(runs), _Stream(instance, runs)
        start, size = 0, FIRST_LOOKS
        sigma = instance.deviations if instance.is_gaussian else np.full(num_arms, np.ptp(instance.bounds) / 2.0)
        while start < rounds.size and active.size:
            stop = min(rounds.size, start + size)
            n = rounds[start:stop].astype(np.float64)
            means, variances = stream.advance(n, rng)  # (N, B, K)
            looks = Looks(
                np.broadcast_to(n[None, :, None], (1, n.size, num_arms)),
                means,
                variances,
                sigma,
                np.arange(start + 1, stop + 1)[None, :],
                rounds.size,
            )
            arm = np.broadcast_to(self.rule(looks, self.delta), means.shape[:-1])  # (N, B)
            stops = arm >= 0
            first = stops.argmax(axis=1)
            rows = np.arange(active.size)
            over = stops[rows, first]
            recommendation[active[over]] = arm[rows, first][over]
            pulls[active[over]] = rounds[start + first[over]] * num_arms
            active = active[~over]
            stream.keep(~over)
            start = stop
            size = max(FIRST_LOOKS, min(2 * size, ENTRIES_AT_ONCE // max(1, active.size * num_arms)))
        return Episodes(recommendation, pulls)


@dataclass(frozen=True)
class Coverage:
    """Plays all arms in turn until an interval misses the mean of its arm, which counts as an error.

    Attributes:
        intervals: The intervals, which promise that with probability 1 - delta none of them ever misses.
        delta: See above.
        cap: Largest number of pulls of an episode.
        looks: See :func:`look_rounds`.
    """

    intervals: IntervalRule
    delta: float
    cap: int
    looks: int | str = 1

    def play(self, instance: Instance, runs: int, rng: np.random.Generator) -> Episodes:
        """Return episodes of an instance; those with a miss recommend the worst arm."""
        means = instance.means
        worst = int(means.argmin())

        def rule(looks: Looks, delta: float) -> IntArray:
            low, high = self.intervals(looks, delta)
            slack = ROUNDING * np.maximum(np.abs(means), 1.0)
            return np.where(((low > means + slack) | (high < means - slack)).any(axis=-1), worst, -1)

        return RoundRobin(rule, self.delta, self.cap, self.looks).play(instance, runs, rng)


class _Stream:
    """Sums of standardised rewards of episodes that go on: numbers of high rewards, or sums and squares of N(0, 1)."""

    def __init__(self, instance: Instance, runs: int) -> None:
        self._instance = instance
        self._made = 0.0  # rounds
        parts = 2 if instance.is_gaussian else 1
        self._sums = [np.zeros((instance.num_arms, runs)) for _ in range(parts)]

    def keep(self, rows: BoolArray) -> None:
        """Drop all other episodes."""
        if not rows.all():
            self._sums = [sums[:, rows] for sums in self._sums]

    def advance(self, n: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return ``(N, B, K)`` means and unbiased variances after ``n`` rounds, ``(B,)``."""
        counts = np.diff(n, prepend=self._made)
        self._made = float(n[-1])
        freedom = np.maximum(n - 1.0, 1.0)
        if self._instance.is_gaussian:
            means, variances = self._gaussian(n, counts, freedom, rng)
        else:
            means, variances = self._two_point(n, counts, freedom, rng)
        return np.moveaxis(means, 0, -1), np.moveaxis(variances, 0, -1)

    def _two_point(
        self, n: FloatArray, counts: FloatArray, freedom: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        highs = np.empty((*self._sums[0].shape, n.size))  # (K, N, B)
        for arm, p in enumerate(self._instance.p):
            if p in (0.0, 1.0):
                highs[arm] = p * n
                continue
            shape = highs.shape[1:]
            drawn = rng.random(shape) < p if counts.max() == 1.0 else rng.binomial(counts.astype(np.int64), p, shape)
            np.cumsum(drawn, axis=1, dtype=np.float64, out=highs[arm])
            highs[arm] += self._sums[0][arm, :, None]
        self._sums[0] = highs[:, :, -1].copy()
        low, high = (np.array(values)[:, None, None] for values in (self._instance.low, self._instance.high))
        ones = highs / n
        variances = ones * (n - highs)
        variances *= (high - low) ** 2 / freedom
        ones *= high - low
        ones += low
        return ones, variances

    def _gaussian(
        self, n: FloatArray, counts: FloatArray, freedom: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        sums = rng.standard_normal((*self._sums[0].shape, n.size))
        squares = sums * sums
        if counts.max() > 1.0:  # the sum of a block, and its squares about the block's mean
            within = counts > 1.0
            squares[..., within] += rng.chisquare(counts[within] - 1.0, squares[..., within].shape)
            sums *= np.sqrt(counts)
        for at, part in enumerate((sums, squares)):
            np.cumsum(part, axis=2, out=part)
            part += self._sums[at][:, :, None]
        self._sums = [sums[:, :, -1].copy(), squares[:, :, -1].copy()]
        deviation, centre = (
            np.array(values)[:, None, None] for values in (self._instance.deviation, self._instance.centre)
        )
        means = sums / n
        squares -= means * sums
        np.maximum(squares, 0.0, out=squares)
        squares *= deviation**2 / freedom
        means *= deviation
        means += centre
        return means, squares
