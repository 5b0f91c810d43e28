"""OCBA, optimal computing budget allocation, and OCBA-PCS, which takes the size of the budget into account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.spending import PricedState, affordable, prices
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimate_variances,
    normal_assumption,
    variance_choice,
    variance_estimate,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Sequential, total
from bai_gym.statistics import ROUNDING
from bai_gym.validation import integer

__all__ = ["OCBA", "OCBAPCS"]

SMALLEST_GAP = 1e-12  # means closer than this are tied
LARGEST_GAP = 1e70  # its fourth power is a float
SMALLEST_VARIANCE = 1e-12


class OCBAState(VarianceState):
    """What the rules of OCBA and OCBA-PCS use."""

    variance: PerArm  # v_i, the estimated variances, at least the bound
    value: PerArm  # what is the largest for the arm to pull
    part: PerArm  # terms of a sum over the arms


class PricedOCBAState(OCBAState, PricedState):
    """What the rule of OCBA uses."""


def pull_farthest_behind(e: Episode, s: PricedOCBAState, w: PricedOCBAState, rng: np.random.Generator) -> int:
    """Pull the arm of largest (t + 1) R_i / (sum of all R) - T_i, with R_i = v_i / d_i^2 of all arms but the best.

    The episode ends at the first pull that the money left does not pay for.
    """
    estimate_variances(e, s, SMALLEST_VARIANCE, w.variance)
    value, part = w.value, w.part
    best = arm_of_largest(e.mean, e, rng)
    if is_tied(e, best):
        return affordable(e, s, w, least_pulled_best(e, s, w, best, rng))
    for arm in range(e.num_arms):
        gap, variance = distance(e, best, arm), w.variance[arm] * (arm != best)
        weight = 1.0 / (gap * gap)
        value[arm] = variance * weight  # R_i
        part[arm] = w.cost[arm] * variance * weight * weight  # c_i R_i^2 / v_i
    of_best = np.sqrt(w.variance[best] / w.cost[best] * total(part))  # R_b
    everything, after = total(value) + of_best, e.made + 1.0
    for arm in range(e.num_arms):  # times the sum of all R, which saves a division
        value[arm] = after * (of_best if arm == best else value[arm]) - e.pulls[arm] * everything
    return affordable(e, s, w, arm_of_largest(value, e, rng))


def pull_steepest(e: Episode, s: OCBAState, w: OCBAState, rng: np.random.Generator) -> int:
    """Pull the arm whose share lowers the bound B the most, see :class:`OCBAPCS`.

    All slopes are multiplied by exp(z^2 / 2) for the smallest z, so that they do not underflow.
    """
    estimate_variances(e, s, SMALLEST_VARIANCE, w.variance)
    value, slope = w.value, w.part
    best = arm_of_largest(e.mean, e, rng)
    if is_tied(e, best):
        return least_pulled_best(e, s, w, best, rng)
    growth = e.end / e.made  # from the pulls so far to those at the end
    noise, least = w.variance[best] / (growth * e.pulls[best]), np.inf
    for arm in range(e.num_arms):
        both = noise + w.variance[arm] / (growth * e.pulls[arm])
        square = distance(e, best, arm) ** 2.0 / both
        slope[arm], value[arm] = both, square  # for the next loop
        least = square if square < least and arm != best else least
    for arm in range(e.num_arms):
        both = slope[arm]
        slope[arm] = np.exp(0.5 * (least - value[arm])) * distance(e, best, arm) / (both * np.sqrt(both))
        value[arm] = slope[arm] * w.variance[arm] / (e.pulls[arm] * e.pulls[arm])
    slope[best] = 0.0
    value[best] = total(slope) * w.variance[best] / (e.pulls[best] * e.pulls[best])
    return arm_of_largest(value, e, rng)


def distance(e: Episode, best: int, arm: int) -> float:
    """Return d_i: how far an arm's mean is below the largest, between the bounds."""
    gap = e.mean[best] - e.mean[arm]
    return float(min(gap if gap > SMALLEST_GAP else SMALLEST_GAP, LARGEST_GAP))


def is_tied(e: Episode, best: int) -> bool:
    """Return whether another arm has the largest mean, too."""
    top, tied = e.mean[best], 0
    for arm in range(e.num_arms):
        tied += top - e.mean[arm] <= slack(top)
    return tied > 1


