"""The Condorcet winner: the item that beats every other one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import Task

__all__ = ["Condorcet", "count_items", "pair", "pair_in_order", "pairs"]


def count_items(num_arms: int) -> int:
    """Return the number n of items of n (n - 1) / 2 pairs.

    Raises:
        ParameterError: If there is no such n of at least 3.
    """
    items = (1 + math.isqrt(1 + 8 * num_arms)) // 2
    if items < 3 or items * (items - 1) != 2 * num_arms:
        raise ParameterError(f"{num_arms} arms are not all pairs of three or more items, such as 3, 6, 10, 15 or 21")
    return items


def pair(one: int, other: int, items: int) -> int:
    """Return the number of the arm that compares two items."""
    return int(pair_in_order(min(one, other), max(one, other), items))


def pair_in_order(low: Any, high: Any, items: int) -> Any:
    """Return the same of the items low < high, which may be arrays."""
    return low * (2 * items - low - 1) // 2 + high - low - 1


def pairs(items: int) -> tuple[IntArray, IntArray]:
    """Return the items i and j of each arm, ``(K,)`` each: (0, 1), (0, 2), ..., (n - 2, n - 1)."""
    left, right = np.triu_indices(items, 1)
    return left, right


def lead(mean: FloatArray, one: int, other: int, items: int) -> float:
    """Return by how much an item wins against another one more often than every second time."""
    half = mean[pair(one, other, items)] - 0.5
    return float(half if one < other else -half)


class Condorcet(Task):
    """Recommend the Condorcet winner: the item that wins against every other one with probability 1/2 or more.

    Arms are the pairs i < j of n items, and the reward of a pull is 1 if item i wins, 0 if j does, 1/2 for a tie. The
    simple regret of an item is how far its chance in its hardest duel falls below 1/2; it is correct if that is at most
    epsilon. Problems have such an item, and proofs of fixed confidence rely on it.
    """

    name = "condorcet"
    one_number = True
    answer = "item"
    entry = "item"
    grouped = True

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State of each item but the answer that some other one beats it: a group, of the duels that it loses.

        That is proof, since one item beats all others. So an answer can be proved that happens to lose a duel in the
        sample, and an item that has been unlucky is looked at again while little speaks against it.
        """
        items, n, answer, most = int(x[0]), 0, -1, -np.inf
        for one in range(items):
            hardest = np.inf
            for other in range(items):
                if other != one:
                    hardest = min(hardest, lead(mean, one, other, items))
            if hardest > most:
                answer, most = one, hardest
        for one in range(items):
            group = n
            for other in range(items):
                if one not in (answer, other) and lead(mean, other, one, items) >= 0.0:
                    arm = pair(one, other, items)
                    c.first[n], c.second[n] = (arm, -1) if other < one else (-1, arm)
                    c.offset[n], c.group[n] = (0.5 if other < one else -0.5), group
                    n += 1
        return n

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return n."""
        return (count_items(num_arms),)

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return (n - 1)^2, at most n - 1 duels of each item but the answer."""
        return (count_items(num_arms) - 1) ** 2

    @override
    def overturned(self, num_arms: int) -> int:
        """Return n - 1, the duels of the winner: that of a wrong answer's contrasts some item beats it."""
        return count_items(num_arms) - 1

    @override
    def check_arms(self, num_arms: int) -> None:
        count_items(num_arms)

    @override
    def describe(self) -> str:
        return f"the item that beats every other one{self._accuracy()}"

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return n, once."""
        return (count_items(num_arms),)

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} integer(s), one item per episode"

    def leads(self, means: FloatArray) -> FloatArray:
        """Return ``(..., i, j)`` how much more often than every second time item i wins against j; inf for i = j."""
        items = count_items(means.shape[-1])
        left, right = pairs(items)
        table = np.full((*means.shape[:-1], items, items), np.inf)
        table[..., left, right], table[..., right, left] = means - 0.5, 0.5 - means
        return table

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the item whose hardest duel is the easiest (the first, if several tie): ``(..., K)`` -> ``(...)``."""
        return np.asarray(self.leads(means).min(axis=-1).argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return by how much the chance of the item in its hardest duel falls below 1/2, at least 0.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(...)`` items, 0 to n - 1.
        """
        hardest = self.leads(means).min(axis=-1)
        chosen = np.take_along_axis(hardest, np.asarray(recommendation)[..., None], -1)[..., 0]
        return np.asarray(np.maximum(-chosen, 0.0))

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return nothing: an item is no arm."""
        return ()

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Raise :class:`ParameterError`: an item is no arm."""
        raise ParameterError("the Condorcet winner is an item, and arms are pairs: give the number of the item")

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return a duel of the item."""
        items = count_items(num_arms)
        return np.array([pair(one, (one + 1) % items, items) for one in recommendation.tolist()], np.int64)

    @override
    def draw_orders(self, batch: int, num_arms: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the pairs of items in random orders, and these, ``(N, n)``."""
        items = count_items(num_arms)
        order = rng.random((batch, items)).argsort(axis=1)
        low, high = (np.sort(order[:, list(pairs(items))], axis=1)[:, side] for side in (0, 1))
        return low * (2 * items - low - 1) // 2 + high - low - 1, order
