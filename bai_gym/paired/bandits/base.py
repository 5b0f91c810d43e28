"""Paired arms: the j-th pull of every arm is played on item j of one random order of items.

Items are the questions, instances or seeds that all candidates are tried on. The reward of an arm on an item is a
function of the key of the episode, drawn before its first pull, and of the number of the item: nothing but the pulls of
each arm has to be stored, and arms may come to an item at any time.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit
from bai_gym.bandits.empirical import PULLS_AT_ONCE, centred_moments
from bai_gym.bandits.finite import distinct
from bai_gym.bandits.streams import LARGEST_KEY
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["PairedBandit"]

AHEAD = 32  # rewards of an arm of a single instance that are drawn at once


def key_of(row: FloatArray, rng: np.random.Generator) -> np.uint64:
    """Return the key of an instance, drawn if it has none; in loops of sequential agents."""
    if row[0] == 0.0:
        row[0] = 1.0 + np.floor(rng.random() * (LARGEST_KEY - 1))
    return np.uint64(row[0])


class PairedBandit(Bandit):
    """Arms that are all played on the same items, in the same order.

    The state of an instance is a row of floats: its key (0 before the first pull), the pulls of each arm, and what the
    subclass adds.
    """

    paired = True
    by_instance: ClassVar[tuple[str, ...]] = ("_rows",)

    _rows: FloatArray  # (N, 1 + K + ...)

    def _lay_out(self, extra: int = 0) -> None:
        """Allocate the state, with that many numbers of the subclass."""
        batch, arms = self.means.shape
        self._rows = np.zeros((batch, 1 + arms + extra))
        self._ahead: dict[int, tuple[int, FloatArray]] = {}  # of an only instance, by arm: an item, rewards from it on
        # Besides these, sums, means and variances of the differences of each pair, and as much again while they grow.
        self.state_size = -(-self._rows.shape[1] // arms) + 8 * arms

    @property
    def _positions(self) -> FloatArray:
        """``(N, K)`` items that each arm has been played on, whole numbers."""
        return self._rows[:, 1 : 1 + self.num_arms]

    def _draw_keys(self, rng: np.random.Generator) -> None:
        """Give a key to the instances that have none."""
        keys = self._rows[:, 0]
        if not keys.all():
            keys[keys == 0] = rng.integers(1, LARGEST_KEY, np.count_nonzero(keys == 0))

    @abstractmethod
    def _rewards(self, rows: IntArray, arms: IntArray, items: IntArray) -> FloatArray:
        """Return the ``(P,)`` rewards of arms on items, the same at every call; all instances have keys."""

    @override
    def keep_items(self) -> None:
        """Draw every reward as a function of its item; nothing to do where that is so in any case."""

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        if self.batch == 1 and len(flat) == 1:
            return self._pull_one(int(flat[0]), rng)
        rewards = np.empty(len(flat))
        for part in distinct(flat):
            rewards[part] = self._rewards(*np.divmod(flat[part], self.num_arms), self.take_items(flat[part], rng))
        return rewards

    def _pull_one(self, arm: int, rng: np.random.Generator) -> FloatArray:
        """Return the next reward of an arm of the only instance, found among rewards of its next items."""
        self._draw_keys(rng)
        item = int(self._rows[0, 1 + arm])  # as `take_items` does, without arrays of one
        self._rows[0, 1 + arm] = item + 1.0
        first, rewards = self._ahead.get(arm, (item, None))
        if rewards is None or not first <= item < first + AHEAD:
            items = np.arange(item, item + AHEAD)
            first, rewards = item, self._rewards(np.zeros(AHEAD, np.int64), np.full(AHEAD, arm), items)
            self._ahead[arm] = first, rewards
        return rewards[item - first : item - first + 1].copy()

    @override
    def take_items(self, flat: IntArray, rng: np.random.Generator) -> IntArray:
        self._draw_keys(rng)
        positions, (rows, arms) = self._positions, np.divmod(flat, self.num_arms)
        items = positions[rows, arms]
        positions[rows, arms] = items + 1.0
        return items.astype(np.int64)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw every reward of the blocks, and keep the moments."""
        if isinstance(flat, slice):
            flat = np.arange(self.means.size)[flat]
        if not flat.size:
            return Statistics.zeros((0,))
        self._draw_keys(rng)
        positions, centre = self._positions, self._centre(flat)
        rows, arms = np.divmod(flat, self.num_arms)
        sums, squares = self._totals(rows, arms, positions[rows, arms].astype(np.int64), counts, centre)
        positions[rows, arms] += counts
        means, spread = centred_moments(centre, counts, sums, squares)
        return Statistics(counts, means, spread if variances else zeros(means.shape))

    def _centre(self, flat: IntArray) -> FloatArray:
        """Return numbers near the means, so that variances lose no digits to a mean far from 0."""
        return np.asarray(self.means.take(flat))

    def _totals(
        self,
        rows: IntArray,
        arms: IntArray,
        first: IntArray,
        counts: IntArray,
        centre: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sums of the distances of rewards to a centre and of their squares, in slices of bounded size.

        Args:
            rows: ``(R,)`` instances.
            arms: ``(R,)`` arms.
            first: ``(R,)`` the first item of each.
            counts: ``(R,)`` how many items, at least 0.
            centre: ``(R,)``.
        """
        sums, squares = np.zeros(rows.size), np.zeros(rows.size)
        pulled = np.flatnonzero(counts)
        ends = np.cumsum(counts[pulled])
        start = 0
        while start < pulled.size:
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + PULLS_AT_ONCE, side="right")))
            part = pulled[start:stop]
            number = counts[part]
            starts = np.cumsum(number) - number
            items = np.arange(int(number.sum())) + np.repeat(first[part] - starts, number)
            rewards = self._rewards(np.repeat(rows[part], number), np.repeat(arms[part], number), items)
            rewards -= np.repeat(centre[part], number)
            sums[part] = np.add.reduceat(rewards, starts)
            rewards *= rewards
            squares[part] = np.add.reduceat(rewards, starts)
            start = stop
        return sums, squares

    @override
    def select(self, rows: IntArray) -> Self:
        """Return the given instances with the pulls made so far; copies of one that has been pulled go on equally."""
        chosen = super().select(rows)
        chosen._ahead = {}
        return chosen

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        super().replace(rows, other)
        self._ahead.clear()
