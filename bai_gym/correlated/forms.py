"""Representations of the covariance of a posterior: rank-one updates, or the covariance of few weights.

All runs have the same prior C0, and N copies of a K x K matrix are large: 860 MB for 840 runs of 357 arms. After t
pulls of m different arms, C = C0 - U^T U with a U of t rows, or of m rows after recomputation. So U is kept, and t held
below about 2 m, and K + K / 4. A pull reads U once, for one column of C.

Where the prior has r < K / 2 weights, as linear models have, C = X S X^T, and the r x r matrix S is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from typing_extensions import override

from bai_gym.bandits.gaussian_prior import GaussianPrior
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Form", "RowForm", "WeightForm"]

LEAST_ROWS = 64  # rows of U up to which nothing is recomputed
ENTRIES_AT_ONCE = 4_000_000  # of matrices in memory at a time


class Form(ABC):
    """The covariance of N runs.

    Attributes:
        due: Whether everything should be recomputed by :meth:`fit`.
    """

    due: bool

    @abstractmethod
    def column(self, arms: IntArray) -> FloatArray:
        """Return ``(N, K)`` covariances of all arms with one arm of each run; the caller owns the array."""

    @abstractmethod
    def columns(self, arms: IntArray) -> FloatArray:
        """Return ``(N, c, K)`` covariances with several arms ``(N, c)``."""

    @abstractmethod
    def add(self, arms: IntArray, row: FloatArray, total: FloatArray) -> None:
        """Update with a pull.

        Args:
            arms: ``(N,)`` the pulled arms.
            row: ``(N, K)`` what :meth:`column` returned, divided by ``total``.
            total: ``(N,)`` the standard deviation of the reward.
        """

    @abstractmethod
    def fit(self, pulls: IntArray, excess: FloatArray, mean: FloatArray, variance: FloatArray) -> None:
        """Recompute everything.

        Args:
            pulls: ``(N, K)``.
            excess: ``(N, K)`` sample means less prior means; 0 for arms without a pull.
            mean: ``(N, K)``, filled with posterior means less prior means.
            variance: ``(N, K)``, filled with posterior variances.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return ``(N, K)`` values drawn from the normal distribution with mean 0 and this covariance."""


class RowForm(Form):
    """C = C0 - U^T U.

    Draws are made by Matheron's rule: a draw from the prior, less what the data would make of it and of noise. With the
    data in units of their noise, L L^T = I + A the covariance of the data and G its inverse factor, that is f - U^T G
    (w f + e). (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors".)
    """

    def __init__(self, prior: GaussianPrior, noise: FloatArray, budget: int | None, *, draws: bool) -> None:
        """Allocate the rows; memory is taken only as they are written."""
        self._prior = prior
        self._noise = noise
        self._deviation = np.sqrt(noise)
        batch, arms = noise.size, prior.num_arms
        self._rows = np.arange(batch)
        self._most = 1 + arms + max(LEAST_ROWS, arms // 4)
        self._capacity = self._most if budget is None else min(self._most, budget + 1)
        self._updates = np.empty((batch, self._capacity, arms))
        self._made = 0
        self._limit = min(LEAST_ROWS, self._capacity - 1)
        # Of each row of U, where draws are wanted: the arm of its datum, the datum's weight, and its row of G.
        self._draws = draws
        if draws:
            self._points = np.zeros((batch, self._capacity), np.int64)
            self._weights = np.empty((batch, self._capacity))
            self._inverse = np.zeros((batch, self._capacity, self._capacity))
        self._seen = np.zeros((batch, arms), dtype=bool)

    def _reserve(self, rows: int) -> None:
        """Reserve memory for a number of rows."""
        if rows <= self._capacity:
            return
        self._capacity = max(rows, min(self._most, 2 * self._capacity))
        batch, size, arms = self._updates.shape
        older, self._updates = self._updates, np.empty((batch, self._capacity, arms))
        self._updates[:, :size] = older
        if self._draws:
            points, weights, inverse = self._points, self._weights, self._inverse
            self._points = np.zeros((batch, self._capacity), np.int64)
            self._weights = np.empty((batch, self._capacity))
            self._inverse = np.zeros((batch, self._capacity, self._capacity))
            self._points[:, :size], self._weights[:, :size], self._inverse[:, :size, :size] = points, weights, inverse

    @property
    @override
    def due(self) -> bool:  # type: ignore[override]
        """Whether there are twice as many rows as different arms, or no space for another."""
        if self._made < self._limit:
            return False
        distinct = int(self._seen.sum(axis=1).max())
        if self._made < self._capacity - 1 and distinct > 0.7 * self._made:
            self._limit = min(self._capacity - 1, self._made + self._made // 4)
            return False
        return True

    @override
    def column(self, arms: IntArray) -> FloatArray:
        column = self._prior.columns(arms)
        if self._made:
            rows = self._updates[:, : self._made]
            self._coefficients = rows[self._rows, :, arms]
            column -= np.matmul(np.swapaxes(rows, 1, 2), self._coefficients[..., None])[..., 0]
        return column

    @override
    def columns(self, arms: IntArray) -> FloatArray:
        flat = self._prior.columns(arms)
        if self._made:
            rows = self._updates[:, : self._made]
            at = np.take_along_axis(rows, arms[:, None, :], axis=2)
            flat -= np.swapaxes(at, 1, 2) @ rows
        return flat

    @override
    def add(self, arms: IntArray, row: FloatArray, total: FloatArray) -> None:
        """Append a row."""
        size = self._made
        self._reserve(size + 1)
        self._updates[:, size] = row
        self._seen[self._rows, arms] = True
        if self._draws:
            self._points[:, size] = arms
            self._weights[:, size] = 1.0 / self._deviation
            if size:
                inverse = self._inverse[:, :size, :size]
                last = np.matmul(np.swapaxes(inverse, 1, 2), self._coefficients[..., None])[..., 0]
                np.divide(last, -total[:, None], out=self._inverse[:, size, :size])
            self._inverse[:, size, size] = self._deviation / total
        self._made += 1

    @override
    def fit(self, pulls: IntArray, excess: FloatArray, mean: FloatArray, variance: FloatArray) -> None:
        """Compute one row for each arm that has been pulled."""
        np.greater(pulls, 0, out=self._seen)
        most = max(1, int(self._seen.sum(axis=1).max()))
        self._made = most
        self._reserve(most + 1)
        self._limit = min(self._capacity - 1, max(LEAST_ROWS, 2 * most))
        per_part = max(1, ENTRIES_AT_ONCE // (most * self._prior.num_arms))
        for at in range(0, len(pulls), per_part):
            self._fit_part(slice(at, at + per_part), pulls, excess, mean, variance)

    def _fit_part(
        self, part: slice, pulls: IntArray, excess: FloatArray, mean: FloatArray, variance: FloatArray
    ) -> None:
        size = self._made
        # Runs with fewer pulled arms are filled up with others, of weight 0.
        points = np.argsort(~self._seen[part], axis=1, kind="stable")[:, :size]
        precision = np.take_along_axis(pulls[part], points, axis=1) / self._noise[part, None]
        runs = self._rows[part]
        floor = self._prior.noise_floor
        weights = np.sqrt(np.minimum(precision, 1.0 / (floor if floor.size == 1 else floor[runs, None])))
        columns = self._prior.columns(points, runs) * weights[..., None]
        gram = np.take_along_axis(columns, points[:, None, :], axis=2) * weights[:, None, :]
        gram[:, np.arange(size), np.arange(size)] += 1.0
        lower = np.linalg.cholesky(gram)
        data = weights * np.take_along_axis(excess[part], points, axis=1)
        solved = np.linalg.solve(lower, np.concatenate([columns, data[..., None]], axis=2))
        updates = solved[..., :-1]
        self._updates[part, :size] = updates
        mean[part] = np.matmul(solved[:, None, :, -1], updates)[:, 0]
        prior = self._prior.variance
        variance[part] = (prior if len(prior) == 1 else prior[part]) - np.einsum("nmk,nmk->nk", updates, updates)
        np.maximum(variance[part], 0.0, out=variance[part])
        if self._draws:
            self._points[part, :size] = points
            self._weights[part, :size] = weights
            self._inverse[part, :size, :size] = np.tril(np.linalg.inv(lower))

    @override
    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw by Matheron's rule."""
        values = self._prior.draw_centred(self._rows.size, rng)
        size = self._made
        if size:
            data = np.take_along_axis(values, self._points[:, :size], axis=1) * self._weights[:, :size]
            data += rng.standard_normal(data.shape)
            solved = np.matmul(self._inverse[:, :size, :size], data[..., None])
            values -= np.matmul(np.swapaxes(self._updates[:, :size], 1, 2), solved)[..., 0]
        return values


class WeightForm(Form):
    """C = X S X^T with few weights, as in Bayesian linear regression."""

    EVERY = 500  # pulls after which everything is recomputed

    def __init__(self, prior: GaussianPrior, noise: FloatArray) -> None:
        """Begin with S = I."""
        self._factor = prior.factor
        self._noise = noise
        batch, width = noise.size, prior.factor.shape[2]
        self._rows = np.arange(batch)
        self._matrix = np.broadcast_to(np.eye(width), (batch, width, width)).copy()
        self._since = 0

    @property
    @override
    def due(self) -> bool:  # type: ignore[override]
        """Whether it is time."""
        return self._since >= self.EVERY

    @override
    def column(self, arms: IntArray) -> FloatArray:
        chosen = self._factor[0, arms] if len(self._factor) == 1 else self._factor[self._rows, arms]
        self._turned = np.matmul(self._matrix, chosen[..., None])[..., 0]
        return self._seen_from_arms(self._turned)

    @override
    def columns(self, arms: IntArray) -> FloatArray:
        chosen = self._factor[0, arms] if len(self._factor) == 1 else self._factor[self._rows[:, None], arms]
        return np.asarray(chosen @ self._matrix @ np.swapaxes(self._factor, 1, 2))

    @override
    def add(self, arms: IntArray, row: FloatArray, total: FloatArray) -> None:
        """Update S."""
        turned = self._turned / total[:, None]
        self._matrix -= turned[:, :, None] * turned[:, None, :]
        self._since += 1

    @override
    def fit(self, pulls: IntArray, excess: FloatArray, mean: FloatArray, variance: FloatArray) -> None:
        """Invert I + X^T D X with D the pulls over the noise."""
        self._since = 0
        weights = pulls / self._noise[:, None]
        per_part = max(1, ENTRIES_AT_ONCE // max(1, self._factor[0].size))
        for at in range(0, len(pulls), per_part):
            part = slice(at, at + per_part)
            factor = self._factor if len(self._factor) == 1 else self._factor[part]
            turned = np.swapaxes(factor, 1, 2)
            values, vectors = np.linalg.eigh((turned * weights[part, None, :]) @ factor)
            values = np.maximum(values, 0.0)
            matrix = (vectors / (1.0 + values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
            self._matrix[part] = matrix
            theta = matrix @ (turned @ (weights[part] * excess[part])[..., None])
            mean[part] = (factor @ theta)[..., 0]
            variance[part] = np.maximum(((factor @ matrix) * factor).sum(axis=2), 0.0)

    @override
    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw the weights."""
        values, vectors = np.linalg.eigh(self._matrix)
        normals = rng.standard_normal(values.shape) * np.sqrt(np.maximum(values, 0.0))
        return self._seen_from_arms(np.matmul(vectors, normals[..., None])[..., 0])

    def _seen_from_arms(self, weights: FloatArray) -> FloatArray:
        if len(self._factor) == 1:
            return np.asarray(weights @ self._factor[0].T)
        return np.asarray(np.matmul(self._factor, weights[..., None])[..., 0])
