"""Arms whose pulls give D numbers each, one of every metric.

What the core calls rewards, and their statistics, are those of the first metric. Blocks of pulls bring the statistics of
all metrics along, as *cells*: those of arm i and metric d have the number i D + d.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.special import ndtri
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits import Bandit
from bai_gym.bandits.base import check_num_arms
from bai_gym.errors import InstanceError
from bai_gym.rewards import BINARY, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["BernoulliMetrics", "GaussianMetrics", "MetricBandit", "MetricStatistics", "TableMetrics", "factors"]

PULLS_AT_ONCE = 10**6  # that are drawn one by one, so that memory does not grow with the budget


@dataclass(slots=True)
class MetricStatistics(Statistics):
    """Statistics of the first metric, with those of all metrics.

    Attributes:
        cells: The same of all metrics; those of an arm follow one another.
    """

    cells: Statistics


class MetricBandit(Bandit):
    """Base of N instances of K arms with D metrics; a subclass draws the numbers of single pulls.

    Attributes:
        means: ``(N, K, D)`` true means.
        variances: ``(N, K, D)`` true variances.
        fields: Names of the arrays ``(N, K, ...)`` that arms have.
    """

    fields: ClassVar[tuple[str, ...]] = ("means", "variances")

    @property
    def metrics(self) -> int:
        """D."""
        return int(self.means.shape[2])

    @abstractmethod
    def draw(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return ``(R, D)`` numbers of one pull of each of ``(R,)`` positions ``instance * K + arm``."""

    def of(self, name: str, flat: IntArray | slice) -> FloatArray:
        """Return what a field has at ``(R,)`` positions."""
        field: FloatArray = getattr(self, name)
        return field.reshape(-1, *field.shape[2:])[flat]

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return the first metric of one pull of each arm."""
        return self.draw(flat, rng)[:, 0]

    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return ``(R, D)`` means and unbiased variances of ``(R,)`` pulls of each position; here from single pulls."""
        means, squares = np.zeros((flat.size, self.metrics)), np.zeros((flat.size, self.metrics))
        ends = np.cumsum(counts)
        first = 0
        while first < flat.size:
            last = max(int(np.searchsorted(ends, ends[first] - counts[first] + PULLS_AT_ONCE, "right")), first + 1)
            part = slice(first, last)
            numbers = self.draw(np.repeat(flat[part], counts[part]), rng)
            starts = ends[part] - counts[part] - (ends[first] - counts[first])
            means[part] = np.add.reduceat(numbers, starts) / counts[part, None]
            centred = numbers - np.repeat(means[part], counts[part], axis=0)
            squares[part] = np.add.reduceat(centred * centred, starts)
            first = last
        return means, squares / np.maximum(counts - 1, 1)[:, None]

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> MetricStatistics:
        """Draw the statistics of the blocks, of all metrics."""
        flat = np.arange(self.batch * self.num_arms)[flat]
        means, spread = self.draw_cells(flat, counts, rng)
        cells = Statistics(np.repeat(counts[:, None], self.metrics, axis=1), means, spread)
        return MetricStatistics(counts, means[:, 0], spread[:, 0], cells)

    @override
    def pull_block(
        self,
        counts: IntArray,
        rng: np.random.Generator,
        *,
        arms: IntArray | None = None,
        variances: bool = True,
        order: Callable[[slice], IntArray] | None = None,
    ) -> MetricStatistics:
        """Pull arms several times each, see :meth:`bai_gym.bandits.Bandit.pull_block`; with all metrics."""
        pulled = np.flatnonzero(counts)
        flat = pulled if arms is None else self.positions(arms).reshape(-1)[pulled]
        part = self.draw_blocks(flat, counts.take(pulled), rng, variances=variances)
        whole = Statistics.zeros((counts.size, self.metrics))
        for name in ("pulls", "means", "variances"):
            getattr(whole, name)[pulled] = getattr(part.cells, name)
        shape, spread = (len(counts), -1), whole.variances[:, 0].reshape(counts.shape)
        cells = Statistics(*(array.reshape(shape) for array in (whole.pulls, whole.means, whole.variances)))
        return MetricStatistics(counts, whole.means[:, 0].reshape(counts.shape), spread, cells)

    @override
    def select(self, rows: IntArray) -> Self:
        return self._changed(lambda field: field[rows])

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        for name in self.fields:
            getattr(self, name)[rows] = getattr(other, name)

    def arranged(self, order: IntArray) -> Self:
        """Return the instances with their arms in the order ``(N, K)``."""
        return self._changed(lambda field: field[np.arange(len(order))[:, None], order])

    def _changed(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        chosen = copy(self)
        for name in self.fields:
            setattr(chosen, name, change(getattr(self, name)))
        return chosen


class GaussianMetrics(MetricBandit):
    """Gaussian metrics, which may be correlated within a pull; pulls are independent.

    Args:
        means: ``(K, D)`` or ``(N, K, D)``.
        covariance: ``(D, D)``, or of each arm ``(K, D, D)``.

    Raises:
        InstanceError: Of malformed means, or where a covariance matrix is not positive definite.
    """

    fields: ClassVar[tuple[str, ...]] = ("means", "variances", "factors")

    def __init__(self, means: object, covariance: object) -> None:
        """Check the parameters."""
        self.means = _means(means)
        shape = (*self.means.shape, self.metrics)
        self.factors = np.broadcast_to(factors(covariance, shape[2:]), shape).copy()
        self.variances = (self.factors**2).sum(axis=-1)

    @override
    def draw(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        noise = rng.standard_normal((flat.size, self.metrics))
        return self.of("means", flat) + np.einsum("rde,re->rd", self.of("factors", flat), noise)

    @override
    def draw_cells(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw from the exact distribution: a normal mean, and independent of it a Wishart matrix.

        Its diagonal is that of L A A' L', where A is lower triangular with independent entries (Bartlett 1933).
        """
        factor, size, freedom = self.of("factors", flat), self.metrics, counts[:, None] - 1
        noise = rng.standard_normal((flat.size, size)) / np.sqrt(counts)[:, None]
        means = self.of("means", flat) + np.einsum("rde,re->rd", factor, noise)
        below = np.tril(rng.standard_normal((flat.size, size, size)), -1) * (np.arange(size) < freedom)[:, None, :]
        diagonal = np.sqrt(2.0 * rng.standard_gamma(0.5 * np.maximum(freedom - np.arange(size), 0)))
        below[:, np.arange(size), np.arange(size)] = diagonal
        squares = (np.matmul(factor, below) ** 2).sum(axis=-1)
        return means, squares / np.maximum(freedom, 1)

    @override
    def scale(self) -> float:
        return float(np.sqrt(self.variances.max()))


class BernoulliMetrics(MetricBandit):
    """Metrics of 0 and 1, such as "has bought" and "has complained".

    Those of one pull are 1 where jointly normal numbers, with the given correlations, are below a border.

    Args:
        means: ``(K, D)`` or ``(N, K, D)`` probabilities.
        correlation: Of the normal numbers, ``(D, D)``.

    Raises:
        InstanceError: Of malformed means or correlations.
    """

    fields: ClassVar[tuple[str, ...]] = ("means", "variances", "borders")

    def __init__(self, means: object, correlation: object) -> None:
        """Check the parameters."""
        self.means = _means(means)
        if self.means.min() < 0 or self.means.max() > 1:
            raise InstanceError("means of metrics of 0 and 1 lie in [0, 1]")
        self.variances, self.borders = self.means * (1.0 - self.means), ndtri(self.means)
        self._factor = factors(correlation, (self.metrics, self.metrics))

    @override
    def draw(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        noise = rng.standard_normal((flat.size, self.metrics)) @ self._factor.T
        return (noise < self.of("borders", flat)).astype(np.float64)

    @property
    @override
    def rewards(self) -> Rewards:
        """Rewards 0 and 1."""
        return BINARY


class TableMetrics(MetricBandit):
    """A pull returns a random row of the arm in a table, with replacement.

    Args:
        rows: ``(R, D)`` numbers; the rows of an arm follow one another.
        offsets: ``(K + 1,)`` where the rows of each arm begin.

    Raises:
        InstanceError: If there are fewer than two arms, or an arm has no row.
    """

    fields: ClassVar[tuple[str, ...]] = ("means", "variances", "listed")

    def __init__(self, rows: FloatArray, offsets: IntArray) -> None:
        """Compute the moments."""
        sizes = np.diff(offsets)
        check_num_arms(sizes.size)
        if sizes.min() < 1:
            raise InstanceError("every arm of a table needs at least one row")
        self._rows, self._offsets, self._kind = rows, offsets, Rewards.read(rows)
        means = np.add.reduceat(rows, offsets[:-1]) / sizes[:, None]
        centred = rows - np.repeat(means, sizes, axis=0)
        self.means, self.variances = means[None], np.add.reduceat(centred**2, offsets[:-1])[None] / sizes[:, None]
        self.listed = np.arange(sizes.size)[None]

    @override
    def draw(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        arms = self.listed.reshape(-1)[flat]
        return self._rows[rng.integers(self._offsets[arms], self._offsets[arms + 1])]

    @property
    @override
    def rewards(self) -> Rewards:
        """The kind that all numbers of the table show."""
        return self._kind


def _means(means: object) -> FloatArray:
    array = validation.array(means, "means", error=InstanceError)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or 0 in array.shape:
        raise InstanceError(f"means of several metrics are a row for each arm, (K, D), not of shape {array.shape}")
    check_num_arms(array.shape[1])
    return array


def factors(covariance: object, shape: tuple[int, ...]) -> FloatArray:
    """Return lower triangular L with L L' = covariance.

    Args:
        covariance: A matrix ``(D, D)``, or one for each of several arms.
        shape: What it must have, or its last two axes.

    Raises:
        InstanceError: If it is of another shape, or not positive definite.
    """
    matrix = validation.array(covariance, "covariance", error=InstanceError)
    rule = f"covariance, or correlation, must be a symmetric positive definite matrix of shape {shape[-2:]}"
    if matrix.shape not in (shape, shape[-2:]) or not np.allclose(matrix, np.swapaxes(matrix, -1, -2)):
        raise InstanceError(rule)
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise InstanceError(rule) from None
