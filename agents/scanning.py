"""The sum and the largest of values that change for all arms at every pull, for the functions of sequential agents.

Eight sums, or largest values, are carried side by side: an operation need not wait for the one before it, and the order
of the operations, so the rounding, is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import section
from bai_gym.statistics import FloatArray

__all__ = ["arm_of_largest", "largest", "total"]

LANES = 8


def total(values: FloatArray) -> float:
    """Return the sum of the values."""
    a = b = c = d = e = f = g = h = 0.0
    whole = values.size - values.size % LANES
    for at in range(0, whole, LANES):
        v = section(values, at, LANES)
        a, b, c, d = a + v[0], b + v[1], c + v[2], d + v[3]
        e, f, g, h = e + v[4], f + v[5], g + v[6], h + v[7]
    for at in range(whole, values.size):
        a += values[at]
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


def larger(value: float, other: float) -> float:
    """Return the larger value; neither is NaN, unlike for `max`, which costs more."""
    return value if value > other else other


def largest(values: FloatArray) -> float:
    """Return the largest of the values."""
    a = b = c = d = e = f = g = h = -np.inf
    whole = values.size - values.size % LANES
    for at in range(0, whole, LANES):
        v = section(values, at, LANES)
        a, b, c, d = larger(v[0], a), larger(v[1], b), larger(v[2], c), larger(v[3], d)
        e, f, g, h = larger(v[4], e), larger(v[5], f), larger(v[6], g), larger(v[7], h)
    for at in range(whole, values.size):
        a = larger(values[at], a)
    return larger(larger(larger(a, e), larger(c, g)), larger(larger(b, f), larger(d, h)))


def arm_of_largest(values: FloatArray, pulls: FloatArray, tie_first: float, rng: np.random.Generator) -> int:
    """Return the arm of the largest value.

    Args:
        values: ``(k,)``, -inf allowed.
        pulls: ``(k,)`` pulls of each arm.
        tie_first: 1 if exact ties go to the fewest pulls, then to the lowest arm; 0 if uniformly at random.
        rng: Breaks ties.
    """
    best = largest(values)
    count = chosen = 0
    for arm in range(values.size):
        is_best = int(values[arm] == best)
        count += is_best
        chosen += is_best * arm
    if count == 1:
        return chosen
    count, chosen = 0, -1
    for arm in range(values.size):
        if values[arm] == best:
            count += 1
            if tie_first:
                chosen = arm if chosen < 0 or pulls[arm] < pulls[chosen] else chosen
            elif rng.random() * count < 1.0:
                chosen = arm
    return chosen
