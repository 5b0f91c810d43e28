"""A recommendation is a set of arms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import AgentError, BaiGymError, ParameterError
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray
from bai_gym.tasks.base import SLACK, Task, ThresholdTask
from bai_gym.tasks.contrasts import Contrasts
from bai_gym.validation import integer, real

__all__ = ["AllWithin", "ArmsAbove", "Thresholding", "TopM"]


class SetTask(Task):
    """Base of tasks whose recommendation is a set of arms."""

    entry = None

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return 2 for every arm: in the set or not."""
        return (2,) * num_arms

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the arms in the set, possibly none."""
        return tuple(np.flatnonzero(recommendation).tolist())

    @override
    def first_arm(self, recommendation: IntArray, num_arms: int) -> IntArray:
        """Return the lowest arm of each set, arm 0 of an empty one."""
        return np.asarray(recommendation.argmax(axis=-1))


class TopM(SetTask):
    """Recommend a set of m arms; it is correct if each of them is at most epsilon worse than the m-th best arm.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), section 2, equations (1) and (2): the (epsilon, m)-best arms. The
    paper counts a regret of exactly epsilon as a failure; here it is correct, as epsilon = 0 requires.

    Args:
        m: Size of the set, from 1 to K - 1.
        epsilon: Accuracy, at least 0.
    """

    name = "top-m"
    exact = True

    def __init__(self, m: int, epsilon: float = 0.0) -> None:
        """Check both."""
        super().__init__(epsilon)
        self.m = integer(m, "m", least=1, rule="an integer from 1 to the number of arms less 1")

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that each of the m best arms is better than each other arm, up to epsilon: m (K - m) contrasts."""
        m, found, rest = int(x[0]), 0, 0
        best = np.zeros(m + 1, np.int64)
        for arm in range(mean.size):  # the m best so far, in order
            place = found
            while place > 0 and mean[best[place - 1]] < mean[arm]:
                best[place] = best[place - 1]
                place -= 1
            best[place] = arm
            found = min(found + 1, m)
        last = best[m - 1]
        for arm in range(mean.size):
            if mean[arm] < mean[last] or (mean[arm] == mean[last] and arm > last):
                c.second[rest] = arm
                rest += 1
        for n in range(m):
            c.first[n * rest : (n + 1) * rest] = best[n]
            c.second[n * rest : (n + 1) * rest] = c.second[:rest]
        c.offset[: m * rest] = -x[1]
        return m * rest

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return m and epsilon."""
        return (self.m, self.epsilon)

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return m (K - m)."""
        return self.m * (num_arms - self.m)

    @override
    def describe(self) -> str:
        return f"the m = {self.m} best arms{self._accuracy()}"

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` unless m is at most K - 1."""
        if self.m >= num_arms:
            raise ParameterError(f"m must be an integer from 1 to {num_arms - 1} for {num_arms} arms, not {self.m}")

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} x {num_arms} zeros and ones, {self.m} ones for each episode"

    @override
    def check(
        self,
        recommendation: object,
        batch: int,
        num_arms: int,
        what: str = "recommend",
        error: type[BaiGymError] = AgentError,
    ) -> IntArray:
        """Return ``(N, K)`` sets of m arms, see :meth:`Task.check`."""
        sets = super().check(recommendation, batch, num_arms, what, error)
        sizes = sets.sum(axis=-1)
        if (sizes != self.m).any():
            raise error(f"{what}: the set must have m = {self.m} arms, not {int(sizes[sizes != self.m][0])}")
        return sets

    def completed(self, sets: IntArray, means: FloatArray) -> IntArray:
        """Return sets of m arms: first arms of the given set, then the others, by decreasing mean.

        For policies that decide about each arm separately, and so recommend sets of any size.

        Args:
            sets: ``(N, K)`` zeros and ones; what holds other numbers stays unchanged.
            means: ``(N, K)`` sample means.
        """
        whole = np.array(sets)
        rows = np.flatnonzero((whole.sum(axis=1) != self.m) & np.isin(whole, (0, 1)).all(axis=1))
        order = np.lexsort((-means[rows], -whole[rows]))  # the last key counts first
        whole[rows] = 0
        whole[rows[:, None], order[:, : self.m]] = 1
        return whole

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the m best arms: ``(..., K)`` -> ``(..., K)`` zeros and ones."""
        order = np.argsort(-means, axis=-1, kind="stable")[..., : self.m]
        sets = np.zeros(means.shape, np.int64)
        np.put_along_axis(sets, order, 1, -1)
        return sets

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the m-th best mean minus the smallest mean in the set, ``(...)``.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., K)`` zeros and ones.
        """
        border = np.partition(means, -self.m, axis=-1)[..., -self.m]
        return np.asarray(border - np.where(recommendation == 1, means, np.inf).min(axis=-1))

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the set, ``(K,)`` zeros and ones."""
        if len(arms) != self.m:
            raise ParameterError(f"name m = {self.m} arms, not {len(arms)}")
        return _set_of(arms, num_arms)


class ArmsAbove(SetTask):
    """Base of tasks that ask for all arms whose mean is at least a border; correct if no arm is on the wrong side.

    With an epsilon above 0 the arms at most epsilon away from the border may be on either side. A set may have any
    size, and be empty.
    """

    @abstractmethod
    def border(self, means: FloatArray) -> float | FloatArray:
        """Return the border of each instance, a number or ``(..., 1)``.

        Args:
            means: ``(..., K)`` true means.
        """

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K."""
        return num_arms

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} x {num_arms} zeros and ones, a one for every arm in the set"

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arms with a mean of at least the border: ``(..., K)`` -> ``(..., K)`` zeros and ones."""
        return np.asarray(means >= self.border(means), np.int64)

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest distance of a misplaced arm from the border, ``(...)``; 0 if none is misplaced.

        Args:
            means: ``(..., K)`` true means.
            recommendation: ``(..., K)`` zeros and ones.
        """
        wrong = self.correct_recommendation(means) != recommendation
        return np.asarray(np.where(wrong, np.abs(means - self.border(means)), 0.0).max(axis=-1))

    @override
    def correct(self, means: FloatArray, recommendation: IntArray) -> AnyArray:
        """Return whether no arm is on the wrong side; with epsilon > 0, arms within epsilon may be on either side.

        With epsilon = 0, leaving out an arm exactly at the border is wrong, at a regret of 0.
        """
        if self.epsilon > 0:
            return super().correct(means, recommendation)
        return np.asarray((self.correct_recommendation(means) == recommendation).all(axis=-1))

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the set, ``(K,)`` zeros and ones."""
        return _set_of(arms, num_arms)


class Thresholding(ThresholdTask, ArmsAbove):
    """Recommend all arms with a mean of at least the threshold; correct if no arm is on the wrong side.

    Source: Mukherjee et al. (2017), "Thresholding Bandits with Augmented UCB", section 1; the accuracy is that of
    Locatelli, Gutzeit and Carpentier (2016), section 2, except that an arm exactly epsilon away is forgiven.

    Args:
        threshold: The border, finite, in the unit of the reward.
        epsilon: Accuracy, at least 0.
    """

    name = "thresholding"
    exact = True

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State on which side of the threshold each arm is, up to epsilon: K contrasts."""
        for arm in range(mean.size):
            above = mean[arm] >= x[0]
            c.first[arm], c.second[arm] = arm if above else -1, -1 if above else arm
            c.offset[arm] = (x[0] if above else -x[0]) - x[1]
        return int(mean.size)

    @override
    def border(self, means: FloatArray) -> float:
        return self.threshold

    @override
    def describe(self) -> str:
        return f"all arms with a mean of at least {self.threshold:g}{self._accuracy()}"


class AllWithin(ArmsAbove):
    """Recommend all arms at most epsilon worse than the best one; correct if no arm is on the wrong side.

    Source: Mason, Jain, Tripathy and Nowak (2020), "Finding All epsilon-Good Arms in Stochastic Bandits" (arXiv
    2006.08850), the additive case. There is no further accuracy.

    Args:
        epsilon: How much worse an arm may be, at least 0, in the unit of the reward.
    """

    name = "all-within"

    def __init__(self, epsilon: float) -> None:
        """Check it."""
        super().__init__()
        self.within = real(epsilon, "epsilon", least=0)

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that no arm is more than epsilon better than one of the set, and the best one is for each other arm."""
        best, n = int(np.argmax(mean)), 0
        for arm in range(mean.size):
            if mean[arm] < mean[best] - x[0]:
                c.first[n], c.second[n], c.offset[n] = best, arm, x[0]
                n += 1
            else:
                for other in range(mean.size):
                    if other != arm:
                        c.first[n], c.second[n], c.offset[n] = arm, other, -x[0]
                        n += 1
        return n

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return epsilon."""
        return (self.within,)

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K (K - 1).

        As many can be overturned: an arm left out wrongly by any arm, one taken in wrongly by the best one.
        """
        return num_arms * (num_arms - 1)

    @override
    def decisive(self, means: FloatArray, c: Contrasts) -> BoolArray:
        """Return True for the arms of the set, and for others if the best arm alone keeps them out of it."""
        return np.asarray((c.offset <= 0.0) | (means[c.second] >= np.sort(means)[-2] - self.within))

    @override
    def border(self, means: FloatArray) -> FloatArray:
        return np.asarray(means.max(axis=-1, keepdims=True) - self.within)

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arms at most epsilon worse than the best one: ``(..., K)`` -> ``(..., K)`` zeros and ones."""
        return np.asarray(means >= self.border(means) - SLACK * self.within, np.int64)

    @override
    def describe(self) -> str:
        return f"all arms at most {self.within:g} worse than the best one"

    @override
    def __repr__(self) -> str:
        """Show the task as a constructor call."""
        return f"AllWithin(epsilon={self.within})"


def _set_of(arms: Sequence[int], num_arms: int) -> IntArray:
    """Return ``(K,)`` ones for the given arms, and zeros."""
    chosen = np.zeros(num_arms, np.int64)
    chosen[np.asarray(arms, np.int64)] = 1
    return chosen
