"""The index of every arm, and the largest one of each block of eight arms.

When an index changes, the largest of its block is found again, so the arm of largest index is found by a look at the
blocks and at the eight arms of one of them. With 64 arms that takes less time than a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["BLOCK", "Index", "arm_of_largest_index", "second_of_largest_index", "set_index"]

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
    blocks = 0
    for other in range(largest.size):
        blocks += largest[other] == top
    if found <= 1 and blocks <= 1:  # none where the largest index is NaN
        return best
    if to_first:
        return least_pulled_of_largest(index, top, pulls)
    return random_one_of_largest(index, top, pulls.size, rng)


def least_pulled_of_largest(index: Index, top: float, pulls: FloatArray) -> int:
    """Return the arm of fewest pulls, then the first one, of those whose index is the largest."""
    best = -1
    for arm in range(pulls.size):
        if index.value[arm] == top and (best < 0 or pulls[arm] < pulls[best]):
            best = arm
    return best


def random_one_of_largest(index: Index, top: float, num_arms: int, rng: np.random.Generator) -> int:
    """Return a random one of the arms whose index is the largest."""
    value, ties = index.value, 0
    for arm in range(num_arms):
        ties += value[arm] == top
    before, block = int(rng.random() * ties), 0  # how many of them come before it
    here = number_in_block(value, block, top)
    while before >= here:
        before -= here
        block += 1
        here = number_in_block(value, block, top)
    best = BLOCK * block
    for arm in range(BLOCK * block, BLOCK * block + BLOCK):
        is_one = value[arm] == top
        best = arm if is_one and before == 0 else best
        before -= is_one
    return best


def number_in_block(value: FloatArray, block: int, top: float) -> int:
    """Return how many arms of a block have an index."""
    number = 0
    for arm in range(BLOCK * block, BLOCK * block + BLOCK):
        number += value[arm] == top
    return number


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
