"""Rows of a data set as arms: the real-world experiments of Azizi, Kveton and Ghavamzadeh (2022), appendix E.2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import override

from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.data import FeatureTable, require
from bai_gym.datasets.automobile import PRICE, automobile_like, read_automobile
from bai_gym.datasets.motor import MOTOR_TARGETS, read_motor
from bai_gym.errors import DataError
from bai_gym.problems.base import Problem, arm_count
from bai_gym.statistics import BoolArray, IntArray
from bai_gym.validation import choice, flag, real

__all__ = [
    "RowsProblem",
    "automobile_like_problem",
    "automobile_problem",
    "distinct_rows",
    "electric_motor_problem",
]

ENTRIES_AT_ONCE = 2_000_000  # of the permutations held at a time


class RowsProblem(Problem):
    """K rows of a table, drawn for every episode; one column is the mean reward, the others are the features.

    The K rows are distinct, uniform among all ordered choices. Rewards are Gaussian. The means need not be linear in
    the features, and rows with equal means may be drawn: then each of the best is correct.

    Args:
        table: Rows with columns in [0, 1].
        target: The column that is the mean reward.
        num_arms: K, from 2 to the number of rows.
        noise_variance: Above 0.
        intercept: Whether a feature of ones is added, as the last. A linear model without one has to pass through the
            origin.

    Raises:
        InstanceError: Fewer than two arms.
        DataError: Fewer rows than arms.
        ParameterError: A variance that is not above 0, or an ``intercept`` that is neither True nor False.

    Source: Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in Structured Bandits",
    appendix E.2. That rows are drawn without replacement is a choice of this library.
    """

    num_features: int

    def __init__(
        self,
        table: FeatureTable,
        target: str,
        num_arms: int = 8,
        *,
        noise_variance: float = 0.1,
        intercept: bool = False,
    ) -> None:
        """Check the sizes; the table is not copied."""
        self.num_arms = arm_count(num_arms)
        if table.num_rows < self.num_arms:
            raise DataError(
                f"{num_arms} arms asked for, but the data have only {table.num_rows} rows; give at most that many"
            )
        self.noise_variance = real(noise_variance, "noise_variance", above=0)
        self.intercept = flag(intercept, "intercept")
        self.notes = table.notes
        self._table = table
        self._target = table.columns.index(target)
        self._kept = [column for column in range(len(table.columns)) if column != self._target]
        self.num_features = len(self._kept) + self.intercept

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> FeatureBandit:
        """Return instances of freshly drawn rows."""
        rows = distinct_rows(self._table.num_rows, batch, self.num_arms, rng)
        values = self._table.values[rows]  # (N, K, C)
        features = np.ones((*rows.shape, self.num_features))
        features[..., : len(self._kept)] = values[..., self._kept]
        return FeatureBandit(GaussianBandit(values[..., self._target], self.noise_variance), features)


def automobile_problem(
    num_arms: int = 8, noise_variance: float = 0.1, intercept: bool = False, path: str | Path | None = None
) -> RowsProblem:
    """Return the problem of finding the most expensive of K cars from noisy prices.

    Features: curb weight, width, engine size, miles per gallon in the city and on the highway. Features and prices are
    rescaled to [0, 1] over all 205 cars; the 4 missing prices are the mean of the others.

    Args:
        num_arms: K; the paper has 8 and 16.
        noise_variance: Above 0.
        intercept: Whether a feature of ones is added.
        path: A copy of ``imports-85.data``; None: the data set ``automobile`` in the data directory.

    Raises:
        MissingDataError: There is no such file.
        DataError: The file cannot be used, or has fewer rows than arms.
        InstanceError: Fewer than two arms.
        ParameterError: An invalid variance or switch.

    Source: Azizi, Kveton and Ghavamzadeh (2022), appendix E.2, figure 5 (a).
    """
    table = read_automobile(require("automobile") if path is None else path)
    return RowsProblem(table, PRICE, num_arms, noise_variance=noise_variance, intercept=intercept)


def automobile_like_problem(
    num_arms: int = 8, noise_variance: float = 0.1, intercept: bool = False, table_seed: int = 0
) -> RowsProblem:
    """Return :func:`automobile_problem` on a synthetic table, see :func:`bai_gym.datasets.automobile_like`.

    Args:
        num_arms: K, at most 205.
        noise_variance: Above 0.
        intercept: Whether a feature of ones is added.
        table_seed: Seed of the table, at least 0; the same seed gives the same table in every process.

    Raises:
        DataError: More than 205 arms.
        InstanceError: Fewer than two arms.
        ParameterError: An invalid variance, switch or seed.
    """
    table = automobile_like(table_seed)
    return RowsProblem(table, PRICE, num_arms, noise_variance=noise_variance, intercept=intercept)


def electric_motor_problem(
    num_arms: int = 8,
    target: str = "pm",
    noise_variance: float = 0.1,
    intercept: bool = False,
    path: str | Path | None = None,
) -> RowsProblem:
    """Return the problem of finding the hottest of K moments in the life of an electric motor.

    The eleven features are all measurements but the target: temperatures, voltages, currents, speed and torque. All
    columns are rescaled to [0, 1] over the whole data set.

    Args:
        num_arms: K; the paper has 8 and 16.
        target: The column that is the mean reward, one of :data:`bai_gym.datasets.MOTOR_TARGETS`. The paper says
            "temperature": ``"pm"`` is that of the rotor. Its authors' code takes ``"motor_speed"``.
        noise_variance: Above 0.
        intercept: Whether a feature of ones is added.
        path: A copy of ``measures_v2.csv``; None: the data set ``electric-motor`` in the data directory.

    Raises:
        MissingDataError: There is no such file.
        DataError: The file cannot be used, or has fewer rows than arms.
        InstanceError: Fewer than two arms.
        ParameterError: A column that cannot be the target, or a variance or a switch of another kind.

    Source: Azizi, Kveton and Ghavamzadeh (2022), appendix E.2, figure 5 (b).
    """
    choice(target, MOTOR_TARGETS, "target")
    table = read_motor(require("electric-motor") if path is None else path)
    return RowsProblem(table, target, num_arms, noise_variance=noise_variance, intercept=intercept)


def distinct_rows(num_rows: int, batch: int, num_arms: int, rng: np.random.Generator) -> IntArray:
    """Draw K distinct rows for each of N runs, uniformly among all ordered choices.

    Time and memory do not grow with the number of rows, unless more than half of them are drawn.

    Args:
        num_rows: R, at least K.
        batch: N.
        num_arms: K.
        rng: Source of randomness.

    Returns:
        ``(N, K)`` rows, 0 to R - 1.
    """
    if 2 * num_arms > num_rows:
        per_part = max(1, ENTRIES_AT_ONCE // num_rows)
        parts = [
            rng.permuted(np.tile(np.arange(num_rows), (min(per_part, batch - first), 1)), axis=1)[:, :num_arms]
            for first in range(0, batch, per_part)
        ]
        return np.concatenate(parts)
    rows = rng.integers(num_rows, size=(batch, num_arms))
    unsettled = np.arange(batch)
    while unsettled.size:
        part = rows[unsettled]
        again = _repeated(part)
        # Which entries are redrawn depends only on which are equal, so all choices of rows are equally likely.
        part[again] = rng.integers(num_rows, size=np.count_nonzero(again))
        rows[unsettled] = part
        unsettled = unsettled[again.any(axis=1)]
    return rows


def _repeated(rows: IntArray) -> BoolArray:
    """Whether an entry of ``(n, K)`` rows is equal to an earlier one of the same run."""
    order = rows.argsort(axis=1, kind="stable")
    ordered = np.take_along_axis(rows, order, axis=1)
    repeated = np.zeros(rows.shape, np.bool_)
    np.put_along_axis(repeated, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return repeated
