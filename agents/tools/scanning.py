"""The arm of the largest of values that change for all arms at every pull, for the functions of sequential agents."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import larger
from bai_gym.statistics import FloatArray

__all__ = ["arm_of_largest", "largest"]

ONE = 2**32  # an arm that is found, in a sum of their numbers


def largest(values: FloatArray) -> float:
    """Return the largest of the values."""
    best = -np.inf
    for place in range(values.size):
        best = larger(values[place], best)
    return best


def arm_of_largest(values: FloatArray, pulls: FloatArray, tie_first: float, rng: np.random.Generator) -> int:
    """Return the arm of the largest value.

    Args:
        values: ``(k,)``, -inf allowed.
        pulls: ``(k,)`` pulls of each arm.
        tie_first: 1 if exact ties go to the fewest pulls, then to the lowest arm; 0 if uniformly at random.
        rng: Breaks ties.
    """
    best = largest(values)
    found = 0
    for arm in range(values.size):
        found += ONE + arm if values[arm] == best else 0
    if found < 2 * ONE:
        return found - ONE
    chosen, skipped = -1, 0 if tie_first else int(rng.random() * (found // ONE))
    for arm in range(values.size):
        if values[arm] == best:
            if tie_first:
                chosen = arm if chosen < 0 or pulls[arm] < pulls[chosen] else chosen
            elif skipped == 0:
                return arm
            else:
                skipped -= 1
    return chosen
