"""The arm of the largest of values that change for all arms at every pull, for the functions of sequential agents."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.agents.tools.choosing import SLACK
from bai_gym.sampling import NEVER, TO_FIRST, Episode, State, larger
from bai_gym.statistics import FloatArray

__all__ = [
    "active_arm_of_smallest",
    "arm_of_largest",
    "arm_of_nearly_largest",
    "fewer_pulls",
    "largest",
    "less_pulled",
    "place_of_smallest",
    "pull_in_turn",
    "smallest",
]

ONE = 2**32  # an arm that is found, in a sum of their numbers


def largest(values: FloatArray) -> float:
    """Return the largest of the values: eight maxima side by side, which compilers make vector instructions of."""
    a = b = c = d = e = f = g = h = -np.inf
    whole = values.size - values.size % 8
    for i in range(0, whole, 8):
        a, b = larger(values[i], a), larger(values[i + 1], b)
        c, d = larger(values[i + 2], c), larger(values[i + 3], d)
        e, f = larger(values[i + 4], e), larger(values[i + 5], f)
        g, h = larger(values[i + 6], g), larger(values[i + 7], h)
    for i in range(whole, values.size):
        a = larger(values[i], a)
    return larger(larger(larger(a, b), larger(c, d)), larger(larger(e, f), larger(g, h)))


def smallest(values: FloatArray) -> float:
    """Return the smallest of the values: four minima side by side, as for the largest."""
    a = b = c = d = np.inf
    whole = values.size - values.size % 4
    for i in range(0, whole, 4):
        a, b = smaller(values[i], a), smaller(values[i + 1], b)
        c, d = smaller(values[i + 2], c), smaller(values[i + 3], d)
    for i in range(whole, values.size):
        a = smaller(values[i], a)
    return smaller(smaller(a, b), smaller(c, d))


def smaller(value: float, other: float) -> float:
    """Return the smaller value, as :func:`bai_gym.sampling.larger` returns the larger one."""
    return value if value < other else other


def place_of_smallest(values: FloatArray, to_first: bool, rng: np.random.Generator) -> int:
    """Return the place of the smallest value, of several the first one or a random one.

    Args:
        values: ``(n,)``; of NaN alone, the place is 0.
        to_first: Whether it is the first one.
        rng: Breaks ties otherwise.
    """
    least, sum_of_places = smallest(values), 0
    for place in range(values.size):
        sum_of_places += ONE + place if values[place] == least else 0
    if sum_of_places < 2 * ONE:
        return max(sum_of_places - ONE, 0)
    skipped = 0 if to_first else int(rng.random() * (sum_of_places // ONE))
    for place in range(values.size):
        if values[place] == least:
            if skipped == 0:
                return place
            skipped -= 1
    return -1


def arm_of_largest(values: FloatArray, e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of the largest value; exact ties are broken by the rule of the episode.

    Args:
        values: ``(k,)``, -inf allowed.
        e: The episode.
        rng: Breaks ties.
    """
    best = largest(values)
    ties = 0
    for arm in range(values.size):
        ties += ONE + arm if values[arm] == best else 0
    if ties < 2 * ONE:
        return ties - ONE
    chosen, skipped = -1, 0 if e.tie == TO_FIRST else int(rng.random() * (ties // ONE))
    for arm in range(values.size):
        if values[arm] == best:
            if e.tie == TO_FIRST:
                chosen = arm if chosen < 0 or e.pulls[arm] < e.pulls[chosen] else chosen
            elif skipped == 0:
                return arm
            else:
                skipped -= 1
    return chosen


def active_arm_of_smallest(values: FloatArray, e: Episode, scratch: FloatArray, rng: np.random.Generator) -> int:
    """Return the active arm of the smallest value; exact ties are broken by the rule of the episode.

    Args:
        values: ``(k,)``, finite.
        e: The episode.
        scratch: ``(k,)``, overwritten; it may be the values themselves.
        rng: Breaks ties.
    """
    for arm in range(e.num_arms):
        scratch[arm] = -values[arm] if e.active[arm] == 1 else -np.inf
    return arm_of_largest(scratch, e, rng)


def arm_of_nearly_largest(values: FloatArray, scale: float, e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of the largest value of linear algebra, where values that differ by rounding alone are tied.

    Args:
        values: ``(k,)``, -inf allowed.
        scale: Magnitude of what the values are sums of.
        e: The episode.
        rng: Breaks ties.
    """
    top = largest(values)
    least = top - SLACK * (scale + abs(top))
    tied = 0
    for arm in range(values.size):
        tied += 1 if values[arm] >= least else 0
    skipped = 0 if e.tie == TO_FIRST or tied == 1 else int(rng.random() * tied)
    chosen = -1
    for arm in range(values.size):
        if values[arm] >= least:
            if e.tie == TO_FIRST:
                chosen = arm if chosen < 0 or fewer_pulls(e, arm, chosen) else chosen
            elif skipped == 0:
                return arm
            else:
                skipped -= 1
    return chosen


def fewer_pulls(e: Episode, arm: int, other: int) -> bool:
    """Return whether an arm has fewer pulls than another, or as many and the lower number."""
    return e.pulls[arm] < e.pulls[other] or (e.pulls[arm] == e.pulls[other] and arm < other)


def less_pulled(e: Episode, arm: int, other: int, rng: np.random.Generator) -> int:
    """Return the arm of fewer pulls; of as many, by the tie rule of the episode."""
    if e.pulls[arm] == e.pulls[other] and e.tie != TO_FIRST:
        return arm if rng.random() < 0.5 else other
    return arm if fewer_pulls(e, arm, other) else other


def pull_in_turn(e: Episode, s: State, w: State, rng: np.random.Generator, question: Any = None) -> int:
    """Return the active arm of fewest pulls; ties are broken by the rule of the episode."""
    fewest, tied = NEVER, 0
    for arm in range(e.num_arms):  # of whole numbers compilers find the least with vector instructions
        fewest = min(fewest, int(e.pulls[arm]) if e.active[arm] == 1 else NEVER)
    for arm in range(e.num_arms):
        tied += 1 if e.active[arm] == 1 and e.pulls[arm] == fewest else 0
    skipped = 0 if e.tie == TO_FIRST or tied == 1 else int(rng.random() * tied)
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and e.pulls[arm] == fewest:
            if skipped == 0:
                return arm
            skipped -= 1
    return -1
