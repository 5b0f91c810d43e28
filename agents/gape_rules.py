"""The sampling rules of gap-based exploration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.sampling.rule import IndexFunction
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["EveryIndexRule", "GapRule"]


class GapRule(SamplingRule):
    """Pulls the arm of largest B = -gap + width, where the width depends on the arm's own statistics.

    Every gap changes when the best mean does, yet the choice needs little: adding the best mean to all B changes no
    comparison and leaves mean + width for all arms but the best, for which it leaves second-best mean + width. So a
    step touches the pulled arm's entry, that of the best arm, and the two best means.
    """

    def __init__(
        self, steps: int, width: Callable[[IntArray, FloatArray], FloatArray], *, tie: TieRule, rng: np.random.Generator
    ) -> None:
        """Remember the width, a function of pulls and variances, elementwise."""
        self.steps = steps
        self._width = width
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Compute all widths and the two best means."""
        self._pulls = window.pulls
        self._means = np.where(window.pulls > 0, window.means, -np.inf)
        self._flat_means = self._means.reshape(-1)
        self._batch = self._means.shape[1]
        self._widths = np.ascontiguousarray(self._width(window.pulls, window.variances)).reshape(-1)
        unknown = window.pulls == 0
        values = np.where(unknown, np.inf, self._means) + self._widths.reshape(self._means.shape)
        self._table = ArgmaxTable(values, self._tie, self._rng)
        self._best = np.empty(self._batch, np.int64)
        self._best_mean = np.empty(self._batch)
        self._second_mean = np.empty(self._batch)
        self._find_best(np.arange(self._batch))
        self._table.flat[self._best] = self._second_mean + self._widths[self._best]

    def choose(self) -> IntArray:
        """Return the arms of largest B."""
        return self._table.argmax(self._pulls)

    def update(self, flat: IntArray, pulls: IntArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arm and of the best one."""
        table, best = self._table.flat, self._best
        old_means = self._flat_means[flat]
        widths = self._width(pulls, variances)
        self._flat_means[flat] = means
        self._widths[flat] = widths
        table[best] = self._flat_means[best] + self._widths[best]
        table[flat] = means + widths

        is_best = flat == best
        rises = ~is_best & (means > self._best_mean)
        # The two best means must be looked for again where the best arm fell to the second or below, or where an arm
        # that may have been the second fell.
        search = np.where(is_best, means < self._second_mean, (old_means == self._second_mean) & (means < old_means))
        self._second_mean = np.where(
            rises, self._best_mean, np.where(is_best, self._second_mean, np.maximum(self._second_mean, means))
        )
        changed = is_best | rises
        self._best_mean = np.where(changed, means, self._best_mean)
        self._best = np.where(rises, flat, best)
        rows = np.flatnonzero(search)
        if rows.size:
            self._find_best(rows)
        table[self._best] = self._second_mean + self._widths[self._best]

    def _find_best(self, rows: IntArray) -> None:
        means = self._means[:, rows]
        slots = means.argmax(axis=0)
        columns = np.arange(rows.size)
        self._best[rows] = slots * self._batch + rows
        self._best_mean[rows] = means[slots, columns]
        means[slots, columns] = -np.inf
        self._second_mean[rows] = means.max(axis=0)


class EveryIndexRule(SamplingRule):
    """Pulls the arm of largest index, where every index may change with every reward: all are recomputed."""

    def __init__(self, steps: int, index: IndexFunction, *, tie: TieRule, rng: np.random.Generator) -> None:
        """Remember the index function, of ``(k, N)`` pulls, means and variances."""
        self.steps = steps
        self._index = index
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Keep the window, which the caller updates."""
        self._window = window
        self._table = ArgmaxTable(np.zeros(window.pulls.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Compute all indices and return the arms of the largest."""
        window = self._window
        self._table.values[...] = self._index(window.pulls, window.means, window.variances)
        return self._table.argmax(window.pulls)

    def update(self, flat: IntArray, pulls: IntArray, means: FloatArray, variances: FloatArray) -> None:
        """Nothing to keep: the window has changed already."""
