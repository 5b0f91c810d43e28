"""SHVar: sequential halving with known variances."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.halving import HalvingAgent, candidates, every_arm, last_answer, num_stages
from bai_gym.agents.tools.spending import shares
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, TieRule
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["SHVar", "SHVarReuse", "greedy_counts", "variance_index"]

SMALL = 2.0**-600  # a power of two, by which numbers are scaled without rounding
NUMBERS_AT_ONCE = 2**17  # of arrays that stay in the cache


@dataclass(kw_only=True)
class SHVar(HalvingAgent):
    """In each stage the next pull goes to the active arm whose mean estimate has the largest variance.

    That is the arm of largest sigma^2 / pulls in the stage, so pulls end up proportional to the variances. The counts
    of a stage depend on no reward, so they are computed in one pass.

    Paper: Lalitha et al. (2023), Algorithms 1 and 3. For equal variances it is sequential halving.

    Args:
        leftover: ``"drop"`` (default) or ``"last"``, see :class:`bai_gym.agents.tools.halving.HalvingAgent`.

    Knows the true variances. Minimum budget: K ceil(log2 K).
    """

    name = "SHVar"
    knows = frozenset({"variances"})
    uses_variances = False

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Look up the variances."""
        super().begin(info)
        self._variances = info.variances

    @override
    def plan(self) -> Plan:
        if self.budget < self.num_arms:
            return (yield from few_pulls(self))
        active = every_arm(self)
        for pulls in shares(self, num_stages(self.num_arms), self.leftover):
            variances = np.take_along_axis(self._variances, active, 1)
            counts = greedy_counts(variances, pulls, self.tie, self.rng)
            made = yield Block(counts, candidates(self, active), variances)
            active = self.better_half(active, made)
        return last_answer(self, active, self.latest)


@dataclass(kw_only=True)
class SHVarReuse(SHVar):
    """SHVar that keeps its samples: means are of all rewards of an arm, not of the last stage alone.

    The pulls of a stage are those of SHVar. The theorems of Lalitha et al. (2023) are about SHVar, not about this form.

    Knows the true variances. See :class:`SHVar` for the parameters and the minimum budget.
    """

    name = "SHVar-Reuse"
    keeps_samples = True


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
        ``(N, k)`` counts that sum to ``pulls``; the time grows with k log k.
    """
    rows = max(1, NUMBERS_AT_ONCE // variances.shape[-1])
    parts = [variances[first : first + rows] for first in range(0, len(variances), rows)]
    return np.concatenate([_greedy_counts(part, pulls, tie, rng) for part in parts])


def _greedy_counts(variances: FloatArray, pulls: int, tie: TieRule, rng: np.random.Generator) -> IntArray:
    size = variances.shape[-1]
    largest = variances.max(axis=-1, keepdims=True)
    variances = np.where(largest > 0, variances, 1.0)  # if all are 0, they are equal
    variances = variances * np.where((0 < largest) & (largest < SMALL), 1.0 / SMALL, 1.0)  # quotients must not be 0
    counts = np.zeros(variances.shape)
    if pulls > size:
        # All pulls of index above a level come before any other. Above the high level there are at most `pulls` of
        # them, because ceil(x) < x + 1; above the low one there are more.
        total = variances.sum(axis=-1, keepdims=True)
        high, low = total / (pulls - size), total / pulls
        counts = _pulls_above(high, variances)
        # Without better levels, the loop below would go around in steps of the largest count: up to K times.
        for _ in range(math.ceil(math.log2(max(1.0, counts.max() * size / pulls)))):
            middle = 0.5 * (high + low)
            more = _pulls_above(middle, variances)
            fits = more.sum(axis=-1, keepdims=True) <= pulls
            counts = np.where(fits, more, counts)
            high, low = np.where(fits, middle, high), np.where(fits, low, middle)
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


def _pulls_above(level: FloatArray, variances: FloatArray) -> FloatArray:
    """Return how many pulls of each arm have an index above ``(N, 1)`` levels, at least one.

    The level is raised by more than a rounding error, so that no pull is counted that belongs below it.
    """
    return np.maximum(np.ceil(variances / (level * (1.0 + 1e-9))), 1.0)


def _first(index: FloatArray, counts: FloatArray, size: IntArray, tie: TieRule, rng: np.random.Generator) -> BoolArray:
    """Return a mask of the arms of largest index in each row, ``(m, 1)`` many, ties by the rule."""
    border = np.take_along_axis(np.sort(index, axis=-1), index.shape[-1] - size, -1)
    kept = np.asarray(index >= border)
    crowded = np.flatnonzero(np.count_nonzero(kept, axis=-1) > size[:, 0])
    if crowded.size:
        keys = rng.random(index[crowded].shape) if tie == "random" else counts[crowded]
        order = np.lexsort([keys, -index[crowded]], axis=-1)
        kept[crowded] = order.argsort(axis=-1) < size[crowded]
    return kept
