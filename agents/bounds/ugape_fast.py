"""The fast forms of UGapE's rules for one best arm, which look at a few arms at each pull instead of all."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.tools.sets import SetState, prefers
from bai_gym.agents.tools.widths import bernstein, hoeffding
from bai_gym.sampling import Episode, PerArm, Rule, Vector, leader, leader_without, top, total, value_of

__all__ = ["ADAPTIVE", "GIVEN"]


class FastState(SetState):
    """What the rules use: the same as the plain ones, and a cache."""

    a: float  # exploration
    b: float  # bound of the rewards
    aware: bool  # whether widths depend on the variances
    last: bool  # whether the last set is recommended, not that of smallest value
    rate: float  # a H
    every: int = 1  # pulls from one estimate of H to the next
    order: Vector  # not used
    safest: int  # the arm of largest L, as it was before the last pull
    bound: float  # no other arm has a larger L; inf where all have changed
    term: PerArm  # terms of H


def upper(pulls: float, mean: float, variance: float, s: FastState) -> float:
    """Return U."""
    return mean + (bernstein(s.a, s.b, pulls, variance) if s.aware else hoeffding(s.a, s.b, pulls))


def select_arm(e: Episode, s: FastState, rng: np.random.Generator) -> int:
    """Do as the plain rule does for one best arm, by the tournament of U; exact ties of U are ignored.

    B_k is the largest U less L_k, but for the first, the arm of largest U, the second-largest less L_k. So J is the
    first or the arm of largest L, and u is the first, or where J is that, the second.
    """
    first, low = leader(e.tournament), find_safest(e, s)
    second = leader_without(e.tournament, first, rng)
    value = top(e.tournament) - (2.0 * e.mean[low] - value_of(e.tournament, low))  # L = 2 mean - U
    of_first = value_of(e.tournament, second) - (2.0 * e.mean[first] - value_of(e.tournament, first))
    low = first if of_first < value else low
    u = second if low == first else first
    value, least = min(value, of_first), np.inf if e.pulled < 0 else s.kept_value
    s.value, s.sets[0] = value, low
    if value < least:
        s.kept[0] = low
        s.kept_value = np.inf if s.last else value
    wider = value_of(e.tournament, u) - e.mean[u] - (value_of(e.tournament, low) - e.mean[low])
    # Widths that differ by rounding alone are equal.
    if abs(wider) <= 1e-14 * (abs(e.mean[u]) + abs(top(e.tournament))):
        return u if prefers(e, u, low, rng) else low
    return u if wider > 0.0 else low


def find_safest(e: Episode, s: FastState) -> int:
    """Return the arm of largest L; all arms are scanned only when the safest arm falls below the bound."""
    arm, pulled = s.safest, max(e.pulled, 0)
    largest = 2.0 * e.mean[arm] - value_of(e.tournament, arm)
    other = 2.0 * e.mean[pulled] - value_of(e.tournament, pulled)
    other = -np.inf if pulled == arm else other
    bound = max(s.bound, min(largest, other))
    arm = pulled if other > largest else arm
    if max(largest, other) < bound or e.pulled < 0:
        largest = bound = -np.inf
        for k in range(e.num_arms):
            other = 2.0 * e.mean[k] - value_of(e.tournament, k)
            bound = max(bound, min(other, largest))
            arm = k if other > largest else arm
            largest = max(largest, other)
    s.safest, s.bound = arm, bound
    return arm


def estimate_complexity(e: Episode, s: FastState, rng: np.random.Generator) -> int:
    """Set a = rate / H as the plain rule does, in a form that compilers turn into vector instructions."""
    if (e.made - (2 if s.aware else 1) * e.num_arms) % s.every != 0:
        return e.end  # after the last pull
    best, second = -np.inf, -np.inf
    for k in range(e.num_arms):
        second = max(second, min(best, e.mean[k]))
        best = max(best, e.mean[k])
    term, b, epsilon, aware = s.term, s.b, s.epsilon, s.aware
    for k in range(e.num_arms):
        gap = (e.mean[k] - second if e.mean[k] >= best else best - e.mean[k]) + b * np.sqrt(0.5 / e.pulls[k])
        aim = max((gap + epsilon) / 2.0, epsilon)
        sigma = max(np.sqrt(e.variance[k]) - b * np.sqrt(2.0 / max(e.pulls[k] - 1.0, 1.0)), 0.0)
        root = sigma + np.sqrt(sigma * sigma + 7.0 / 3.0 * b * aim) if aware else b
        term[k] = (root / aim) * (root / aim)
    s.a = s.rate / max(total(term), 1e-290)  # the square of a far larger gap than b is no float
    s.bound = np.inf
    return e.made + s.every


GIVEN = Rule(index=upper, choose=select_arm, state=FastState)
ADAPTIVE = Rule(index=upper, choose=select_arm, refresh=estimate_complexity, state=FastState)
