"""A block: the pulls of each arm until the next decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Block"]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A request: counts of pulls. Its outcome is the statistics of just these pulls.

    The order of the pulls does not affect the distribution of the statistics after the block; it is kept so that a
    step-by-step loop follows the pseudo-code.

    Attributes:
        counts: ``(N, k)`` pulls of each candidate arm, int64; every episode pulls equally often in total.
        arms: ``(N, k)`` candidate arms, no arm twice in an episode; or None for all K arms in their own order.
        weights: ``(N, k)``, or None for equal weights. The next pull goes to the arm (with pulls left) of largest
            weight / pulls made in this block, where x/0 is +inf; ties go to the fewest pulls, then to the candidate
            that comes first. Equal weights give round-robin.
        shuffle: Source of randomness for a uniformly random order of the pulls; None: the order that the weights give.
            With multinomial counts, the arms of the pulls are then independent draws.
    """

    counts: IntArray
    arms: IntArray | None = None
    weights: FloatArray | None = None
    shuffle: np.random.Generator | None = None

    @classmethod
    def single(cls, arms: IntArray) -> Block:
        """Return a block of one pull in each episode, of ``(N,)`` arms."""
        return cls(np.ones((arms.size, 1), np.int64), arms[:, None])

    def outcome(self, before: Statistics, now: Statistics) -> Statistics:
        """Return the outcome from ``(N, K)`` statistics of the episode before the block's pulls and after them."""
        made = now.since(before)
        return made if self.arms is None else made.take(self.arms)

    def parts(self, ends: Sequence[int]) -> list[IntArray]:
        """Return the pulls between given ones, in the stated order.

        Args:
            ends: Numbers of pulls, ascending, after each of which a part ends; the last part ends with the block.

        Returns:
            Of each part ``(N, k)`` counts of each candidate.
        """
        if self.shuffle is not None:
            left, parts = self.counts, []
            for pulls in np.diff(ends, prepend=0).tolist():
                parts.append(_drawn(left, pulls, self.shuffle))
                left = left - parts[-1]
            return [*parts, left]
        return list(np.diff([*(self._first(end) for end in ends), self.counts], axis=0, prepend=0))

    def _first(self, pulls: int) -> IntArray:
        """Return the counts of each candidate among the first pulls, where the order is not random."""
        if self.weights is not None:
            left = self.counts.copy()
            for _ in range(pulls):
                left[np.arange(len(left)), self.next_slots(left)] -= 1
            return np.asarray(self.counts - left)
        # Round-robin: all have the same number of pulls, those of fewer counts all of theirs, and some one more.
        low, high = np.zeros((len(self.counts), 1), np.int64), self.counts.max(axis=-1, keepdims=True)
        while (low < high).any():  # the largest common number of pulls
            middle = (low + high + 1) // 2
            enough = np.minimum(self.counts, middle).sum(axis=-1, keepdims=True) <= pulls
            low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
        made = np.minimum(self.counts, low)
        more = self.counts > made
        extra = pulls - made.sum(axis=-1, keepdims=True)
        return np.asarray(made + (more & (np.cumsum(more, axis=-1) <= extra)))

    def next_slots(self, left: IntArray) -> IntArray:
        """Return the next candidate to pull.

        Args:
            left: ``(N, k)`` pulls still to be made.

        Returns:
            ``(N,)`` candidates, as columns of :attr:`counts`.
        """
        if self.shuffle is not None:
            ends = np.cumsum(left, axis=-1)
            return np.asarray((self.shuffle.integers(ends[:, -1:]) >= ends).sum(axis=-1))
        made = self.counts - left
        weights = 1.0 if self.weights is None else self.weights
        priority = np.where(made == 0, np.inf, weights / np.maximum(made, 1))
        priority = np.where(left > 0, priority, -1.0)
        best = priority == priority.max(axis=-1, keepdims=True)
        return np.asarray(np.where(best, made, np.iinfo(np.int64).max).argmin(axis=-1))


def _drawn(left: IntArray, pulls: int, rng: np.random.Generator) -> IntArray:
    """Return ``(N, k)`` counts of the first ``pulls`` of those left, in random order: multivariate hypergeometric."""
    counts = np.zeros_like(left)
    wanted, rest = np.full(len(left), pulls), left.sum(axis=-1)
    for slot in range(left.shape[-1]):
        rest = rest - left[:, slot]
        counts[:, slot] = rng.hypergeometric(left[:, slot], rest, wanted)
        wanted = wanted - counts[:, slot]
    return counts
