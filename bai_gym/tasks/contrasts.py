"""The contrasts of an answer: what could overturn it, see :attr:`bai_gym.tasks.Task.contrasts`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Contrasts"]


class Contrasts(NamedTuple):
    """Contrasts k: mean[first] - mean[second] - offset > 0, where -1 stands for no arm.

    Attributes:
        first: ``(n,)`` arms.
        second: ``(n,)`` arms.
        offset: ``(n,)`` numbers.
        group: ``(n,)`` contrasts with the same number are overturned together only.
    """

    first: IntArray
    second: IntArray
    offset: FloatArray
    group: IntArray

    @classmethod
    def room(cls, most: int) -> Contrasts:
        """Return arrays for that many contrasts, each a group of its own."""
        return cls(np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most), np.arange(most))

    def at(self, which: Any) -> Contrasts:
        """Return the contrasts of an index, such as a slice."""
        return Contrasts(*(array[which] for array in self))

    def gaps(self, means: FloatArray) -> FloatArray:
        """Return ``(..., n)`` by how much each contrast holds at means ``(..., K)``; negative: it is overturned."""
        padded = np.concatenate([means, np.zeros((*means.shape[:-1], 1))], axis=-1)  # -1: the 0 at the end
        return np.asarray(padded[..., self.first] - padded[..., self.second] - self.offset)
