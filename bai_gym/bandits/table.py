"""Arms as tables of numbers, from which compiled code draws rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["BERNOULLI", "EMPIRICAL", "GAUSSIAN", "POISSON", "ArmTable"]

GAUSSIAN, BERNOULLI, EMPIRICAL, POISSON = range(4)  # kinds of arms


@dataclass(frozen=True, eq=False)
class ArmTable:
    """Arms that compiled code can draw from.

    Attributes:
        kind: ``GAUSSIAN``, ``BERNOULLI``, ``EMPIRICAL`` or ``POISSON``.
        location: ``(N, K)`` means; for empirical arms not read.
        scale: ``(N, K)`` standard deviations (Gaussian) or numbers of samples (empirical).
        start: ``(N, K)`` where samples start (empirical).
        samples: ``(R,)`` samples of all arms (empirical).
    """

    kind: int
    location: FloatArray
    scale: FloatArray | None = None
    start: IntArray | None = None
    samples: FloatArray | None = None

    def take(self, arms: IntArray | None) -> tuple[int, FloatArray, FloatArray, IntArray, FloatArray]:
        """Return the tables of ``(N, k)`` candidate arms (None: all) as arguments of the player."""

        def chosen(table: npt.NDArray[Any] | None, kind: type) -> npt.NDArray[Any]:
            shape = self.location.shape if arms is None else arms.shape
            if table is None:
                return np.zeros(shape, kind)
            taken = table if arms is None else np.take_along_axis(table, arms, axis=1)
            return np.ascontiguousarray(taken, kind)

        samples = np.zeros(0) if self.samples is None else np.ascontiguousarray(self.samples, np.float64)
        location, scale = chosen(self.location, np.float64), chosen(self.scale, np.float64)
        return self.kind, location, scale, chosen(self.start, np.int64), samples
