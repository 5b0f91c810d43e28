"""OCBA, optimal computing budget allocation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.scanning import arm_of_largest, total
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, best_without, columns, leader, section
from bai_gym.statistics import ROUNDING, FloatArray

__all__ = ["OCBA"]

SMALLEST_GAP = 1e-12  # means closer than this are tied
LARGEST_GAP = 1e70  # its fourth power is a float
SMALLEST_VARIANCE = 1e-12


def sample_mean(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return the mean: the tournament finds the best arm b."""
    return mean


def farthest_behind(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest (t + 1) R_i / (sum of all R) - T_i, see :class:`OCBA`."""
    arms = e.pulls.size
    values, squares = section(e.memory, 0, arms), section(e.memory, arms, arms)
    best = leader(e.first)
    top = e.mean[best]
    slack = max(SMALLEST_GAP, ROUNDING * abs(top))
    if top - best_without(e.first, best) <= slack:
        for arm in range(arms):
            values[arm] = -e.pulls[arm] if top - e.mean[arm] <= slack else -np.inf
        return arm_of_largest(values, e.pulls, e.parameters[0], rng)
    for arm in range(arms):
        gap = top - e.mean[arm]
        gap = min(gap if gap > SMALLEST_GAP else SMALLEST_GAP, LARGEST_GAP)
        variance = e.variance[arm]
        variance = variance if variance > SMALLEST_VARIANCE else SMALLEST_VARIANCE
        weight = 1.0 / (gap * gap)
        values[arm] = variance * weight  # R_i
        squares[arm] = variance * weight * weight  # R_i^2 / v_i
    values[best] = squares[best] = 0.0
    values[best] = np.sqrt(max(e.variance[best], SMALLEST_VARIANCE) * total(squares))
    share = (e.made + 1.0) / total(values)
    for arm in range(arms):
        values[arm] = share * values[arm] - e.pulls[arm]
    return arm_of_largest(values, e.pulls, e.parameters[0], rng)


@dataclass(kw_only=True)
class OCBA(SequentialAgent):
    """Pulls the arm that is farthest behind the proportions that are best for the estimated means and variances.

    With b the best arm and d the distances to its mean, the proportions are R_i = v_i / d_i^2 for all others, and
    R_b = sigma_b sqrt(sum of R_i^2 / v_i). After t pulls the next one goes to the arm of largest
    (t + 1) R_i / (sum of all R) - T_i. Where arms share the largest mean, it goes to the least pulled of them. The arm
    of largest mean is recommended.

    Paper: Chen, Lin, Yucesan and Chick (2000), "Simulation Budget Allocation for Further Enhancing the Efficiency of
    Ordinal Optimization", Theorem 1, one pull at a time. First pulls and ties are this library's choice.

    Args:
        n0: First pulls of each arm, at least 2; None (default): n / (2 K), rounded down, but from 2 to 5.

    Requires no oracle knowledge. Minimum budget: 2 K, or ``n0`` K.
    """

    n0: int | None = None

    name: ClassVar[str] = "OCBA"
    rule: ClassVar[Rule] = Rule(index=sample_mean, choose=farthest_behind)

    @property
    def first_pulls(self) -> int:  # type: ignore[override]
        """First pulls of each arm."""
        return max(2, min(5, self.budget // (2 * self.num_arms))) if self.n0 is None else self.n0

    @property
    def memory(self) -> int:  # type: ignore[override]
        """R and R^2 / v of each arm."""
        return 2 * self.num_arms

    def minimum_budget(self, num_arms: int) -> int:
        """Return two pulls per arm, or the given number."""
        return (2 if self.n0 is None else self.n0) * num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameter."""
        if self.n0 is not None and self.n0 < 2:
            raise ParameterError(f"n0 of OCBA must be at least 2, for a variance, not {self.n0}")
        self.parameters = columns(self.batch, float(self.tie == "first"))
