"""Plays agents of single means where a pull gives several numbers: the agent sees D cells of each arm as D arms.

Whatever cell the agent wants to be pulled, its arm is, and all cells of that arm get a number. To a rule a pull is D
samples: so it counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from copy import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.errors import AgentError
from bai_gym.metrics.bandits import MetricStatistics
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Block, Outcome, Part, Plan, Start, execute
from bai_gym.sampling.requests import check_request, engine_of
from bai_gym.statistics import IntArray, Observation, Statistics, exact_means

__all__ = ["MEANS", "VARIANCES", "in_cells"]

MEANS, VARIANCES = "metric_means", "metric_variances"  # what observations show of all metrics, (..., K, D)
SHOWN = ("pulls", "means", "variances", "remaining")


def in_cells(info: ProblemInfo, rng: np.random.Generator | None) -> tuple[ProblemInfo, Callable[[Start], Start]]:
    """Return what an agent receives that knows cells, and what adapts its plan.

    Args:
        info: What an agent of the episodes receives.
        rng: Decides which arms have a pull more than others, where an agent pulls all cells in turn.

    Raises:
        AgentError: If rewards arrive late, arms have costs, or there are checkpoints.
    """
    if info.rounds.late or info.costs is not None or info.checkpoints:
        raise AgentError(
            "where a pull gives several metrics, rewards arrive at once, pulls cost the same and agents recommend at "
            "the end: leave out batch_size, delay, costs and checkpoints"
        )
    cells, metrics = copy(info), info.task.metrics
    cells.num_arms = info.num_arms * metrics
    if info._truth is not None:
        rows = (info.batch, -1)
        truth = SimpleNamespace(means=info._truth.means.reshape(rows), variances=info._truth.variances.reshape(rows))
        cells._truth = truth  # type: ignore[assignment]
    rng = rng or np.random.default_rng()
    return cells, lambda begin: lambda seen: _CellPlan(begin, seen, metrics, rng).play()


class _CellPlan(Mapping[str, npt.NDArray[Any]]):
    """A plan of pulls of arms, from one of pulls of cells, and the observation of its agent."""

    def __init__(self, begin: Start, seen: Observation, metrics: int, rng: np.random.Generator) -> None:
        self._begin, self._seen, self._metrics, self._rng = begin, seen, metrics, rng
        self._batch, self._num_arms = seen["pulls"].shape
        self._cells = Statistics.zeros((self._batch, self._num_arms * metrics))

    @override
    def __getitem__(self, key: str) -> npt.NDArray[Any]:
        if key not in SHOWN:
            raise KeyError(key)
        return self._seen[key] if key == "remaining" else getattr(self._cells, key)

    @override
    def __iter__(self) -> Iterator[str]:
        return (key for key in SHOWN if key in self._seen)

    @override
    def __len__(self) -> int:
        return sum(1 for _ in self)

    def play(self) -> Plan:
        """Yield pulls of arms, and return the agent's recommendation."""
        return (yield from execute(self._begin(self), self._play))

    def _play(self, asked: object) -> Generator[Part, Any, Statistics | Outcome]:
        left = int(self._seen["remaining"].max())
        request, steps = check_request(asked, self._batch, self._num_arms * self._metrics, left)
        if not isinstance(request, Block):
            return (yield from self._sequential(request, steps))
        counts = request.counts
        if request.arms is not None:
            counts = np.zeros(self._cells.pulls.shape, np.int64)
            np.put_along_axis(counts, request.arms, request.counts, axis=1)
        made = yield from self._pull(self._of_arms(counts))
        return made if request.arms is None else made.take(request.arms)

    def _of_arms(self, counts: IntArray) -> IntArray:
        """Return pulls of arms, ``(N, K)``, for those of cells; who wants all cells in turn gets all arms in turn."""
        pulls = counts.reshape(self._batch, self._num_arms, self._metrics).sum(axis=-1)
        if counts.max() - counts.min() > 1:
            return pulls
        each, extra = divmod(int(pulls[0].sum()), self._num_arms)
        return each + (self._rng.random(pulls.shape).argsort(axis=1) < extra)

    def _pull(self, counts: IntArray) -> Generator[Part, Statistics, Statistics]:
        """Make ``(N, K)`` pulls of arms, and return the ``(N, K D)`` statistics of their cells."""
        outcome = yield Part(Block(counts), int(counts.sum(axis=1).max()))
        if isinstance(outcome, MetricStatistics):
            made = outcome.cells
            self._cells.merge(*made.flat())
            return made
        means, variances = (np.array(self._seen[key]).reshape(self._cells.pulls.shape) for key in (MEANS, VARIANCES))
        now = Statistics(np.repeat(self._seen["pulls"], self._metrics, axis=1), means, variances)
        made, self._cells = now.since(self._cells), now
        return made

    def _sequential(self, request: Any, steps: int) -> Generator[Part, Statistics, Outcome]:
        """Let a rule choose cells, and learn all numbers of the arms they belong to, those of its own cell last."""
        if request.arms is not None or request.window is not None:
            raise AgentError(f"{request.agent} follows a rule for some of the arms, which knows nothing of metrics")
        size, rows = self._metrics, np.arange(self._batch)
        engine = engine_of(replace(request, steps=steps * size), self)
        for _ in range(steps):
            chosen = engine.choose()
            there = np.flatnonzero(chosen >= 0)
            if there.size == 0:
                break
            arms = np.maximum(chosen, 0) // size
            counts = np.zeros((self._batch, self._num_arms), np.int64)
            counts[there, arms[there]] = 1
            made = yield from self._pull(counts)
            numbers = exact_means(made.means, made.pulls, np.abs(made.means)).reshape(self._batch, -1, size)[rows, arms]
            for step in range(1, size + 1):
                metric = (chosen + step) % size
                engine.update(np.where(chosen < 0, STOP, arms * size + metric), numbers[rows, metric])
        return engine.outcome
