"""Rewards of arms that were played on the same items: differences vary less than the rewards do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bai_gym.analysis.posterior import OWN
from bai_gym.statistics import FloatArray

__all__ = ["Pairs"]

_MOST = 0.999  # share of the variance that items may explain
_ROUNDS = 50


class Pairs:
    """Rewards by item and arm.

    Rewards are taken for the sum of an arm's mean, an effect of the item, and noise. The effects explain the same share
    of the variance of every arm, which is drawn towards 0 where there are few common items.

    Args:
        arms: ``(n,)`` arms of the pulls.
        items: Their items; an arm counts once on an item.
        rewards: ``(n,)`` their rewards.
        num_arms: K.

    Attributes:
        explained: Share of the variance that items explain, from 0 on.
    """

    def __init__(self, arms: Sequence[int], items: Sequence[int], rewards: Sequence[float], num_arms: int) -> None:
        """Sort the rewards into a table, and compare arms on common items."""
        numbers, rows = np.unique(np.asarray(items, np.int64), return_inverse=True)
        self._table = np.full((numbers.size, num_arms), np.nan)
        self._table[rows, np.asarray(arms, np.int64)] = rewards
        seen = ~np.isnan(self._table)
        self._seen, self._shared = seen, seen.sum(axis=1)  # (items, K), (items,)
        self.explained = 0.0
        common = self._shared >= 2
        freedom = int((self._shared[common] - 1).sum()) - num_arms + 1
        if freedom < 1:
            return
        fit, effects = self._fitted(1.0 * common)
        pulls = np.maximum(seen[common].sum(axis=0), 1)
        table = np.where(seen, self._table, 0.0)[common]
        noise = np.where(seen[common], table - fit - effects[common, None], 0.0)
        around = np.where(seen[common], table - table.sum(axis=0) / pulls, 0.0)
        total = float((around**2).sum()) / float((pulls - 1).sum())
        if total > 0.0:
            trusted = freedom / (freedom + OWN)
            self.explained = float(np.clip(trusted * (1.0 - (noise**2).sum() / freedom / total), 0.0, _MOST))

    def difference(self, one: int, other: int) -> tuple[int, float, float]:
        """Return on how many items both arms were played, the mean difference there, and its standard error."""
        differences = self._table[:, one] - self._table[:, other]
        differences = differences[~np.isnan(differences)]
        n = differences.size
        error = float(differences.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return n, float(differences.mean()) if n else math.nan, error

    def compared(self, means: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the statistics for comparisons of arms: what is left without the effects of items.

        Args:
            means: ``(K,)`` mean rewards; NaN without a pull.
            variances: ``(K,)`` their variances.

        Returns:
            ``(K,)`` numbers of rewards, of which those on an item of a single arm count less; means as on items of the
            same difficulty; and variances.
        """
        weights = np.where(self._shared >= 2, 1.0, 1.0 - self.explained)
        counted = (weights[:, None] * self._seen).sum(axis=0)
        strength = self._shared * self.explained / (1.0 + (self._shared - 1) * self.explained)
        fit, _ = self._fitted(strength)
        return counted, np.where(np.isnan(means), np.nan, fit), variances * (1.0 - self.explained)

    def _fitted(self, strength: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the arms' means and the effects of items, of which that share is believed, by turns."""
        table, pulls = np.where(self._seen, self._table, 0.0), np.maximum(self._seen.sum(axis=0), 1)
        fit, effects = table.sum(axis=0) / pulls, np.zeros(self._shared.size)
        for _ in range(_ROUNDS if strength.any() else 0):
            effects = strength * np.where(self._seen, table - fit, 0.0).sum(axis=1) / self._shared
            fit = np.where(self._seen, table - effects[:, None], 0.0).sum(axis=0) / pulls
        return fit, effects
