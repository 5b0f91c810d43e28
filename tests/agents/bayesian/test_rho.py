"""RHO: the planned value against known numbers, Monte Carlo and differences; the shares; prior and noise; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bayesian import rho
from bai_gym.agents.bayesian.rho import (
    RHO,
    Belief,
    believe,
    best_shares,
    epoch_sizes,
    value,
)
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, Statistics

# The case of which the best shares are known: means 0 to 0.4, prior variance 0.09, noise 1, 50 pulls left.
KNOWN = Belief(np.array([[0.0, 0.1, 0.2, 0.3, 0.4]]), np.full((1, 5), 0.09), np.ones((1, 5)))
EQUAL = np.full((1, 5), 0.2)


def beliefs(runs: int, num_arms: int) -> Belief:
    """Beliefs of all kinds: arms that lead or not, that are known well or not."""
    rng = np.random.default_rng(3)
    variance = np.exp(rng.uniform(-7.0, 0.0, (runs, num_arms)))
    return Belief(rng.normal(size=(runs, num_arms)) * 0.5, variance, np.exp(rng.uniform(-2.0, 1.0, (runs, num_arms))))


def futures(belief: Belief, pulls: FloatArray, draws: int) -> FloatArray:
    """Posterior means after the pulls, drawn; ``(D, K)`` of one episode."""
    rng = np.random.default_rng(0)
    truth = belief.mean + np.sqrt(belief.variance) * rng.standard_normal((draws, belief.mean.shape[1]))
    sample = truth + np.sqrt(belief.noise / pulls) * rng.standard_normal(truth.shape)
    weight = belief.variance / (belief.variance + belief.noise / pulls)
    return np.asarray(belief.mean + weight * (sample - belief.mean))


def test_the_value_of_the_known_case() -> None:
    assert value(KNOWN, 50 * EQUAL)[0] == pytest.approx([0.504043], abs=2e-6)
    best = np.array([[1e-12, 1e-12, 0.2661, 0.3506, 0.3832]])
    assert value(KNOWN, 50 * best)[0] == pytest.approx([0.515308], abs=6e-5)
    found = best_shares(KNOWN, 50, EQUAL)
    assert found == pytest.approx(best, abs=0.01)
    assert value(KNOWN, 50 * found)[0] == pytest.approx([0.515308], abs=3e-4)


def test_values_are_those_of_simulation() -> None:
    pulls = np.array([[3.0, 10.0, 1.0, 6.0]])
    for row in range(4):
        belief = Belief(*(array[row : row + 1] for array in beliefs(4, 4)))
        best = futures(belief, pulls, 200_000).max(axis=1)
        assert value(belief, pulls)[0][0] == pytest.approx(best.mean(), abs=4.5 * best.std() / np.sqrt(200_000)), row


def test_slopes_are_finite_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    belief, small = beliefs(50, 4), 1e-5
    pulls = np.exp(np.random.default_rng(0).uniform(-2.0, 4.0, (50, 4)))
    rough = value(belief, pulls)
    monkeypatch.setattr(rho, "NODES", 500)
    monkeypatch.setattr(rho, "REACH", 8.0)
    exact = value(belief, pulls)
    for one, other in zip(rough, exact, strict=True):
        np.testing.assert_allclose(one, other, atol=5e-4)

    slope = value(belief, pulls)[1]
    assert (np.abs(slope).max(axis=0) > 0.005).all()
    for arm in range(4):
        step = np.exp(small * (np.arange(4) == arm))
        difference = (value(belief, pulls * step)[0] - value(belief, pulls / step)[0]) / (2 * small)
        np.testing.assert_allclose(slope[:, arm], difference, atol=2e-6, err_msg=f"arm {arm}")


def test_shares_are_as_good_as_the_best_of_a_grid() -> None:
    belief, equal = beliefs(12, 3), np.full((12, 3), 1 / 3)
    grid = np.array([(a, b, 50 - a - b) for a in range(51) for b in range(51 - a)]) / 50
    found = value(belief, 30 * best_shares(belief, 30, equal))[0]
    for row in range(12):
        one = Belief(*(array[row : row + 1] for array in belief))
        many = Belief(*(np.repeat(array, len(grid), axis=0) for array in one))
        best = value(many, 30 * np.maximum(grid, 1e-6))[0].max()
        gain = best - value(one, 30 * equal[:1])[0][0]
        assert gain > 0.0 and found[row] > best - 0.03 * gain - 1e-4, row


def test_rewards_of_any_size_are_planned_for() -> None:
    # A power of 2 changes no rounding, so it changes no pull, even where its fourth power is 0.
    means = np.tile([1.0, 2.0, 3.0], (20, 1))
    expected: Any = None
    for scale in (1.0, 2.0**-400, 2.0**160):
        agent = RHO(epochs=4)
        agent.reset(ProblemInfo(3, 90, 20), np.random.default_rng(0))
        rollout = play_blocks(agent, GaussianBandit(scale * means, scale**2), 90, np.random.default_rng(1))
        expected = rollout.statistics.pulls if expected is None else expected
        np.testing.assert_array_equal(rollout.statistics.pulls, expected, err_msg=str(scale))
    # Variances that are almost 0 beside means and parameters of all sizes; warnings are errors here.
    for size in (0.0, 1e-300, 3e49):
        agent = RHO(epochs=4, prior_sd=1e-200, sigma=1e-200)
        agent.reset(ProblemInfo(3, 90, 20), np.random.default_rng(0))
        rollout = play_blocks(agent, GaussianBandit(size * means, 1e-320), 90, np.random.default_rng(1))
        assert (rollout.statistics.pulls.sum(axis=1) == 90).all(), size


def test_the_posterior_by_hand() -> None:
    # Weights of the data 4 x 0.25 / (4 x 0.25 + 1) = 1/2 and 12 x 0.25 / (12 x 0.25 + 1) = 3/4.
    seen = Statistics(np.array([[4, 12]]), np.array([[1.0, 5.0]]), np.zeros((1, 2)))
    found = believe(seen, prior_mean=2.0, prior_sd=0.5, sigma=1.0)
    np.testing.assert_allclose(found.mean, [[1.5, 4.25]])
    np.testing.assert_allclose(found.variance, [[0.125, 0.0625]])
    # Estimates. Pooled variance (3 x 1 + 11 x 4) / 14 = 47/14; noise (3 + 4 x 47/14) / 7 and (44 + 4 x 47/14) / 15.
    seen = Statistics(np.array([[4, 12]]), np.array([[1.0, 5.0]]), np.array([[1.0, 4.0]]))
    found = believe(seen)
    noise = np.array([(3 + 94 / 7) / 7, (44 + 94 / 7) / 15])
    np.testing.assert_allclose(found.noise, noise[None])
    prior = 8.0 - (noise / [4, 12]).mean()  # sample variance of the means 1 and 5, less that of the noise
    weight = np.array([4, 12]) * prior / (np.array([4, 12]) * prior + noise)
    np.testing.assert_allclose(found.mean, [3.0 + weight * [-2.0, 2.0]])


def test_equal_arms_keep_a_prior_and_certain_arms_a_noise() -> None:
    # Equal means: the prior variance is one standard error of its estimate, sqrt(2 / 2) of 2 / 10.
    equal = believe(Statistics(np.full((1, 3), 10), np.ones((1, 3)), np.full((1, 3), 2.0)))
    np.testing.assert_allclose(equal.variance, 1.0 / (1.0 / 0.2 + 10 / 2.0))
    certain = believe(Statistics(np.full((1, 3), 10), np.ones((1, 3)), np.zeros((1, 3))))
    assert (certain.noise > 0).all() and (certain.variance > 0).all()


def test_epochs() -> None:
    assert epoch_sizes(100, 5, 10) == [10] * 10
    assert epoch_sizes(100, 20, 4) == [40, 20, 20, 20]
    assert epoch_sizes(95, 4, 2) == [48, 47]
    assert epoch_sizes(100, 2, 1) == [100]
    assert epoch_sizes(7, 5, 10) == [7] + 9 * [0]


def test_pulls_go_where_the_plan_wants_them() -> None:
    # One arm is far behind: after the first epoch of 20 pulls each it gets almost none.
    bandit = GaussianBandit(np.tile([0.0, 10.0, 10.05], (50, 1)), 1.0)
    agent = RHO(epochs=5)
    agent.reset(ProblemInfo(3, 300, 50), np.random.default_rng(0))
    pulls = play_blocks(agent, bandit, 300, np.random.default_rng(1)).statistics.pulls
    assert (pulls.sum(axis=1) == 300).all() and (pulls[:, 0] <= 25).all()
