"""A recommendation is an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks.base import BestOne

__all__ = ["BestArm"]


class BestArm(BestOne):
    """Recommend one arm; it is correct if no mean is larger by more than epsilon."""

    name = "best-arm"
    exact = True

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that the best arm is better than every other, up to epsilon: K - 1 contrasts."""
        best, n = int(np.argmax(mean)), 0
        for arm in range(mean.size):
            if arm != best:
                c.first[n], c.second[n], c.offset[n] = best, arm, -x[0]
                n += 1
        return n

    @override
    def describe(self) -> str:
        return f"the best arm{self._accuracy()}"

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return K, once."""
        return (num_arms,)

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} integer(s), one arm per episode"

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arm."""
        return (int(recommendation),)

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the only arm, as an array without axes."""
        if len(arms) != 1:
            raise ParameterError(f"name one arm, not {len(arms)}")
        return np.array(arms[0], np.int64)

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the arms."""
        return recommendation
