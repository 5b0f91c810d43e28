"""The largest index of an episode, at the cost of log2 K comparisons for each pull.

A tournament is a binary tree over the arms: every node holds the larger value of its two children and the arm that it
belongs to. When an arm's value changes, the nodes on its way to the root are decided again. Exact ties are broken
uniformly at random each time: a node counts how many arms share its value. With the tie rule ``"first"`` the arm of
fewest pulls wins, then the lowest.

These are plain functions, which :mod:`bai_gym.sampling.compiler` compiles. They index with unsigned integers and choose
without branches, since that halves their time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bai_gym.sampling.inlining import noinline
from bai_gym.statistics import FloatArray

__all__ = [
    "Tournament",
    "fill",
    "is_shared",
    "leader",
    "leader_without",
    "nodes",
    "renew",
    "renew_pulled",
    "top",
    "value_of",
]

ONE = np.uint64(1)
WEIGHT = 2.0**24  # of a holder's weight; below it stands the arm's number
ABSENT = 2.0**28  # pulls of a leaf without an arm: more than an arm can have


class Tournament(NamedTuple):
    """A tree of arms; arm a is leaf S + a, the children of node i are 2 i and 2 i + 1, the root is 1.

    Attributes:
        value: ``(2 S,)`` values of the nodes; -inf where there is no arm.
        holder: ``(2 S,)`` arm of each node plus 2^24 times a weight: how many arms are tied, or, with the tie rule
            ``"first"``, the arm's pulls + 1, negative. A float: processors choose between floats without a branch.
    """

    value: FloatArray
    holder: FloatArray


def nodes(arms: int) -> int:
    """Return the number of nodes 2 S, where S is the smallest power of two that is at least K."""
    leaves = 1
    while leaves < arms:
        leaves *= 2
    return 2 * leaves


def leader(tree: Tournament) -> int:
    """Return the arm of largest value."""
    return arm_of(tree.holder[1])


def arm_of(holder: float) -> int:
    """Return the arm of a holder."""
    arm = holder - WEIGHT  # of weight 1, mostly
    if arm < 0.0 or arm >= WEIGHT:
        arm = holder - math.floor(holder / WEIGHT) * WEIGHT
    return int(arm)


def top(tree: Tournament) -> float:
    """Return the largest value."""
    return float(tree.value[1])


def value_of(tree: Tournament, arm: int) -> float:
    """Return the value of an arm."""
    return float(tree.value[(tree.value.size >> 1) + arm])


def is_shared(tree: Tournament, arm: int, without: int) -> bool:
    """Return whether a third arm has the value of ``arm``, which is the largest of all but that of ``without``."""
    value, found = value_of(tree, arm), 0
    for leaf in (without, arm):
        node = np.uint64(tree.value.size >> 1) + np.uint64(leaf)
        while node > ONE:
            found += tree.value[node ^ ONE] == value
            node >>= ONE
    return found > 1  # the arm itself is found once, on the way from ``without``


def leader_without(tree: Tournament, arm: int, rng: np.random.Generator) -> int:
    """Return the other arm of largest value."""
    node = np.uint64(tree.value.size >> 1) + np.uint64(arm)
    best, holder, ties = tree.value[node ^ ONE], tree.holder[node ^ ONE], 0.0
    node >>= ONE
    while node > ONE:
        value, other = tree.value[node ^ ONE], tree.holder[node ^ ONE]
        ties = ties + 1.0 if value == best else ties
        holder = other if value > best else holder
        best = value if value > best else best
        node >>= ONE
    return tied_leader_without(tree, arm, rng) if ties > 0.0 else arm_of(holder)


@noinline
def tied_leader_without(tree: Tournament, arm: int, rng: np.random.Generator) -> int:
    """Return the other arm of largest value, where values may be tied."""
    node = np.uint64(tree.value.size >> 1) + np.uint64(arm)
    best, holder = tree.value[node ^ ONE], tree.holder[node ^ ONE]
    node >>= ONE
    while node > ONE:
        value, other = tree.value[node ^ ONE], tree.holder[node ^ ONE]
        if value == best:
            holder = tied(holder, other, rng)
        elif value > best:
            best, holder = value, other
        node >>= ONE
    return arm_of(holder)


@noinline
def tied(holder: float, other: float, rng: np.random.Generator) -> float:
    """Return the holder of a value that two share."""
    weight, other_weight = math.floor(holder / WEIGHT), math.floor(other / WEIGHT)
    if weight < 0:  # the tie rule "first"
        return other if other_weight > weight or (other_weight == weight and other < holder) else holder
    total = weight + other_weight
    arm = other - other_weight * WEIGHT if rng.random() * total < other_weight else holder - weight * WEIGHT
    return total * WEIGHT + arm


def renew(tree: Tournament, arm: int, value: float, rng: np.random.Generator) -> None:
    """Give an arm another value.

    Args:
        tree: The tree.
        arm: The arm.
        value: Its value; -inf for an arm that is out, not NaN.
        rng: Breaks ties.
    """
    values, holders = tree.value, tree.holder
    node = np.uint64(values.size >> 1) + np.uint64(arm)
    holder = holders[node]
    values[node] = value
    while node > ONE:
        other, other_holder = values[node ^ ONE], holders[node ^ ONE]
        is_tied, is_larger = other == value, other > value
        winner = other_holder if is_larger else holder
        value = other if is_larger else value
        if is_tied:
            winner = tied(holder, other_holder, rng)
        holder = winner
        node >>= ONE
        values[node] = value
        holders[node] = holder


def renew_pulled(tree: Tournament, arm: int, value: float, pulls: float, lowest: int, rng: np.random.Generator) -> None:
    """Give an arm that has been pulled another value.

    Args:
        tree: The tree.
        arm: The arm.
        value: Its value.
        pulls: Its pulls, which count with the tie rule ``"first"``.
        lowest: 1 with the tie rule ``"first"``, 0 where ties are broken at random.
        rng: Breaks ties.
    """
    if lowest:
        tree.holder[np.uint64(tree.value.size >> 1) + np.uint64(arm)] = holder_of(arm, pulls)
    renew(tree, arm, value, rng)


def holder_of(arm: int, pulls: float) -> float:
    """Return the holder of a leaf with the tie rule ``"first"``."""
    return arm - (pulls + 1.0) * WEIGHT


@noinline
def fill(tree: Tournament, pulls: FloatArray, lowest: int, rng: np.random.Generator) -> None:
    """Decide all nodes, from the values of the arms on.

    Args:
        tree: The tree.
        pulls: ``(K,)`` pulls of the arms.
        lowest: 1 with the tie rule ``"first"``, 0 where ties are broken at random.
        rng: Breaks ties.
    """
    half = tree.value.size >> 1
    for arm in range(pulls.size):
        tree.holder[half + arm] = holder_of(arm, pulls[arm]) if lowest else arm + WEIGHT
    for arm in range(pulls.size, half):
        tree.value[half + arm], tree.holder[half + arm] = -np.inf, holder_of(arm, ABSENT) if lowest else arm
    values, holders = tree.value, tree.holder
    for node in range(half - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        winner = right if values[right] > values[left] else left
        values[node], holders[node] = values[winner], holders[winner]
        if values[left] == values[right]:
            holders[node] = tied(holders[left], holders[right], rng)
