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


def test_a_whole_number_stays_what_it_is() -> None:
    # n - K = 133 K logbar(K) / ... : all shares that are integers, for K up to 12.
    for num_arms in range(2, 13):
        logbar = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, num_arms + 1))
        for left in range(2, num_arms + 1):
            product = logbar * left
            for factor in (1, 7, 1001):
                budget = num_arms + product.numerator * factor
                length = phase_lengths(num_arms, budget)[num_arms - left]
                assert length == product.denominator * factor
