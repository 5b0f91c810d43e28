"""How pulls can be shared among arms, where the arms are exchangeable: partitions, and states above each.

A partition of t holds the pulls of the arms, in descending order, without arms that have not been pulled. The states
with these pulls are a box: T_1 + 1 numbers of successes of the first arm, T_2 + 1 of the second, and so on. Compared
with all states in the order of the arms, this saves a factor close to K!, and needs no search: neighbours in time are
slices of boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bai_gym.statistics import IntArray

__all__ = ["Parts", "box_sizes", "largest_box", "least_size", "partition_ranks", "partitions", "rank_table"]

Parts = tuple[int, ...]


def partitions(total: int, most_parts: int, largest: int | None = None) -> Iterator[Parts]:
    """Yield the partitions of ``total`` in at most ``most_parts`` parts, largest part first, in lexicographic order.

    Args:
        total: At least 0.
        most_parts: At least 0.
        largest: Bound of the parts; None: none.
    """
    if total == 0:
        yield ()
    elif most_parts:
        for first in range(-(-total // most_parts), min(total, total if largest is None else largest) + 1):
            for rest in partitions(total - first, most_parts - 1, first):
                yield first, *rest


def least_size(total: int, num_arms: int) -> int:
    """Return a lower bound of the number of states with ``total`` pulls, fast even if they are too many to count."""
    even = largest_box(total, min(num_arms, total))
    return max(even, math.comb(total + 2 * num_arms - 1, total) // math.factorial(num_arms))


def largest_box(total: int, parts: int) -> int:
    """Return the size of the largest box with ``parts`` parts: that of the most equal parts."""
    each, extra = divmod(total, max(parts, 1))
    return (each + 1) ** (parts - extra) * (each + 2) ** extra if parts else 1


def box_sizes(total: int, most_parts: int) -> list[int]:
    """Return how many states there are, in the boxes of all partitions, with 0, 1, ..., ``total`` pulls."""
    # counts[k][t]: states of k pulled arms with t pulls in total, whose largest part is at most the current one.
    counts = [[int(parts == pulls == 0) for pulls in range(total + 1)] for parts in range(most_parts + 1)]
    for part in range(1, total + 1):
        for parts in range(1, most_parts + 1):
            fewer, row = counts[parts - 1], counts[parts]
            for pulls in range(part, total + 1):
                row[pulls] += (part + 1) * fewer[pulls - part]
    return [sum(row[pulls] for row in counts) for pulls in range(total + 1)]


def rank_table(total: int, most_parts: int) -> IntArray:
    """Return the ``(most_parts + 1, total + 1, total + 1)`` table that :func:`partition_ranks` reads.

    The entry at k, m, r is the number of partitions of r in at most k parts, all smaller than m.
    """
    table = np.zeros((most_parts + 1, total + 2, total + 1), np.int64)
    table[:, 1:, 0] = 1
    for parts in range(1, most_parts + 1):
        for largest in range(1, total + 1):
            # Those without the part `largest`, and those that have it.
            table[parts, largest + 1] = table[parts, largest]
            table[parts, largest + 1, largest:] += table[parts - 1, largest + 1, : total + 1 - largest]
    return table[:, :-1]


def partition_ranks(parts: IntArray, table: IntArray) -> IntArray:
    """Return the places of partitions in the order of :func:`partitions`.

    Args:
        parts: ``(most_parts, N)`` partitions of one total, filled up with zeros.
        table: Of :func:`rank_table`.

    Returns:
        ``(N,)`` places, from 0.
    """
    left = parts.sum(axis=0)
    ranks = np.zeros(parts.shape[1], np.int64)
    for place, row in enumerate(parts):
        ranks += table[len(parts) - place, row, left]
        left -= row
    return ranks
