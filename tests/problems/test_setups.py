"""The classical set-ups: their means and complexities from the specification, and the set-ups of several bandits."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.errors import ParameterError
from bai_gym.problems import build
from bai_gym.problems.setups import CONFIDENCE_SETUPS, MULTI_BANDIT_SETUPS, SETUPS, SHAPES
from bai_gym.theory import best_arm_h1, best_arm_h2, characteristic_time

RNG = np.random.default_rng(0)

# Means by hand, as runs of equal ones; H_1 and H_2 to two decimals, and the budget of the id.
BY_HAND: dict[int, tuple[list[tuple[float, int]], float, float, int]] = {
    1: ([(0.5, 1), (0.4, 19)], 2000.00, 2000.00, 2000),
    2: ([(0.5, 1), (0.42, 5), (0.38, 14)], 1909.72, 1388.89, 2000),
    3: ([(0.5, 1), (0.3631, 1), (0.449347, 1), (0.48125839, 1)], 6137.09, 5693.98, 2000),
    4: ([(0.5, 1), (0.42, 1), (0.4, 2), (0.35, 2)], 601.39, 400.00, 600),
    5: ([(0.5 - 0.025 * i, 1) for i in (0, *range(2, 16))], 1328.70, 800.00, 4000),
    6: ([(0.5, 1), (0.48, 1), (0.37, 18)], 6065.09, 5000.00, 6000),
    7: ([(0.5, 1), (0.45, 5), (0.43, 14), (0.38, 10)], 5951.59, 4081.63, 6000),
}


@pytest.mark.each("setup", SETUPS)
def test_bernoulli_setups_by_hand(setup: int) -> None:
    runs, h1, h2, budget = BY_HAND[setup]
    means = np.repeat([mean for mean, _ in runs], [number for _, number in runs])
    bandit = build("bernoulli-setup", setup=setup).draw(2, RNG)
    assert isinstance(bandit, BernoulliBandit)
    np.testing.assert_allclose(bandit.means, np.tile(means, (2, 1)), rtol=1e-14)
    np.testing.assert_allclose(bandit.variances, bandit.means * (1 - bandit.means), rtol=1e-14)
    assert best_arm_h1(bandit.means[0]) == pytest.approx(h1, abs=0.005)
    assert best_arm_h2(bandit.means[0]) == pytest.approx(h2, abs=0.005)
    env: Any = gym.make(f"BAI-Bernoulli-Setup{setup}-v0").unwrapped
    assert (env.budget, env.num_arms) == (budget, means.size)
    assert set(BY_HAND) == set(SETUPS) == set(range(1, 8))


def test_setups_of_fixed_confidence() -> None:
    assert set(CONFIDENCE_SETUPS) == {"gk1", "gk2", "menard", "brake4"}
    for name, kind, time in (
        ("gk1", BernoulliBandit, 990),
        ("gk2", BernoulliBandit, 327),
        ("menard", GaussianBandit, 450),
        ("brake4", GaussianBandit, 1493),
    ):
        bandit = build("confidence-setup", setup=name).draw(2, RNG)
        assert isinstance(bandit, kind) and bandit.means[0].argmax() == 0
        variances = bandit.variances[0] if kind is GaussianBandit else None
        assert float(characteristic_time(bandit.means[0], variances)) == pytest.approx(time, rel=2e-3)
    with pytest.raises(ParameterError, match="setup must be one of 'gk1'"):
        build("confidence-setup", setup="gk3")


def test_shapes_of_means_by_hand() -> None:
    stair = [0.25 * 3**0.75, *[0.25 * 3**0.5] * 2, *[0.25 * 3**0.25] * 3, *[0.25] * 4]  # of four steps
    for shape, size, means in (
        ("OneGroup", 4, [0.5, 0.45, 0.45, 0.45]),
        ("TwoGroups", 4, [0.5, 0.45, 0.4, 0.4]),
        ("TwoGroups", 5, [0.5, 0.45, 0.45, 0.4, 0.4]),
        ("Linear", 5, [0.75, 0.65, 0.55, 0.45, 0.35]),
        ("Concave", 3, [math.sqrt(3) / 2, math.sin(0.3 * math.pi), math.sin(0.15 * math.pi)]),
        ("Convex", 4, [0.15, 0.1, 0.075, 0.06]),
        ("Stair", 4, stair),
    ):
        drawn = build("mean-shape", shape=shape, size=size).draw(1, RNG).means[0]
        np.testing.assert_allclose(drawn, means, rtol=1e-14)
    for shape in SHAPES:
        env: Any = gym.make(f"BAI-Shape-{shape}-v0", size=7).unwrapped
        means = env.problem.draw(1, RNG).means[0]
        assert means.size == (28 if shape == "Stair" else 7) and (means[0] > means[1:]).all()
    with pytest.raises(ParameterError, match="shape must be one of"):
        build("mean-shape", shape="Flat")
    with pytest.raises(ParameterError, match="size must be"):
        build("mean-shape", size=2)


def test_many_arms_by_hand() -> None:
    bandit = build("many-arms", alpha=2.0, num_arms=4, sigma=3.0).draw(1, RNG)
    assert isinstance(bandit, GaussianBandit) and bandit.variances.tolist() == [[9.0] * 4]
    assert bandit.means.tolist() == [[1.0, 1 - 1 / 16, 1 - 1 / 4, 1 - 9 / 16]]
    with pytest.raises(ParameterError, match="alpha must be"):
        build("many-arms", alpha=0.0)


A, B = [0.5, 0.45, 0.4, 0.3], [0.5, 0.3, 0.2, 0.1]
# Two values with probability 1/2 each: the mean is half their sum, the variance the square of half their distance.
C_MEANS, C_VARIANCES = [0.5, 0.45, 0.45, 0.45], [0.25, 0.0, 0.04, 0.2025]
D_MEANS, D_VARIANCES = [0.5, 0.45, 0.45, 0.45], [0.01, 0.0, 0.01, 0.04]
SEVERAL = {
    1: (A + B, [mean * (1 - mean) for mean in A + B], 2, 700),
    2: (C_MEANS + D_MEANS, C_VARIANCES + D_VARIANCES, 2, 1000),
    3: (2 * (C_MEANS + D_MEANS), 2 * (C_VARIANCES + D_VARIANCES), 4, 1400),
}


@pytest.mark.each("setup", MULTI_BANDIT_SETUPS)
def test_setups_of_several_bandits_by_hand(setup: int) -> None:
    means, variances, bandits, budget = SEVERAL[setup]
    bandit = build("multi-bandit-setup", setup=setup).draw(3, RNG)
    np.testing.assert_allclose(bandit.means, np.tile(means, (3, 1)), rtol=1e-14)
    np.testing.assert_allclose(bandit.variances, np.tile(variances, (3, 1)), rtol=1e-12, atol=1e-15)
    env: Any = gym.make(f"BAI-MultiBandit{setup}-v0").unwrapped
    assert (env.budget, env.episode_spec.task.num_bandits, env.num_arms) == (budget, bandits, len(means))
    assert env.episode_spec.task.correct_recommendation(bandit.means).tolist() == [[0] * bandits] * 3


def test_an_unknown_setup() -> None:
    for setup in (0, 8, "1", True, 1.5, [1], np.array([1, 2])):
        with pytest.raises(ParameterError, match="setup must be one of 1, 2, 3, 4, 5, 6, 7, not "):
            build("bernoulli-setup", setup=setup)
    with pytest.raises(ParameterError, match="setup must be one of 1, 2, 3, not "):
        build("multi-bandit-setup", setup=4)
