"""Problems of arms with several metrics: given means, or a table of logged rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.data import read_table
from bai_gym.errors import ParameterError
from bai_gym.metrics.bandits import BernoulliMetrics, GaussianMetrics, MetricBandit, TableMetrics
from bai_gym.metrics.tasks import Feasible, ParetoSet
from bai_gym.problems import FixedProblem
from bai_gym.validation import choice

__all__ = ["metrics_problem", "table_problem"]

DEMO = ((0.30, 250.0), (0.34, 280.0), (0.40, 320.0), (0.33, 290.0))  # revenue, milliseconds
DEMO_GOALS = {"revenue": "max", "latency": "<= 300"}


def metrics_problem(
    means: object,
    variances: object = 1.0,
    correlation: object = 0.0,
    distribution: str = "gaussian",
    goals: Sequence[str] | None = None,
) -> FixedProblem:
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
        return _problem(BernoulliMetrics(means), goals)
    return _problem(GaussianMetrics(means, variances, correlation), goals)


def table_problem(
    path: str | Path | Mapping[str, Any] | None = None,
    arm_column: str = "variant",
    goals: Mapping[str, str] | None = None,
) -> FixedProblem:
    """Return the problem whose arms are the values of one column of a log; a pull returns a random row of the arm.

    Args:
        path: A CSV or Parquet file, or a data frame, see :func:`bai_gym.data.read_table`. None: a synthetic log of four
            variants of a page, with revenue and milliseconds.
        arm_column: The column that names the arm.
        goals: The columns of the metrics, with what is wanted of each, see :func:`metrics_problem`:
            ``{"revenue": "max", "latency": "<= 300"}``.

    Raises:
        DataError: The file cannot be used.
        ParameterError: Malformed goals.
    """
    notes: tuple[str, ...] = ()
    if path is None:
        rows = np.random.default_rng(0).normal(np.repeat(DEMO, 500, axis=0), (0.5, 60.0))
        path = {"variant": np.repeat([*"ABCD"], 500), **dict(zip(DEMO_GOALS, rows.T, strict=True))}
        goals, notes = goals or DEMO_GOALS, ("no path was given: these are synthetic data of a page that nobody saw",)
    if not isinstance(goals, Mapping) or not goals:
        raise ParameterError("goals= must name the columns of metrics, such as {'revenue': 'max', 'latency': '<= 300'}")
    first, *others = goals
    table = read_table(path, arm_column=arm_column, reward_column=first, other_columns=others)
    bandit = TableMetrics(np.column_stack([table.rewards, table.others]), table.offsets)
    return _problem(bandit, [*goals.values()], notes, table.names)


def _problem(
    bandit: MetricBandit, goals: Sequence[str] | None, notes: tuple[str, ...] = (), names: tuple[str, ...] | None = None
) -> FixedProblem:
    """Return the problem of one instance, with the task that its goals state."""
    goals = ("max",) * bandit.metrics if goals is None else tuple(goals)
    if len(goals) != bandit.metrics:
        raise ParameterError(f"goals must be one for each of {bandit.metrics} metrics, not {goals!r}")
    return FixedProblem(bandit, notes, names, (ParetoSet if {*goals} <= {"max", "min"} else Feasible)(goals))
