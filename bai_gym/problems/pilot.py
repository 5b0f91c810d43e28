"""The instances that a pilot leaves possible: true means drawn from their posterior given some rewards of every arm.

The rewards of the pilot are known: agents start from them, as a :class:`bai_gym.Study` does from ``earlier=``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.problems.base import Problem
from bai_gym.problems.custom import table_problem
from bai_gym.rewards import BINARY, REAL, Rewards
from bai_gym.statistics import FloatArray, Statistics

__all__ = ["PilotProblem", "pilot_problem"]

SPREADS = 2000  # points at which the posterior of the spread is computed
WIDEST = 10.0  # times the range of the pilot's means: the largest spread considered


class PilotProblem(Problem):
    """Draws true means from the posterior of a hierarchical normal model, given the rewards of a pilot.

    Sample means are normal around the true ones, and these are normal with an unknown centre and spread, both with flat
    priors. So the means are shrunk towards each other as far as the data support it: the lead that the best arm of a
    pilot has is too large on average. Two arms do not determine a spread; their means keep their flat prior.

    Where the rewards of the pilot are binary, so are those of the instances; otherwise they are normal, with variances
    drawn from their posteriors under the usual prior 1 / variance. Normal rewards are real, whatever those of the
    pilot are; a note says so.

    Args:
        table: The rewards of the pilot, at least two of each arm, and their kind.
        notes: See :class:`bai_gym.problems.Problem`.
        arm_names: See :class:`bai_gym.problems.Problem`.

    Raises:
        DataError: If an arm has fewer than two rewards, or no rewards of an arm vary.

    Source: Gelman et al. (2013), "Bayesian Data Analysis", 3rd edition, section 5.4.
    """

    def __init__(
        self, table: SampleTable, notes: tuple[str, ...] = (), arm_names: tuple[str, ...] | None = None
    ) -> None:
        """Summarise the pilot."""
        self._pulls = np.diff(table.offsets).astype(np.float64)
        if self._pulls.min() < 2:
            arm = int(self._pulls.argmin())
            name = repr(arm_names[arm]) if arm_names else str(arm)
            raise DataError(f"arm {name} has a single reward in the pilot; a variance takes at least two")
        self._binary = table.kind == BINARY
        if table.kind not in (BINARY, REAL):
            notes = (*notes, f"rewards are {table.kind} in the pilot, and simulated as normal: real")
        self.num_arms, self.notes, self.arm_names = self._pulls.size, notes, arm_names
        self._means = np.asarray(table.means, np.float64).reshape(-1)
        self._variances = np.asarray(table.variances, np.float64).reshape(-1) * self._pulls / (self._pulls - 1.0)
        pulls, means, variances = self._pulls[None].astype(np.int64), self._means[None], self._variances[None]
        self.earlier = Statistics(pulls, means, variances)
        if self._binary:  # an arm with equal rewards so far is not certain
            share = (self._pulls * self._means + 0.5) / (self._pulls + 1.0)
            self._variances = share * (1.0 - share)
        if self._variances.min() <= 0.0:
            raise DataError("all rewards of an arm are equal in the pilot, so its variance cannot be estimated")
        self._squared_errors = self._variances / self._pulls
        self._spreads, self._weights = self._spread_posterior()

    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        """Return freshly drawn instances."""
        shape = (batch, self.num_arms)
        if self.num_arms == 2:
            means = self._means + np.sqrt(self._squared_errors) * rng.standard_normal(shape)
        else:
            squares = self._spreads[rng.choice(SPREADS, batch, p=self._weights), None] ** 2
            precision = 1.0 / (self._squared_errors + squares)  # of a sample mean around the centre
            total = precision.sum(axis=1, keepdims=True)
            centre = (precision * self._means).sum(axis=1, keepdims=True) / total
            centre = centre + rng.standard_normal((batch, 1)) / np.sqrt(total)
            kept = squares * precision  # share of its distance to the centre that a mean keeps
            deviation = np.sqrt(kept * self._squared_errors)
            means = centre + kept * (self._means - centre) + deviation * rng.standard_normal(shape)
        if self._binary:
            return BernoulliBandit(np.clip(means, 0.0, 1.0))
        freedom = self._pulls - 1.0
        return GaussianBandit(means, self._variances * freedom / rng.chisquare(freedom, shape))

    def _spread_posterior(self) -> tuple[FloatArray, FloatArray]:
        """Return spreads of the true means, equally far apart, and their probabilities."""
        reach = max(float(np.ptp(self._means)), float(np.sqrt(self._squared_errors.max())))
        spreads = (np.arange(SPREADS) + 0.5) / SPREADS * WIDEST * reach
        precision = 1.0 / (self._squared_errors + spreads[:, None] ** 2)
        total = precision.sum(axis=1)
        centre = (precision * self._means).sum(axis=1) / total
        squares = (precision * (self._means - centre[:, None]) ** 2).sum(axis=1)
        log = 0.5 * (np.log(precision).sum(axis=1) - np.log(total) - squares)
        weights = np.exp(log - log.max())
        return spreads, weights / weights.sum()


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
