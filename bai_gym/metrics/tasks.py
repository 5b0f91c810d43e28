"""Tasks about several metrics: the best arm whose guardrails hold, and the arms that no other dominates.

Their contrasts are of cells: the mean of arm i in metric d has the number i D + d. Where several of them must be
overturned together, they are a group, whose evidence is that of its strongest contrast. That is proof even if the
metrics of a pull depend on each other: each contrast is about one metric alone, of one arm or of two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import ArmsAbove, GoodArm, Task
from bai_gym.tasks.sets import SetTask

__all__ = ["Feasible", "ParetoSet", "best_feasible"]


class MetricTask(Task):
    """Base of tasks about several metrics.

    Args:
        goals: What is wanted of the mean of each metric: ``"max"``, ``"min"``, or a limit, such as ``"<= 300"`` or
            ``">= 0.9"``; none: what the problem says.

    Raises:
        ParameterError: If a goal is something else, or not one of this task.

    Attributes:
        goals: The same.
        sought: What is to be found, for :meth:`describe`.
    """

    entry = None
    grouped = True
    sought: ClassVar[str]

    def __init__(self, goals: Sequence[str] = ()) -> None:
        """Read the goals."""
        super().__init__()
        self.goals, self.metrics = tuple(goals), max(len(goals), 1)
        self._signs, self._borders = np.ones(self.metrics), np.zeros(self.metrics)
        for place, goal in enumerate(self.goals):
            found = re.fullmatch(r"(max|min)|([<>]=) *(-?\d*\.?\d+)", str(goal))
            limited = self.name == "feasible"
            if found is None or bool(found[2]) != (limited and place > 0):
                rule = "limits such as '<= 300' but for the first" if limited else "'max' or 'min'"
                raise ParameterError(f"goals of the task {self.name!r} must be {rule}, not {goal!r}")
            self._signs[place] = 1.0 if found[0][:2] in ("ma", ">=") else -1.0
            self._borders[place] = float(found[3] or 0.0)

    @override
    def in_place_of(self, task: Task) -> Task:
        """Return the task of an episode: that of the problem, or another one about its metrics."""
        if isinstance(task, MetricTask):
            return type(task)(task.goals or self.goals)
        if task.name != "best-arm":
            raise ParameterError(f"the task {task.name!r} is about one metric, and a pull gives {self.metrics} here")
        return self

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return D, signs (1 where means are to be large, -1 where small) and limits of all metrics."""
        return (self.metrics, *self._signs.tolist(), *self._borders.tolist())

    def above(self, means: FloatArray) -> FloatArray:
        """Return means ``(..., K, D)``, or in a row ``(..., K D)``, less limits; large where that is wanted."""
        if self.metrics == 1 or means.shape[-1] != self.metrics:
            means = means.reshape(*means.shape[:-1], -1, self.metrics)
        return np.asarray(self._signs * (means - self._borders))

    @override
    def describe(self) -> str:
        return f"{self.sought} ({', '.join(self.goals)})"

    @override
    def __repr__(self) -> str:
        """Show the task as a constructor call."""
        return f"{type(self).__name__}(goals={self.goals})"


def state(c: Any, n: int, sign: float, one: int, other: int, limit: float, group: int) -> None:
    """Set a contrast: that mean[one] - mean[other] is above the limit or, if the sign is negative, below."""
    c.first[n], c.second[n] = (one, other) if sign > 0.0 else (other, one)
    c.offset[n], c.group[n] = sign * limit, group


def best_feasible(mean: FloatArray, x: FloatArray) -> int:
    """Return the first cell of the best arm of those that satisfy the limits, -1 for none; x are the task's numbers."""
    metrics, best = int(x[0]), -1
    for first in range(0, mean.size, metrics):
        feasible = True
        for d in range(1, metrics):
            feasible = feasible and x[1 + d] * (mean[first + d] - x[1 + metrics + d]) >= 0.0
        if feasible and (best < 0 or x[1] * (mean[first] - mean[best]) > 0.0):
            best = first
    return best


