"""The optimum in stages against the optimum by single pulls, fixed allocations, and values worked by hand."""

from __future__ import annotations

import itertools

import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import optimal_value, staged_value


@pytest.mark.each("num_arms, budget, prior", [(2, 7, (1.0, 1.0)), (3, 5, (0.5, 2.0))])
def test_stages_of_one_pull_lose_nothing(num_arms: int, budget: int, prior: tuple[float, float]) -> None:
    alpha, beta = prior
    for objective in ("correct", "simple_regret"):
        best = optimal_value(num_arms, budget, objective=objective, alpha=alpha, beta=beta)
        found = staged_value(num_arms, [1] * budget, objective=objective, alpha=alpha, beta=beta)
        assert found == pytest.approx(best, abs=1e-9)


def test_two_pulls_worked_by_hand() -> None:
    # One pull each: half the time the rewards differ, and the better arm has probability 5/6; else 1/2.
    assert staged_value(2, [2]) == pytest.approx(2 / 3, abs=1e-12)
    # One pull of two of three arms is best, with means 2/3, 1/2 and 1/3 after rewards 1, none, and 0.
    regret = 3 / 4 - (3 / 4 * 2 / 3 + 1 / 4 * 1 / 2)
    assert staged_value(3, [2], objective="simple_regret") == pytest.approx(regret, abs=1e-12)


def test_one_stage_is_the_best_fixed_allocation() -> None:
    # With the uniform prior every number of successes is equally likely, and the largest of K means is K / (K + 1).
    largest = []
    for counts in itertools.product(range(6), repeat=3):
        if sum(counts) == 5:
            outcomes = itertools.product(*(range(n + 1) for n in counts))
            found = [max((s + 1) / (n + 2) for s, n in zip(row, counts, strict=True)) for row in outcomes]
            largest.append(sum(found) / len(found))
    assert staged_value(3, [5], objective="simple_regret") == pytest.approx(3 / 4 - max(largest), abs=1e-10)


@pytest.mark.each(
    "num_arms, stages, message",
    [(1, [3], "num_arms"), (2, [0, 3], "pulls of a stage"), (9, [40, 40], "is too large to compute")],
)
def test_what_is_impossible_is_one_line(num_arms: int, stages: list[int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        staged_value(num_arms, stages)
