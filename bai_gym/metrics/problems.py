"""Problems of arms with several metrics: given means, or a table of logged rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.data import read_table
from bai_gym.errors import ParameterError
from bai_gym.metrics.bandits import BernoulliMetrics, GaussianMetrics, MetricBandit, TableMetrics
from bai_gym.metrics.tasks import Feasible, ParetoSet
from bai_gym.problems import Problem
from bai_gym.validation import choice

__all__ = ["MetricProblem", "metrics_problem", "table_problem"]

DEMO = ((0.30, 250.0), (0.34, 280.0), (0.40, 320.0), (0.33, 290.0))  # revenue, milliseconds
DEMO_GOALS = {"revenue": "max", "latency": "<= 300"}
DEMO_ROWS = 500  # of each variant


class MetricProblem(Problem):
    """A given instance of arms with several metrics, the same in every episode.

    Args:
        bandit: The arms, of one instance.
        goals: Of each metric; the task is :class:`bai_gym.metrics.Feasible` if there are limits, else
            :class:`bai_gym.metrics.ParetoSet`. None: all are to be large.
        notes: See :class:`bai_gym.problems.Problem`.
        arm_names: See there.

    Raises:
        ParameterError: If there is not one goal for each metric.
    """

    def __init__(
        self,
        bandit: MetricBandit,
        goals: Sequence[str] | None,
        notes: tuple[str, ...] = (),
        arm_names: tuple[str, ...] | None = None,
    ) -> None:
        """Keep the instance."""
        goals = ("max",) * bandit.metrics if goals is None else tuple(goals)
        if len(goals) != bandit.metrics:
            raise ParameterError(f"goals must be one for each of {bandit.metrics} metrics, not {goals!r}")
        self._bandit, self.num_arms, self.notes, self.arm_names = bandit, bandit.num_arms, notes, arm_names
        self.task = ParetoSet(goals) if {*goals} <= {"max", "min"} else Feasible(goals)

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> MetricBandit:
        """Return copies of the instance; ``rng`` is not used."""
        return self._bandit.select(np.zeros(batch, np.int64))


def metrics_problem(
    means: object,
    variances: object = 1.0,
    correlation: object = 0.0,
    distribution: str = "gaussian",
    goals: Sequence[str] | None = None,
) -> MetricProblem:
    """Return the problem of given means.

    Args:
        means: ``(K, D)`` means, a row of D metrics for each arm.
        variances: ``(D,)`` or ``(K, D)`` variances of Gaussian metrics, or one number for all.
        correlation: Of the Gaussian metrics of a pull, one number for all pairs or a ``(D, D)`` matrix.
        distribution: ``"gaussian"``, or ``"bernoulli"``: independent metrics of 0 and 1.
        goals: What is wanted of the mean of each metric. ``("max", "<= 300", ">= 0.9")``: the task is to find the best
            arm in the first one of those whose other means satisfy limits. ``("max", "min")``: the task is to find the
            arms that no other dominates. None: that, where all are to be large.

    Raises:
        InstanceError: Malformed means, variances or correlations.
        ParameterError: Malformed goals, or another distribution.
    """
    if choice(distribution, ("gaussian", "bernoulli"), "distribution") == "bernoulli":
        return MetricProblem(BernoulliMetrics(means), goals)
    return MetricProblem(GaussianMetrics(means, variances, correlation), goals)


def table_problem(
    path: str | Path | Mapping[str, Any] | None = None,
    arm_column: str = "variant",
    goals: Mapping[str, str] | None = None,
    separator: str | None = None,
) -> MetricProblem:
    """Return the problem whose arms are the values of one column of a log; a pull returns a random row of the arm.

    Args:
        path: A CSV or Parquet file, or a data frame, see :func:`bai_gym.data.read_table`. None: a synthetic log of four
            variants of a page, with revenue and milliseconds.
        arm_column: The column that names the arm.
        goals: The columns of the metrics, with what is wanted of each, see :func:`metrics_problem`:
            ``{"revenue": "max", "latency": "<= 300"}``.
        separator: One character between the fields of a CSV file; None looks for it.

    Raises:
        DataError: The file cannot be used.
        ParameterError: Malformed goals.
    """
    notes: tuple[str, ...] = ()
    if path is None:
        rows = np.random.default_rng(0).normal(np.repeat(DEMO, DEMO_ROWS, axis=0), (0.5, 60.0))
        path = {"variant": np.repeat([*"ABCD"], DEMO_ROWS), **dict(zip(DEMO_GOALS, rows.T, strict=True))}
        goals, notes = goals or DEMO_GOALS, ("no path was given: these are synthetic data of a page that nobody saw",)
    if not isinstance(goals, Mapping) or not goals:
        raise ParameterError("goals= must name the columns of metrics, such as {'revenue': 'max', 'latency': '<= 300'}")
    columns = [read_table(path, arm_column=arm_column, reward_column=name, separator=separator) for name in goals]
    bandit = TableMetrics(np.stack([column.rewards for column in columns], axis=-1), columns[0].offsets)
    return MetricProblem(bandit, [*goals.values()], notes, columns[0].names)
