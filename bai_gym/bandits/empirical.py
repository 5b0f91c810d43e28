"""Arms that are finite samples of rewards, resampled with replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_candidates
from bai_gym.bandits.draws import Draws
from bai_gym.errors import InstanceError
from bai_gym.rewards import REAL, Rewards
from bai_gym.statistics import ROUNDING, FloatArray, IntArray, Statistics, exact_means
from bai_gym.validation import LARGEST, REWARD

__all__ = ["EmpiricalBandit", "SampleTable", "centred_moments"]

PULLS_AT_ONCE = 1 << 20  # of a block, so that memory does not grow with the budget


@dataclass(frozen=True, slots=True, eq=False)
class SampleTable:
    """Reward samples of M candidate arms, concatenated.

    Attributes:
        rewards: ``(R,)`` all rewards, any float type; the rewards of one arm are contiguous.
        offsets: ``(M + 1,)`` int64; arm m has ``rewards[offsets[m]:offsets[m + 1]]``.
        means: ``(M,)`` means of the samples.
        variances: ``(M,)`` their variances (divisor: sample size, since the sample is the whole distribution).
        kind: The kind of the rewards.
    """

    rewards: FloatArray
    offsets: IntArray
    means: FloatArray
    variances: FloatArray
    kind: Rewards = REAL

    @classmethod
    def of(cls, rewards: FloatArray, offsets: IntArray, kind: Rewards | None = None) -> SampleTable:
        """Build the table and its moments.

        Args:
            rewards: See the attribute, as for ``offsets``.
            offsets: See above.
            kind: The kind of the rewards; None: that which they show, see :meth:`bai_gym.rewards.Rewards.read`.

        Raises:
            InstanceError: If an arm has no rewards, or one is beyond 1e50 in magnitude, or not of the kind.
        """
        sizes = np.diff(offsets)
        if sizes.size == 0 or sizes.min() < 1:
            raise InstanceError("every arm of an empirical bandit needs at least one reward")
        if not float(np.abs(rewards).max()) <= LARGEST:
            raise InstanceError(f"every reward of an empirical bandit must be {REWARD}")
        refusal = None if kind is None else kind.refusal(rewards)
        if refusal is not None:
            raise InstanceError(refusal)
        means = np.add.reduceat(rewards, offsets[:-1], dtype=np.float64) / sizes
        centred = rewards - np.repeat(means, sizes)
        variances = np.add.reduceat(centred * centred, offsets[:-1], dtype=np.float64) / sizes
        return cls(rewards, np.asarray(offsets, np.int64), means, variances, kind or Rewards.read(rewards))


class EmpiricalArms(NamedTuple):
    """``(N, K)`` where the samples of each arm start, ``(N, K)`` how many there are, and ``(R,)`` all samples."""

    first: IntArray
    size: FloatArray | IntArray
    samples: FloatArray


def draw_empirical(arms: EmpiricalArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of an arm of instance n."""
    return float(arms.samples[arms.first[n, arm] + int(rng.random() * arms.size[n, arm])])


class EmpiricalBandit(Bandit):
    """Each pull of an arm returns one of its rewards, chosen uniformly at random, with replacement.

    Args:
        table: The samples of M candidate arms.
        candidates: ``(N, K)`` which candidates are the arms of each instance.

    Raises:
        InstanceError: Fewer than two arms, or a candidate that does not exist.
    """

    by_instance = ("candidates", "_first", "_size")

    def __init__(self, table: SampleTable, candidates: IntArray) -> None:
        """Look up the moments of the chosen candidates."""
        candidates = check_candidates(candidates, table.means.size)
        self.samples = table
        self.candidates = candidates
        self.means = table.means[candidates]
        self.variances = table.variances[candidates]
        self._first = table.offsets[candidates]
        self._size = np.diff(table.offsets)[candidates].astype(np.float64)

    @property
    @override
    def rewards(self) -> Rewards:
        return self.samples.kind

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return _resample(self.samples.rewards, self._first.take(flat), self._size.take(flat), rng)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw every reward of the blocks, in slices of bounded size, and keep the moments."""
        if isinstance(flat, slice):
            flat = np.arange(self.means.size)[flat]
        block = Statistics(counts, np.empty(flat.size), np.zeros(flat.size))
        ends = np.cumsum(counts)
        start = 0
        while start < flat.size:
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + PULLS_AT_ONCE, side="right")))
            self._draw_slice(block, slice(start, stop), flat[start:stop], rng, variances)
            start = stop
        return block

    def _draw_slice(
        self, block: Statistics, part: slice, flat: IntArray, rng: np.random.Generator, variances: bool
    ) -> None:
        count = block.pulls[part]
        first = np.repeat(self._first.take(flat), count)
        rewards = _resample(self.samples.rewards, first, np.repeat(self._size.take(flat), count), rng)
        # Centred at the true mean, so that the variance loses no digits to a mean far from 0.
        centre = self.means.take(flat)
        rewards -= np.repeat(centre, count)
        starts = np.cumsum(count) - count
        sums = np.add.reduceat(rewards, starts)
        if variances:
            rewards *= rewards
        squares = np.add.reduceat(rewards, starts) if variances else sums
        block.means[part], spread = centred_moments(centre, count, sums, squares)
        if variances:
            block.variances[part] = spread

    @override
    def limits(self) -> tuple[float, float]:
        """Return the smallest and the largest sample."""
        return float(self.samples.rewards.min()), float(self.samples.rewards.max())

    @override
    def draws(self) -> Draws:
        """Return the positions of the samples of the arms, and all samples."""
        samples = np.ascontiguousarray(self.samples.rewards).view()
        samples.flags.writeable = False  # as where they are a file, so that both have the same loop
        return Draws(draw_empirical, EmpiricalArms(self._first, self._size, samples))


def centred_moments(
    centre: FloatArray, counts: IntArray, sums: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return means and unbiased variances of samples, from their differences to a number near their means.

    Args:
        centre: ``(R,)`` the number.
        counts: ``(R,)`` sizes of the samples, at least 1.
        sums: ``(R,)`` sums of the differences.
        squares: ``(R,)`` sums of their squares.

    Returns:
        ``(R,)`` means and variances, free of rounding errors where that restores exact values.
    """
    shift = sums / counts
    means = exact_means(centre + shift, counts, (np.abs(centre) + np.abs(shift)) * counts)
    deviations = squares - counts * shift * shift
    deviations[deviations <= ROUNDING * squares] = 0.0
    return means, deviations / np.maximum(counts - 1, 1)


def _resample(rewards: FloatArray, first: IntArray, size: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return one uniformly chosen reward from each of the samples starting at ``first``."""
    chosen = (rng.random(len(first)) * size).astype(np.int64)
    chosen += first
    return rewards.take(chosen).astype(np.float64)
