"""What is refused, in one line that says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.regression import Fit, generalized_linear, least_squares

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
T = np.array([3, 4, 5])
M = np.array([0.5, 1.0, 0.2])


@pytest.mark.each("call", [least_squares, generalized_linear])
@pytest.mark.each(
    ("change", "error", "says"),
    [
        ({"features": [1.0, 2.0]}, InstanceError, r"features have shape \(2,\): give \(..., arms, dimension\)"),
        ({"features": np.zeros((3, 0))}, InstanceError, "with at least one of each"),
        ({"features": [[1.0], [np.nan], [2.0]]}, InstanceError, "features must be finite numbers, not nan"),
        ({"features": [["a"], ["b"], ["c"]]}, InstanceError, "features must be an array of numbers"),
        ({"features": [[10**400], [1], [2]]}, InstanceError, "features must be finite numbers of at most 1.8e308"),
        ({"means": [10**400, 0, 0]}, ParameterError, "means must be finite numbers of at most 1.8e308"),
        ({"pulls": [10**400, 1, 1]}, ParameterError, "pulls must be finite numbers of at most 1.8e308"),
        ({"pulls": [3, 4]}, ParameterError, r"pulls have shape \(2,\): there are 3 arms, give a number for each"),
        ({"pulls": 3}, ParameterError, r"pulls have shape \(\)"),
        ({"pulls": [3, -1, 5]}, ParameterError, "pulls must be finite numbers of at least 0, not -1"),
        ({"pulls": [3, np.inf, 5]}, ParameterError, "pulls must be finite numbers of at least 0, not inf"),
        ({"pulls": "many"}, ParameterError, "pulls must be a number or an array of numbers, not 'many'"),
        ({"means": [0.5, 0.5]}, ParameterError, r"means have shape \(2,\): there are 3 arms"),
        ({"means": [0.5, np.nan, 0.5]}, ParameterError, "means must be finite numbers, not nan; those of arms without"),
        ({"means": "high"}, ParameterError, "means must be an array of numbers"),
        ({"pulls": np.ones((2, 3)), "means": np.ones((4, 3))}, ParameterError, "must broadcast"),
    ],
)
def test_malformed_data(call: Callable[..., Any], change: dict[str, Any], error: type[Exception], says: str) -> None:
    given = {"features": X, "pulls": T, "means": M, **change}
    with pytest.raises(error, match=says) as caught:
        call(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.each(
    ("options", "says"),
    [
        ({"link": "tobit"}, "link must be one of 'identity', 'logit', 'probit', 'log', not 'tobit'"),
        ({"link": None}, "link must be one of 'identity', 'logit', 'probit', 'log', not None"),
        ({"penalty": -1.0}, "penalty must be a number of at least 0, not -1.0"),
        ({"penalty": np.nan}, "penalty must be a number of at least 0, not nan"),
        ({"penalty": "small"}, "penalty must be a number of at least 0, not 'small'"),
        ({"penalty": True}, "penalty must be a number of at least 0, not True"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1, not 0"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number of at least 1, not 2.5"),
        ({"start": [1.0, 2.0, 3.0]}, r"start has shape \(3,\): give \(2,\), one vector for each instance"),
        ({"start": [1.0, np.inf]}, "start must be finite numbers, not inf"),
        ({"start": "here"}, "start must be an array of numbers"),
    ],
)
def test_options(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says) as caught:
        generalized_linear(X, T, M, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.each(
    ("link", "mean", "says"),
    [
        (
            "logit",
            1.5,
            r"means must lie in \[0, 1\] for the link 'logit', and one is 1.5: use link='identity' for other",
        ),
        ("logit", -0.25, "and one is -0.25"),
        ("probit", 1.0001, r"means must lie in \[0, 1\] for the link 'probit'"),
        ("log", -2.0, r"means must lie in \[0, infinity\) for the link 'log', and one is -2"),
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
