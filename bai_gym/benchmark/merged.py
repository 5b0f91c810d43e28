"""Lazily merged statistics of a batch of episodes: an observation whose arrays are computed when read.

An agent that uses only the outcomes of its blocks, such as sequential halving, never reads the statistics of the whole
episode; merging every block into them would be more expensive than drawing it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.common.budget import Budget
from bai_gym.statistics import AnyArray, FloatArray, IntArray, Statistics

__all__ = ["MergedStatistics"]

MOST_UNMERGED = 64  # parts that are kept before they are merged

Part = tuple[IntArray | None, Statistics, Statistics | None]


class MergedStatistics(Mapping[str, AnyArray]):
    """Statistics of N episodes and their pulls left, readable like an observation.

    Args:
        batch: N.
        num_arms: K.
        budget: Pulls of each episode, or its budget of money.
        variances: Whether variances are kept; without them the key is missing.
        features: ``(N, K, d)`` features of the arms; None: there are none, and the key is missing.
        start: ``(1, K)`` or ``(N, K)`` statistics of pulls made before, equally many in all episodes, which do not
            count towards the budget; None: none were made.

    Attributes:
        funds: The budget.
        left: Pulls left in every episode, or ``(N, 1)`` money.
        before: Pulls of every episode that were made before.
        has_variances: Whether variances are kept.
    """

    def __init__(
        self,
        batch: int,
        num_arms: int,
        budget: int | Budget,
        *,
        variances: bool,
        features: FloatArray | None = None,
        start: Statistics | None = None,
    ) -> None:
        """Begin with the pulls made before."""
        start = start or Statistics.zeros((1, num_arms))
        self.funds = Budget.given(budget)
        self.left: Any = self.funds.total
        self.has_variances = variances
        self.before = int(start.pulls[0].sum())
        self._statistics = start.copy() if len(start.pulls) == batch else start.repeated(batch)
        self._remaining = np.full((batch, 1), self.left, self.funds.dtype)
        self._features = features
        self._names = ("pulls", "means", *(["variances"] if variances else []))
        self._keys = (*self._names, "remaining", *([] if features is None else ["features"]))
        self._keys += (*self.funds.facts,)
        self._unmerged: list[Part] = []
        self._first = np.arange(batch)[:, None] * num_arms

    @property
    def statistics(self) -> Statistics:
        """``(N, K)`` statistics of all pulls, the same arrays every time."""
        for arms, part, before in self._unmerged:
            if before is not None:
                part = part.since(before, variances=self.has_variances)
            if arms is None and not self._statistics.pulls.any():
                for name in self._names:
                    getattr(self._statistics, name)[...] = getattr(part, name)
                continue
            made, flat = part.flat()
            where = made if arms is None else (self._first + arms).take(made)
            self._statistics.merge(where, flat, variances=self.has_variances)
        self._unmerged.clear()
        return self._statistics

    @property
    def pulls(self) -> IntArray:
        """``(N, K)`` pulls, without computing anything else."""
        total = self._statistics.pulls.copy()
        for arms, part, before in self._unmerged:
            made = part.pulls if before is None else part.pulls - before.pulls
            if arms is None:
                total += made
            else:
                total.reshape(-1)[self._first + arms] += made
        return total

    def spend(self, amount: Any) -> None:
        """Count pulls made in every episode, or ``(N, 1)`` money."""
        self.left = self.funds.spend(self.left, amount)
        self._remaining[...] = self.left

    def add(self, arms: IntArray | None, part: Statistics, since: Statistics | None = None) -> None:
        """Add the pulls that ``part``, ``(N, k)``, has over ``since`` (None: all of them) for the candidate arms."""
        self._unmerged.append((arms, part, since))
        if len(self._unmerged) == MOST_UNMERGED:
            _ = self.statistics

    def set(self, arms: IntArray | None, now: Statistics) -> None:
        """Set the statistics of the candidate arms, ``(N, k)``."""
        where = slice(None) if arms is None else (self._first + arms).reshape(-1)
        statistics = self.statistics
        for name in self._names:
            getattr(statistics, name).reshape(-1)[where] = getattr(now, name).reshape(-1)

    def copy(self) -> MergedStatistics:
        """Return a copy, which changes without these."""
        then = copy.copy(self)
        then._statistics, then._unmerged = self.statistics.copy(), []
        then._remaining = self._remaining.copy()
        return then

    @override
    def __getitem__(self, key: str) -> AnyArray:
        """Return a read-only array."""
        if key not in self._keys:
            raise KeyError(key)
        view: AnyArray
        if key in self._names:
            view = getattr(self.statistics, key).view()
        elif key == "features" and self._features is not None:
            view = self._features.view()
        elif key in self.funds.facts:
            view = np.broadcast_to(self.funds.facts[key], self._statistics.pulls.shape).view()
        else:
            view = self._remaining.view()
        view.flags.writeable = False
        return view

    @override
    def __iter__(self) -> Iterator[str]:
        """Go through the keys."""
        return iter(self._keys)

    @override
    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._keys)
