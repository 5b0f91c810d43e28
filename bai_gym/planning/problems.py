"""The instances that a pilot leaves possible: true means drawn from their posterior given some rewards of every arm.

The rewards of the pilot are known: agents start from them, as a :class:`bai_gym.live.Study` does from ``earlier=``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from typing_extensions import override

from bai_gym.analysis.posterior import MeansPosterior
from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.problems.base import Problem
from bai_gym.problems.custom import table_problem
from bai_gym.rewards import BINARY, REAL, Rewards
from bai_gym.statistics import Statistics

__all__ = ["PilotProblem", "pilot_problem"]


class PilotProblem(Problem):
    """Draws true means from their posterior given the rewards of a pilot, see :mod:`bai_gym.analysis.posterior`.

    Where the rewards of the pilot are binary, so are those of the instances. Otherwise they are normal, whatever those
    of the pilot are; a note says so. No mean is beyond the bounds of the rewards.

    Args:
        table: The rewards of the pilot, at least one of each arm, and their kind.
        notes: See :class:`bai_gym.problems.Problem`.
        arm_names: See :class:`bai_gym.problems.Problem`.

    Raises:
        DataError: If no variance can be estimated.
    """

    def __init__(
        self, table: SampleTable, notes: tuple[str, ...] = (), arm_names: tuple[str, ...] | None = None
    ) -> None:
        """Summarise the pilot."""
        pulls = np.diff(table.offsets)
        means = np.asarray(table.means, np.float64).reshape(-1)
        variances = np.asarray(table.variances, np.float64).reshape(-1) * pulls / np.maximum(pulls - 1, 1)
        if table.kind not in (BINARY, REAL):
            notes = (*notes, f"rewards are {table.kind} in the pilot, and simulated as normal: real")
        self.num_arms, self.notes, self.arm_names = pulls.size, notes, arm_names
        self.earlier = Statistics(pulls[None].astype(np.int64), means[None], variances[None])
        self._binary = table.kind == BINARY
        self._posterior = MeansPosterior(pulls, means, variances, table.kind)
        if not self._posterior.known:
            raise DataError("no arm of the pilot has two rewards that differ, so no variance can be estimated")

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        means, variances = self._posterior.draw(batch, rng)
        return BernoulliBandit(means) if self._binary else GaussianBandit(means, variances)


def pilot_problem(
    path: str | Path | None = None,
    arm_column: str | None = None,
    reward_column: str | None = None,
    separator: str | None = None,
    bins: int | None = None,
    arms: Sequence[str | int | float] | None = None,
    missing: str = "error",
    rewards: Rewards | str | None = None,
    cost_column: str | None = None,
) -> PilotProblem:
    """Return the problem of a pilot whose rewards are in a file.

    Args:
        path: A CSV or Parquet file, see :func:`bai_gym.problems.custom.table_problem`; None: its synthetic log.
        arm_column: The column that names the arm.
        reward_column: The column with the reward.
        separator: One character between the fields of a CSV file; None looks for it.
        bins: Cut a numeric arm column into this many arms.
        arms: The arms wanted, in this order; None: all.
        missing: ``"error"``, or ``"drop"`` to leave out rows without an arm or a reward.
        rewards: The kind of rewards, see :func:`bai_gym.problems.custom.table_problem`; None: that which they show.
        cost_column: The column that says what a row has cost, see there.

    Raises:
        ParameterError: Some of ``path``, ``arm_column`` and ``reward_column`` are given, but not all; no such kind of
            rewards.
        DataError: The file cannot be used, or its rewards do not suffice.
    """
    columns = (path, arm_column, reward_column, separator, bins, arms, missing)
    log = table_problem(*columns, rewards=rewards, cost_column=cost_column)
    bandit = log.draw(1, np.random.default_rng(0))
    assert isinstance(bandit, EmpiricalBandit)
    problem = PilotProblem(bandit.samples, log.notes, log.arm_names)
    problem.costs = log.costs
    return problem
