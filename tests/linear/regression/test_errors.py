"""What is refused, in one line that says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.linear.regression import Fit, generalized_linear, least_squares

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
T = np.array([3, 4, 5])
M = np.array([0.5, 1.0, 0.2])


@pytest.mark.each("call", [least_squares, generalized_linear])
@pytest.mark.each(
    ("change", "error", "named"),
    [
        ({"features": [1.0, 2.0]}, InstanceError, "features"),
        ({"features": np.zeros((3, 0))}, InstanceError, "features"),
        ({"features": [[1.0], [np.nan], [2.0]]}, InstanceError, "features must be finite numbers, not nan"),
        ({"features": [["a"], ["b"], ["c"]]}, InstanceError, "features"),
        ({"pulls": [3, 4]}, ParameterError, "pulls"),
        ({"pulls": [3, -1, 5]}, ParameterError, "pulls"),
        ({"pulls": [3, np.inf, 5]}, ParameterError, "pulls"),
        ({"pulls": "many"}, ParameterError, "pulls"),
        ({"means": [0.5, 0.5]}, ParameterError, "means"),
        ({"means": [0.5, np.nan, 0.5]}, ParameterError, "means must be finite numbers, not nan"),
        ({"pulls": np.ones((2, 3)), "means": np.ones((4, 3))}, ParameterError, "must broadcast"),
    ],
)
def test_malformed_data(call: Callable[..., Any], change: dict[str, Any], error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=named):
        call(**{"features": X, "pulls": T, "means": M, **change})


@pytest.mark.each(
    ("option", "values"),
    [
        ("link", ("tobit", None)),
        ("penalty", (-1.0, np.nan, "small", True)),
        ("max_iterations", (0, 2.5)),
    ],
)
def test_options(option: str, values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(ParameterError, match=option):
            generalized_linear(X, T, M, **{option: value})


@pytest.mark.each(
    ("link", "mean", "says"),
    [
        ("logit", 1.5, "one is 1.5"),
        ("logit", -0.25, "one is -0.25"),
        ("probit", 1.0001, "probit"),
        ("log", -2.0, "one is -2"),
    ],
)
def test_means_that_the_link_does_not_allow(link: str, mean: float, says: str) -> None:
    for penalty in (0.0, 1e-3):
        with pytest.raises(ParameterError, match=says):
            generalized_linear(X, T, [0.5, mean, 0.5], link=link, penalty=penalty)
    fit = generalized_linear(X, [3, 0, 5], [0.5, mean, 0.5], link=link)  # an arm without a pull
    assert isinstance(fit, Fit) and np.isfinite(fit.theta).all()


def test_the_identity_allows_all_means() -> None:
    assert np.isfinite(generalized_linear(X, T, [-1e9, 7.0, 0.0], link="identity").theta).all()


def test_rounding_of_a_mean_is_not_held_against_it() -> None:
    above = np.nextafter(1.0, 2.0)
    rounded, exact = (generalized_linear(X, T, [0.5, mean, 0.2]).theta for mean in (above, 1.0))
    np.testing.assert_allclose(rounded, exact, rtol=1e-12)
