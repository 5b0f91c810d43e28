"""PairedOCBA: allocation of a budget by the variances of differences on common items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.bounds.ocba import OCBA
from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    floored,
    normal_assumption,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Sequential, Vector, larger
from bai_gym.statistics import FloatArray

__all__ = ["PairedOCBA"]

ITEMS = 500  # whose rewards are kept after the first pulls, so that memory does not grow with the budget
LEAST_VARIANCE, LARGEST_VARIANCE = 1e-12, 1e280
LARGEST_DISTANCE = 1e70  # in standard errors; its square, times the horizon, is a float


class PairedOCBAState(VarianceState):
    """What the rule of PairedOCBA uses."""

    first: int  # first pulls of each arm
    horizon: float
    items: Vector  # rewards on the items after these, of all arms on one item after another
    lead: Vector  # K x K mean differences on common items
    scatter: Vector  # K x K sums of squared deviations from them
    spread: PerArm  # v_i
    square: PerArm  # z_i^2
    weight: PerArm  # by how much B falls per unit by which the variance of a difference of means falls
    joined: PerArm  # by how much B falls with a pull of the arm after one of the leader
    value: PerArm  # by how much B falls with a pull of the arm; of the leader, per pull and with others joined


def pull_where_the_bound_falls_most(
    e: Episode, s: PairedOCBAState, w: PairedOCBAState, rng: np.random.Generator
) -> int:
    """Pull the arm by which B falls the most; the leader, if it falls more per pull of the leader and some others."""
    compare_last_reward(e, s, w)
    best = weigh(e, s, w, rng)
    n, alone = e.pulls[best], 0.0
    w.joined[best] = -np.inf
    for arm in range(e.num_arms):
        if arm != best:
            own, weight = e.pulls[arm], w.weight[arm]
            now, led = (
                difference_variance(e, s, w, best, arm, n, own),
                difference_variance(e, s, w, best, arm, n + 1.0, own),
            )
            w.value[arm] = weight * (now - difference_variance(e, s, w, best, arm, n, own + 1.0))
            w.joined[arm] = weight * (led - difference_variance(e, s, w, best, arm, n + 1.0, own + 1.0))
            alone += weight * (now - led)
    w.value[best] = best_average(alone, w.joined)
    return arm_of_largest(w.value, e, rng)


def weigh(e: Episode, s: PairedOCBAState, w: PairedOCBAState, rng: np.random.Generator) -> int:
    """Find the weights, all multiplied by exp(z^2 / 2) for the smallest z so that they do not underflow; and b."""
    pool(e, s)
    for arm in range(e.num_arms):
        variance = larger(estimated_variance(e.pulls[arm], e.mean[arm], e.variance[arm], s), LEAST_VARIANCE)
        w.spread[arm] = min(variance, LARGEST_VARIANCE)
    best, least = arm_of_largest(e.mean, e, rng), np.inf
    for arm in range(e.num_arms):
        if arm != best:
            variance = difference_variance(e, s, w, best, arm, e.pulls[best], e.pulls[arm])
            z = min((e.mean[best] - e.mean[arm]) / np.sqrt(variance), LARGEST_DISTANCE)
            w.square[arm], w.weight[arm] = larger(s.horizon * e.end / e.made * z * z, 1.0), 1.0 / variance
            least = min(least, w.square[arm])
    for arm in range(e.num_arms):
        if arm != best:
            w.weight[arm] *= math.exp(0.5 * (least - w.square[arm])) * np.sqrt(w.square[arm])
    return best


def difference_variance(
    e: Episode, s: PairedOCBAState, w: PairedOCBAState, i: int, k: int, n_i: float, n_k: float
) -> float:
    """Return the variance of m_i - m_k after n_i and n_k pulls."""
    common = min(e.pulls[i], e.pulls[k], s.first + w.items.size // e.num_arms)
    both = floored(common, w.scatter[i * e.num_arms + k] / (common - 1.0), w.spread[i] + w.spread[k])
    more, fewer = larger(n_i, n_k), min(n_i, n_k)
    return float(min(both, LARGEST_VARIANCE) / more + w.spread[i if n_i < n_k else k] * (1.0 / fewer - 1.0 / more))


def best_average(alone: float, others: FloatArray) -> float:
    """Return the largest average of a number and any of the others."""
    best = -np.inf
    while True:  # those above an average are in a set of larger average, if there is one
        whole, number = alone, 1
        for place in range(others.size):
            if others[place] > best:
                whole, number = whole + others[place], number + 1
        if whole / number <= best:
            return best
        best = whole / number


def compare_last_reward(e: Episode, s: PairedOCBAState, w: PairedOCBAState) -> None:
    """Compare the last reward with those of the other arms on the same item."""
    arm, k = e.pulled, e.num_arms
    item = int(e.pulls[arm]) - 1
    place = (item - s.first) * k
    if arm < 0 or place >= w.items.size:
        return
    w.items[place + arm] = e.reward
    for other in range(k):
        if other != arm and e.pulls[other] > item:
            pair, same = arm * k + other, other * k + arm
            difference, before = e.reward - w.items[place + other], w.lead[pair]
            w.lead[pair] += (difference - before) / (item + 1.0)
            w.scatter[pair] += (difference - before) * (difference - w.lead[pair])
            w.lead[same], w.scatter[same] = -w.lead[pair], w.scatter[pair]


@dataclass(kw_only=True)
class PairedOCBA(SequentialAgent):
    """Pulls the arm, or the leader and those of its rivals, that lower a bound on the error probability the most.

    With normal rewards, b the arm of largest mean, and D_i the distance to it of the mean of arm i, the recommendation
    is wrong with probability at most B = sum over i != b of Phi(-z_i), z_i = D_i sqrt(h n / t) / sqrt(V_i). After t of
    n pulls V_i, the variance of the difference of both means, is w_bi / N + v (1 / M - 1 / N): N the larger and M the
    smaller number of pulls of the two arms, w_bi the variance of the difference of their rewards on an item, v that of
    the rewards of the arm with M pulls.

    One more pull of an arm i != b changes V_i alone, and lowers B by phi(z_i) z_i / V_i times the change, to first
    order. One of the leader b changes all, and where arms are alike and have as many pulls it makes matters worse
    unless they follow. So it is weighed together with those others that make B fall the most per pull. The arm of
    largest mean is recommended.

    An agent of this library, with the aim of Fu, Hu, Chen and Xiong (2007), "Simulation Allocation for Determining the
    Best Design in the Presence of Correlated Sampling", which we could not consult. Choices of ours: V_i for unequal
    numbers of pulls, the joint pulls, z_i at least 1 (else near ties get no pulls), and h. Items count as drawn
    independently, so V_i is too large for a large part of a finite list. The w are from the first ``n0`` + 500 items.

    Args:
        n0: First pulls of each arm, at least 2; None (default): a third of n / K, but at least 10, or half of n / K if
            that is less, rounded down. With few of them the best arm may seem so far behind that it gets no more.
        horizon: h, positive: B is taken after h times the budget. With a large h arms that seem far behind get fewer
            pulls. Default 4, by simulation.
        variance: Estimate of the variances v: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind
            of rewards, see :mod:`bai_gym.agents.tools.variances`. The w are sample variances, or (v_b + v_i) / M while
            all differences are equal.

    Minimum budget: 2 K, or ``n0`` K.
    """

    n0: int | None = None
    horizon: Positive = 4.0
    variance: str | None = None

    name = "PairedOCBA"
    uses_pairs = True
    rule = Rule(choose=pull_where_the_bound_falls_most, state=PairedOCBAState)
    choices, minimum_budget = variance_choice, OCBA.minimum_budget
    unmet_assumptions = normal_assumption

    @property
    @override
    def first_pulls(self) -> int:  # type: ignore[override]
        share = self.budget // self.num_arms
        return max(2, share // 3, min(10, share // 2)) if self.n0 is None else self.n0

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {"estimate": variance_estimate(self), "first": self.first_pulls, "horizon": self.horizon}

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the pulls after the first ones, with the differences on their items."""
        variances = self._seen["difference_variances"].reshape(self.batch, -1)
        self.values |= {
            "items": np.zeros(min(steps, ITEMS) * self.num_arms),
            "lead": self._seen["differences"].reshape(self.batch, -1),
            "scatter": (self.first_pulls - 1) * variances,
        }
        return super().sequential(steps, **options)
