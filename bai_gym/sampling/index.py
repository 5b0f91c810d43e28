"""The index of every arm, and the largest one of each block of eight arms.

When an index changes, the largest of its block is found again, so the arm of largest index is found by a look at the
blocks and at the eight arms of one of them. With 64 arms that takes less time than a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["BLOCK", "Index", "arm_of_largest_index", "larger", "second_of_largest_index", "set_index"]

BLOCK = 8
FOUND = 2**32  # a place that is found, in a sum of their numbers


class Index(NamedTuple):
    """The index of each arm.

    Attributes:
        value: ``(8 B,)`` the index of each arm; -inf for arms that are out, and from k on.
        largest: ``(B,)`` the largest value of each eight arms.
    """

    value: FloatArray
    largest: FloatArray


def larger(value: float, other: float) -> float:
    """Return the larger value; neither is NaN, so that compilers make vector instructions of it, unlike of `max`."""
    return value if value > other else other


def largest_of_block(value: FloatArray, block: int) -> float:
    """Return the largest of the eight values of a block."""
    i = BLOCK * block
    a, b = max(value[i], value[i + 1]), max(value[i + 2], value[i + 3])
    c, d = max(value[i + 4], value[i + 5]), max(value[i + 6], value[i + 7])
    return max(max(a, b), max(c, d))


def set_index(index: Index, arm: int, value: float) -> None:
    """Give an arm another index; -inf for an arm that is out, not NaN."""
    index.value[arm] = value
    index.largest[arm >> 3] = largest_of_block(index.value, arm >> 3)


def arm_of_largest_index(index: Index, pulls: FloatArray, to_first: int, rng: np.random.Generator) -> int:
    """Return the arm of largest index.

    Args:
        index: The indices.
        pulls: ``(k,)`` pulls of the arms.
        to_first: 1: of several arms, the one of fewest pulls, then the first one; 0: one of them at random.
        rng: Breaks ties.
    """
    value, largest = index.value, index.largest
    block, top, second = 0, largest[0], -np.inf
    for other in range(1, largest.size):  # selects, no branches: which arm comes next is hard to predict
        here = largest[other]
        second = larger(second, here if here < top else top)
        block = other if here > top else block
        top = larger(here, top)
    found = 0
    for place in range(BLOCK):
        found += FOUND + place if value[BLOCK * block + place] == top else 0
    if second < top and found < 2 * FOUND:
        return BLOCK * block + found - FOUND
    if to_first:
        return least_pulled_of_largest(index, top, pulls)
    return random_one_of_largest(index, top, pulls.size, rng)


def least_pulled_of_largest(index: Index, top: float, pulls: FloatArray) -> int:
    """Return the arm of fewest pulls, then the first one, of those whose index is the largest."""
    best = 0
    for arm in range(pulls.size):
        if index.value[arm] == top and (index.value[best] != top or pulls[arm] < pulls[best]):
            best = arm
    return best


def random_one_of_largest(index: Index, top: float, num_arms: int, rng: np.random.Generator) -> int:
    """Return a random one of the arms whose index is the largest.

    A short loop without vector instructions: more of them here would slow down pulls without ties.
    """
    best, ties = 0, 0.0
    for arm in range(num_arms):
        if index.value[arm] == top:
            ties += 1.0
            best = arm if rng.random() * ties < 1.0 else best
    return best


def second_of_largest_index(index: Index, first: int) -> int:
    """Return the arm of largest index but for the first; -1 where several arms share that index."""
    value = index.value[first]
    index.value[first] = -np.inf
    own = largest_of_block(index.value, first >> 3)
    largest = own
    for block in range(index.largest.size):
        if block != first >> 3:
            largest = max(largest, index.largest[block])
    best, ties = -1, 0
    for block in range(index.largest.size):
        if (own if block == first >> 3 else index.largest[block]) == largest:
            for arm in range(BLOCK * block, BLOCK * (block + 1)):
                if index.value[arm] == largest:
                    best, ties = arm, ties + 1
    index.value[first] = value
    return best if ties == 1 else -1
