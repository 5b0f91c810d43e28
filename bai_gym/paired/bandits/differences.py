"""Statistics of the differences between arms on the items that both have been played on."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from bai_gym.bandits.base import Bandit
from bai_gym.statistics import ROUNDING, BoolArray, FloatArray, IntArray

__all__ = ["PairStatistics"]

_FIRST = np.zeros(1, np.int64)
REWARDS_AT_ONCE = 1 << 21  # of a block, so that memory does not grow with the budget
ITEMS_KEPT = 1000  # of which rewards need not be computed again for the next arm, so that memory does not grow either


class PairStatistics:
    """Differences X_i - X_k of the rewards of N episodes of paired arms, over the first min(pulls_i, pulls_k) items.

    Args:
        batch: N.
        num_arms: K.

    Attributes:
        means: ``(N, K, K)`` mean of X_i - X_k, antisymmetric; 0 without a common item.
        variances: ``(N, K, K)`` unbiased variance of X_i - X_k, symmetric; 0 below two common items.
    """

    def __init__(self, batch: int, num_arms: int) -> None:
        """Start before the first pull."""
        self.means: FloatArray = np.zeros((batch, num_arms, num_arms))
        self.variances: FloatArray = np.zeros((batch, num_arms, num_arms))
        self._sums: FloatArray = np.zeros((batch, num_arms, num_arms))
        self._pulls: IntArray = np.zeros((batch, num_arms), np.int64)  # those that :meth:`advance` has seen
        self._rewards: dict[int, FloatArray] = {}  # of :meth:`item_rewards`

    def copy(self) -> Self:
        """Return a deep copy."""
        return copy.deepcopy(self)

    def clear(self, rows: IntArray) -> None:
        """Begin some episodes again."""
        for values in (self.means, self.variances, self._sums, self._pulls):
            values[rows] = 0
        self._rewards.clear()

    def item_rewards(self, bandit: Bandit, item: int) -> FloatArray:
        """Return the ``(K,)`` rewards of the arms of the only episode on an item, kept for the next arm that comes."""
        rewards = self._rewards.get(item)
        if rewards is None:
            if len(self._rewards) == ITEMS_KEPT:
                del self._rewards[next(iter(self._rewards))]  # the oldest
            rewards = self._rewards[item] = bandit.item_rewards(_FIRST, np.array([item]))[0]
        return rewards

    def add(self, rows: IntArray, arms: IntArray, rewards: FloatArray, pulls: IntArray) -> None:
        """Add the items of the last pulls: Welford's update of the pairs of the pulled arms.

        Args:
            rows: ``(R,)`` episodes.
            arms: ``(R,)`` arms that they have just pulled.
            rewards: ``(R, K)`` rewards on the items; any finite numbers for arms that have not been played on them.
            pulls: ``(R, K)`` pulls of all arms, these included.
        """
        place = np.arange(arms.size)
        item = pulls[place, arms][:, None] - 1
        self._add(rows, arms, rewards[place, arms][:, None] - rewards, item, np.maximum(item, 1), pulls)

    def add_one(self, arm: int, rewards: FloatArray, pulls: IntArray) -> None:
        """Add the item of the last pull of the only episode: :meth:`add` without the time that arrays of one take.

        Args:
            arm: The arm that has just been pulled.
            rewards: ``(K,)``.
            pulls: ``(K,)``.
        """
        item = int(pulls[arm]) - 1
        if np.count_nonzero(pulls > item) > 1:  # else no other arm has come to the item yet
            self._add(0, arm, rewards[arm] - rewards, item, max(item, 1), pulls)

    def _add(self, rows: Any, arms: Any, difference: FloatArray, item: Any, divisor: Any, pulls: IntArray) -> None:
        common = pulls > item  # the others keep their values: their arm has not come to the item yet
        sums, before, variance = self._sums[rows, arms], self.means[rows, arms], self.variances[rows, arms]
        sums = sums + difference * common
        mean = np.where(common, sums / (item + 1), before)
        grown = (variance * (item - 1) + (difference - before) * (difference - mean)) / divisor
        variance = np.where(common & (item > 0), grown, variance)
        self._sums[rows, arms], self._sums[rows, :, arms] = sums, -sums
        self.means[rows, arms], self.means[rows, :, arms] = mean, 0.0 - mean  # avoids -0.0
        self.variances[rows, arms] = self.variances[rows, :, arms] = variance

    def advance(self, bandit: Bandit, pulls: IntArray) -> None:
        """Add all items up to a number of pulls of each arm.

        Args:
            bandit: The arms.
            pulls: ``(N, K)`` pulls of all arms now.
        """
        before = self._pulls
        changed = pulls > before
        if not changed.any():
            return
        first, last = int(before[changed].min()), int(pulls[changed].max())
        batch, arms = pulls.shape
        at_once = max(1, REWARDS_AT_ONCE // (batch * arms))
        rows = np.arange(batch)[:, None]
        centre = np.rint(bandit.means.mean(axis=1))[:, None, None]  # common to all arms, so no difference changes
        known = np.minimum(before[:, :, None], before[:, None, :]).astype(np.float64)
        for start in range(first, last, at_once):
            items = np.arange(start, min(start + at_once, last))
            rewards = bandit.item_rewards(*np.broadcast_arrays(rows, items)) - centre
            now, then = (_totals(rewards, items < made[:, :, None]) for made in (pulls, before))
            known = self._merge(known, *(new - old for new, old in zip(now, then, strict=True)))
        self._pulls = pulls.copy()

    def _merge(self, known: FloatArray, count: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
        """Add some items of each pair, by the parallel form of the variance formula; return how many it has then."""
        total = known + count
        some, divisor = np.maximum(count, 1.0), np.maximum(total, 1.0)
        scatter = squares - sums * sums / some
        scatter[scatter <= ROUNDING * squares] = 0.0
        step = sums / some - self.means
        scatter += self.variances * np.maximum(known - 1.0, 0.0) + step * step * (known * count / divisor)
        self._sums += sums
        self.means = self._sums / divisor
        self.variances = scatter / np.maximum(total - 1.0, 1.0)
        return total


def _totals(rewards: FloatArray, played: BoolArray) -> tuple[FloatArray, ...]:
    """Return number, sum of differences and sum of their squares over the items that both arms of a pair have.

    Args:
        rewards: ``(N, items, K)``.
        played: ``(N, K, items)`` whether an arm has been played on an item.

    Returns:
        ``(N, K, K)`` each.
    """
    there = played.astype(np.float64)  # (N, K, items)
    values = rewards.swapaxes(1, 2) * there
    squares = values * values
    sums = values @ there.swapaxes(1, 2)
    square = squares @ there.swapaxes(1, 2)
    products = values @ values.swapaxes(1, 2)
    return there @ there.swapaxes(1, 2), sums - sums.swapaxes(1, 2), square + square.swapaxes(1, 2) - 2.0 * products
