"""The arm of the largest of values that change for all arms at every pull, for the functions of sequential agents."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import TO_FIRST, Episode, larger
from bai_gym.statistics import FloatArray

__all__ = ["arm_of_largest", "largest"]

ONE = 2**32  # an arm that is found, in a sum of their numbers


def largest(values: FloatArray) -> float:
    """Return the largest of the values."""
    best = -np.inf
    for place in range(values.size):
        best = larger(values[place], best)
    return best


def arm_of_largest(values: FloatArray, e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of the largest value; exact ties are broken by the rule of the episode.

    Args:
        values: ``(k,)``, -inf allowed.
        e: The episode.
        rng: Breaks ties.
    """
    best = largest(values)
    found = 0
    for arm in range(values.size):
        found += ONE + arm if values[arm] == best else 0
    if found < 2 * ONE:
        return found - ONE
    chosen, skipped = -1, 0 if e.tie == TO_FIRST else int(rng.random() * (found // ONE))
    for arm in range(values.size):
        if values[arm] == best:
            if e.tie == TO_FIRST:
                chosen = arm if chosen < 0 or e.pulls[arm] < e.pulls[chosen] else chosen
            elif skipped == 0:
                return arm
            else:
                skipped -= 1
    return chosen
