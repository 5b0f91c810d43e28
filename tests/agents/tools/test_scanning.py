"""The arm of the largest of values: ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import chisquare

from bai_gym.agents.tools.scanning import active_arm_of_smallest, arm_of_largest, place_of_smallest, pull_in_turn
from bai_gym.sampling import State

VALUES = [0.1, 0.7, -np.inf, 0.7, 0.7, 0.2]
PULLS = [1, 5, 1, 3, 3, 1]


def chosen(episode: Callable[..., Any], values: Any, pulls: Any, rng: np.random.Generator, **tie: int) -> int:
    return arm_of_largest(np.array(values), episode(pulls, [0.0] * len(pulls), **tie), rng)


def test_random_ties_are_uniform(episode: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount([chosen(episode, VALUES, PULLS, rng, tie=0) for _ in range(3000)], minlength=6)
    assert set(np.flatnonzero(counts)) == {1, 3, 4}
    assert chisquare(counts[[1, 3, 4]]).pvalue > 0.001


def test_the_first_rule_takes_the_fewest_pulls_then_the_lowest_arm(episode: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    assert chosen(episode, VALUES, PULLS, rng) == 3
    assert chosen(episode, VALUES, [1] * 6, rng) == 1
    assert chosen(episode, [-np.inf] * 3, [2, 2, 1], rng) == 2


def test_a_single_largest_value_takes_no_random_number(episode: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    rolled = [np.roll([1.0, 0.0, 0.5], shift) for shift in range(3)]
    assert [chosen(episode, values, [1] * 3, rng, tie=0) for values in rolled] == [0, 1, 2]
    assert rng.random() == np.random.default_rng(0).random()


def test_the_active_arm_of_smallest_value_is_found(episode: Callable[..., Any]) -> None:
    rng, values = np.random.default_rng(0), np.array([0.2, 0.5, 0.1, 0.2, 0.2])
    e = episode([2, 1, 1, 1, 1], values, active=np.array([1, 1, 0, 1, 1], np.int8))
    assert active_arm_of_smallest(values, e, np.zeros(5), rng) == 3  # of fewest pulls
    assert active_arm_of_smallest(values, e, values.copy(), rng) == 3


def test_active_arms_of_fewest_pulls_take_turns(episode: Callable[..., Any]) -> None:
    rng, active = np.random.default_rng(0), np.array([1, 0, 1, 1, 1], np.int8)
    state = State.of()

    def turn(pulls: list[int], tie: int) -> int:
        return pull_in_turn(episode(pulls, [0.0] * 5, active=active, tie=tie), *state, rng)

    assert [turn(pulls, 1) for pulls in ([3, 1, 2, 2, 2], [9**9, 1, 10**9, 9**9, 10**9])] == [2, 0]
    counts = np.bincount([turn([3, 1, 2, 2, 2], 0) for _ in range(3000)], minlength=5)
    assert counts[:2].tolist() == [0, 0] and chisquare(counts[2:]).pvalue > 0.001


def test_the_place_of_the_smallest_value_is_found_and_ties_are_uniform() -> None:
    rng = np.random.default_rng(0)
    for size in range(1, 14):  # before, at and after the last four that are compared side by side
        for shift in range(size):
            values = np.roll(np.arange(size, dtype=np.float64), shift)
            assert place_of_smallest(values, False, rng) == shift, (size, shift)
    assert rng.random() == np.random.default_rng(0).random()
    tied = np.array([2.0, 1.0, 3.0, 1.0, 1.0])
    assert place_of_smallest(tied, True, rng) == 1
    counts = np.bincount([place_of_smallest(tied, False, rng) for _ in range(3000)], minlength=5)
    assert set(np.flatnonzero(counts)) == {1, 3, 4} and chisquare(counts[[1, 3, 4]]).pvalue > 0.001
    assert place_of_smallest(np.full(3, np.nan), False, rng) == 0
