"""The order of the pulls of a block."""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["pulls_in_turn"]


def pulls_in_turn(counts: IntArray, weights: FloatArray | None = None) -> IntArray:
    """Return the columns of pulls in the order of their turns, row after row.

    Args:
        counts: ``(N, k)`` pulls of each column.
        weights: ``(N, k)``: the next pull is of the column (with pulls left) of largest weight / pulls made, where x/0
            is +inf; ties go to the fewest pulls, then to the first column. None: equal ones, which is round-robin.

    Returns:
        ``(P,)`` columns, of P pulls in all.
    """
    flat, (rows, columns) = counts.reshape(-1), np.indices(counts.shape).reshape(2, -1)
    rows, columns = np.repeat(rows, flat), np.repeat(columns, flat)
    made = np.arange(columns.size) - np.repeat(np.cumsum(flat) - flat, flat)
    keys = [columns, made]
    if weights is not None:
        keys.append(-np.where(made == 0, np.inf, np.repeat(weights.reshape(-1), flat) / np.maximum(made, 1)))
    return np.asarray(columns[np.lexsort([*keys, rows])])
