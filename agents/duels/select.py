"""SELECT: a single elimination tournament, in which all matches have equally many duels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import few_pulls
from bai_gym.agents.tools.choosing import shuffled_arms
from bai_gym.duels.tasks import count_items, pair_in_order
from bai_gym.sampling import Block

__all__ = ["SELECT"]


@dataclass(kw_only=True)
class SELECT(Agent):
    """Pairs the items at random and compares each pair m times; whoever wins more often advances, until one is left.

    Paper: Mohajer, Suh and Elmahdy (2017), "Active Learning for Top-K Rank Aggregation from Noisy Comparisons", SELECT
    with K = 1. There m follows from the gap of the best item; here n - 1 matches share the budget: m = floor(budget /
    (n - 1)), and duels left over by rounding are not made. An item without a rival advances. A draw is decided at
    random.

    Requires no oracle knowledge. Minimum budget: n - 1 with n items.
    """

    tasks = frozenset({"condorcet"})
    uses_variances = False
    quick = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return n - 1: of K = n (n - 1) / 2 arms the root of 2 K, rounded down."""
        return math.isqrt(2 * num_arms)

    @override
    def plan(self) -> Plan:
        items = count_items(self.num_arms)
        if self.budget < items - 1:
            return (yield from few_pulls(self))
        left = shuffled_arms(self.batch, items, self.tie, self.rng)
        while (size := left.shape[1]) > 1:
            one, other = np.sort([left[:, : size - 1 : 2], left[:, 1::2]], axis=0)
            pairs = pair_in_order(one, other, items)
            made = yield Block(np.full(pairs.shape, self.budget // (items - 1)), pairs)
            drawn = self.rng.random(pairs.shape) < 0.5 if self.tie == "random" else True
            wins = np.where(made.means == 0.5, drawn, made.means > 0.5)
            left = np.hstack([np.where(wins, one, other), left[:, size - size % 2 :]])
            left = np.take_along_axis(left, shuffled_arms(self.batch, left.shape[1], self.tie, self.rng), 1)
        return left[:, 0]
