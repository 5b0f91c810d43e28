"""Functions from a Gaussian process: their distribution, and what agents are given."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.bandits import GaussianBandit, GaussianPrior
from bai_gym.correlated import GaussianProcessProblem, PriorBandit
from bai_gym.errors import AgentError, BaiGymError, InstanceError, ParameterError, UnknownNameError

LEVEL = 4.9  # standard deviations: two-sided 1e-6


def test_means_have_the_kernel_as_covariance() -> None:
    runs = 40_000
    problem = GaussianProcessProblem(5, length=2.0, amplitude=3.0, noise_variance=0.2, spacing=0.7)
    bandit = problem.draw(runs, np.random.default_rng(0))
    x = 0.7 * np.arange(5)
    truth = 9.0 * np.exp(-((x[:, None] - x) ** 2) / 2.0)
    found = bandit.means.T @ bandit.means / runs
    assert (np.abs(found - truth) < LEVEL * np.sqrt((81.0 + truth**2) / runs)).all()
    assert (bandit.variances == 0.2).all()
    assert bandit.features is not None
    np.testing.assert_allclose(bandit.features[7, :, 0], x)


def test_the_figure_of_the_paper() -> None:
    env = gym.make("BAI-GP10-v0").unwrapped
    assert env.problem.locations[:, 0].tolist() == [0.5 * i for i in range(10)]  # type: ignore[attr-defined]
    observation, _ = env.reset(seed=0)
    assert observation["features"].shape == (10, 1)
    prior = env.problem_info({"prior"}).prior  # type: ignore[attr-defined]
    places = observation["features"][:, 0]  # in an order of the episode's own, as the prior is
    np.testing.assert_allclose(prior.covariance[0], np.exp(-((places[:, None] - places) ** 2)))
    other: Any = gym.make("BAI-GP16-v0", kernel="matern", length=3.0, nu=0.5, amplitude=2.0).unwrapped
    assert other.problem.prior.covariance[0, 0, 1] == pytest.approx(4.0 * np.exp(-0.5 / 3.0))
    with pytest.raises(AgentError, match="reads 'prior' without declaring it"):
        _ = env.problem_info().prior  # type: ignore[attr-defined]


def test_points_between_arms_lead_from_one_to_the_next() -> None:
    problem = GaussianProcessProblem(3, spacing=2.0)
    points, at = problem.between(4)
    assert at.tolist() == [0, 4, 8] and points[:, 0].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    finer = problem.prior_at(points).covariance[0][np.ix_(at, at)]
    np.testing.assert_allclose(finer, problem.prior.covariance[0], rtol=1e-12)


@pytest.mark.each(
    ("keywords", "error", "message"),
    [
        ({"num_arms": 1}, InstanceError, "at least 2"),
        ({"kernel": "rbf"}, UnknownNameError, "unknown kernel 'rbf'"),
        ({"length": 0.0}, ParameterError, "length of a kernel must be a positive number"),
        ({"amplitude": -1.0}, ParameterError, "amplitude must be a positive number"),
        ({"noise_variance": 0.0}, ParameterError, "noise_variance must be a positive number"),
        ({"spacing": "wide"}, ParameterError, "spacing must be a positive number, not 'wide'"),
        ({"nu": 2.0}, ParameterError, "nu of the Matern kernel must be"),
    ],
)
def test_what_is_wrong_is_named(keywords: dict[str, Any], error: type[BaiGymError], message: str) -> None:
    with pytest.raises(error, match=message):
        gym.make("BAI-GP10-v0", **keywords)


def test_a_prior_for_other_arms_is_refused() -> None:
    with pytest.raises(InstanceError, match="the prior is of 3 arms, and there are 2"):
        PriorBandit(GaussianBandit([0.0, 1.0]), GaussianPrior(np.eye(3)))
    with pytest.raises(InstanceError, match="must be one distribution for all instances, not 2 of them"):
        PriorBandit(GaussianBandit([0.0, 1.0]), GaussianPrior(np.stack([np.eye(2)] * 2)))


def test_the_prior_stays_with_chosen_instances() -> None:
    bandit = GaussianProcessProblem(4).draw(5, np.random.default_rng(0))
    some = bandit.select(np.array([3, 0]))
    assert some.prior is bandit.prior and some.features is not None and some.features.shape == (2, 4, 1)
    np.testing.assert_array_equal(some.means, bandit.means[[3, 0]])
    some.replace(np.array([1]), bandit.select(np.array([4])))
    np.testing.assert_array_equal(some.means, bandit.means[[3, 4]])
