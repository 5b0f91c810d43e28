"""The schedule of successive rejects."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents.tools.rejects import phase_ends, phase_lengths, rejection_times


@pytest.mark.parametrize(
    ("num_arms", "budget", "lengths", "ends", "times"),
    [
        # logbar(3) = 4/3: n_1 = ceil(17 / 4) = 5, n_2 = ceil(17 / (8/3)) = 7. 3 x 5; 5 + 2 x 7 = 19, and then n.
        (3, 20, [5, 7], [15, 19], [15, 20]),
        # logbar(4) = 19/12: n_1 = ceil(36 x 12 / 76) = 6, n_2 = ceil(36 x 12 / 57) = 8, n_3 = 12. 24; 6 + 24; 14 + 24.
        (4, 40, [6, 8, 12], [24, 30, 38], [24, 30, 40]),
        (2, 9, [4], [8], [9]),  # logbar(2) = 1: n_1 = ceil(7 / 2)
        (3, 4, [1, 1], [3, 3], [3, 4]),
        (3, 3, [0, 0], [0, 0], [0, 3]),
        (5, 2, [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]),
    ],
)
def test_the_schedule_by_hand(
    num_arms: int, budget: int, lengths: list[int], ends: list[int], times: list[int]
) -> None:
    assert phase_lengths(num_arms, budget).tolist() == lengths
    assert phase_ends(num_arms, budget).tolist() == ends
    assert rejection_times(num_arms, budget).tolist() == times


@given(st.integers(2, 100), st.integers(1, 100_000))
def test_lengths_are_exact_and_fit_into_the_budget(num_arms: int, budget: int) -> None:
    lengths = phase_lengths(num_arms, budget)
    logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, num_arms + 1))
    left = max(budget - num_arms, 0)
    assert lengths.tolist() == [ceil(left / (logbar * (num_arms + 1 - k))) for k in range(1, num_arms)]
    ends, times = phase_ends(num_arms, budget), rejection_times(num_arms, budget)
    assert (np.diff(ends) >= 0).all() and (np.diff(times) >= 0).all() and times[-1] == budget
    if budget >= num_arms:
        assert ends[-1] <= budget  # what successive rejects spends
        np.testing.assert_array_equal(ends[:-1], times[:-1])


def test_lengths_below_a_cap_by_hand() -> None:
    # [6, 8, 12] with at most 10: the last two arms save 2 pulls each, 4 for the others' 14: 6 x 18 / 14 = 7.7 and
    # 8 x 18 / 14 = 10.3.
    assert phase_lengths(4, 40, 12).tolist() == [6, 8, 12]
    assert phase_lengths(4, 40, 10).tolist() == [7, 10, 10]
    # A second round: [5, 7] with at most 6 saves 2 x 1, and 5 x 7 / 5 = 7 is again too many.
    assert phase_lengths(3, 20, 6).tolist() == [6, 6]
    assert phase_lengths(3, 20, 2).tolist() == [2, 2]


@given(st.integers(2, 40), st.integers(0, 500), st.integers(1, 60))
def test_a_cap_saves_no_more_than_it_must(num_arms: int, extra: int, most: int) -> None:
    lengths, free = phase_lengths(num_arms, num_arms + extra, most), phase_lengths(num_arms, num_arms + extra)
    assert lengths.max() <= most and (np.diff(lengths) >= 0).all()
    assert lengths.sum() + lengths[-1] <= num_arms + extra
    assert (lengths >= np.minimum(free, most)).all()
