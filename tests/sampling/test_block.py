"""The order in which a step-by-step loop makes the pulls of a block."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.sampling import Block


def unroll(block: Block) -> list[list[int]]:
    """Arms of every step, episode by episode."""
    left, arms = block.counts.copy(), []
    for _ in range(int(block.counts[0].sum())):
        arms.append(block.next_slots(left))
        left[np.arange(len(left)), arms[-1]] -= 1
    return np.transpose(arms).tolist()


@pytest.mark.parametrize(
    ("counts", "weights", "order"),
    [
        ([2, 3, 2], None, [0, 1, 2, 0, 1, 2, 1]),
        ([0, 3, 1], None, [1, 2, 1, 1]),
        # 4/made, 2/made, 1/made: 4 > 2 > 1 are made once; then 4/1, then 4/2 = 2/1 (fewest pulls: arm 1), 4/2, 4/3 > 1.
        ([4, 2, 1], [4.0, 2.0, 1.0], [0, 1, 2, 0, 1, 0, 0]),
        # An arm of weight 0 is made once with the others, then last.
        ([2, 3], [0.0, 1.0], [0, 1, 1, 1, 0]),
        ([2, 2], [0.0, 0.0], [0, 1, 0, 1]),
    ],
)
def test_order_by_hand(counts: list[int], weights: list[float] | None, order: list[int]) -> None:
    block = Block(np.array([counts]), weights=None if weights is None else np.array([weights]))
    assert unroll(block) == [order]
