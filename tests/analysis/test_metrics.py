"""Scores over tasks and the excess error, by hand."""

from __future__ import annotations

import pytest

from bai_gym.analysis.metrics import excess_error, interquartile_mean, optimality_shortfall


def test_interquartile_mean_by_hand() -> None:
    # Of 8 numbers the two lowest and the two highest go: (2 + 3 + 5 + 6) / 4.
    assert interquartile_mean([100, 2, 0, 5, 3, -7, 6, 9]) == 4.0
    assert interquartile_mean([1.0, 2.0, 6.0]) == 3.0  # a quarter of 3, rounded down, is none
    assert interquartile_mean([[1, 2, 3, 40], [4, 4, 4, 4]]).tolist() == [2.5, 4.0]


def test_shortfall_by_hand() -> None:
    assert optimality_shortfall([0.5, 1.0, 1.5, -1.0]) == pytest.approx((0.5 + 0 + 0 + 2) / 4)


def test_the_excess_error_is_the_error_probability_shifted() -> None:
    excess = excess_error(0.25, (0.2, 0.31), optimum=0.8)
    assert (excess.value, excess.lower, excess.upper) == pytest.approx((0.05, 0.0, 0.11))
