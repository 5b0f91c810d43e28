"""What users can do wrong: one line that names the value, the rule and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import designs
from bai_gym.errors import BaiGymError, BudgetError, InstanceError, ParameterError

X = np.eye(3)
W = [0.5, 0.25, 0.25]
ON_FEATURES: tuple[Callable[..., Any], ...] = (
    designs.g_optimal,
    designs.wynn,
    designs.frank_wolfe,
    designs.project,
    designs.basis_design,
    lambda x, active=None: designs.greedy_allocation(x, 9, active),
    lambda x, active=None: designs.variances(x, W, active),
    lambda x, active=None: designs.reduce_support(x, W, active),
)


@pytest.mark.each("call", ON_FEATURES)
@pytest.mark.each(
    ("features", "active", "error", "says"),
    [
        ([[1.0, np.nan], [0, 1], [1, 1]], None, InstanceError, "not nan"),
        ([[1.0, np.inf], [0, 1], [1, 1]], None, InstanceError, "not inf: repair them"),
        ([1.0, 2.0, 3.0], None, InstanceError, r"shape \(3,\): give \(..., arms, dimension\)"),
        (np.empty((3, 0)), None, InstanceError, "at least one of each"),
        (np.empty((0, 3)), None, InstanceError, "at least one of each"),
        ("three", None, InstanceError, "array of numbers"),
        ([[10**400, 1], [0, 1], [1, 1]], None, InstanceError, "at most 1.8e308, and one is larger"),
        ([[1.0, 2.0], [3.0]], None, InstanceError, "array of numbers"),
        (X, [True, True], ParameterError, "there are 3 arms"),
        (X, [1, 1, 0], ParameterError, "mask of True and False"),
        (X, [False] * 3, ParameterError, "at least one"),
        (X, [[True] * 3, [False] * 3], ParameterError, "at least one"),
        (np.zeros((2, 3, 3)), np.ones((4, 3), dtype=bool), ParameterError, "must broadcast"),
    ],
)
def test_features_and_masks(
    call: Callable[..., Any], features: Any, active: Any, error: type[BaiGymError], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        call(features, active)
    assert "\n" not in str(caught.value)


def test_inactive_arms_may_be_anything() -> None:
    x = np.array([[1.0, 0.0], [np.nan, np.inf], [0.0, 1.0]])
    for call in ON_FEATURES[:6]:
        call(x, [True, False, True])


@pytest.mark.each("solve", [designs.g_optimal, designs.wynn, designs.frank_wolfe])
@pytest.mark.each(
    ("options", "says"),
    [
        ({"tolerance": 0.0}, "tolerance must be a positive number, not 0.0"),
        ({"tolerance": float("nan")}, "tolerance must be a positive number, not nan"),
        ({"tolerance": "low"}, "tolerance must be a positive number, not 'low'"),
        ({"max_iterations": -1}, "max_iterations must be a whole number of at least 0, not -1"),
        ({"max_iterations": 1.5}, "max_iterations must be a whole number of at least 0, not 1.5"),
    ],
)
def test_options_of_all_solvers(solve: Callable[..., Any], options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        solve(X, **options)


@pytest.mark.each(
    ("call", "says"),
    [
        (lambda: designs.wynn(X, step="long"), "step must be 'exact' or 'harmonic', not 'long'"),
        (lambda: designs.wynn(X, start="here"), "start must be 'uniform' or 'basis', not 'here'"),
        (lambda: designs.frank_wolfe(X, search="far"), "search must be 'exact' or 'grid', not 'far'"),
        (lambda: designs.frank_wolfe(X, start="here"), "start must be"),
        (lambda: designs.greedy_allocation(X, 9, start="here"), "start must be 'basis' or 'ridge'"),
        (lambda: designs.greedy_allocation(X, 9, criterion="E"), "criterion must be 'G' or 'D', not 'E'"),
        (lambda: designs.greedy_allocation(X, 9, start="ridge", ridge=0.0), "ridge must be a positive number"),
        (lambda: designs.greedy_allocation(X, [9, 9]), r"budget has shape \(2,\)"),
        (lambda: designs.round_design(W, 9, "up"), "method must be one of 'efficient', 'ceil', 'largest-remainder'"),
        (lambda: designs.round_design([0.5, 0.6], 9), "must add up to 1, not 1.1: divide"),
        (lambda: designs.round_design([0.0, 0.0], 9), "must add up to 1, not 0"),
        (lambda: designs.round_design([1.5, -0.5], 9), "weights must be finite numbers of at least 0, not -0.5"),
        (lambda: designs.round_design([np.nan, 1.0], 9), "not nan"),
        (lambda: designs.round_design([], 9), "at least one"),
        (lambda: designs.round_design("half", 9), "array of numbers"),
        (lambda: designs.round_design([W, W], [9, 9, 9]), "one for each design"),
        (lambda: designs.ceil_allocation(W, -1.0), "mass must be a number of at least 0, not -1"),
        (lambda: designs.ceil_allocation(W, "all"), "mass must be a number"),
        (lambda: designs.variances(X, [1, 2]), "there are 3 arms"),
        (lambda: designs.variances(X, [W, W]), r"give \(3,\)"),
        (lambda: designs.variances(X, W, [True, False, True]), "must be 0 for arms that are not active"),
        (lambda: designs.reduce_support(X, [1.0, 1.0, 1.0]), "must add up to 1, not 3"),
    ],
)
def test_other_arguments(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.each(
    ("call", "says"),
    [
        (lambda: designs.greedy_allocation(X, 2), "a budget of 2 does not estimate features of rank 3: give at least"),
        (lambda: designs.greedy_allocation(X, 9.0), "whole number"),
        (
            lambda: designs.round_design(W, 2),
            "budget of 2 is less than one pull for each of 3 arms.* or allow_small_budget",
        ),
        (lambda: designs.round_design(W, 2, "ceil"), "method='largest-remainder'"),
        (lambda: designs.round_design(W, 0), "budget must be a whole number in 1..1000000000000, not 0"),
        (lambda: designs.round_design(W, 10**13), "not 10000000000000"),
        (lambda: designs.round_design(W, 2.5), "whole number"),
    ],
)
def test_budgets(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(BudgetError, match=says):
        call()
