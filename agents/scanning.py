"""The sum and the largest of values that change for all arms at every pull, for the functions of sequential agents.

Eight values are taken at a time, in the form that compilers turn into vector instructions: that is several times faster
than one value after another, and the order of the operations, so the rounding, is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["LANES", "arm_of_largest", "largest", "total"]

LANES = 8


def total(values: FloatArray, lanes: FloatArray) -> float:
    """Return the sum of the values; ``lanes`` are :data:`LANES` numbers of the episode's memory to work with."""
    blocks = values.size // LANES
    for i in range(LANES):
        lanes[i] = 0.0
    for block in range(blocks):
        eight = values[LANES * block : LANES * block + LANES]
        for i in range(LANES):
            lanes[i] += eight[i]
    for at in range(LANES * blocks, values.size):
        lanes[0] += values[at]
    for i in range(4):
        lanes[i] += lanes[i + 4]
    sum_of_all: float = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    return sum_of_all


def largest(values: FloatArray, lanes: FloatArray) -> float:
    """Return the largest of the values; ``lanes`` as for :func:`total`."""
    blocks = values.size // LANES
    for i in range(LANES):
        lanes[i] = -np.inf
    for block in range(blocks):
        eight = values[LANES * block : LANES * block + LANES]
        for i in range(LANES):
            lanes[i] = eight[i] if eight[i] > lanes[i] else lanes[i]
    for at in range(LANES * blocks, values.size):
        lanes[0] = values[at] if values[at] > lanes[0] else lanes[0]
    for i in range(4):
        lanes[i] = lanes[i] if lanes[i] > lanes[i + 4] else lanes[i + 4]
    best: float = max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]))
    return best


def arm_of_largest(
    values: FloatArray, pulls: FloatArray, lanes: FloatArray, tie_first: float, rng: np.random.Generator
) -> int:
    """Return the arm of the largest value.

    Args:
        values: ``(k,)``, -inf allowed.
        pulls: ``(k,)`` pulls of each arm.
        lanes: As for :func:`total`.
        tie_first: 1 if exact ties go to the fewest pulls, then to the lowest arm; 0 if uniformly at random.
        rng: Breaks ties.
    """
    best = largest(values, lanes)
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
