"""Kernels, against scikit-learn's and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.gaussian_process import kernels

from bai_gym.bandits import KERNELS, kernel_matrix
from bai_gym.errors import ParameterError, UnknownNameError

X = np.random.default_rng(0).normal(3.0, 2.0, (7, 3))


@pytest.mark.parametrize(
    ("name", "nu", "other"),
    [
        ("linear", 1.5, kernels.DotProduct(sigma_0=0.0)),
        ("squared-exponential", 1.5, kernels.RBF(0.7)),
        ("matern", 0.5, kernels.Matern(0.7, nu=0.5)),
        ("matern", 1.5, kernels.Matern(0.7, nu=1.5)),
        ("matern", 2.5, kernels.Matern(0.7, nu=2.5)),
    ],
)
def test_they_are_those_of_scikit_learn(name: str, nu: float, other: kernels.Kernel) -> None:
    np.testing.assert_allclose(kernel_matrix(X, name, 0.7, nu), other(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel_matrix(X, other), other(X))  # a function of features


def test_the_exponential_kernel_has_the_square_of_the_distance_over_the_length() -> None:
    # Distances 3, 4 and 5.
    matrix = kernel_matrix(np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]), "exponential", 10.0)
    nine, sixteen, rest = math.exp(-0.9), math.exp(-1.6), math.exp(-2.5)
    np.testing.assert_allclose(matrix, [[1, nine, rest], [nine, 1, sixteen], [rest, sixteen, 1]], rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_a_batch_is_its_matrices_far_from_the_origin_too(name: str) -> None:
    batch = np.random.default_rng(1).normal(0.0, 1.0, (4, 5, 2)) + (1e6 if name != "linear" else 0.0)
    together = kernel_matrix(batch, name, 2.0)
    for one, features in zip(together, batch, strict=True):
        np.testing.assert_array_equal(one, kernel_matrix(features, name, 2.0))
        np.testing.assert_array_equal(one, one.T)
    differences = batch[:, :, None] - batch[:, None]
    if name == "squared-exponential":
        np.testing.assert_allclose(together, np.exp(-(differences**2).sum(-1) / 8.0), rtol=1e-9)


def test_equal_arms_have_all_in_common() -> None:
    features = np.array([[1e8, 0.3], [1e8, 0.3], [0.0, 0.0]])
    for name in KERNELS[1:]:
        assert kernel_matrix(features, name)[0, 1] == 1.0


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kernel": "maternal"}, UnknownNameError, "Did you mean matern"),
        ({"kernel": 3}, ParameterError, "kernel must be"),
        ({"kernel": "matern", "nu": 2.0}, ParameterError, "nu"),
        ({"kernel": "matern", "length": 0.0}, ParameterError, "length"),
        ({"kernel": "linear", "length": math.nan}, ParameterError, "length"),
        ({"kernel": lambda x: x}, ParameterError, "shape"),
        ({"kernel": lambda x: x @ x}, ParameterError, "cannot be called"),
    ],
)
def test_what_is_wrong_is_named(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        kernel_matrix(X, **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
