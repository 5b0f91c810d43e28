"""The fast forms of GapE's rules for one bandit, with what does not change from pull to pull in caches.

A pull changes the gaps of all arms only if it changes the largest or second-largest mean; and what depends on an arm's
own statistics changes with its own pulls alone.
"""

from __future__ import annotations

import numpy as np

from bai_gym.agents.bounds.leaders import TwoLargest, find_two_largest
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.widths import WidthState, hoeffding, width
from bai_gym.sampling import Episode, PerArm, Rule, arm_of_largest_index, set_index, total

__all__ = ["ADAPTIVE", "GIVEN"]


class GivenState(TwoLargest, WidthState):
    """What the rule uses where the complexity is given."""

    bandits: int  # number of bandits: 1
    cap: float = np.inf  # second-largest mean


def capped_bound(pulls: float, mean: float, variance: float, s: GivenState) -> float:
    """Return B + the largest mean: mean + width, but for the best arm second-largest mean + width."""
    return min(mean, s.cap) + width(s, s.a, pulls, variance)


def pull_largest_b(e: Episode, s: GivenState, w: GivenState, rng: np.random.Generator) -> int:
    """Return the arm of largest B, after an update of the two arms whose gaps depend on the second-largest mean."""
    find_two_largest(e, s)
    second = e.mean[s.second]
    if second != s.cap:
        s.cap = second
        for arm in (s.best, s.second):
            set_index(e.indices, arm, capped_bound(e.pulls[arm], e.mean[arm], e.variance[arm], s))
        return arm_of_largest_index(e.indices, e.pulls, e.tie, rng)
    return e.leader


class AdaptiveState(TwoLargest, WidthState):
    """What the rule uses where the complexity is estimated."""

    bandits: int  # number of bandits: 1
    top: float = np.inf  # largest mean
    term: PerArm  # terms of H
    index: PerArm  # B, times H
    margin: PerArm  # what is added to a gap
    deviation: PerArm  # lower bound of the standard deviation
    root: PerArm  # width for a = 1, but for the next one
    correction: PerArm  # part of the width that is proportional to a


def hardness(gap: float, margin: float, deviation: float, b: float, aware: bool) -> float:
    """Return an arm's term in the estimate of H, with its gap increased and its deviation decreased by a margin."""
    upper = gap + margin
    root = deviation + np.sqrt(deviation * deviation + (16.0 / 3.0) * b * upper) if aware else b
    return (root / upper) * (root / upper)


def pull_largest_estimated_b(e: Episode, s: AdaptiveState, w: AdaptiveState, rng: np.random.Generator) -> int:
    """Return the arm of largest B; terms of H are computed again if the largest mean has changed, or their own arm."""
    b, aware, term, margin, deviation, index = s.b, s.aware, w.term, w.margin, w.deviation, w.index
    root, correction = w.root, w.correction
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(e.num_arms):
        margin[arm] = hoeffding(0.5, b, e.pulls[arm])
        root[arm] = hoeffding(1.0, b, e.pulls[arm])
        if aware:
            deviation[arm] = max(np.sqrt(e.variance[arm]) - hoeffding(2.0, b, e.pulls[arm] - 1.0), 0.0)
            root[arm] = np.sqrt(2.0 * e.variance[arm] / e.pulls[arm])
            correction[arm] = 7.0 * b / (3.0 * (e.pulls[arm] - 1.0))
    find_two_largest(e, s)
    best, top, second = s.best, e.mean[s.best], e.mean[s.second]
    if s.top != top:
        for arm in range(e.num_arms):
            term[arm] = hardness(top - e.mean[arm], margin[arm], deviation[arm], b, aware)
    else:
        term[e.pulled] = hardness(top - e.mean[e.pulled], margin[e.pulled], deviation[e.pulled], b, aware)
    term[best] = hardness(top - second, margin[best], deviation[best], b, aware)
    s.top = top
    h = total(term)  # the exploration is s.a / h
    scale = np.sqrt(s.a * h)
    for arm in range(e.num_arms):  # B times h, which saves a division
        gap = top - (second if arm == best else e.mean[arm])
        index[arm] = scale * root[arm] + s.a * correction[arm] - h * gap
    return arm_of_largest(index, e, rng)


GIVEN = Rule(index=capped_bound, choose=pull_largest_b, state=GivenState)
ADAPTIVE = Rule(choose=pull_largest_estimated_b, state=AdaptiveState)
