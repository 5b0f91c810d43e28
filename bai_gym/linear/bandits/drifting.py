"""Gaussian arms whose means change with time, along a path that is the same in every episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_means
from bai_gym.bandits.empirical import PULLS_AT_ONCE
from bai_gym.bandits.finite import distinct
from bai_gym.bandits.turns import pulls_in_turn
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import real

__all__ = ["DriftingBandit"]


class DriftingBandit(Bandit):
    """Rewards N(mean of the arm at the time of the pull, noise variance).

    The time of an instance is the number of its pulls so far, whatever the arms; after the last row of the path it
    starts again. ``means`` and ``variances`` are those of a pull at a uniformly random time of the path: the averages
    over time, and the noise plus the variance of the path.

    Args:
        path: ``(T, K)`` means at each time, at most 1e50 in magnitude.
        noise_variance: At least 0.
        batch: N, the number of instances.

    Raises:
        InstanceError: NaN or infinite values, or fewer than two arms.
        ParameterError: A negative variance.
    """

    state_size = 1

    def __init__(self, path: object, noise_variance: float = 1.0, *, batch: int = 1) -> None:
        """Check and copy the path."""
        self._path = check_means(path, "path")
        self._noise = real(noise_variance, "noise_variance", least=0)
        self._times = np.zeros(batch, np.int64)
        self.means = np.tile(self._path.mean(axis=0), (batch, 1))
        self.variances = np.tile(self._noise + self._path.var(axis=0), (batch, 1))

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return one reward for each pulled arm; pulls of one instance are made in the order given."""
        rows, arms = np.divmod(flat, self.num_arms)
        means = np.empty(len(flat))
        for part in distinct(rows):
            means[part] = self._path[self._times[rows[part]] % len(self._path), arms[part]]
            self._times[rows[part]] += 1
        return np.asarray(means + np.sqrt(self._noise) * rng.standard_normal(len(flat)))

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Pull arms in turn, and draw the statistics of each."""
        every = np.zeros(self.means.size, np.int64)
        every[flat] = counts
        made = self.pull_block(every.reshape(self.means.shape), rng, variances=variances)
        return Statistics(counts, made.means.reshape(-1)[flat], made.variances.reshape(-1)[flat])

    @override
    def pull_block(
        self,
        counts: IntArray,
        rng: np.random.Generator,
        *,
        arms: IntArray | None = None,
        variances: bool = True,
        order: Callable[[slice], IntArray] | None = None,
    ) -> Statistics:
        """Draw the statistics of pulls in a given order, from their exact joint distribution.

        The sum of the rewards of an arm is that of the means at the times of its pulls, plus the noise of as many
        rewards. The sum of squares about the sample mean is the noise variance times a noncentral chi-square.
        """
        sums, squares = np.zeros(counts.shape), np.zeros(counts.shape)
        centre = self.means if arms is None else np.take_along_axis(self.means, arms, -1)
        totals = counts.sum(axis=-1)
        step = max(1, PULLS_AT_ONCE // max(1, int(totals.max())))
        for first in range(0, len(counts), step):
            part = slice(first, first + step)
            slots = pulls_in_turn(counts[part]) if order is None else order(part)
            rows = np.repeat(np.arange(len(totals[part])), totals[part])
            ends = np.cumsum(totals[part])
            times = np.arange(slots.size) + (self._times[part] - (ends - totals[part]))[rows]
            named = slots if arms is None else arms[part][rows, slots]
            cells, size = rows * counts.shape[-1] + slots, counts[part].size
            away = self._path[times % len(self._path), named] - centre[part][rows, slots]
            sums[part] = np.bincount(cells, away, size).reshape(counts[part].shape)
            squares[part] = np.bincount(cells, away**2, size).reshape(counts[part].shape)
        self._times += totals
        return self._with_noise(counts, centre, sums, squares, rng, variances=variances)

    def _with_noise(
        self,
        counts: IntArray,
        centre: FloatArray,
        sums: FloatArray,
        squares: FloatArray,
        rng: np.random.Generator,
        *,
        variances: bool,
    ) -> Statistics:
        """Return statistics of rewards whose means have these sums of distances, and of their squares, to a centre."""
        pulls = np.maximum(counts, 1)
        noise = np.sqrt(self._noise)
        means = centre + sums / pulls + noise * rng.standard_normal(counts.shape) / np.sqrt(pulls)
        spread = np.zeros(counts.shape)
        if variances:
            along = np.sqrt(np.maximum(squares - sums**2 / pulls, 0.0)) + noise * rng.standard_normal(counts.shape)
            across = 2.0 * self._noise * rng.standard_gamma(np.maximum(counts - 2, 0) / 2.0)
            spread = np.where(counts > 1, (along**2 + across) / np.maximum(counts - 1, 1), 0.0)
        return Statistics(counts, np.where(counts > 0, means, 0.0), spread)

    @override
    def select(self, rows: IntArray) -> Self:
        chosen = object.__new__(type(self))
        chosen._path, chosen._noise, chosen._times = self._path, self._noise, self._times[rows]
        chosen.means, chosen.variances = self.means[rows], self.variances[rows]
        return chosen

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        self._times[rows] = other._times
