"""KL-LUCB: the arm of largest mean and its strongest challenger are pulled until their intervals separate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    INTERVALS,
    ConfidenceAgent,
    ConfidenceState,
    bernoulli_divergence,
    fits,
    interval_rate,
    mean_of,
    variance_of,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, TO_FIRST, Episode, Rule, leader, noinline

__all__ = ["KLLUCB", "divergence", "upper_bound"]

NONE = -1


class KLLUCBState(ConfidenceState):
    """What the rule of KL-LUCB uses."""

    epsilon: float  # accuracy of the task
    challenger: int = NONE  # C, which is pulled next


def pull_pair(e: Episode, s: KLLUCBState, rng: np.random.Generator) -> int:
    """Pull B at the beginning of a round, or stop; then pull C."""
    if not fits(e, s):
        return STOP
    if s.challenger != NONE:
        other, s.challenger = s.challenger, NONE
        return other
    best = leader(e.tournament)
    other, bound = strongest(e, s, best, rng)
    goal = bound - s.epsilon
    # L_B is at least U_C - epsilon where that is not inside the interval of B.
    if goal <= e.mean[best] and e.pulls[best] * divergence(e, s, best, goal) >= interval_rate(e, s, best):
        return STOP
    s.challenger = other
    return best


@noinline
def strongest(e: Episode, s: KLLUCBState, best: int, rng: np.random.Generator) -> tuple[int, float]:
    """Return the arm of largest U other than the best, and U; arms of equal means and pulls are tied."""
    other, bound, ties = -1, -np.inf, 1.0
    for arm in range(e.num_arms):
        if arm == best:
            continue
        if other >= 0 and e.mean[arm] == e.mean[other] and e.pulls[arm] == e.pulls[other]:
            ties += 1.0
            if e.tie != TO_FIRST and rng.random() * ties < 1.0:
                other = arm
            continue
        rate = interval_rate(e, s, arm)
        # A bound above the mean is below U only where it is inside the interval, so most arms need no root.
        if other < 0 or e.mean[arm] >= bound or e.pulls[arm] * divergence(e, s, arm, bound) < rate:
            other, bound, ties = arm, upper_bound(e, s, arm, rate), 1.0
    return other, bound


def upper_bound(e: Episode, s: ConfidenceState, arm: int, rate: float) -> float:
    """Return U = max {q: N d(m, q) <= rate}."""
    if s.family == BERNOULLI:
        return bernoulli_upper_bound(e.mean[arm], rate / e.pulls[arm])
    return float(e.mean[arm] + math.sqrt(2.0 * variance_of(e, s, arm) * rate / e.pulls[arm]))


def divergence(e: Episode, s: ConfidenceState, arm: int, q: float) -> float:
    """Return d(m, q) of an arm, for a mean q."""
    if s.family == BERNOULLI:
        if q <= 0.0 or q >= 1.0:
            return 0.0 if q == e.mean[arm] else np.inf
        return bernoulli_divergence(e.mean[arm], q)
    return float(0.5 * (e.mean[arm] - q) * (e.mean[arm] - q) / variance_of(e, s, arm))


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


@dataclass(kw_only=True)
class KLLUCB(ConfidenceAgent):
    """In each round pulls B, the arm of largest mean, and C, the arm of largest upper bound among the others.

    The confidence interval of an arm holds all q with N d(m, q) at most a rate. It stops when the lower bound of B
    is at least the upper bound of C, less epsilon, and recommends B. On some instances there is a positive probability
    that it never stops (Balagopalan, Nguyen, Zhao and Jun 2025).

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
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=pull_pair, state=KLLUCBState)

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        super().begin(info)
        self.values["epsilon"] = self.task.epsilon

    def check_task(self) -> None:
        """Accept any accuracy."""
