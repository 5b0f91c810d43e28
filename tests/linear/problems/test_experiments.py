"""Linear instances of Fiez et al. (2019): their geometry, gaps and effects."""

from __future__ import annotations

import math

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.errors import BaiGymError
from bai_gym.problems import build


def test_many_arms_lie_in_a_narrow_sector_far_from_the_best_one() -> None:
    bandit = build("linear-many-arms", num_arms=500).draw(20, np.random.default_rng(0))
    x = bandit.features
    assert (x[:, 0] == [1.0, 0.0]).all() and (x[:, -1] == [-0.707, 0.707]).all()
    angles = np.arctan2(x[:, 1:-1, 1], x[:, 1:-1, 0])
    assert 0.78 <= angles.min() < 0.7801 and 0.8799 < angles.max() <= 0.88
    np.testing.assert_allclose(bandit.means, x[..., 0])
    assert (np.sort(bandit.means, axis=1)[:, -2] <= math.cos(0.78)).all() and (bandit.means[:, 0] == 1.0).all()


def test_multivariate_effects_are_multiples_of_a_hundredth_and_the_best_arm_is_unique() -> None:
    for factors, dimension in ((2, 4), (4, 11), (6, 22)):
        problem = build("linear-multivariate", num_factors=factors)
        bandit = problem.draw(400, np.random.default_rng(0))
        x = bandit.features[0]
        assert (problem.num_arms, problem.num_features) == x.shape == (2**factors, dimension)
        np.testing.assert_array_equal(x.T @ x, 2**factors * np.eye(dimension))
        theta = 100.0 * bandit.means @ x / len(x)
        theta[:, 1 + factors] *= 2.0
        np.testing.assert_allclose(theta, np.round(theta), atol=1e-9)
        assert {int(one) for one in np.unique(np.round(theta))} == set(range(-10, 10))
        two = np.sort(bandit.means, axis=1)[:, -2:]
        assert (two[:, 1] - two[:, 0]).min() >= 1e-5 * (1 - 1e-9)


def test_theta_of_the_sphere_is_the_best_arm_with_alpha_0() -> None:
    bandit = build("linear-sphere", num_arms=20, num_features=9, alpha=0.0).draw(50, np.random.default_rng(0))
    np.testing.assert_allclose(bandit.means.max(axis=1), 1.0)
    env = gym.make("BAI-FC-LinearSphereClosest-v0", num_arms=30, num_features=5, alpha=0.0).unwrapped
    _, info = env.reset(seed=0)
    assert env.observation_space["features"].shape == (30, 5)


def test_what_is_refused() -> None:
    for family, given, word in (
        ("linear-many-arms", {"num_arms": 2}, "3 arms"),
        ("linear-multivariate", {"num_factors": 11}, "num_factors"),
        ("linear-sphere", {"alpha": 0.5}, "alpha"),
        ("linear-sphere", {"alpha": -0.1}, "alpha"),
    ):
        with pytest.raises(BaiGymError, match=word):
            build(family, **given)
