"""The index of every arm, and the largest one of each block of eight arms.

When an index changes, the largest of its block is found again, so the arm of largest index is found by a look at the
blocks and at the eight arms of one of them. With 64 arms that takes less time than a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["BLOCK", "Index", "arm_of_largest_index", "largest_index", "second_of_largest_index", "set_index"]

BLOCK = 8


class Index(NamedTuple):
    """The index of each arm.

    Attributes:
        value: ``(8 B,)`` the index of each arm; -inf for arms that are out, and from k on.
        largest: ``(B,)`` the largest value of each eight arms.
    """

    value: FloatArray
    largest: FloatArray


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


def largest_index(index: Index) -> float:
    """Return the largest index."""
    largest = index.largest[0]
    for block in range(1, index.largest.size):
        largest = max(largest, index.largest[block])
    return largest


def arm_of_largest_index(index: Index, pulls: FloatArray, to_first: int, rng: np.random.Generator) -> int:
    """Return the arm of largest index.

    Args:
        index: The indices.
        pulls: ``(k,)`` pulls of the arms.
        to_first: 1: of several arms, the one of fewest pulls, then the first one; 0: one of them at random.
        rng: Breaks ties.
    """
    value, largest = index.value, index.largest
    block, top = 0, largest[0]
    for other in range(1, largest.size):  # selects, no branches: which arm comes next is hard to predict
        block = other if largest[other] > top else block
        top = largest[other] if largest[other] > top else top
    best, found = BLOCK * block, 0
    for arm in range(BLOCK * block, BLOCK * block + BLOCK):
        best = arm if value[arm] == top else best
        found += value[arm] == top
    for other in range(largest.size):
        found += largest[other] == top
    return best if found == 2 else tied_arm(value, top, pulls, to_first, rng)


def tied_arm(value: FloatArray, top: float, pulls: FloatArray, to_first: int, rng: np.random.Generator) -> int:
    """Return one of several arms of largest index."""
    best, ties = 0, 0.0
    for arm in range(pulls.size):
        if value[arm] == top:
            ties += 1.0
            if ties == 1.0 or (pulls[arm] < pulls[best] if to_first else rng.random() * ties < 1.0):
                best = arm
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
