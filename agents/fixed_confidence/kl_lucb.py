"""KL-LUCB: the arm of largest mean and its strongest challenger are pulled until their intervals separate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    FAMILY,
    FIRST,
    INTERVALS,
    OWN,
    ConfidenceAgent,
    bernoulli_divergence,
    fits,
    interval_rate,
    mean_of,
    variance_of,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule, leader, noinline

__all__ = ["KLLUCB", "divergence", "upper_bound"]

EPSILON, CHALLENGER = OWN, OWN + 1  # parameters; the second is written by the rule: the arm to pull next, or -1
NONE = -1.0


def divergence(e: Episode, arm: int, q: float) -> float:
    """Return d(m, q) of an arm, for a mean q."""
    if e.parameters[FAMILY] == BERNOULLI:
        if q <= 0.0 or q >= 1.0:
            return 0.0 if q == e.mean[arm] else np.inf
        return bernoulli_divergence(e.mean[arm], q)
    return 0.5 * (e.mean[arm] - q) * (e.mean[arm] - q) / variance_of(e, arm)


@noinline
def bernoulli_upper_bound(mean: float, level: float) -> float:
    """Return the largest q with kl(m, q) <= level, by Newton's method from above, where it stays.

    kl(m, q) is at least 2 (q - m)^2, and at least -H - (1 - m) log(1 - q) with the entropy H of m.
    """
    if mean >= 1.0:
        return 1.0
    entropy = -(1.0 - mean) * math.log(1.0 - mean) - (mean * math.log(mean) if mean > 0.0 else 0.0)
    q = min(mean + math.sqrt(0.5 * level), -math.expm1(-(level + entropy) / (1.0 - mean)))
    for _ in range(50):
        if q >= 1.0 or q <= mean:
            break
        step = (bernoulli_divergence(mean, q) - level) * q * (1.0 - q) / (q - mean)
        q -= step
        if step <= 1e-14:
            break
    return max(q, mean)


def upper_bound(e: Episode, arm: int, rate: float) -> float:
    """Return U = max {q: N d(m, q) <= rate}."""
    if e.parameters[FAMILY] == BERNOULLI:
        return bernoulli_upper_bound(e.mean[arm], rate / e.pulls[arm])
    return e.mean[arm] + math.sqrt(2.0 * variance_of(e, arm) * rate / e.pulls[arm])


@noinline
def strongest(e: Episode, best: int, rng: np.random.Generator) -> tuple[int, float]:
    """Return the arm of largest U other than the best, and U; arms of equal means and pulls are tied."""
    other, bound, ties = -1, -np.inf, 1.0
    for arm in range(e.pulls.size):
        if arm == best:
            continue
        if other >= 0 and e.mean[arm] == e.mean[other] and e.pulls[arm] == e.pulls[other]:
            ties += 1.0
            if e.parameters[FIRST] == 0.0 and rng.random() * ties < 1.0:
                other = arm
            continue
        rate = interval_rate(e, arm)
        # U is above the bound unless the bound is outside the interval: most arms need no root.
        if other < 0 or e.mean[arm] >= bound or e.pulls[arm] * divergence(e, arm, bound) < rate:
            other, bound, ties = arm, upper_bound(e, arm, rate), 1.0
    return other, bound


def choose(e: Episode, rng: np.random.Generator) -> int:
    """Return B at the beginning of a round, or stop; then C."""
    p = e.parameters
    if not fits(e):
        return STOP
    if p[CHALLENGER] != NONE:
        other = int(p[CHALLENGER])
        p[CHALLENGER] = NONE
        return other
    best = leader(e.first)
    other, bound = strongest(e, best, rng)
    goal = bound - p[EPSILON]
    # L_B is at least U_C - epsilon where that is not inside the interval of B.
    if goal <= e.mean[best] and e.pulls[best] * divergence(e, best, goal) >= interval_rate(e, best):
        return STOP
    p[CHALLENGER] = other
    return best


@dataclass(kw_only=True)
class KLLUCB(ConfidenceAgent):
    """In each round pulls B, the arm of largest mean, and C, the arm of largest upper bound among the others.

    The confidence interval of an arm are the means q with N d(m, q) at most a rate. It stops when the lower bound of B
    is at least the upper bound of C, less epsilon, and recommends B. On some instances it never stops with a
    probability that does not depend on the budget (Balagopalan, Nguyen, Zhao and Jun 2025).

    Paper: Kaufmann and Kalyanakrishnan (2013), "Information Complexity in Bandit Subset Selection", for one best arm.
    Differences: the intervals are compared before the first pair is pulled, and the default rate is ours.

    Args:
        threshold: The rate: ``"union"`` (default, also for None), log(4 K N^2 / delta), proved by Chernoff's
            inequality; or ``"gk16"``, log((1 + log t) / delta), a heuristic that is usual in experiments.
        family: ``"gaussian"`` (default) or ``"bernoulli"``, which also holds for all rewards in [0, 1].

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K.
    """

    name: ClassVar[str] = "KL-LUCB"
    families: ClassVar[tuple[str, ...]] = ("gaussian", "bernoulli")
    thresholds: ClassVar[dict[str, tuple[str, ...]]] = INTERVALS
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=choose)

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        self.set_parameters(info, self.task.epsilon, NONE)

    def check_task(self) -> None:
        """Accept any accuracy."""
