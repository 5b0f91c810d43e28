"""Arms whose pulls give D numbers each, one of every metric.

What the core calls rewards, and their statistics, are those of the first metric. Blocks of pulls bring the statistics
of all metrics along.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits import Bandit
from bai_gym.bandits.base import check_num_arms
from bai_gym.errors import InstanceError
from bai_gym.rewards import BINARY, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["BernoulliMetrics", "GaussianMetrics", "MetricBandit", "MetricStatistics", "TableMetrics"]

Moments = tuple[FloatArray, FloatArray]
PULLS_AT_ONCE = 10**6  # that are drawn one by one, so that memory does not grow with the budget


@dataclass(slots=True)
class MetricStatistics(Statistics):
    """Statistics of the first metric, with those of all metrics.

    Attributes:
        cells: ``(R, D)`` the same of all metrics, of all arms in a row.
    """

    cells: Statistics


class MetricBandit(Bandit):
    """Base of N instances of K arms with D metrics; a subclass draws their numbers.

    Attributes:
        means: ``(N, K, D)`` true means.
        variances: ``(N, K, D)`` true variances.
        extra: ``(N, K, ...)`` what else a subclass knows of the arms.
    """

    extra: Any

    @property
    def metrics(self) -> int:
        """D."""
        return self.means.shape[2]

    @abstractmethod
    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> Moments:
        """Return ``(R, D)`` means and unbiased variances of ``(R,)`` pulls of each of ``(R,)`` positions."""

    def draw(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(R, D)`` numbers of one pull of each of ``(R,)`` positions ``instance * K + arm``."""
        return self.draw_cells(flat, np.ones(flat.size, np.int64), rng)[0]

    def at(self, flat: IntArray) -> tuple[FloatArray, Any]:
        """Return means and what else is known at ``(R,)`` positions."""
        means, extra = (array.reshape(-1, *array.shape[2:])[flat] for array in (self.means, self.extra))
        return means, extra

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return the first metric of one pull of each arm."""
        return self.draw(flat, rng)[:, 0]

    @override
    def draw_blocks(self, flat: Any, counts: IntArray, rng: np.random.Generator, **_: Any) -> Statistics:
        """Draw the statistics of the blocks, of the first metric."""
        means, spread = self.draw_cells(np.arange(self.batch * self.num_arms)[flat], counts, rng)
        return Statistics(counts, means[:, 0], spread[:, 0])

    @override
    def pull_block(self, counts: IntArray, rng: np.random.Generator, *, arms: Any = None, **_: Any) -> MetricStatistics:
        """Pull arms several times each, see :meth:`bai_gym.bandits.Bandit.pull_block`; with all metrics."""
        flat = np.arange(counts.size) if arms is None else self.positions(arms).reshape(-1)
        pulled, cells = np.flatnonzero(counts), Statistics.zeros((counts.size, self.metrics))
        cells.pulls[...] = counts.reshape(-1, 1)
        cells.means[pulled], cells.variances[pulled] = self.draw_cells(flat[pulled], counts.take(pulled), rng)
        means, variances = (array[:, 0].reshape(counts.shape) for array in (cells.means, cells.variances))
        return MetricStatistics(counts, means, variances, cells)

    @override
    def select(self, rows: IntArray) -> Self:
        return self._changed(lambda array: array[rows])

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        for name in ("means", "variances", "extra"):
            getattr(self, name)[rows] = getattr(other, name)

    def arranged(self, order: IntArray, _: IntArray | None) -> Self:
        """Return the instances with their arms in the order ``(N, K)``."""
        return self._changed(lambda array: array[np.arange(len(order))[:, None], order])

    def _changed(self, change: Callable[[Any], Any]) -> Self:
        chosen = copy(self)
        chosen.means, chosen.variances, chosen.extra = map(change, (self.means, self.variances, self.extra))
        return chosen


class GaussianMetrics(MetricBandit):
    """Gaussian metrics, which may be correlated within a pull; pulls are independent.

    Args:
        means: ``(K, D)`` or ``(N, K, D)``.
        variances: ``(D,)`` or ``(K, D)``, or one number for all.
        correlation: Of the metrics of a pull, one number for all pairs or a ``(D, D)`` matrix.

    Raises:
        InstanceError: Of malformed means or variances, or where the correlation is not positive definite.
    """

    def __init__(self, means: object, variances: object = 1.0, correlation: object = 0.0) -> None:
        """Check the parameters."""
        self.means = _means(means)
        spread = np.sqrt(validation.array(variances, "variances", above=0, error=InstanceError))
        matrix = validation.array(correlation, "correlation", error=InstanceError)
        try:
            spread = spread * np.ones(self.means.shape)
            factor = np.linalg.cholesky(np.where(np.eye(self.metrics) == 1, 1.0, matrix))
        except (np.linalg.LinAlgError, ValueError):
            raise InstanceError(f"variances and correlation do not fit {self.metrics} metrics") from None
        self.extra = spread[..., None] * factor
        self.variances = spread**2

    @override
    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> Moments:
        """Draw from the exact distribution: a normal mean, and independent of it a Wishart matrix.

        Its diagonal is that of L A A' L', where A is lower triangular with independent entries (Bartlett 1933).
        """
        (means, factor), freedom, size = self.at(flat), counts[:, None] - 1, np.arange(self.metrics)
        noise = rng.standard_normal(means.shape) / np.sqrt(counts)[:, None]
        means = means + np.einsum("rde,re->rd", factor, noise)
        if not freedom.any():
            return means, np.zeros(means.shape)
        entries = np.tril(rng.standard_normal(factor.shape), -1) * (size < freedom)[:, None, :]
        entries[:, size, size] = np.sqrt(2.0 * rng.standard_gamma(0.5 * np.maximum(freedom - size, 0)))
        return means, (np.matmul(factor, entries) ** 2).sum(axis=-1) / np.maximum(freedom, 1)

    @override
    def scale(self) -> float:
        return float(np.sqrt(self.variances.max()))


class BernoulliMetrics(MetricBandit):
    """Metrics of 0 and 1, such as "has bought" and "has complained", independent of each other.

    Args:
        means: ``(K, D)`` or ``(N, K, D)`` probabilities.

    Raises:
        InstanceError: Of malformed means.
    """

    def __init__(self, means: object) -> None:
        """Check the probabilities."""
        self.means = self.extra = _means(means)
        if self.means.min() < 0.0 or self.means.max() > 1.0:
            raise InstanceError("means of metrics of 0 and 1 lie in [0, 1]")
        self.variances = self.means * (1.0 - self.means)

    @override
    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> Moments:
        """Draw numbers of ones: binomial; they determine the variances, too."""
        (chances, _), pulls = self.at(flat), counts[:, None]
        means = rng.binomial(pulls, chances) / pulls
        return means, means * (1.0 - means) * pulls / np.maximum(pulls - 1, 1)

    @property
    @override
    def rewards(self) -> Rewards:
        """Rewards 0 and 1."""
        return BINARY


class TableMetrics(MetricBandit):
    """A pull returns a random row of the arm in a table, with replacement.

    Args:
        rows: ``(R, D)`` numbers; the rows of an arm follow one another.
        offsets: ``(K + 1,)`` where the rows of each arm begin; each has some.
    """

    def __init__(self, rows: FloatArray, offsets: IntArray) -> None:
        """Compute the moments."""
        self._rows, self._kind = rows, Rewards.read(rows)
        sizes = np.diff(offsets)
        means, squares = _moments(rows, offsets[:-1], sizes)
        self.means, self.variances = means[None], (squares / sizes[:, None])[None]
        self.extra = np.stack([offsets[:-1], offsets[1:]], axis=-1)[None]

    @override
    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> Moments:
        """Draw single rows, many at a time."""
        (means, ends), variances = self.at(flat), np.zeros((flat.size, self.metrics))
        for part in np.split(np.arange(flat.size), np.flatnonzero(np.diff(np.cumsum(counts) // PULLS_AT_ONCE)) + 1):
            times, chosen = counts[part], np.repeat(ends[part], counts[part], axis=0)
            rows = self._rows[rng.integers(chosen[:, 0], chosen[:, 1])]
            means[part], squares = _moments(rows, np.cumsum(times) - times, times)
            variances[part] = squares / np.maximum(times - 1, 1)[:, None]
        return means, variances

    @property
    @override
    def rewards(self) -> Rewards:
        """The kind that all numbers of the table show."""
        return self._kind


def _means(means: object) -> FloatArray:
    array = validation.array(means, "means", error=InstanceError)
    if array.ndim not in (2, 3) or array.size == 0:
        raise InstanceError(f"means of several metrics are a row for each arm, (K, D), not of shape {array.shape}")
    check_num_arms(array.shape[-2])
    return array if array.ndim == 3 else array[None]


def _moments(rows: FloatArray, first: IntArray, counts: IntArray) -> Moments:
    """Return means of so many rows each, and sums of squared deviations from them."""
    means = np.add.reduceat(rows, first) / counts[:, None]
    return means, np.add.reduceat((rows - np.repeat(means, counts, axis=0)) ** 2, first)
