"""The dynamic program against published and brute-force values."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from math import comb, factorial
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


# ------------------------------------------------------------------------------------------------ brute force

State = tuple[tuple[int, int], ...]  # successes and failures of each arm


def density(a: int, b: int) -> list[Fraction]:
    """Coefficients of the density of Beta(a, b)."""
    scale = Fraction(factorial(a + b - 1), factorial(a - 1) * factorial(b - 1))
    return [Fraction(0)] * (a - 1) + [scale * comb(b - 1, i) * (-1) ** i for i in range(b)]


def primitive(p: list[Fraction]) -> list[Fraction]:
    return [Fraction(0), *(c / (i + 1) for i, c in enumerate(p))]


def product(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    out = [Fraction(0)] * (len(p) + len(q) - 1)
    for (i, a), (j, b) in itertools.product(enumerate(p), enumerate(q)):
        out[i + j] += a * b
    return out


class BruteForce:
    """Bellman's recursion over all states in the order of the arms, in fractions, with no symmetry used."""

    def __init__(self, budget: int, objective: str, alpha: int, beta: int) -> None:
        self.budget, self.objective, self.prior = budget, objective, (alpha, beta)

    def parameters(self, arm: tuple[int, int]) -> tuple[int, int]:
        return self.prior[0] + arm[0], self.prior[1] + arm[1]

    @functools.cache  # noqa: B019 (short-lived)
    def actions(self, state: State) -> tuple[Fraction, ...]:
        """The value of each action."""
        if sum(map(sum, state)) < self.budget:
            return tuple(map(functools.partial(self.after, state), range(len(state))))
        if self.objective == "simple_regret":
            return tuple(Fraction(a, a + b) for a, b in map(self.parameters, state))
        values = []
        for best in range(len(state)):
            p = [Fraction(1)]
            for arm, counts in enumerate(state):
                f = density(*self.parameters(counts))
                p = product(p, f if arm == best else primitive(f))
            values.append(sum(primitive(p), Fraction(0)))
        return tuple(values)

    def after(self, state: State, arm: int) -> Fraction:
        a, b = self.parameters(state[arm])
        s, f = state[arm]
        paid = max(self.actions((*state[:arm], (s + 1, f), *state[arm + 1 :])))
        failed = max(self.actions((*state[:arm], (s, f + 1), *state[arm + 1 :])))
        return Fraction(a, a + b) * paid + Fraction(b, a + b) * failed


def states(num_arms: int, pulls: int) -> list[State]:
    counts = itertools.product(range(pulls + 1), repeat=2 * num_arms)
    return [tuple(zip(c[::2], c[1::2], strict=True)) for c in counts if sum(c) == pulls]


@pytest.mark.each("objective", bayes_optimal.OBJECTIVES)
@pytest.mark.each(
    ("num_arms", "budget", "prior"),
    [(2, 4, (1, 3)), (3, 3, (2, 1)), (4, 2, (1, 1))],
)
def test_values_and_actions_equal_brute_force(
    num_arms: int, budget: int, prior: tuple[int, int], objective: str
) -> None:
    brute = BruteForce(budget, objective, *prior)
    solution = solve_bayes(num_arms, budget, objective, *prior)
    start: State = ((0, 0),) * num_arms
    assert solution.value == pytest.approx(float(max(brute.actions(start))), abs=1e-13)
    for pulls in range(budget + 1):
        every = states(num_arms, pulls)
        wanted = []
        for state in every:
            values = brute.actions(state)
            wanted.append([value == max(values) for value in values])
        counts = np.array(every)  # (S, K, 2)
        found = solution.best_actions(counts[..., 0].T, counts.sum(axis=-1).T)
        assert found.T.tolist() == wanted


# ------------------------------------------------------------------------------------------------ structure


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