class Feasible(MetricTask):
    """Recommend the best arm in the first metric of those whose other means satisfy limits, or none.

    The arms that satisfy them are called feasible. A recommendation is one number: that of the arm, or K for none.
    """

    name = "feasible"
    sought = "the best arm in the first metric, of those that satisfy the limits of the others, or none"
    sizes, form, arms, of_arms = GoodArm.sizes, GoodArm.form, GoodArm.arms, GoodArm.of_arms
    first_arm = GoodArm.first_arm

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that the best feasible arm is feasible, and each other arm worse or not; or that no arm is feasible."""
        metrics, best, n = int(x[0]), best_feasible(mean, x), 0
        for first in range(0, mean.size, metrics):
            group = n
            if best >= 0 and first != best and x[1] * (mean[best] - mean[first]) >= 0.0:
                state(c, n, x[1], best, first, 0.0, group)
                n += 1
            for d in range(1, metrics):
                sign, limit = x[1 + d], x[1 + metrics + d]
                holds = sign * (mean[first + d] - limit) >= 0.0
                if holds == (first == best):
                    state(c, n, sign if holds else -sign, first + d, -1, limit, n if holds else group)
                    n += 1
        return n

    @override
    def overturned(self, num_arms: int) -> int:
        """Return K + D - 2.

        An answer that is not feasible has one limit that is overturned; one that is feasible is overturned by the best
        feasible arm, in the first metric or, if that arm counts as not feasible, in one of D - 1 limits.
        """
        return num_arms // self.metrics + self.metrics - 2

    def _parts(self, means: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return ``(..., K)`` the first metric and the least distance to a limit, and ``(..., 1)`` the best value."""
        above = self.above(means)
        value, slack = above[..., 0], above[..., 1:].min(axis=-1, initial=np.inf)
        return value, slack, np.where(slack >= 0.0, value, -np.inf).max(axis=-1, keepdims=True)

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the best feasible arm, or K: ``(..., K, D)`` -> ``(..., 1)``."""
        value, slack, best = self._parts(means)
        right = ((slack >= 0.0) & (value == best)).argmax(axis=-1)[..., None]
        return np.asarray(np.where(np.isinf(best), value.shape[-1], right))

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest violation of an arm that is not feasible, else by how much a feasible one is better.

        For none, by how much a feasible arm satisfies its limits.

        Args:
            means: ``(..., K, D)`` true means.
            recommendation: ``(..., 1)`` arms, or K.
        """
        value, slack, best = self._parts(means)
        none = np.maximum(slack.max(axis=-1, keepdims=True), 0.0)
        regret = np.concatenate([np.where(slack < 0.0, -slack, best - value), none], axis=-1)
        return np.asarray(np.take_along_axis(regret, recommendation, -1)[..., 0])


class ParetoSet(MetricTask, SetTask):
    """Recommend all arms that no other arm dominates, which means that it is better in every metric.

    The simple regret is the largest change of all means of one misplaced arm that would put it into its place.
    """

    name = "pareto"
    sought = "all arms that no other arm dominates"
    form, of_arms = ArmsAbove.form, ArmsAbove.of_arms

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that no arm of the set dominates another, and that each other arm is dominated by a certain one.

        That one is better by the largest margin, hence in the set. Arms outside need no comparison with the set: they
        dominate none of it, since what dominates them would, too.
        """
        metrics, n = int(x[0]), 0
        by = np.full(mean.size // metrics, -1)
        for i in range(by.size):
            most = 0.0
            for j in range(by.size):
                least = np.inf
                for d in range(metrics):
                    least = min(least, x[1 + d] * (mean[j * metrics + d] - mean[i * metrics + d]))
                if least > most:
                    by[i], most = j, least
        for i in range(by.size):
            for j in range(by.size):
                if by[i] == j or (by[i] < 0 and by[j] < 0 and i != j):
                    group, better, worse = n, (i if by[i] < 0 else j), (j if by[i] < 0 else i)
                    for d in range(metrics):
                        one, other = better * metrics + d, worse * metrics + d
                        if x[1 + d] * (mean[one] - mean[other]) >= 0.0:
                            state(c, n, x[1 + d], one, other, 0.0, group if by[i] < 0 else n)
                            n += 1
        return n

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K (K - 1) D."""
        return num_arms * (num_arms // self.metrics - 1)

    @override
    def overturned(self, num_arms: int) -> int:
        """Return K (K - 1) D / 2: of two arms one order in each metric is wrong."""
        return self.most_contrasts(num_arms) // 2

    def margins(self, means: FloatArray) -> FloatArray:
        """Return ``(..., i, j)`` by how much arm j is better than arm i in all metrics, at least; -inf for i = j."""
        above = self.above(means)
        least = (above[..., None, :, :] - above[..., :, None, :]).min(axis=-1)
        return np.where(np.eye(least.shape[-1], dtype=bool), -np.inf, least)

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arms that are not dominated: ``(..., K, D)`` -> ``(..., K)`` zeros and ones."""
        return np.asarray(self.margins(means).max(axis=-1) <= 0.0, np.int64)

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest margin of a misplaced arm, ``(...)``; 0 if none is misplaced."""
        margin = self.margins(means).max(axis=-1)
        return np.asarray(np.maximum(np.where(recommendation == 1, margin, -margin), 0.0).max(axis=-1))
