"""A block: how many times each arm is to be pulled before the agent looks again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Block"]


@dataclass(frozen=True, slots=True)
class Block:
    """Counts of pulls, and the order in which a step-by-step loop makes them.

    The order has no influence on the law of the statistics after the block; it is kept so that a loop over
    ``env.step`` shows the algorithm as its pseudo-code reads.

    Attributes:
        counts: ``(N, K)`` pulls of each arm, int64; every episode pulls equally often in total.
        weights: ``(N, K)``, or None for equal weights. The next pull goes to the arm (with pulls left) of largest
            weight / pulls made in this block, where x/0 is +inf; ties go to the fewest pulls, then to the lowest arm
            number. Equal weights give round-robin.
    """

    counts: IntArray
    weights: FloatArray | None = None

    def next_arms(self, left: IntArray) -> IntArray:
        """Return the arm to be pulled next.

        Args:
            left: ``(N, K)`` pulls still to be made.

        Returns:
            ``(N,)`` arms.
        """
        made = self.counts - left
        weights = 1.0 if self.weights is None else self.weights
        priority = np.where(made == 0, np.inf, weights / np.maximum(made, 1))
        priority = np.where(left > 0, priority, -1.0)
        best = priority == priority.max(axis=-1, keepdims=True)
        return np.asarray(np.where(best, made, np.iinfo(np.int64).max).argmin(axis=-1))
