"""Designs for the differences of two arms in many episodes, each computed once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.linear.designs import project, solve_contrasts
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["PairDesign", "PairDesigns"]


class PairDesign(NamedTuple):
    """The design for a difference.

    Attributes:
        arms: ``(m,)`` the arms that it pulls.
        weights: ``(m,)`` proportions of their pulls, positive; their sum is not 1.
    """

    arms: IntArray
    weights: FloatArray


class PairDesigns:
    """The designs for the differences of two arms, see :func:`bai_gym.linear.designs.solve_contrasts`.

    Args:
        features: ``(N, K, d)``, or ``(1, K, d)`` for all episodes.
    """

    def __init__(self, features: FloatArray) -> None:
        """Start without a design."""
        coordinates = project(features).coordinates
        none = np.zeros_like(coordinates[:, :1])  # no arm
        self._coordinates = np.concatenate([coordinates, none], axis=1)
        self._known: dict[int, PairDesign | None] = {}

    def find(self, rows: IntArray, first: FloatArray, second: FloatArray) -> list[PairDesign | None]:
        """Return designs; those that are not known are computed, for all at once.

        Args:
            rows: ``(m,)`` the episode of each.
            first: ``(m,)`` arms i.
            second: ``(m,)`` arms j; K for the difference x_i - 0.

        Returns:
            m designs; None where rounding errors have kept it from being found.
        """
        instances, arms = self._coordinates.shape[:2]
        runs = rows % instances
        low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second).astype(np.int64)
        keys = (runs * arms + low) * arms + high
        new = [at for key, at in zip(*np.unique(keys, return_index=True), strict=True) if int(key) not in self._known]
        if new:
            solved = solve_contrasts(self._coordinates, runs[new], low[new], high[new])
            for at, weights, is_found in zip(new, *solved, strict=True):
                pulled = np.flatnonzero(weights[:-1])
                design = PairDesign(pulled, np.abs(weights[pulled]))
                self._known[int(keys[at])] = design if is_found else None
        return [self._known[key] for key in keys.tolist()]
