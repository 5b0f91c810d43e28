"""The largest index of an episode, at the cost of log2 K comparisons for each pull.

A tournament is a binary tree over the arms: every node holds the larger value of its two children and the arm that it
belongs to. When an arm's value changes, the nodes on its way to the root are decided again. Exact ties are broken
uniformly at random, each time anew: a node counts how many arms share its value. With the tie rule ``"first"`` the arm of
fewest pulls wins, then the lowest.

These are plain functions, which :mod:`bai_gym.sampling.compiler` compiles. They index with unsigned integers and choose
without branches, since that halves their time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["Tournament", "best_without", "fill", "leader", "leader_without", "nodes", "renew", "top", "value_of"]

ONE = np.uint64(1)
BITS = 32  # of the arm's number in a holder; above it stands the weight
ARM = 2**BITS - 1


class Tournament(NamedTuple):
    """A tree of arms; arm a is leaf S + a, the children of node i are 2 i and 2 i + 1, the root is 1.

    Attributes:
        value: ``(2 S,)`` values of the nodes; -inf where there is no arm.
        holder: ``(2 S,)`` arm of each node, and above its bits a weight: how many arms are tied, or, with the tie rule
            ``"first"``, the arm's pulls + 1, negative.
    """

    value: FloatArray
    holder: IntArray


def nodes(arms: int) -> int:
    """Return the number of nodes 2 S, where S is the smallest power of two that is at least K."""
    leaves = 1
    while leaves < arms:
        leaves *= 2
    return 2 * leaves


def leader(tree: Tournament) -> int:
    """Return the arm of largest value."""
    return tree.holder[1] & ARM


def top(tree: Tournament) -> float:
    """Return the largest value."""
    return tree.value[1]


def value_of(tree: Tournament, arm: int) -> float:
    """Return the value of an arm."""
    return tree.value[(tree.value.size >> 1) + arm]


def best_without(tree: Tournament, arm: int) -> float:
    """Return the largest value of the other arms; -inf if there is none."""
    node = np.uint64(tree.value.size >> 1) + np.uint64(arm)
    best = -np.inf
    while node > ONE:
        other = tree.value[node ^ ONE]
        best = other if other > best else best
        node >>= ONE
    return best


def leader_without(tree: Tournament, arm: int, rng: np.random.Generator) -> int:
    """Return the other arm of largest value."""
    node = np.uint64(tree.value.size >> 1) + np.uint64(arm)
    best, holder = tree.value[node ^ ONE], tree.holder[node ^ ONE]
    node >>= ONE
    while node > ONE:
        best, holder = larger(best, holder, tree.value[node ^ ONE], tree.holder[node ^ ONE], rng)
        node >>= ONE
    return holder & ARM


def larger(
    value: float, holder: int, other: float, other_holder: int, rng: np.random.Generator
) -> tuple[float, int]:
    """Return the larger of two values, and its holder."""
    if other == value:
        return value, tied(holder, other_holder, rng)
    is_larger = other > value
    return other if is_larger else value, other_holder if is_larger else holder


def tied(holder: int, other: int, rng: np.random.Generator) -> int:
    """Return the holder of a value that two share."""
    weight, other_weight = holder >> BITS, other >> BITS
    if weight < 0:  # the tie rule "first"
        if other_weight > weight or (other_weight == weight and other < holder):
            return other
        return holder
    total = weight + other_weight
    arm = holder & ARM
    if rng.random() * total < other_weight:
        arm = other & ARM
    return (total << BITS) + arm


def renew(tree: Tournament, arm: int, value: float, weight: int, rng: np.random.Generator) -> None:
    """Give an arm another value.

    Args:
        tree: The tree.
        arm: The arm.
        value: Its value; -inf for an arm that is out, not NaN.
        weight: 1, or with the tie rule ``"first"`` the arm's pulls + 1, negative.
        rng: Breaks ties.
    """
    values, holders = tree.value, tree.holder
    node = np.uint64(values.size >> 1) + np.uint64(arm)
    holder = (weight << BITS) + arm
    values[node] = value
    holders[node] = holder
    while node > ONE:
        other, other_holder = values[node ^ ONE], holders[node ^ ONE]
        if other == value:
            holder = tied(holder, other_holder, rng)
        else:
            is_larger = other > value
            value = other if is_larger else value
            holder = other_holder if is_larger else holder
        node >>= ONE
        values[node] = value
        holders[node] = holder


def fill(tree: Tournament, rng: np.random.Generator) -> None:
    """Decide all nodes, from the leaves on."""
    for node in range((tree.value.size >> 1) - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        tree.value[node], tree.holder[node] = larger(
            tree.value[left], tree.holder[left], tree.value[right], tree.holder[right], rng
        )
