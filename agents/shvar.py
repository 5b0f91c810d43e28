"""SHVar: sequential halving with known variances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from bai_gym.agents.halving import HalvingAgent, Stage
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["SHVar", "greedy_counts", "variance_index"]


@dataclass(kw_only=True)
class SHVar(HalvingAgent):
    """In each stage the next pull goes to the active arm whose mean estimate has the largest variance.

    That is the arm of largest sigma^2 / pulls in the stage, so pulls end up proportional to the variances. The counts
    of a stage depend on no reward, so they are computed in one pass.

    Paper: Lalitha et al. (2023), Algorithms 1 and 3. For equal variances it is sequential halving.

    Args:
        samples: ``"stage"`` (default) or ``"all"``, see :class:`bai_gym.agents.halving.HalvingAgent`.
        leftover: ``"drop"`` (default) or ``"last"``.

    Knows the true variances. Minimum budget: K ceil(log2 K).
    """

    name: ClassVar[str] = "SHVar"
    knows: ClassVar[frozenset[str]] = frozenset({"variances"})
    uses_variances: ClassVar[bool] = False

    def begin(self, info: ProblemInfo) -> None:
        """Look up the variances."""
        super().begin(info)
        self._variances = info.variances

    def pull_stage(self, active: IntArray, pulls: int) -> Stage:
        """Pull greedily by sigma^2 / pulls."""
        candidates = self.candidates(active)
        variances = self._variances if candidates is None else np.take_along_axis(self._variances, active, -1)
        made: Statistics = yield Block(greedy_counts(variances, pulls, self.tie, self.rng), candidates, variances)
        return made


def variance_index(variances: FloatArray, pulls: npt.NDArray[np.number]) -> FloatArray:
    """Return variance / pulls, elementwise; arms of variance 0 rank below all others, the fewest pulls first.

    An arm without a pull has index +inf.
    """
    if variances.min(initial=1.0) > 0.0 and pulls.min(initial=1) > 0:
        return np.asarray(variances / pulls)
    index = np.where(variances > 0, variances / np.maximum(pulls, 1), -1.0 * pulls)
    return np.where(pulls == 0, np.inf, index)


def greedy_counts(variances: FloatArray, pulls: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    """Return the pulls of each arm if every pull goes to the arm of largest variance / pulls.

    Args:
        variances: ``(N, k)``, each at least 0. Arms of variance 0 are pulled once, then after all others.
        pulls: Total per row, at least 0.
        tie: Tie rule; under ``"first"`` ties go to the fewest pulls, then to the lowest column.
        rng: Source of randomness for ties.

    Returns:
        ``(N, k)`` counts that sum to ``pulls``.
    """
    size = variances.shape[-1]
    counts = np.zeros(variances.shape)
    if pulls > size:
        # All pulls of priority above this level come before any other. Their number is at most `pulls`, because
        # ceil(x) < x + 1. The level is raised by more than a rounding error, so that no pull is counted that belongs
        # below it.
        level = variances.sum(axis=-1, keepdims=True) / (pulls - size) * (1.0 + 1e-9)
        counts = np.maximum(np.ceil(variances / np.where(level > 0, level, 1.0)), 1.0)
    while (rows := np.flatnonzero(counts.sum(axis=-1) < pulls)).size:
        now = counts[rows]
        index = variance_index(variances[rows], now)
        # Next come the pulls of larger index than any arm's second next pull, in any order.
        due = index > variance_index(variances[rows], now + 1.0).max(axis=-1, keepdims=True)
        due |= index == index.max(axis=-1, keepdims=True)
        missing = pulls - now.sum(axis=-1, keepdims=True).astype(np.int64)
        many = np.flatnonzero(np.count_nonzero(due, axis=-1) > missing[:, 0])
        if many.size:
            due[many] = _first(index[many], now[many], missing[many], tie, rng)
        counts[rows] = now + due
    return counts.astype(np.int64)


def _first(
    index: FloatArray, counts: FloatArray, size: IntArray, tie: TieRule, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return a mask of the arms of largest index in each row, ``(m, 1)`` many, ties by the rule."""
    border = np.take_along_axis(np.sort(index, axis=-1), index.shape[-1] - size, -1)
    kept = np.asarray(index >= border)
    crowded = np.flatnonzero(np.count_nonzero(kept, axis=-1) > size[:, 0])
    if crowded.size:
        keys = rng.random(index[crowded].shape) if tie == "random" else counts[crowded]
        order = np.lexsort([keys, -index[crowded]], axis=-1)
        kept[crowded] = order.argsort(axis=-1) < size[crowded]
    return kept
