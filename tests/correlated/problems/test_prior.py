"""Means from a known prior: their distribution, and what agents are given."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.correlated import PriorProblem, gaussian_prior_problem, hierarchical_prior_problem, linear_prior_problem
from bai_gym.errors import BaiGymError, InstanceError, ParameterError

LEVEL = 4.9  # standard deviations: two-sided 1e-6
RUNS = 40_000


def check_moments(problem: PriorProblem, mean: Any, covariance: Any) -> None:
    """Compare prior and drawn means with the moments that the model implies."""
    np.testing.assert_allclose(problem.prior.mean[0], mean, atol=1e-12)
    np.testing.assert_allclose(problem.prior.covariance[0], covariance, atol=1e-12)
    means = problem.draw(RUNS, np.random.default_rng(0)).means
    assert (np.abs(means.mean(axis=0) - mean) <= LEVEL * np.sqrt(np.diag(covariance) / RUNS)).all()
    spread = np.sqrt((np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2) / RUNS)
    assert (np.abs(np.cov(means.T) - covariance) <= LEVEL * spread).all()


def test_independent_means() -> None:
    problem = gaussian_prior_problem(3, prior_means=[0.0, 2.0, -1.0], prior_sds=0.5, sigma=[1.0, 2.0, 3.0])
    check_moments(problem, [0.0, 2.0, -1.0], 0.25 * np.eye(3))
    assert problem.draw(2, np.random.default_rng(0)).variances.tolist() == [[1.0, 4.0, 9.0]] * 2


def test_the_default_is_the_setting_of_the_paper() -> None:
    prior = gym.make("BAI-GaussianPrior10-v0").unwrapped.problem.prior  # type: ignore[attr-defined]
    np.testing.assert_allclose(prior.mean[0], np.arange(10) / 9)
    np.testing.assert_allclose(np.sqrt(prior.variance[0]), 0.1 + 0.4 * np.arange(10) / 9)


def test_means_linear_in_features() -> None:
    problem = linear_prior_problem(5, 2, theta_mean=[1.0, -1.0], theta_variances=[0.5, 2.0], features_seed=3)
    features = problem.draw(1, np.random.default_rng(0)).features
    assert features is not None
    x = features[0]
    check_moments(problem, x @ [1.0, -1.0], x @ np.diag([0.5, 2.0]) @ x.T)
    drawn = problem.draw(4, np.random.default_rng(1)).means
    assert np.linalg.matrix_rank(drawn) == 2


def test_a_hierarchy_is_a_shared_and_an_own_part() -> None:
    problem = hierarchical_prior_problem(4, 2, effect_means=[0.0, 3.0], effect_variances=0.5, prior_sds=0.2)
    features = problem.draw(1, np.random.default_rng(0)).features
    assert features is not None
    b = features[0]
    assert (b >= 0).all() and np.allclose(b.sum(axis=1), 1.0)
    check_moments(problem, 3.0 * b[:, 1], 0.5 * b @ b.T + 0.04 * np.eye(4))


def test_what_is_wrong_is_named() -> None:
    cases: list[tuple[str, dict[str, Any], type[BaiGymError], str]] = [
        ("GaussianPrior10", {"num_arms": 1}, InstanceError, "at least 2"),
        ("GaussianPrior10", {"prior_sds": -1.0}, ParameterError, "prior_sds must be a number of at least 0"),
        ("GaussianPrior10", {"prior_means": [1.0, 2.0]}, ParameterError, r"prior_means must be a number, or 10 of"),
        ("GaussianPrior10", {"sigma": 0.0}, ParameterError, "sigma must be a positive number"),
        ("LinearPrior30", {"num_features": 0}, ParameterError, "num_features must be an integer of at least 1"),
        ("LinearPrior30", {"theta_variances": [1.0]}, ParameterError, "theta_variances must be a number, or 4 of"),
        ("HierarchicalPrior60", {"effect_means": "x"}, ParameterError, "effect_means must be numbers"),
        ("HierarchicalPrior60", {"features_seed": -1}, ParameterError, "seed must be an integer of at least 0"),
    ]
    for name, keywords, error, message in cases:
        with pytest.raises(error, match=message):
            gym.make(f"BAI-{name}-v0", **keywords)
