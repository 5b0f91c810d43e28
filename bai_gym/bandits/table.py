"""Arms as tables of numbers, from which compiled code draws rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.statistics import FloatArray, IntArray

__all__ = [
    "BERNOULLI",
    "EMPIRICAL",
    "FINITE",
    "GAUSSIAN",
    "PAIRED_FINITE",
    "PAIRED_GAUSSIAN",
    "PAIRED_HEADER",
    "POISSON",
    "SINGLE",
    "ArmTable",
]

GAUSSIAN, BERNOULLI, EMPIRICAL, POISSON, FINITE, PAIRED_GAUSSIAN, PAIRED_FINITE = range(7)  # kinds of arms
SINGLE = 7  # to the player: empirical arms whose samples are pairs of single precision, seen as doubles
PAIRED_HEADER = 5  # numbers before the instances of paired arms, see :class:`bai_gym.bandits.paired.PairedBandit`


@dataclass(frozen=True, eq=False)
class ArmTable:
    """Arms that compiled code can draw from.

    Attributes:
        kind: ``GAUSSIAN``, ``BERNOULLI``, ``EMPIRICAL``, ``POISSON``, ``FINITE``, ``PAIRED_GAUSSIAN`` or
            ``PAIRED_FINITE``.
        location: ``(N, K)`` means; where the V values of an arm start in ``samples``, followed by how often each
            occurs (finite); the candidate (paired finite); for empirical arms not read.
        scale: ``(N, K)`` standard deviations (Gaussian), numbers of samples (empirical), or V (finite).
        start: ``(N, K)`` where samples start (empirical), how many rewards of each value are left (finite), or the
            number of pulls (paired).
        samples: ``(R,)`` samples of all arms (empirical); all numbers of finite and of paired arms, float64 and
            contiguous, because every pull changes them in place.
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

        kind, samples = self.kind, np.zeros(0) if self.samples is None else np.ascontiguousarray(self.samples)
        if kind == EMPIRICAL and samples.dtype == np.float32 and samples.size % 2 == 0:
            # Samples are read at random places: half as many bytes miss the caches less often.
            kind, samples = SINGLE, samples.view(np.float64)
        location, scale = chosen(self.location, np.float64), chosen(self.scale, np.float64)
        return kind, location, scale, chosen(self.start, np.int64), np.asarray(samples, np.float64)
