"""Ways to share pulls: enumerated, counted and ranked."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bai_gym.theory.pull_counts import (
    box_sizes,
    largest_box,
    least_size,
    partition_ranks,
    partitions,
    rank_table,
)

CASES = [(0, 2), (9, 3), (6, 6)]


def test_partitions_of_five() -> None:
    assert list(partitions(5, 3)) == [(2, 2, 1), (3, 1, 1), (3, 2), (4, 1), (5,)]
    assert list(partitions(0, 3)) == [()]
    assert list(partitions(2, 0)) == []


@pytest.mark.parametrize(("total", "most_parts"), CASES)
def test_partitions_are_ranked(total: int, most_parts: int) -> None:
    found = list(partitions(total, most_parts))
    assert found == sorted(set(found)) and {sum(parts) for parts in found} == {total}
    padded = np.array([parts + (0,) * (most_parts - len(parts)) for parts in found]).T
    for larger in (0, 3):  # the table of a larger total ranks smaller ones as well
        assert partition_ranks(padded, rank_table(total + larger, most_parts)).tolist() == list(range(len(found)))


@pytest.mark.parametrize(("total", "most_parts"), CASES)
def test_boxes_are_counted(total: int, most_parts: int) -> None:
    sizes = box_sizes(total, most_parts)
    for pulls in range(total + 1):
        boxes = [math.prod(part + 1 for part in parts) for parts in partitions(pulls, most_parts)]
        assert sizes[pulls] == sum(boxes)
    assert least_size(total, max(most_parts, 2)) <= sizes[total]
    for parts in range(1, min(total, most_parts) + 1):
        same = [math.prod(part + 1 for part in p) for p in partitions(total, most_parts) if len(p) == parts]
        assert largest_box(total, parts) == max(same)
