"""Priors: what is accepted, and the distribution of draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.bandits import GaussianPrior, kernel_matrix
from bai_gym.errors import ParameterError

LEVEL = 4.9  # standard deviations: two-sided 1e-6


def covariance(arms: int, seed: int = 0) -> Any:
    roots = np.random.default_rng(seed).standard_normal((arms, arms))
    return roots @ roots.T


@pytest.mark.each(
    ("given", "mean", "message"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], 0.0, "symmetric: of arms 0 and 1"),
        ([[1.0, 2.0], [2.0, 1.0]], 0.0, "eigenvalue -1"),
        ([[-1.0]], 0.0, "positive semi-definite"),
        ([[1.0, 0.0]], 0.0, "shape"),
        ([[1.0, np.nan], [np.nan, 1.0]], 0.0, "not nan"),
        ([[1.0, "a"], [2.0, 1.0]], 0.0, "numbers"),
        ([[10**400]], 0.0, "finite numbers"),
        (np.eye(3), [0.0, 1.0], "3 arms"),
        (np.eye(3), np.nan, "not nan"),
        (np.stack([np.eye(2)] * 3), np.zeros((2, 2)), "2 runs"),
    ],
)
def test_what_is_wrong_is_named(given: Any, mean: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        GaussianPrior(given, mean)
    assert "\n" not in str(caught.value)


def test_rounding_is_no_mistake() -> None:
    matrix = 1e6 * np.ones((3, 3))  # of rank one
    matrix[0, 1] += 1e-4
    matrix[2, 2] -= 1e-4  # an eigenvalue below 0
    prior = GaussianPrior(matrix)
    np.testing.assert_allclose(prior.covariance, matrix[None], rtol=1e-9)
    np.testing.assert_allclose(prior.factor[0] @ prior.factor[0].T, matrix, rtol=1e-9)


def test_features_that_all_runs_share_are_kept_once() -> None:
    features = np.random.default_rng(0).random((6, 2))
    for given in (features, np.broadcast_to(features, (5, 6, 2)), np.stack([features] * 5)):
        prior = GaussianPrior.from_kernel(given, "matern", length=0.5, amplitude=3.0)
        assert prior.rows == 1
        np.testing.assert_array_equal(prior.covariance[0], 9.0 * kernel_matrix(features, "matern", 0.5))
    each = np.stack([features, 2 * features])
    assert GaussianPrior.from_kernel(each, "matern").rows == 2


@pytest.mark.each(("amplitude", "message"), [(0.0, "not 0"), ("1", "not '1'")])
def test_amplitudes_are_checked(amplitude: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=f"amplitude .*{message}"):
        GaussianPrior.from_kernel(np.eye(2), amplitude=amplitude)
    with pytest.raises(ParameterError, match=f"amplitude .*{message}"):
        GaussianPrior(np.eye(2)).scaled(amplitude)


@pytest.mark.each("features", [[1.0, 2.0], [[np.nan]], [], [["a"]]])
def test_features_are_checked(features: Any) -> None:
    with pytest.raises(ParameterError, match="features"):
        GaussianPrior.from_kernel(features)


def test_scaling_multiplies_standard_deviations() -> None:
    prior = GaussianPrior(covariance(3), [1.0, 2.0, 3.0]).scaled(2.0)
    np.testing.assert_allclose(prior.covariance[0], 4.0 * covariance(3))
    assert prior.mean.tolist() == [[1.0, 2.0, 3.0]] and prior.scaled(1.0, 5.0).mean.tolist() == [[5.0] * 3]
    linear = GaussianPrior.from_kernel(np.eye(4)[:, :1], "linear", amplitude=2.0).scaled(3.0)
    assert linear.slim and linear.covariance[0, 0, 0] == 36.0


@pytest.mark.each("each", [False, True])
@pytest.mark.each("kernel", ["linear", "matern"])
def test_columns_are_those_of_the_covariance(kernel: str, each: bool) -> None:
    features = np.random.default_rng(0).random((3, 8, 2)) if each else np.random.default_rng(0).random((8, 2))
    prior = GaussianPrior.from_kernel(features, kernel)
    full = np.broadcast_to(prior.covariance, (3, 8, 8))
    np.testing.assert_allclose(prior.variance, np.einsum("nkk->nk", prior.covariance))
    one, many = np.array([2, 0, 7]), np.array([[1, 2], [3, 3], [7, 0]])
    rows = np.arange(3)
    np.testing.assert_allclose(prior.columns(one), full[rows, one])
    np.testing.assert_allclose(prior.columns(many), full[rows[:, None], many])
    np.testing.assert_allclose(prior.columns(one[1:], rows[1:]), full[rows[1:], one[1:]])
    np.testing.assert_allclose(prior.columns(many[1:], rows[1:]), full[rows[1:, None], many[1:]])


@pytest.mark.each("each", [False, True])
@pytest.mark.each("slim", [False, True])
def test_draws_have_the_mean_and_the_covariance(slim: bool, each: bool) -> None:
    runs, features = 40_000, np.random.default_rng(1).normal(size=(4, 2))
    shown = np.broadcast_to(features, (runs, 4, 2)).copy() if each else features
    if each:
        shown[0] += 1e-9  # not all the same
    prior = GaussianPrior.from_kernel(shown, "linear" if slim else "matern", amplitude=2.0, mean=[1.0, 0.0, -1.0, 5.0])
    assert prior.slim == slim and prior.rows == (runs if each else 1)
    drawn = prior.draw(runs, np.random.default_rng(2)) - prior.mean[0]
    truth = prior.covariance[-1]
    spread = np.sqrt(np.diag(truth))
    assert (np.abs(drawn.mean(axis=0)) < LEVEL * spread / np.sqrt(runs)).all()
    # A product of two normal variables has the variance v w + c^2.
    error = np.sqrt((np.outer(spread**2, spread**2) + truth**2) / runs)
    assert (np.abs(drawn.T @ drawn / runs - truth) < LEVEL * error).all()
