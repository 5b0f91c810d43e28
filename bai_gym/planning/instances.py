"""The measure on each of many instances: what a mean over random instances hides.

A pilot is compatible with many instances. An error probability of 5 % on average may be one of 1 % on most of them,
and of 40 % on some where two arms are nearly equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.api import make_cells
from bai_gym.bandits import Bandit
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.runner import run_cells
from bai_gym.common.seeding import generator
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.parallel import Workers
from bai_gym.planning.goals import ERROR, Goal, Measurement
from bai_gym.problems import Problem
from bai_gym.problems.base import count_features

__all__ = ["INSTANCES", "on_each_instance"]

INSTANCES = 200


class InTurn(Problem):
    """Returns given instances in turn, from the first one on in every chunk."""

    def __init__(self, bandit: Bandit, like: Problem) -> None:
        """Keep the instances, and the notes and earlier rewards of the problem that they are from."""
        self._bandit = bandit
        self.num_arms = bandit.num_arms
        self.num_features = count_features(bandit)
        self.notes = like.notes
        self.earlier = like.earlier
        self.paired, self.state_size = bandit.paired, bandit.state_size

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        return self._bandit.select(np.arange(batch) % self._bandit.batch)


def on_each_instance(
    agent: Any, cell: Cell, goal: Goal, runs: int, *, workers: Workers, out: Path | None, reuse: bool | None
) -> Measurement:
    """Measure a goal on each of :data:`INSTANCES` instances.

    Args:
        agent: The agent of the cell.
        cell: Agent, environment and budget; its seed draws the instances.
        goal: What to measure.
        runs: Of each instance.
        workers: Processes.
        out: Folder for finished chunks.
        reuse: See :func:`bai_gym.benchmark.runner.run_cells`.
    """
    problem = cell.env.problem
    number = min(INSTANCES, cell.chunk_runs)
    bandit = problem.draw(number, generator(cell.seed, "truths"))
    env = BestArmEnv(InTurn(bandit, problem), cell.budget, task=cell.episode_spec.task, costs=cell.costs)
    own = make_cells([agent], env, [cell.budget], cell.seed)[0]
    comparison = run_cells([own], runs * number, workers=workers, out=out, reuse=reuse)
    outcome = comparison.outcome(comparison[0])
    which = np.concatenate([np.arange(size) % number for size in own.chunk_sizes(runs * number)])
    values = ~outcome.correct if goal.measure == ERROR else outcome.simple_regret
    return goal.measured(comparison[0], np.sort(np.bincount(which, values) / np.bincount(which)))
