"""Confidence intervals that hold for all arms at all times with probability 1 - delta, for compiled rules.

Thresholds, with N pulls of an arm, m their mean and K arms:

- ``mixture``: all x with log E(x) below log(K / delta), E the mixture of likelihood ratios of
  :mod:`bai_gym.agents.tools.mixtures`. By Ville's inequality the interval of an arm ever misses its mean with
  probability at most delta / K. For Gaussian rewards of unknown variances it is the only one.
- ``union``: all x with N d(m, x) at most log(4 K N^2 / delta). By Chernoff's inequality an interval of fixed N misses
  its mean on one side with probability delta / (4 K N^2); the sum over both sides, all arms and all N is below delta.
- ``gk16``: all x with N d(m, x) at most log((1 + log t) / delta), t the pulls of all arms; a heuristic.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import GK16, MIXTURE, UNION, ConfidenceState
from bai_gym.agents.tools.divergences import bernoulli_upper_bound, divergence, variance_of
from bai_gym.agents.tools.mixtures import bounded_end_near, gaussian_rate, log_bounded, student_u
from bai_gym.agents.tools.posteriors import BERNOULLI, STUDENT
from bai_gym.agents.tools.scanning import fewer_pulls
from bai_gym.sampling import TO_FIRST, Episode, PerArm

__all__ = [
    "INTERVALS",
    "IntervalState",
    "arm_of_largest_upper_end",
    "excess",
    "is_below",
    "overlap",
    "rate_of",
    "upper_end",
]

INTERVALS = {
    "gaussian": ("mixture", "union", "gk16"),
    "bernoulli": ("mixture", "union", "gk16"),
    "student": ("mixture",),
}
"""Thresholds of agents that compare confidence intervals, for each family, the default first."""


class IntervalState(ConfidenceState):
    """What functions of intervals use."""

    upper: PerArm  # upper end of each interval
    counted: PerArm  # pulls of the arm when it was computed
    u: float  # of an interval for unknown variances, of the arm that was looked at last
    u_pulls: float = -1.0  # pulls of that arm


def rate_of(e: Episode, s: ConfidenceState, arm: int) -> float:
    """Return the b of an interval of all x with N d(m, x) <= b."""
    if s.threshold == MIXTURE:
        return gaussian_rate(e.pulls[arm], s.level + math.log(e.num_arms))
    if s.threshold == UNION:
        return s.level + math.log(4.0 * e.num_arms) + 2.0 * math.log(e.pulls[arm])
    return s.level + math.log(1.0 + math.log(float(e.made)))


def excess(e: Episode, s: IntervalState, w: IntervalState, arm: int, x: float) -> float:
    """Return a number that is negative inside an arm's interval, 0 at its ends and positive outside.

    A mixture is at most the largest likelihood ratio, so where that one is below the level, nothing else is computed.
    """
    if s.family == BERNOULLI and s.threshold == MIXTURE and 0.0 < x < 1.0:
        level = s.level + math.log(e.num_arms)
        most = float(e.pulls[arm] * divergence(e, s, w, arm, x) - level)
        return most if most < 0.0 else log_bounded(e.pulls[arm], e.pulls[arm] * e.mean[arm], x) - level
    if s.family == STUDENT:
        return abs(x - e.mean[arm]) - unknown_width(e, s, w, arm)
    return float(e.pulls[arm] * divergence(e, s, w, arm, x) - rate_of(e, s, arm))


def unknown_width(e: Episode, s: IntervalState, w: IntervalState, arm: int) -> float:
    """Return half the length of an arm's interval for unknown variances, which is infinite after a few pulls.

    Arms that are pulled in turn have a u in common, of which each look would take most of the time.
    """
    if s.u_pulls != e.pulls[arm]:
        s.u, s.u_pulls = student_u(e.pulls[arm], s.level + math.log(e.num_arms)), e.pulls[arm]
    return math.sqrt(variance_of(e, s, w, arm) * s.u)


def upper_end(e: Episode, s: IntervalState, w: IntervalState, arm: int) -> float:
    """Return the upper end of an arm's interval, which is computed again after its pulls, or where it depends on t."""
    if s.threshold == GK16 or w.counted[arm] != e.pulls[arm]:
        w.upper[arm] = upper_end_near(e, s, w, arm, w.upper[arm])
        w.counted[arm] = e.pulls[arm]
    return float(w.upper[arm])


def upper_end_near(e: Episode, s: IntervalState, w: IntervalState, arm: int, start: float) -> float:
    """Return the upper end of an arm's interval, which is searched from a start where it has no closed form."""
    n, mean = e.pulls[arm], e.mean[arm]
    if s.family == STUDENT:
        return mean + unknown_width(e, s, w, arm)
    if s.family != BERNOULLI:
        return float(mean + math.sqrt(2.0 * variance_of(e, s, w, arm) * rate_of(e, s, arm) / n))
    if s.threshold == MIXTURE:
        return float(bounded_end_near(n, mean, s.level + math.log(e.num_arms), start))
    return bernoulli_upper_bound(mean, rate_of(e, s, arm) / n)


def arm_of_largest_upper_end(
    e: Episode, s: IntervalState, w: IntervalState, without: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Return the arm of largest upper end among the others, and that end; arms of equal ends are tied, as of mean 1.

    Few ends are computed: those of arms that have been pulled or, where every pull changes all of them, not those of
    arms for which the largest end so far is above the mean and outside the interval.

    Args:
        e: The episode.
        s: The family of the rewards, and the threshold.
        w: Variances, and the last ends.
        without: An arm that is left out.
        rng: Breaks ties.
    """
    best, bound, ties = -1, -np.inf, 1.0
    for arm in range(e.num_arms):
        if arm == without:
            continue
        is_same = best >= 0 and e.mean[arm] == e.mean[best] and e.pulls[arm] == e.pulls[best]
        if best >= 0 and not is_same and s.threshold == GK16 and is_below(e, s, w, arm, bound):
            continue
        end = bound if is_same else upper_end(e, s, w, arm)
        if end > bound:
            best, bound, ties = arm, end, 1.0
        elif end == bound:
            ties += 1.0
            is_chosen = fewer_pulls(e, arm, best) if e.tie == TO_FIRST else rng.random() * ties < 1.0
            best = arm if is_chosen else best
    return best, bound


def is_below(e: Episode, s: IntervalState, w: IntervalState, arm: int, x: float) -> bool:
    """Return whether an arm's interval ends below a number: where that is above its mean, and outside."""
    return e.mean[arm] < x and excess(e, s, w, arm, x) > 0.0


def overlap(e: Episode, s: IntervalState, w: IntervalState, i: int, j: int) -> bool:
    """Return whether the middle between two means shows that the intervals overlap: it is inside both.

    Where it is not, they may overlap or not.
    """
    x = 0.5 * (e.mean[i] + e.mean[j])
    return excess(e, s, w, i, x) < 0.0 and excess(e, s, w, j, x) < 0.0
