"""The largest index of every episode, with ties broken by a stated rule.

Tables here, and only here and in the sampling rules, have the arm axis *first*: ``(k, N)``. A maximum over the
first axis runs along contiguous episodes and is several times faster in NumPy than one over a short last axis; it
is the inner loop of every adaptive algorithm.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["ArgmaxTable", "TieRule", "check_tie_rule"]

TieRule = Literal["random", "first"]
"""``"random"``: uniformly among exact ties. ``"first"``: fewest pulls, then the lowest arm number."""


def check_tie_rule(tie: str) -> TieRule:
    """Return ``tie`` if it is a tie rule.

    Raises:
        ParameterError: If it is not.
    """
    if tie not in get_args(TieRule):
        raise ParameterError(f"tie must be 'random' or 'first', not {tie!r}")
    return tie  # type: ignore[return-value]


class ArgmaxTable:
    """Index values of k arms in N episodes, and the arm with the largest one in each.

    Attributes:
        values: ``(k, N)`` index values; +-inf allowed, NaN not. Write to it through :attr:`flat`.
        flat: The same memory as one axis; the entry of arm slot s in episode r is at ``s * N + r``.
        top: ``(N,)`` the largest values, as the last :meth:`argmax` found them.
    """

    def __init__(self, values: FloatArray, tie: TieRule, rng: np.random.Generator) -> None:
        """Keep ``values`` (not copied if contiguous)."""
        self.values: FloatArray = np.ascontiguousarray(values, dtype=np.float64)
        self.flat: FloatArray = self.values.reshape(-1)
        self._tie = tie
        self._rng = rng
        slots, batch = self.values.shape
        small = np.min_scalar_type(slots)
        self._slots = np.arange(slots, dtype=small)[:, None]
        self._episodes = np.arange(batch)
        self.top: FloatArray = np.empty(batch)
        self._hits = np.empty((slots, batch), dtype=bool)
        self._numbered = np.empty((slots, batch), dtype=small)

    def argmax(self, pulls: npt.NDArray[Any]) -> IntArray:
        """Return the flat position of the largest value of each episode.

        Args:
            pulls: ``(k, N)`` pulls of each arm, read only to break ties by the rule ``"first"``.

        Returns:
            ``(N,)`` positions in :attr:`flat`.
        """
        np.max(self.values, axis=0, out=self.top)
        np.equal(self.values, self.top, out=self._hits)
        np.multiply(self._hits, self._slots, out=self._numbered)
        slots: IntArray = self._numbered.max(axis=0).astype(np.int64)
        if np.count_nonzero(self._hits) != self.top.size:
            self._break_ties(slots, pulls)
        slots *= self.top.size
        slots += self._episodes
        return slots

    def _break_ties(self, last: IntArray, pulls: npt.NDArray[Any]) -> None:
        """Replace the last of several tied slots by the one that the rule says, in place."""
        number = self._hits.sum(axis=0, dtype=self._slots.dtype)
        pairs = np.flatnonzero(number == 2)
        if pairs.size:  # by far the most frequent case, so it gets along without keys for all slots
            np.multiply(self._hits, self._slots[::-1], out=self._numbered)
            second = last[pairs]
            first = len(self.values) - 1 - self._numbered.max(axis=0)[pairs].astype(np.int64)
            if self._tie == "random":
                takes_first = self._rng.random(pairs.size) < 0.5
            else:
                takes_first = pulls[first, pairs] <= pulls[second, pairs]
            last[pairs] = np.where(takes_first, first, second)
        crowds = np.flatnonzero(number > 2)
        if crowds.size:
            hits = self._hits.take(crowds, axis=1)
            if self._tie == "random":
                last[crowds] = np.where(hits, self._rng.random(hits.shape), -1.0).argmax(axis=0)
            else:
                last[crowds] = np.where(hits, pulls[:, crowds], np.inf).argmin(axis=0)
