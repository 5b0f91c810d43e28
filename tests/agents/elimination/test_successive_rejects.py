"""Successive rejects, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bai_gym.agents import SuccessiveRejects

Play = Callable[..., Any]


def test_three_arms_by_hand(trace: Play) -> None:
    # n = 20: n_1 = 5, n_2 = 7. Means after 5 pulls: 0.6, 0.4, 0.8; arm 1 goes. Arm 0 has paid 1 1 0 0 1 and then 1 1:
    # 5/7; arm 2 has paid 4 of 5 and then 0 0: 4/7. 19 pulls are made, the last one is idle.
    rewards = [[1, 1, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0]]
    played = trace(SuccessiveRejects(tie="first"), rewards, 20)
    assert played.arms == [0, 1, 2] * 5 + [0, 2] * 2
    assert (played.idle, played.recommendation) == ([0], 0)


def test_the_rest_goes_to_the_last_two_arms_if_asked(trace: Play) -> None:
    # The 20th pull is arm 0's, by the tie rule.
    rewards = [[0.5], [0.1], [0.4]]
    played = trace(SuccessiveRejects(tie="first", leftover="last"), rewards, 20)
    assert played.arms == [0, 1, 2] * 5 + [0, 2] * 2 + [0]
    assert (played.idle, played.recommendation) == ([], 0)


def test_means_of_unequal_pulls_are_compared_in_the_last_phase(trace: Play) -> None:
    # K = 2, n = 5: one phase; 3 pulls of arm 0 (sum 2) and 2 of arm 1 (sum 1.5): 0.67 against 0.75.
    played = trace(SuccessiveRejects(tie="first", leftover="last"), [[0.0, 1.0, 1.0], [0.75]], 5)
    assert (played.counts(2), played.recommendation) == ([3, 2], 1)


def test_equal_sums_are_tied_whatever_their_rounding(trace: Play) -> None:
    # After 7 pulls arms 0 and 1 have 3 successes each, in different phases, and the lower number wins.
    rewards = [[1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1, 0], [0]]
    assert trace(SuccessiveRejects(tie="first"), rewards, 20).recommendation == 0
    choices = {trace(SuccessiveRejects(), rewards, 20, seed=seed).recommendation for seed in range(20)}
    assert choices == {0, 1}
