"""The two largest of k values in each of N episodes, kept while one value per episode and step changes."""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["TopTwo"]


class TopTwo:
    """Follows the two largest values of each episode at the cost of a few operations on arrays of N.

    A bound on all other values tells when the two have to be looked for anew, which few episodes need at a step.

    Attributes:
        first: ``(N,)`` flat positions of the largest values.
        second: ``(N,)`` flat positions of the second largest.
        first_value: ``(N,)`` the largest values.
        second_value: ``(N,)`` the second largest.
    """

    def __init__(self, values: FloatArray) -> None:
        """Find the two; ``values``, ``(k, N)`` with k at least 2, is kept, and changed by the caller."""
        batch = values.shape[1]
        self._values = values
        self._batch = batch
        size = len(values)
        self._countdown = np.arange(size, 0, -1).astype(np.min_scalar_type(size))[:, None]
        self.first: IntArray = np.arange(batch)
        self.second: IntArray = np.arange(batch)
        self.first_value: FloatArray = np.empty(batch)
        self.second_value: FloatArray = np.empty(batch)
        self._others = np.empty(batch)
        self._search(np.arange(batch))

    def update(self, flat: IntArray, values: FloatArray) -> IntArray:
        """Take in the values that have just been written at ``flat``, one per episode.

        Returns:
            Flat positions that were the largest before, of all episodes in which that may have changed.
        """
        is_first, is_second = flat == self.first, flat == self.second
        np.copyto(self.first_value, values, where=is_first)
        np.copyto(self.second_value, values, where=is_second)
        is_first |= is_second
        outside = np.where(is_first, -np.inf, values)
        enters = outside > self.second_value
        # A value that enters the two pushes the second one out; the bound on all others must hold for either.
        np.maximum(self._others, np.minimum(outside, self.second_value), out=self._others)
        np.copyto(self.second_value, values, where=enters)
        np.copyto(self.second, flat, where=enters)
        stale = self.second_value < self._others
        stale |= self.second_value > self.first_value
        rows = np.flatnonzero(stale)
        if rows.size == 0:
            return rows
        old = self.first[rows]
        self._search(rows)
        return old

    def _search(self, rows: IntArray) -> None:
        """Find the two largest of some episodes anew, and a bound on all others."""
        values = self._values.take(rows, axis=1)
        columns = np.arange(rows.size)
        for positions, best in ((self.first, self.first_value), (self.second, self.second_value)):
            # The first slot of the largest value; argmax over a first axis takes several times as long.
            largest = values.max(axis=0)
            numbered = (values == largest) * self._countdown
            slots = self._values.shape[0] - numbered.max(axis=0).astype(np.int64)
            positions[rows] = slots * self._batch + rows
            best[rows] = largest
            values[slots, columns] = -np.inf
        self._others[rows] = values.max(axis=0)
