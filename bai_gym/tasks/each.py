"""A recommendation is an arm of each of several bandits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import AnyArray, FloatArray, IntArray
from bai_gym.tasks.base import Task, shortfall
from bai_gym.validation import integer

__all__ = ["BestOfEach"]


class BestOfEach(Task):
    """Several bandits share the budget; recommend an arm of each. All of them must be correct.

    The K arms are those of M bandits, concatenated. A recommendation has an entry for each bandit: the number of
    the arm within it. The simple regret is the largest over the bandits.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification".

    Args:
        num_bandits: M, at least 1; K is a multiple of it.
        epsilon: Accuracy, at least 0.
    """

    name = "best-of-each"
    exact = True

    def __init__(self, num_bandits: int, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.num_bandits = integer(num_bandits, "num_bandits", least=1)

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that the best arm of each bandit is better than the others of it, up to epsilon: K - M contrasts."""
        size, n = int(x[0]), 0
        for start in range(0, mean.size, size):
            best = start + int(np.argmax(mean[start : start + size]))
            for arm in range(start, start + size):
                if arm != best:
                    c.first[n], c.second[n], c.offset[n] = best, arm, -x[1]
                    n += 1
        return n

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return the arms of a bandit, and epsilon."""
        return (num_arms // self.num_bandits, self.epsilon)

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K - M."""
        return num_arms - self.num_bandits

    @override
    def describe(self) -> str:
        return f"the best arm of each of {self.num_bandits} bandits{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` unless all bandits have equally many arms, at least two."""
        if num_arms % self.num_bandits or num_arms < 2 * self.num_bandits:
            raise ParameterError(
                f"num_bandits must divide the number of arms, {num_arms}, and leave at least two arms to each bandit; "
                f"{self.num_bandits} does not"
            )

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return the number of arms of a bandit, once for every bandit."""
        return (num_arms // self.num_bandits,) * self.num_bandits

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} x {self.num_bandits} integers, an arm of each bandit for each episode"

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the best arm of each bandit: ``(..., K)`` -> ``(..., M)``."""
        return np.asarray(self.by_bandit(means).argmax(axis=-1))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest simple regret of the M bandits, ``(...)``.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., M)`` arms, each from 0 to K/M - 1.
        """
        return np.asarray(shortfall(self.by_bandit(means), recommendation).max(axis=-1))

    def by_bandit(self, values: AnyArray) -> AnyArray:
        """Return ``(..., K)`` values as ``(..., M, K/M)``."""
        return values.reshape(*values.shape[:-1], self.num_bandits, -1)

    @override
    def draw_orders(self, batch: int, num_arms: int, rng: np.random.Generator) -> tuple[IntArray, None]:
        """Return random orders of the bandits, and of the arms of each, ``(N, K)``."""
        size = num_arms // self.num_bandits
        bandits = rng.random((batch, self.num_bandits)).argsort(axis=1)
        within = rng.random((batch, self.num_bandits, size)).argsort(axis=2)
        orders: IntArray = size * bandits[:, :, None] + within
        return orders.reshape(batch, num_arms), None

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the recommended arms, counted through all bandits."""
        first = np.arange(self.num_bandits) * (num_arms // self.num_bandits)
        return tuple((first + recommendation).tolist())

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return an arm of each bandit, ``(M,)``; the given arms are counted through all bandits."""
        bandits, within = np.divmod(np.sort(arms), num_arms // self.num_bandits)
        if not np.array_equal(bandits, np.arange(self.num_bandits)):
            raise ParameterError(f"name an arm of each of the {self.num_bandits} bandits, {len(arms)} arms do not")
        return np.asarray(within, np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arm recommended for the first bandit."""
        return recommendation[:, 0]
