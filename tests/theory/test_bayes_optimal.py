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

# Computed in exact arithmetic; decimals are rounded.
VALUES: dict[tuple[str, int], dict[int, Fraction | float]] = {
    ("simple_regret", 2): {
        0: Fraction(1, 2),
        1: Fraction(7, 12),
        2: Fraction(7, 12),
        3: Fraction(11, 18),
        4: Fraction(37, 60),
        6: Fraction(113, 180),
        10: Fraction(769, 1200),
    },
    ("correct", 2): {
        0: Fraction(1, 2),
        1: Fraction(2, 3),
        2: Fraction(2, 3),
        3: Fraction(11, 15),
        4: Fraction(3, 4),
        6: 0.7809523810,
        10: 0.8235750361,
    },
    ("simple_regret", 3): {
        0: Fraction(1, 2),
        1: Fraction(7, 12),
        2: Fraction(5, 8),
        3: Fraction(23, 36),
        4: Fraction(53, 80),
        6: Fraction(2951, 4320),
        10: Fraction(213011, 302400),
    },
    ("correct", 3): {
        0: Fraction(1, 3),
        1: Fraction(11, 24),
        2: Fraction(13, 24),
        3: Fraction(17, 30),
        4: 0.6154761905,
        6: 0.6643683862,
        10: 0.7232936277,
    },
}


@pytest.mark.each(("objective", "num_arms"), VALUES)
def test_known_values(objective: str, num_arms: int) -> None:
    for budget, value in VALUES[objective, num_arms].items():
        accuracy = 1e-13 if isinstance(value, Fraction) else 6e-11
        assert solve_bayes(num_arms, budget, objective).value == pytest.approx(float(value), abs=accuracy)
        found = optimal_value(num_arms, budget, objective=objective)
        best = num_arms / (num_arms + 1)  # expectation of the largest mean
        assert found == pytest.approx(float(value if objective == "correct" else best - value), abs=accuracy)


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
    [(2, 1, (1, 1)), (2, 5, (1, 1)), (2, 4, (2, 1)), (2, 4, (1, 3)), (3, 3, (1, 1)), (3, 3, (2, 2)), (4, 2, (1, 1))],
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


@pytest.mark.each("num_arms", [2, 3, 5])
def test_relabelling_the_arms_relabels_the_actions(num_arms: int) -> None:
    budget = 9
    solution = solve_bayes(num_arms, budget)
    rng = np.random.default_rng(0)
    for total in range(budget + 1):
        pulls = rng.multinomial(total, np.full(num_arms, 1 / num_arms), size=200).T
        successes = rng.integers(pulls + 1)
        best = solution.best_actions(successes, pulls)
        assert best.any(axis=0).all()
        order = rng.permutation(num_arms)
        np.testing.assert_array_equal(solution.best_actions(successes[order], pulls[order]), best[order])
        twins = (pulls[0] == pulls[1]) & (successes[0] == successes[1])
        assert (best[0] == best[1])[twins].all()


@pytest.mark.each("objective", bayes_optimal.OBJECTIVES)
def test_more_pulls_are_no_worse_and_more_arms_are_harder(objective: str) -> None:
    values = [[solve_bayes(num_arms, budget, objective).value for budget in range(9)] for num_arms in (2, 3, 9)]
    assert (np.diff(values, axis=1) >= -1e-13).all()
    if objective == "correct":
        assert (np.diff(values, axis=0) < 0).all()


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


@pytest.mark.each(("num_arms", "budget"), [(2, 100), (3, 40), (4, 20)])
def test_sizes_that_are_promised(num_arms: int, budget: int) -> None:
    solution = solve_bayes(num_arms, budget, memory_limit=0.02)
    assert solution.states < 3_000_000
    assert solve_bayes(num_arms, budget) is solution  # kept


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.each(
    ("arguments", "message"),
    [
        ({"objective": "regret"}, "objective must be 'correct' or 'simple_regret', not 'regret'"),
        ({"alpha": -1.0}, "alpha must be a number from 0.1 to 1000, not -1.0"),
        ({"beta": 0.01}, "beta must be a number from 0.1 to 1000, not 0.01"),
        ({"memory_limit": 0.0}, "memory_limit must be a positive number, not 0.0"),
        ({"num_arms": 1}, "num_arms must be an integer of at least 2, not 1"),
        ({"budget": -1}, "budget must be an integer of at least 0, not -1"),
        ({"budget": 2.5}, "budget must be an integer of at least 0, not 2.5"),
    ],
)
def test_parameters_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        optimal_value(**{"num_arms": 2, "budget": 3, **arguments})


@pytest.mark.each(
    ("num_arms", "budget", "limit", "size"),
    [
        (4, 60, 1.0, r"3.69e\+08 states, 1.02 GB; limit 1 GB"),
        (2, 100, 0.001, r"2.32e\+06 states, 0.00812 GB; limit 0.001 GB"),
        (10, 200, 1.0, r"more than 10\^20 states"),
        (64, 5000, 1.0, r"more than 10\^167 states"),
        (1000, 1000, 1.0, r"more than 10\^301 states"),
        (2, 10**9, 1.0, r"more than 10\^\d+ states"),
    ],
)
def test_what_is_too_large_is_refused_at_once(num_arms: int, budget: int, limit: float, size: str) -> None:
    with pytest.raises(ParameterError) as error:
        optimal_value(num_arms, budget, memory_limit=limit)
    assert f"{num_arms} arms with budget {budget} is too large" in str(error.value)
    assert "take a smaller budget, fewer arms, or a larger memory_limit" in str(error.value)
    error.match(size)
