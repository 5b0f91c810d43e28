"""Index rules that drop arms, in stages between which the index changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bai_gym.sampling.argmax import ArgmaxTable, TieRule
from bai_gym.sampling.rule import IndexFunction, StoppingRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["StagedIndexRule"]

NEVER = np.iinfo(np.int64).max


class StagedIndexRule(StoppingRule):
    """Pulls the active arm of largest index, and drops the arms whose index is negative; stops when none is left.

    The index depends on the arm's own statistics and on the factor of the stage. All active arms are looked at after
    each pull, so one whose index turns negative with the stage is dropped after the first pull of that stage. Stage 0
    ends after ``lengths[0]`` pulls for every arm, those made before the rule included; stage s after ``lengths[s]``
    more for every arm that is active at its beginning; the last one with the steps.

    Attributes:
        index: The index, called with pulls, means, variances and the factor.
        factors: ``(S,)`` factors of the stages.
        lengths: ``(S - 1,)`` pulls per arm of all stages but the last, at least 1.
        afterwards: None: an episode without active arms stops. Else the index, without a factor, that all arms have
            from then on; none is dropped any more.
        by_deviations: The index as a function of the sum of squared deviations from the mean, in the place of the
            variance, where it is computed faster from that; None: it is not.
        stopped: ``(N,)`` bool, the episodes that have stopped; None where they are not played pull by pull.
        final_means: ``(k, N)`` means of these when they stopped, of as many episodes as there were at the start.
    """

    def __init__(
        self,
        steps: int,
        index: IndexFunction,
        factors: Sequence[float],
        lengths: Sequence[int],
        *,
        tie: TieRule,
        rng: np.random.Generator,
        afterwards: IndexFunction | None = None,
        by_deviations: IndexFunction | None = None,
    ) -> None:
        """Remember everything."""
        self.steps = steps
        self.index = index
        self.factors = np.asarray(factors, dtype=np.float64)
        self.lengths = np.asarray(lengths, dtype=np.int64)
        self.afterwards = afterwards
        self.by_deviations = by_deviations
        self.stopped: npt.NDArray[np.bool_] | None = None
        self.final_means: FloatArray = np.zeros((0, 0))
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Begin stage 0 with all arms."""
        arms, batch = window.pulls.shape
        self._window = window
        self._columns = np.arange(batch)
        self._made = int(window.pulls[:, 0].sum())
        self._stage = np.zeros(batch, np.int64)
        self._ends = np.full(batch, self._end(0, arms))
        self._factor = np.full(batch, self.factors[0])
        self._active = np.full(batch, arms)
        self._fresh = np.ones(batch, dtype=bool)  # episodes whose arms have not all been looked at in this stage
        self._beyond = np.zeros(batch, dtype=bool)  # episodes that follow the index afterwards
        self.running = np.ones(batch, dtype=bool)
        self.stopped = np.zeros(batch, dtype=bool)
        self.final_means = np.zeros((arms, batch))
        index = self.index(window.pulls, window.means, window.variances, self._factor)
        self._table = ArgmaxTable(index, self._tie, self._rng)

    def _end(self, stage: int, arms: int) -> int:
        return arms * int(self.lengths[stage]) if stage < self.lengths.size else NEVER

    def keep(self, columns: IntArray, window: Statistics) -> None:
        """Go on with some episodes alone."""
        self._window = window
        for name in ("_columns", "_stage", "_ends", "_factor", "_active", "_fresh", "_beyond", "running"):
            setattr(self, name, getattr(self, name)[columns])
        self._table = ArgmaxTable(self._table.values[:, columns], self._tie, self._rng)

    def still_active(self) -> npt.NDArray[np.bool_]:
        """Return ``(k, N)`` which arms have not been dropped."""
        return np.asarray(self._table.values > -np.inf)

    def choose(self) -> IntArray:
        """Return the active arms of largest index."""
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the index of the pulled arms, drop arms, and begin the next stage where it is time."""
        self._made += 1
        index = self.index(pulls, means, variances, self._factor)
        if self.afterwards is not None:
            np.copyto(index, self.afterwards(pulls, means, variances), where=self._beyond)
        index[~self.running] = 0.0  # as _end_episodes has set it: no tie to break
        self._table.flat[flat] = index
        dropped = (index < 0.0) & self.running & ~self._beyond
        if self._fresh.any():
            self._look_at_all(np.flatnonzero(self._fresh))
            dropped &= ~self._fresh
            self._fresh[:] = False
        columns = np.flatnonzero(dropped)
        if columns.size:
            self._table.flat[flat[columns]] = -np.inf
            self._active[columns] -= 1
        empty = np.flatnonzero((self._active == 0) & self.running & ~self._beyond)
        if empty.size:
            self._end_episodes(empty)
        due = np.flatnonzero(self._made >= self._ends)
        if due.size:
            self._begin_stage(due)

    def _look_at_all(self, columns: IntArray) -> None:
        index = self._table.values[:, columns]
        index[index < 0.0] = -np.inf
        self._table.values[:, columns] = index
        self._active[columns] = np.count_nonzero(index > -np.inf, axis=0)

    def _end_episodes(self, columns: IntArray) -> None:
        self._ends[columns] = NEVER
        window = self._window
        if self.afterwards is not None:
            self._beyond[columns] = True
            parts = (array[:, columns] for array in (window.pulls, window.means, window.variances))
            self._table.values[:, columns] = self.afterwards(*parts)
            return
        self.running[columns] = False
        self._table.values[0, columns] = 0.0  # the only one above -inf, so that no tie has to be broken
        if self.stopped is not None:
            self.stopped[self._columns[columns]] = True
            self.final_means[:, self._columns[columns]] = window.means[:, columns]

    def _begin_stage(self, columns: IntArray) -> None:
        self._stage[columns] += 1
        stage, window = self._stage[columns], self._window
        self._factor[columns] = self.factors[stage]
        last = stage >= self.lengths.size
        length = self.lengths[np.minimum(stage, self.lengths.size - 1)]
        self._ends[columns] = np.where(last, NEVER, self._made + self._active[columns] * length)
        parts = (array[:, columns] for array in (window.pulls, window.means, window.variances))
        index = self.index(*parts, self._factor[columns])
        index[self._table.values[:, columns] == -np.inf] = -np.inf
        self._table.values[:, columns] = index
        self._fresh[columns] = True
