"""What users can do wrong: one line that names the value, the rule and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import BudgetError, InstanceError, ParameterError
from bai_gym.linear import designs

X = np.eye(3)
W = [0.5, 0.25, 0.25]
ON_FEATURES: tuple[Callable[..., Any], ...] = (
    designs.g_optimal,
    designs.wynn,
    designs.frank_wolfe,
    designs.project,
    designs.basis_design,
    lambda x: designs.greedy_allocation(x, 9),
    lambda x: designs.variances(x, W),
    lambda x: designs.reduce_support(x, W),
    designs.xy_optimal,
)


@pytest.mark.each("call", ON_FEATURES)
@pytest.mark.each(
    ("features", "says"),
    [
        ([[1.0, np.nan], [0, 1], [1, 1]], "not nan"),
        ([[1.0, np.inf], [0, 1], [1, 1]], "not inf: repair them"),
        (np.empty((3, 0)), "shape"),
        (np.empty((0, 3)), "shape"),
        ([[1.0, 2.0], [3.0]], "features"),
    ],
)
def test_features(call: Callable[..., Any], features: Any, says: str) -> None:
    with pytest.raises(InstanceError, match=says):
        call(features)


@pytest.mark.each("solve", [designs.g_optimal, designs.wynn, designs.frank_wolfe])
@pytest.mark.each(("option", "values"), [("tolerance", (0.0, float("nan"), "low")), ("max_iterations", (-1, 1.5))])
def test_options_of_all_solvers(solve: Callable[..., Any], option: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ParameterError, match=option):
            solve(X, **{option: value})


@pytest.mark.each(
    ("call", "says"),
    [
        (lambda: designs.greedy_allocation(X, 9, start="here"), "start"),
        (lambda: designs.greedy_allocation(X, [9, 9]), "budget"),
        (lambda: designs.round_design(W, 9, "up"), "method"),
        (lambda: designs.round_design([0.5, 0.6], 9), "add up to 1, not 1.1"),
        (lambda: designs.round_design([0.0, 0.0], 9), "add up to 1, not 0"),
        *((lambda w=w: designs.round_design(w, 9), "weights") for w in ([1.5, -0.5], [np.nan, 1.0], [], "half")),
        (lambda: designs.round_design([W, W], [9, 9, 9]), "one for each design"),
        *((lambda m=m: designs.ceil_allocation(W, m), "mass") for m in (-1.0, "all")),
        (lambda: designs.variances(X, [1, 2]), "3 arms"),
        (lambda: designs.variances(X, [W, W]), r"give \(3,\)"),
        (lambda: designs.reduce_support(X, [1.0, 1.0, 1.0]), "add up to 1, not 3"),
        (lambda: designs.xy_optimal(X, np.zeros(3, bool)), "leave an instance without an arm"),
        (lambda: designs.xy_optimal(X, [True, True]), "3 arms"),
        (lambda: designs.xy_optimal(X, [1, 0, 1]), "True and False"),
        (lambda: designs.xy_optimal(np.zeros((2, 3, 3)), np.ones((4, 3), bool)), "must broadcast"),
        (lambda: designs.xy_optimal(X, target=[1.0, 2.0]), "target"),
        (lambda: designs.xy_optimal(X, tolerance=0.0), "tolerance"),
        (lambda: designs.xy_optimal(X, max_iterations=-1), "max_iterations"),
        (lambda: designs.exchange_design(X, [0.5, 0.4, 0.2], 4), "add up to 1"),
        (lambda: designs.exchange_design(X, W, [3, 4]), "one for each"),
    ],
)
def test_other_arguments(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        call()


@pytest.mark.each(
    ("call", "says"),
    [
        (lambda: designs.greedy_allocation(X, 2), "rank 3"),
        (lambda: designs.greedy_allocation(X, 9.0), "integer"),
        (lambda: designs.round_design(W, 2), "allow_small_budget"),
        (lambda: designs.round_design(W, 2), "method='largest-remainder'"),
        (lambda: designs.round_design(W, 0), "not 0"),
        (lambda: designs.round_design(W, 10**13), "not 10000000000000"),
        (lambda: designs.exchange_design(X, W, 2.5), "integer"),
    ],
)
def test_budgets(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(BudgetError, match=says):
        call()