def least_pulled_best(e: Episode, s: OCBAState, w: OCBAState, best: int, rng: np.random.Generator) -> int:
    """Return the arm with the fewest pulls among those of the largest mean."""
    for arm in range(e.num_arms):
        is_best = e.mean[best] - e.mean[arm] <= slack(e.mean[best])
        w.value[arm] = -e.pulls[arm] if is_best else -np.inf
    return arm_of_largest(w.value, e, rng)


def slack(top: float) -> float:
    """Return by how much means may be below the largest one and count as equal to it."""
    return max(SMALLEST_GAP, ROUNDING * abs(top))


@dataclass(kw_only=True)
class OCBA(SequentialAgent):
    """Pulls the arm that is farthest behind the proportions that are best for the estimated means and variances.

    With b the best arm and d the distances to its mean, the proportions are R_i = v_i / d_i^2 for all others, and
    R_b = sigma_b sqrt(sum of R_i^2 / v_i). After t pulls the next one goes to the arm of largest
    (t + 1) R_i / (sum of all R) - T_i. Where arms share the largest mean, it goes to the least pulled of them. The arm
    of largest mean is recommended.

    Paper: Chen, Lin, Yucesan and Chick (2000), "Simulation Budget Allocation for Further Enhancing the Efficiency of
    Ordinal Optimization", Theorem 1, one pull at a time. First pulls and ties are this library's choice.

    Where arms have different costs c_i, an arm has the variance c_i v_i per unit of money: the R_i of all others stay
    the same, and R_b = sigma_b sqrt(sum of c_i R_i^2 / v_i) / sqrt(c_b) (this library's derivation). The episode ends
    at the first pull that the money left does not pay for.

    Args:
        n0: First pulls of each arm, at least 2; None (default): n / (2 K), rounded down, but from 2 to 5 (2 where arms
            have different costs).
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.

    Requires no oracle knowledge. Minimum budget: 2 K, or ``n0`` K.
    """

    n0: int | None = None
    variance: str | None = None

    name = "OCBA"
    uses_costs = True
    rule = Rule(choose=pull_farthest_behind, state=PricedOCBAState)
    choices = variance_choice
    unmet_assumptions = normal_assumption

    @property
    @override
    def first_pulls(self) -> int:  # type: ignore[override]
        if self.n0 is None and self.funds.costs is not None:
            return 2
        return max(2, min(5, self.budget // (2 * self.num_arms))) if self.n0 is None else self.n0

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return two pulls per arm, or the given number."""
        return (2 if self.n0 is None else integer(self.n0, f"n0 of {self.name}", least=2)) * num_arms

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {"estimate": variance_estimate(self)}

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        self.values |= prices(self)
        return super().sequential(steps, **options)


@dataclass(kw_only=True)
class OCBAPCS(SequentialAgent):
    """Pulls the arm whose share of the budget lowers a bound on the final error probability the most.

    With normal rewards, b the best arm and shares w, the recommendation after n pulls is wrong with probability at most
    B(w) = sum over i != b of Phi(-z_i), z_i = d_i / sqrt((v_b / w_b + v_i / w_i) / n). After t pulls w_i = T_i / t, and
    the next one goes to the arm of most negative slope dB / dw_i: a step of the Frank-Wolfe algorithm. The proportions
    of OCBA minimise B as n grows; with a small n, arms that could not be told from the best one get fewer pulls. Where
    arms share the largest mean, the least pulled of them is pulled. The arm of largest mean is recommended.

    No paper: this library's rule, with the aim of Cao, Wang, Chew, Li and Tan (2023), "A Budget-Adaptive Allocation
    Rule for Optimal Computing Budget Allocation" (arXiv 2304.02377), whose closed form we could not consult.

    Args:
        n0: First pulls of each arm, as for OCBA.
        variance: Estimate of the variances, as for OCBA.

    Requires no oracle knowledge. Minimum budget: 2 K, or ``n0`` K.
    """

    n0: int | None = None
    variance: str | None = None

    name = "OCBA-PCS"
    rule = Rule(choose=pull_steepest, state=OCBAState)
    unmet_assumptions = normal_assumption
    choices, first_pulls, minimum_budget, begin = variance_choice, OCBA.first_pulls, OCBA.minimum_budget, OCBA.begin
