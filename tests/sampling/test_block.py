"""The order in which a step-by-step loop makes the pulls of a block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(0, 10)), min_size=2, max_size=5).filter(
        lambda arms: any(arm[0] for arm in arms)
    )
)
def test_every_count_is_met_and_no_other_order_of_priority_would_do(arms: list[tuple[int, float]]) -> None:
    counts, weights = (np.array([column]) for column in zip(*arms, strict=True))
    order = unroll(Block(counts, weights=weights))[0]
    np.testing.assert_array_equal(np.bincount(order, minlength=counts.shape[1]), counts[0])
    made = np.zeros(counts.shape[1])
    for arm in order:
        priority = np.where(made == 0, np.inf, weights[0] / np.maximum(made, 1))
        open_arms = made < counts[0]
        assert priority[arm] == priority[open_arms].max()
        made[arm] += 1
