"""XY-designs for sets of arms in many episodes, each computed once, and the sets that halve rho."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bai_gym.agents.linear.linear_models import arm_order, rows_of
from bai_gym.linear.designs import xy_optimal
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["SLACK", "BoolArray", "SetDesigns", "longest_prefix", "num_halvings"]

BoolArray = npt.NDArray[np.bool_]

SLACK = 0.01  # relative: designs come as near rho from above, which `xy_optimal` proves of each


class SetDesigns:
    """Designs for the differences of the arms of a set; episodes with the same arms, in any order, share them.

    Args:
        features: ``(N, K, d)``.
        iterations: Most steps, see :func:`bai_gym.linear.designs.xy_optimal`.
    """

    def __init__(self, features: FloatArray, iterations: int) -> None:
        """Find episodes that have the same arms."""
        self._order, first, self._which = arm_order(features)
        self._features = rows_of(features[first], self._order[first])
        self._iterations = iterations
        self._known: dict[bytes, tuple[FloatArray, float]] = {}

    def find(self, rows: IntArray, sets: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return designs on all arms; those that are not known are computed, for all at once.

        Args:
            rows: ``(m,)`` the episode of each.
            sets: ``(m, K)`` masks of the arms to be compared, at least one in each.

        Returns:
            Weights ``(m, K)``, and ``(m,)`` rho, the largest variance of a difference.
        """
        which, order = self._which[rows], self._order[rows]
        masks = np.take_along_axis(sets, order, -1)
        cases = np.concatenate([which[:, None], np.packbits(masks, axis=-1)], axis=-1)
        _, first, case = np.unique(cases, axis=0, return_index=True, return_inverse=True)
        keys = [cases[at].tobytes() for at in first]
        new = first[[key not in self._known for key in keys]]
        if new.size:
            design = xy_optimal(self._features[which[new]], masks[new], max_iterations=self._iterations)
            for at, weights, rho in zip(new, design.weights, design.max_variance.tolist(), strict=True):
                self._known[cases[at].tobytes()] = weights, rho
        designs = [self._known[key] for key in keys]
        weights = np.empty(sets.shape)
        np.put_along_axis(weights, order, np.array([one for one, _ in designs])[case.reshape(-1)], axis=-1)
        return weights, np.array([rho for _, rho in designs])[case.reshape(-1)]

    def halved(self, rows: IntArray, sets: BoolArray, place: IntArray, rho: FloatArray) -> BoolArray:
        """Return the longest beginnings of the sets, in an order, whose rho is at most half.

        Args:
            rows: ``(m,)`` the episode of each.
            sets: ``(m, K)``.
            place: ``(m, K)`` place of each arm, from 0; the arms of a set come first.
            rho: ``(m,)`` that of the sets.
        """

        def fits(some: IntArray, prefix: BoolArray) -> BoolArray:
            return np.asarray(self.find(rows[some], prefix)[1] <= rho[some] / 2.0 * (1.0 + SLACK))

        return longest_prefix(place, sets.sum(axis=-1) + (rho == 0.0), fits)


def longest_prefix(place: IntArray, limit: IntArray, fits: Callable[[IntArray, BoolArray], BoolArray]) -> BoolArray:
    """Return ``(m, K)`` masks of the longest beginning of an order that fits, by bisection.

    Args:
        place: ``(m, K)`` place of each arm, from 0.
        limit: ``(m,)`` sizes that do not fit; larger ones do not either. One arm always fits.
        fits: Says of some rows ``(j,)`` whether the masks ``(j, K)`` fit.
    """
    least, most = np.ones(len(place), np.int64), limit.copy()
    while (open_ := np.flatnonzero(most - least > 1)).size:
        middle = (least[open_] + most[open_]) // 2
        enough = fits(open_, place[open_] < middle[:, None])
        least[open_] = np.where(enough, middle, least[open_])
        most[open_] = np.where(enough, most[open_], middle)
    return np.asarray(place < least[:, None])


def num_halvings(rho: FloatArray) -> IntArray:
    """Return ceil(log2 rho), at least 1, how often ``(N,)`` rho is halved; rho may be too large by the slack."""
    return np.ceil(np.log2(np.maximum(rho * (1.0 - SLACK), 2.0))).astype(np.int64)
