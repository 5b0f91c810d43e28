"""Plays agents of single means where a pull gives several numbers: the agent sees D cells of each arm as D arms.

Whatever cell the agent wants to be pulled, its arm is, and all cells of that arm get a number. To a rule a pull is D
samples: so it counts them. Of an agent that pulls all cells in turn, arms may differ by up to D pulls.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Generator
from copy import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from bai_gym.errors import AgentError
from bai_gym.metrics.bandits import MetricStatistics
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Block, Outcome, Part, Plan, Start, execute
from bai_gym.sampling.requests import check_request, engine_of
from bai_gym.statistics import IntArray, Statistics

__all__ = ["MEANS", "VARIANCES", "in_cells"]

MEANS, VARIANCES = "metric_means", "metric_variances"  # what observations show of all metrics, (..., K, D)
NAMES = "pulls", "means", "variances"


def in_cells(info: ProblemInfo) -> tuple[ProblemInfo, Callable[[Start], Start]]:
    """Return what an agent receives that knows cells, and what adapts its plan.

    Args:
        info: What an agent of the episodes receives.

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
        truth = {name: getattr(info._truth, name).reshape(info.batch, -1) for name in NAMES[1:]}
        cells._truth = SimpleNamespace(**truth)  # type: ignore[assignment]
    return cells, lambda begin: lambda seen: by_cells(begin, seen, metrics)


def by_cells(begin: Start, seen: Any, metrics: int) -> Plan:
    """Yield pulls of arms, for a plan of pulls of cells, and return its recommendation."""
    shape = *seen["pulls"].shape, metrics  # (N, K, D)
    flat, rows = (shape[0], shape[1] * metrics), np.arange(shape[0])
    known = Statistics.zeros(flat)
    shown = ChainMap({name: getattr(known, name) for name in NAMES if name in seen}, seen)

    def pull(counts: IntArray) -> Generator[Part, Statistics, Statistics]:
        """Make ``(N, K)`` pulls of arms, and return the ``(N, K D)`` statistics of their cells."""
        outcome = yield Part(Block(counts), int(counts.sum(axis=1).max()))
        if isinstance(outcome, MetricStatistics):
            made = Statistics(*(getattr(outcome.cells, name).reshape(flat) for name in NAMES))
        else:  # pull by pull in an environment, whose observations show all metrics
            pulls = np.repeat(seen["pulls"], metrics, axis=1)
            made = Statistics(pulls, *(seen[name].reshape(flat) for name in (MEANS, VARIANCES))).since(known)
        known.merge(*made.flat())
        return made

    def play(asked: object) -> Generator[Part, Any, Statistics | Outcome]:
        request, steps = check_request(asked, *flat, int(seen["remaining"].max()))
        if isinstance(request, Block):
            counts = request.counts
            if request.arms is not None:
                counts = np.zeros(flat, np.int64)
                np.put_along_axis(counts, request.arms, request.counts, 1)
            outcome = yield from pull(counts.reshape(shape).sum(axis=-1))
            return outcome if request.arms is None else outcome.take(request.arms)
        if request.arms is not None:
            raise AgentError("an agent that knows nothing of metrics must not choose pull by pull among some arms")
        # A rule chooses cells, and learns all numbers of the arms they belong to, that of its own cell last.
        engine = engine_of(replace(request, steps=steps * metrics), shown)
        for _ in range(steps):
            chosen = engine.choose()
            there = chosen >= 0
            if not there.any():
                break
            arms, counts = np.maximum(chosen, 0) // metrics, np.zeros(shape[:2], np.int64)
            counts[rows, arms] = there
            made = yield from pull(counts)
            for step in range(1, metrics + 1):
                cells = arms * metrics + (chosen + step) % metrics
                engine.update(np.where(there, cells, STOP), made.means[rows, cells])
        return engine.outcome

    return (yield from execute(begin(shown), play))
