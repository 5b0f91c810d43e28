"""Complexity measures of the instances of an environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.problems import Problem
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, BestOfEach, GoodArm, Task, Thresholding, TopM
from bai_gym.theory import best_arm_h1, best_arm_h2, threshold_h1, threshold_h2, ugape_complexity

__all__ = ["complexity_rows", "number"]

DRAWS = 500
Measure = Callable[[FloatArray], FloatArray]


def number(value: float) -> str:
    """Return a number with three significant digits, without needless digits."""
    if not np.isfinite(value):
        return "infinite"
    rounded = float(f"{value:.3g}")
    return f"{rounded:.2e}" if rounded >= 1e7 else f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def complexity_rows(problem: Problem, task: Task, *, drawn: bool) -> list[tuple[str, str]]:
    """Return rows of a table: which complexity, and its value.

    Args:
        problem: One whose means are known.
        task: What is to be recommended.
        drawn: Whether instances differ: then it is the median with the 10 % and 90 % quantiles of 500 of them.
    """
    means = problem.draw(DRAWS if drawn else 1, np.random.default_rng(0)).means
    rows = []
    for name, measure in _measures(task):
        values = measure(means)
        if not drawn:
            rows.append((name, number(float(values[0]))))
            continue
        low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), method="inverted_cdf")
        rows.append((name, f"{number(middle)} ({number(low)} to {number(high)})"))
    return rows


def _measures(task: Task) -> list[tuple[str, Measure]]:
    if isinstance(task, TopM):
        return [("UGapE's complexity of the m best arms", lambda means: ugape_complexity(means, task.m, task.epsilon))]
    if isinstance(task, BestOfEach):
        return [
            (
                "UGapE's complexity over all bandits",
                lambda means: ugape_complexity(means, 1, task.epsilon, num_bandits=task.num_bandits),
            )
        ]
    if isinstance(task, Thresholding | GoodArm):
        return [
            ("H_1, the sum of 1 / (mean - threshold)^2", lambda means: threshold_h1(means, task.threshold)),
            ("H_2, the maximum of i / gap_(i)^2", lambda means: threshold_h2(means, task.threshold)),
        ]
    if task.answer == "candidate":
        means_of: Any = task  # a task of the linear wing
        return [("the sum of 1 / gap^2 over candidates", lambda means: best_arm_h1(means_of.means(means)))]
    if not isinstance(task, BestArm):
        return []
    return [
        ("H_1, the sum of 1 / gap^2", best_arm_h1),
        ("H_2, the maximum of i / gap_(i)^2", best_arm_h2),
    ]
