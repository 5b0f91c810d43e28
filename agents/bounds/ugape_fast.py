"""The fast forms of UGapE's rules for one best arm, which look at a few arms at each pull instead of all."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.tools.sets import SetState, keep, prefers
from bai_gym.agents.tools.widths import WidthState, width
from bai_gym.sampling import Episode, PerArm, second_of_largest_index, total

__all__ = ["TIED", "Cache", "fast_complexity", "select_untied", "upper"]

TIED = -3  # no arm, and neither STOP nor WAIT


class Cache(SetState, WidthState):
    """What the fast forms use of the state of the plain rules, and a cache."""

    last: bool  # whether the last set is recommended, not that of smallest value
    rate: float  # a H
    every: int  # pulls from one estimate of H to the next
    safest: int  # the arm of largest L, as it was before the last pull
    bound: float  # no other arm has a larger L; inf where all have changed
    term: PerArm  # terms of H


def upper(pulls: float, mean: float, variance: float, s: Cache) -> float:
    """Return U."""
    return mean + width(s, s.a, pulls, variance)


def select_untied(e: Episode, s: Cache, w: Cache, rng: np.random.Generator) -> int:
    """Do as the plain rule does for one best arm, by the index U; where arms are tied, return ``TIED``.

    B_k is the largest U less L_k, but for the first, the arm of largest U, the second-largest less L_k. So J is the
    first or the arm of largest L, and u is the first, or where J is that, the second.
    """
    first, low, upper = e.leader, find_safest(e, s), e.indices.value
    second = second_of_largest_index(e.indices, first)
    if second < 0 or upper[first] == upper[second]:
        return TIED
    value = upper[first] - lower(e, s, low)
    of_first = upper[second] - lower(e, s, first)
    if s.bound >= lower_by_index(e, low) or of_first == value:
        return TIED
    low = first if of_first < value else low
    u = second if low == first else first
    s.value, w.sets[0] = min(value, of_first), low
    if e.pulled < 0 or s.value < s.kept_value:
        keep(s, w, np.inf if s.last else s.value)
    of_u, of_low = width(s, s.a, e.pulls[u], e.variance[u]), width(s, s.a, e.pulls[low], e.variance[low])
    if of_u == of_low:
        return u if prefers(e, u, low, rng) else low
    return u if of_u > of_low else low


def lower(e: Episode, s: Cache, arm: int) -> float:
    """Return L of an arm."""
    return float(e.mean[arm] - width(s, s.a, e.pulls[arm], e.variance[arm]))


def lower_by_index(e: Episode, arm: int) -> float:
    """Return L of an arm up to rounding, which is the same for arms of equal means and widths."""
    return float(2.0 * e.mean[arm] - e.indices.value[arm])


def find_safest(e: Episode, s: Cache) -> int:
    """Return the arm of largest L; all arms are scanned only when the safest arm falls to the bound."""
    arm, pulled = s.safest, max(e.pulled, 0)
    largest, other = lower_by_index(e, arm), lower_by_index(e, pulled)
    other = -np.inf if pulled == arm else other
    bound = max(s.bound, min(largest, other))
    arm = pulled if other > largest else arm
    if max(largest, other) <= bound or e.pulled < 0:
        largest = bound = -np.inf
        for k in range(e.num_arms):
            other = lower_by_index(e, k)
            bound = max(bound, min(other, largest))
            arm = k if other > largest else arm
            largest = max(largest, other)
    s.safest, s.bound = arm, bound
    return arm


def fast_complexity(e: Episode, s: Cache, w: Cache, rng: np.random.Generator) -> int:
    """Set a = rate / H as the plain rule does, in a form that compilers turn into vector instructions."""
    if (e.made - (2 if s.aware else 1) * e.num_arms) % s.every != 0:
        return e.end  # after the last pull
    best, second = -np.inf, -np.inf
    for k in range(e.num_arms):
        second = max(second, min(best, e.mean[k]))
        best = max(best, e.mean[k])
    term, b, epsilon, aware = w.term, s.b, s.epsilon, s.aware
    for k in range(e.num_arms):
        gap = (e.mean[k] - second if e.mean[k] >= best else best - e.mean[k]) + b * np.sqrt(0.5 / e.pulls[k])
        aim = max((gap + epsilon) / 2.0, epsilon)
        sigma = max(np.sqrt(e.variance[k]) - b * np.sqrt(2.0 / max(e.pulls[k] - 1.0, 1.0)), 0.0)
        root = sigma + np.sqrt(sigma * sigma + 7.0 / 3.0 * b * aim) if aware else b
        term[k] = (root / aim) * (root / aim)
    s.a = s.rate / max(total(term), 1e-290)  # the square of a far larger gap than b is no float
    s.bound = np.inf
    return e.made + s.every
