"""Tasks about several metrics: the best arm whose guardrails hold, and the arms that no other dominates.

Their contrasts are of cells: the mean of arm i in metric d has the number i D + d. Where several of them must be
overturned together, they are a group, whose evidence is that of its strongest contrast. That is proof even if the
metrics of a pull depend on each other: each contrast is about one metric alone, of one arm or of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import ArmsAbove, GoodArm, Task
from bai_gym.validation import real

__all__ = ["Feasible", "MetricTask", "ParetoSet"]


class MetricTask(Task):
    """Base of tasks about several metrics; the problem brings what they need to know.

    Args:
        limits: Of the second metric, the third and so on: text such as ``"<= 300"`` or ``">= 0.9"``; a number is the
            largest value that is allowed.
        directions: Whether each metric is to be ``"max"`` or ``"min"``; empty: all are to be large.
        metrics: D.
    """

    entry = None

    def __init__(self, limits: Sequence[str | float] = (), directions: Sequence[str] = (), metrics: int = 1) -> None:
        """Keep what they are."""
        super().__init__()
        self.limits, self.directions, self.metrics = tuple(limits), tuple(directions), metrics

    @override
    def in_place_of(self, task: Task) -> Task:
        """Return the task of an episode: that of the problem, or another one about its metrics."""
        if isinstance(task, MetricTask):
            limits, directions = task.limits or self.limits, task.directions or self.directions
            return type(task)(limits, directions, self.metrics).checked()
        if task.name != "best-arm":
            raise ParameterError(f"the task {task.name!r} is about one metric, and a pull gives {self.metrics} here")
        return copy(self)

    def checked(self) -> Task:
        """Return the task.

        Raises:
            ParameterError: If there are not as many limits, or directions, as metrics need.
        """
        return self

    def by_arm(self, means: FloatArray) -> FloatArray:
        """Return means ``(..., K D)`` or ``(..., K, D)`` as ``(..., K, D)``."""
        if self.metrics > 1 and means.shape[-1] == self.metrics:
            return means
        return means.reshape(*means.shape[:-1], -1, self.metrics)


class Feasible(MetricTask):
    """Recommend the arm of largest mean in the first metric, of those whose other means satisfy limits, or none.

    The arms that satisfy them are called feasible. A recommendation is one number: that of the arm, or K for none.
    """

    name = "feasible"
    sizes, form, arms, of_arms = GoodArm.sizes, GoodArm.form, GoodArm.arms, GoodArm.of_arms
    first_arm = GoodArm.first_arm

    @override
    def checked(self) -> Task:
        if len(self.limits) != self.metrics - 1:
            raise ParameterError(
                f"the task {self.name!r} needs limits= of all metrics but the first, {self.metrics - 1} of them, "
                f"not {len(self.limits)}"
            )
        self._borders()
        return self

    def _borders(self) -> tuple[FloatArray, FloatArray]:
        """Return ``(D - 1,)`` signs, 1 where means must be at least the limit and -1 where at most, and limits."""
        signs, borders = np.full(len(self.limits), -1.0), np.zeros(len(self.limits))
        for place, limit in enumerate(self.limits):
            text = str(limit).strip()
            signs[place] = 1.0 if text.startswith(">=") else -1.0
            try:
                borders[place] = float(text.removeprefix("<=").removeprefix(">="))
            except ValueError:
                raise ParameterError(f"limits are numbers, or text such as '<= 300', not {limit!r}") from None
            real(borders[place], "limits")
        return signs, borders

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that the best feasible arm is feasible, and each other arm worse or not; or that no arm is feasible."""
        metrics, best, n = int(x[0]), -1, 0
        for first in range(0, mean.size, metrics):
            feasible = True
            for d in range(1, metrics):
                feasible = feasible and x[d] * (mean[first + d] - x[metrics - 1 + d]) >= 0.0
            if feasible and (best < 0 or mean[first] > mean[best]):
                best = first
        for first in range(0, mean.size, metrics):
            group = n
            if best >= 0 and first != best and mean[best] >= mean[first]:
                c.first[n], c.second[n], c.offset[n], c.group[n] = best, first, 0.0, group
                n += 1
            for d in range(1, metrics):
                cell, limit = first + d, x[metrics - 1 + d]
                holds = x[d] * (mean[cell] - limit) >= 0.0
                if holds == (first == best):
                    c.group[n] = n if first == best else group
                    if (x[d] > 0.0) == holds:
                        c.first[n], c.second[n], c.offset[n] = cell, -1, limit
                    else:
                        c.first[n], c.second[n], c.offset[n] = -1, cell, -limit
                    n += 1
        return n

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return D, the signs and the limits."""
        return (self.metrics, *np.concatenate(self._borders()).tolist())

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return the number of cells."""
        return num_arms

    @override
    def overturned(self, num_arms: int) -> int:
        """Return K + D - 2.

        An answer that is not feasible has one limit that is overturned; one that is feasible is overturned by the best
        feasible arm, in the first metric or, if that arm counts as not feasible, in one of D - 1 limits.
        """
        return num_arms // self.metrics + self.metrics - 2 if self.metrics > 1 else num_arms - 1

    def _slack(self, means: FloatArray) -> FloatArray:
        """Return ``(..., K)`` by how much each arm satisfies its most violated, or tightest, limit."""
        signs, borders = self._borders()
        return np.asarray((signs * (means[..., 1:] - borders)).min(axis=-1, initial=np.inf))

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the best feasible arm, or K: ``(..., K, D)`` -> ``(..., 1)``."""
        means = self.by_arm(means)
        values = np.where(self._slack(means) >= 0.0, means[..., 0], -np.inf)
        none = np.isinf(values.max(axis=-1))
        return np.asarray(np.where(none, values.shape[-1], values.argmax(axis=-1))[..., None])

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest violation of an arm that is not feasible, else by how much a feasible one is better.

        For none, by how much a feasible arm satisfies its limits.

        Args:
            means: ``(..., K, D)`` true means.
            recommendation: ``(..., 1)`` arms, or K.
        """
        means, chosen = self.by_arm(means), np.asarray(recommendation)[..., 0]
        slack, none = self._slack(means), chosen == means.shape[-2]
        arm = np.where(none, 0, chosen)[..., None]
        own = np.take_along_axis(slack, arm, -1)[..., 0]
        best = np.where(slack >= 0.0, means[..., 0], -np.inf).max(axis=-1)
        worse = best - np.take_along_axis(means[..., 0], arm, -1)[..., 0]
        return np.asarray(np.maximum(np.where(none, slack.max(axis=-1), np.where(own < 0.0, -own, worse)), 0.0))

    @override
    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
        """Return whether the simple regret is 0; none is wrong if an arm is feasible, be it at its limit."""
        arms = self.by_arm(means)
        none = np.asarray(recommendation)[..., 0] == arms.shape[-2]
        return np.asarray(
            (self.simple_regret(arms, recommendation) == 0.0) & ~(none & (self._slack(arms).max(axis=-1) >= 0.0))
        )

    @override
    def describe(self) -> str:
        said = [limit if isinstance(limit, str) else f"<= {limit:g}" for limit in self.limits]
        rules = ", ".join(f"metric {place} {limit}" for place, limit in enumerate(said, 1))
        return f"the arm of largest mean in metric 0 of those with {rules}, or none if there is no such arm"


