"""The dynamic program against known values, and by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import bayes_optimal, optimal_value, solve_bayes

# By objective, arms and pulls; computed in exact arithmetic.
VALUES = {
    ("simple_regret", 2, 4): Fraction(37, 60),
    ("simple_regret", 2, 10): Fraction(769, 1200),
    ("simple_regret", 3, 10): Fraction(213011, 302400),
    ("correct", 2, 4): Fraction(3, 4),
    ("correct", 2, 10): 0.8235750361,
    ("correct", 3, 10): 0.7232936277,
}


def test_known_values() -> None:
    for (objective, num_arms, budget), value in VALUES.items():
        assert solve_bayes(num_arms, budget, objective).value == pytest.approx(float(value), abs=6e-11)
        best = num_arms / (num_arms + 1)  # expectation of the largest mean
        expected = float(value) if objective == "correct" else best - float(value)
        assert optimal_value(num_arms, budget, objective=objective) == pytest.approx(expected, abs=6e-11)


# ------------------------------------------------------------------------------------------------ structure


def test_other_priors_by_hand() -> None:
    # One pull of either arm. Prior (2, 1): mean 3/4 after a success, else the other has 2/3. (1, 2): 1/2, else 1/3.
    for alpha, beta, value in ((2, 1, 2 / 3 * 3 / 4 + 1 / 3 * 2 / 3), (1, 2, 1 / 3 * 1 / 2 + 2 / 3 * 1 / 3)):
        assert solve_bayes(2, 1, "simple_regret", alpha, beta).value == pytest.approx(value, abs=1e-13)
        assert solve_bayes(2, 0, "simple_regret", alpha, beta).value == pytest.approx(alpha / 3, abs=1e-13)


def test_best_actions_by_hand() -> None:
    # After a success of arm 0 all pulls are worth 2/3. After a failure it stands at 1/3, and a pull of another arm is
    # worth (2/3 + 1/2) / 2, since the third is left at 1/2. At the end the largest mean counts.
    solution = solve_bayes(3, 2, "simple_regret")
    for successes, pulls, best in (
        ([1, 0, 0], [1, 0, 0], [1, 1, 1]),
        ([0, 0, 0], [1, 0, 0], [0, 1, 1]),
        ([0, 1, 0], [0, 1, 1], [0, 1, 0]),
        ([0, 0, 0], [1, 0, 1], [0, 1, 0]),
    ):
        found = solution.best_actions(np.array(successes)[:, None], np.array(pulls)[:, None])
        assert found[:, 0].tolist() == best


def test_more_arms_than_pulls_and_more_than_bits_in_a_byte() -> None:
    # One pull of any of K arms: it stays the best guess after a success only.
    assert solve_bayes(40, 1, "simple_regret").value == pytest.approx((2 / 3 + 1 / 2) / 2)
    solution = solve_bayes(12, 10)
    pulls = np.array([1] * 9 + [0] * 3)[:, None]
    best = solution.best_actions(pulls * 0, pulls)[:, 0]
    assert best.tolist() == [False] * 9 + [True] * 3


def test_whole_and_real_priors_meet() -> None:
    for objective in bayes_optimal.OBJECTIVES:
        near = optimal_value(3, 8, objective=objective, alpha=2.0, beta=1.0 + 1e-12)
        assert near == pytest.approx(optimal_value(3, 8, objective=objective, alpha=2, beta=1), abs=1e-10)


@pytest.mark.each(("num_arms", "budget"), [(2, 100), (4, 20)])
def test_sizes_that_are_promised(num_arms: int, budget: int) -> None:
    solution = solve_bayes(num_arms, budget, memory_limit=0.02)
    assert solution.states < 3_000_000
    assert solve_bayes(num_arms, budget) is solution  # kept


@pytest.mark.each(
    ("arguments", "message"),
    [
        ({"objective": "regret"}, "objective"),
        ({"alpha": -1.0}, "alpha"),
        ({"beta": 0.01}, "beta"),
        ({"memory_limit": 0.0}, "memory_limit"),
        ({"num_arms": 1}, "num_arms"),
        ({"budget": -1}, "budget"),
        ({"budget": 2.5}, "budget"),
        # What is too large is refused at once, with its size.
        ({"num_arms": 4, "budget": 60, "memory_limit": 1.0}, r"3.69e\+08 states, 1.02 GB; limit 1 GB"),
        ({"budget": 100, "memory_limit": 0.001}, r"2.32e\+06 states, 0.00812 GB; limit 0.001 GB"),
        ({"num_arms": 64, "budget": 5000}, r"more than 10\^167 states"),
        ({"budget": 10**9}, r"more than 10\^\d+ states"),
    ],
)
def test_parameters_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        optimal_value(**{"num_arms": 2, "budget": 3, **arguments})
