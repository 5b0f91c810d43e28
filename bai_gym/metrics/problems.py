"""Problems of arms with several metrics: given means, or a table of logged rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.data import read_table
from bai_gym.errors import DataError, InstanceError, ParameterError
from bai_gym.metrics.bandits import BernoulliMetrics, GaussianMetrics, MetricBandit, TableMetrics
from bai_gym.metrics.tasks import Feasible, ParetoSet
from bai_gym.problems import Problem
from bai_gym.problems.numbering import Numbering
from bai_gym.statistics import IntArray
from bai_gym.tasks import Task
from bai_gym.validation import choice

__all__ = ["MetricProblem", "metrics_problem", "table_problem"]

DEMO_MEANS = ((0.30, 250.0), (0.34, 280.0), (0.40, 320.0), (0.33, 290.0))  # conversions, milliseconds
DEMO_DEVIATIONS = (0.46, 60.0)
DEMO_LIMITS = ("<= 300",)
DEMO_ROWS = 500  # of each variant in the synthetic log

Limits = Mapping[str, str | float] | Sequence[str | float] | None


class MetricNumbering(Numbering):
    """How N episodes number arms with several metrics."""

    @override
    def select(self, rows: IntArray | slice) -> MetricNumbering:
        return MetricNumbering(self.arms[rows])

    @override
    def arrange(self, bandit: Any) -> Any:
        """Return the instances with their arms numbered so."""
        return bandit.arranged(self.arms)

    @override
    def back(self, values: Any) -> Any:
        """Return ``(N, K)`` or ``(N, K, D)`` values of arms in the order of the instance."""
        listed = np.empty_like(values)
        np.put_along_axis(listed, self.arms.reshape(*self.arms.shape, *(1,) * (values.ndim - 2)), values, 1)
        return listed


class MetricProblem(Problem):
    """A given instance of arms with several metrics, the same in every episode.

    Args:
        bandit: The arms, of one instance.
        task: What is to be recommended, unless an environment asks for another task about metrics.
        notes: See :class:`bai_gym.problems.Problem`.
        arm_names: See there.
    """

    def __init__(
        self,
        bandit: MetricBandit,
        task: Feasible | ParetoSet,
        notes: tuple[str, ...] = (),
        arm_names: tuple[str, ...] | None = None,
    ) -> None:
        """Keep the instance."""
        self._bandit, self.num_arms = bandit, bandit.num_arms
        self.task = type(task)(task.limits, task.directions, bandit.metrics).checked()
        self.notes, self.arm_names = notes, arm_names

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> MetricBandit:
        """Return copies of the instance; ``rng`` is not used."""
        return self._bandit.select(np.zeros(batch, np.int64))

    @override
    def number(
        self, task: Task, batch: int, rng: np.random.Generator, *, shuffle: bool, rotate: bool
    ) -> Numbering | None:
        numbering = super().number(task, batch, rng, shuffle=shuffle, rotate=rotate)
        return None if numbering is None else MetricNumbering(numbering.arms)


def metrics_problem(
    means: object = None,
    variances: object = 1.0,
    correlation: object = 0.0,
    covariance: object = None,
    distribution: str = "gaussian",
    limits: Limits = None,
    directions: Sequence[str] = (),
) -> MetricProblem:
    """Return the problem of given means.

    Args:
        means: ``(K, D)`` means, a row of D metrics for each arm. None: the demonstration, four variants of a page with
            conversions and milliseconds, of which at most 300 are allowed.
        variances: ``(D,)`` or ``(K, D)`` variances of Gaussian metrics, or one number for all.
        correlation: Of the metrics of a pull, one number for all pairs or a ``(D, D)`` matrix. Metrics of 0 and 1 are
            those of normal numbers with this correlation, see :class:`bai_gym.metrics.BernoulliMetrics`.
        covariance: ``(D, D)`` or ``(K, D, D)`` covariance of Gaussian metrics, in place of both.
        distribution: ``"gaussian"`` or ``"bernoulli"``.
        limits: Of all metrics but the first, such as ``("<= 300", ">= 0.9")``: the task is to find the best arm in the
            first one whose other means satisfy them. None: the task is to find the arms that no other dominates.
        directions: ``"max"`` or ``"min"`` for each metric, for that task; empty: all are to be large.

    Raises:
        InstanceError: Malformed means, variances or covariances.
        ParameterError: Malformed limits or directions, or another distribution.
    """
    notes: tuple[str, ...] = ()
    choice(distribution, ("gaussian", "bernoulli"), "distribution")
    if means is None:
        means, variances, limits = DEMO_MEANS, np.square(DEMO_DEVIATIONS), limits or DEMO_LIMITS
        notes = ("no means were given: these are four variants of a page that nobody has seen",)
    table = validation.array(means, "means", error=InstanceError)
    size = table.shape[-1] if table.ndim else 1
    matrix = validation.array(correlation, "correlation", error=InstanceError)
    matrix = np.where(np.eye(size) == 1, 1.0, matrix) if matrix.ndim == 0 else matrix
    task = ParetoSet((), directions) if limits is None else Feasible(_listed(limits), directions)
    if distribution == "bernoulli":
        return MetricProblem(BernoulliMetrics(table, matrix), task, notes)
    if covariance is None:
        spread = validation.array(variances, "variances", above=0, error=InstanceError)
        try:
            deviations = np.sqrt(np.broadcast_to(spread, table.shape if spread.ndim > 1 else (size,)))
            covariance = matrix * deviations[..., :, None] * deviations[..., None, :]
        except ValueError:
            raise InstanceError(f"variances and correlation must fit means of shape {table.shape}") from None
    return MetricProblem(GaussianMetrics(table, covariance), task, notes)


def table_problem(
    path: str | Path | Mapping[str, Any] | None = None,
    arm_column: str = "variant",
    metric_columns: Sequence[str] = ("converted", "latency"),
    separator: str | None = None,
    limits: Limits = None,
    directions: Sequence[str] = (),
) -> MetricProblem:
    """Return the problem whose arms are the values of one column of a log; a pull returns a random row of the arm.

    Args:
        path: A CSV or Parquet file, or a data frame, see :func:`bai_gym.data.read_table`. None: a synthetic log of four
            variants of a page, with conversions and milliseconds, of which at most 300 are allowed.
        arm_column: The column that names the arm.
        metric_columns: The columns of the metrics, the first one first.
        separator: One character between the fields of a CSV file; None looks for it.
        limits: As in :func:`metrics_problem`, or by the names of the columns: ``{"latency": "<= 300"}``.
        directions: See there.

    Raises:
        DataError: The file cannot be used.
        ParameterError: Malformed limits or directions.
    """
    names, notes = tuple(metric_columns), ("no path was given: these are synthetic data of a test that nobody made",)
    if path is None:
        path, limits = _demo_log(), limits or DEMO_LIMITS
    else:
        notes = ()
    if not names or isinstance(metric_columns, str):
        raise ParameterError("metric_columns= are the names of columns with numbers, in a list")
    columns = [read_table(path, arm_column=arm_column, reward_column=name, separator=separator) for name in names]
    if any(column.offsets.tolist() != columns[0].offsets.tolist() for column in columns):
        raise DataError("each row of the table needs an arm, and a number in every column of metric_columns")
    task = ParetoSet((), directions) if limits is None else Feasible(_listed(limits, names[1:]), directions)
    bandit = TableMetrics(np.stack([column.rewards for column in columns], axis=-1), columns[0].offsets)
    return MetricProblem(bandit, task, notes, columns[0].names)


def _listed(limits: Mapping[str, str | float] | Sequence[str | float], names: Sequence[str] = ()) -> tuple[Any, ...]:
    """Return limits in the order of the metrics."""
    if not isinstance(limits, Mapping):
        return (limits,) if isinstance(limits, str) else tuple(limits)
    if sorted(limits) != sorted(names):
        raise ParameterError(f"limits= by name are those of {', '.join(names) or 'a table'}, not {', '.join(limits)}")
    return tuple(limits[name] for name in names)


def _demo_log() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rows = {
        f"page {number}": (rng.random(DEMO_ROWS) < mean, rng.normal(latency, DEMO_DEVIATIONS[1], DEMO_ROWS))
        for number, (mean, latency) in enumerate(DEMO_MEANS)
    }
    return {
        "variant": np.repeat(list(rows), DEMO_ROWS).tolist(),
        "converted": np.concatenate([converted for converted, _ in rows.values()]).astype(float).tolist(),
        "latency": np.concatenate([latency for _, latency in rows.values()]).round().tolist(),
    }