class ParetoSet(MetricTask):
    """Recommend all arms that no other arm dominates; an arm dominates another that is not better in any metric.

    Of arms with equal means in all metrics none dominates the other. The simple regret is the largest change of all
    means of one misplaced arm that would put it into its place.
    """

    name = "pareto"
    arms, first_arm, form, of_arms = ArmsAbove.arms, ArmsAbove.first_arm, ArmsAbove.form, ArmsAbove.of_arms
    sizes = ArmsAbove.sizes

    @override
    def checked(self) -> Task:
        wrong = [one for one in self.directions if one not in ("max", "min")]
        if wrong or len(self.directions) not in (0, self.metrics):
            raise ParameterError(f"directions= are 'max' or 'min' of each of {self.metrics} metrics")
        return self

    @property
    def signs(self) -> FloatArray:
        """``(D,)`` 1 for metrics that are to be large, -1 for others."""
        return np.array([-1.0 if one == "min" else 1.0 for one in self.directions or ("max",) * self.metrics])

    @staticmethod
    @override
    def contrasts(mean: FloatArray, c: Any, x: FloatArray) -> int:
        """State that no arm of the set dominates another, and that each other arm is dominated by a certain one.

        That one is better by the largest margin, hence in the set. Arms outside need no comparison with the set: they
        dominate none of it, since what dominates them would, too.
        """
        metrics, n = int(x[0]), 0
        arms = mean.size // metrics
        by = np.zeros(arms, np.int64)
        for i in range(arms):
            by[i], most = -1, 0.0
            for j in range(arms):
                least = np.inf
                for d in range(metrics):
                    least = min(least, x[1 + d] * (mean[j * metrics + d] - mean[i * metrics + d]))
                if j != i and least > most:
                    by[i], most = j, least
        for i in range(arms):
            for j in range(arms):
                if j == i or (by[j] >= 0 if by[i] < 0 else by[i] != j):
                    continue
                group = n
                for d in range(metrics):
                    better, worse = (i, j) if by[i] < 0 else (j, i)
                    better, worse = better * metrics + d, worse * metrics + d
                    if x[1 + d] * (mean[better] - mean[worse]) >= 0.0:
                        c.group[n] = group if by[i] < 0 else n
                        c.first[n] = better if x[1 + d] > 0.0 else worse
                        c.second[n] = worse if x[1 + d] > 0.0 else better
                        c.offset[n] = 0.0
                        n += 1
        return n

    @override
    def numbers(self, num_arms: int) -> tuple[float, ...]:
        """Return D and the signs."""
        return (self.metrics, *self.signs.tolist())

    @override
    def most_contrasts(self, num_arms: int) -> int:
        """Return K (K - 1) D."""
        return num_arms * (num_arms // self.metrics - 1)

    @override
    def overturned(self, num_arms: int) -> int:
        """Return K (K - 1) D / 2: of two arms one order in each metric is wrong."""
        return self.most_contrasts(num_arms) // 2

    def _margins(self, means: FloatArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Return ``(..., K)`` by how much the arm that dominates each most does so, and whether one does."""
        means = self.signs * self.by_arm(means)
        better = means[..., None, :, :] - means[..., :, None, :]  # (..., i, j, D): of j over i
        least = better.min(axis=-1)
        least[..., np.arange(least.shape[-1]), np.arange(least.shape[-1])] = -np.inf
        return least.max(axis=-1), ((least >= 0.0) & (better.max(axis=-1) > 0.0)).any(axis=-1)

    @override
    def correct_recommendation(self, means: FloatArray) -> IntArray:
        """Return the arms that are not dominated: ``(..., K, D)`` -> ``(..., K)`` zeros and ones."""
        return np.asarray(~self._margins(means)[1], np.int64)

    @override
    def simple_regret(self, means: FloatArray, recommendation: IntArray) -> FloatArray:
        """Return the largest margin of a misplaced arm, ``(...)``; 0 if none is misplaced."""
        margins, dominated = self._margins(means)
        return np.asarray(np.where(dominated == (recommendation == 1), np.abs(margins), 0.0).max(axis=-1))

    @override
    def correct(self, means: FloatArray, recommendation: IntArray) -> npt.NDArray[Any]:
        """Return whether no arm is misplaced."""
        return np.asarray((self.correct_recommendation(means) == recommendation).all(axis=-1))

    @override
    def describe(self) -> str:
        return "all arms that no other arm dominates" + (f" ({', '.join(self.directions)})" if self.directions else "")
