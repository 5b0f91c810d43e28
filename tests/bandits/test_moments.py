"""Gaussian, Bernoulli and Poisson arms: moments, exact sums, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, poisson

from bai_gym.bandits import BernoulliBandit, GaussianBandit, PoissonBandit
from bai_gym.errors import InstanceError


def test_a_scalar_variance_holds_for_all_arms() -> None:
    assert GaussianBandit([1, 2, 3], 4).variances.tolist() == [[4.0, 4.0, 4.0]]
    assert GaussianBandit([1, 2]).variances.tolist() == [[1.0, 1.0]]


def test_parameters_are_copied() -> None:
    means = np.array([[0.0, 1.0]])
    bandit = GaussianBandit(means, means)
    means[...] = 7.0
    assert bandit.means.tolist() == bandit.variances.tolist() == [[0.0, 1.0]]


def test_the_variance_of_zeros_and_ones() -> None:
    assert BernoulliBandit([0.0, 0.5, 1.0]).variances.tolist() == [[0.0, 0.25, 0.0]]


def test_rewards_and_block_moments_belong_together() -> None:
    bandit = BernoulliBandit(np.full((1000, 2), 0.4))
    rng = np.random.default_rng(0)
    assert set(bandit.pull(np.arange(2000), rng)) == {0.0, 1.0}
    block = bandit.pull_block(np.full((1000, 2), 7), rng)
    # Of rewards 0 and 1 the sum is an integer, and the sum of the squares equals it.
    np.testing.assert_allclose(block.sums, np.rint(block.sums), atol=1e-12)
    np.testing.assert_allclose(block.squares, block.sums, atol=1e-12)
    # Equal sums give equal means, bit for bit: ties are exact.
    assert len(np.unique(block.means)) == len(np.unique(np.rint(block.sums)))


def test_the_variance_is_the_mean() -> None:
    assert PoissonBandit([0.0, 0.5, 3.0]).variances.tolist() == [[0.0, 0.5, 3.0]]


@pytest.mark.slow
@pytest.mark.parametrize("mean", [1e-300, 1e-3, 30.0, 1e6])
def test_blocks_of_any_size_and_mean(mean: float) -> None:
    runs = 2000 if mean < 100 else 50  # the work grows with the root of the mean
    bandit = PoissonBandit(np.full((runs, 2), mean))
    rng = np.random.default_rng(1)
    many = 10**9 if mean < 100 else 50
    block = bandit.pull_block(np.full((runs, 2), many), rng)
    if mean == 1e-300:
        assert not block.means.any() and not block.variances.any()
        return
    scores = (block.means - mean) / np.sqrt(mean / many)
    assert kstest(scores.reshape(-1), "norm").pvalue > 1e-4
    # The variance of a sample variance: its fourth cumulant, which is the mean, over n, and 2 mean^2 / (n - 1).
    spread = np.sqrt(mean / many + 2 * mean**2 / (many - 1))
    assert block.variances.mean() == pytest.approx(mean, abs=4.4 * spread / np.sqrt(2 * runs))
    single = bandit.pull_block(np.ones((runs, 2), np.int64), rng)
    assert not single.variances.any()
    assert single.means.mean() == pytest.approx(mean, abs=4.4 * np.sqrt(mean / (2 * runs)) + 1 / 400)
    assert (poisson.cdf(single.means, mean) > 1e-9).all()


@pytest.mark.each(
    ("kind", "given", "message"),
    [
        (GaussianBandit, ([0.0, np.nan, 1.0],), "means: arm 1 has nan"),
        (GaussianBandit, ([0.0, 1.0, np.inf],), "means: arm 2 has inf"),
        (GaussianBandit, ([0.0, 1.0], [1.0, np.nan]), "variances: arm 1 has nan"),
        (GaussianBandit, ([0.0, 1.0], [1.0, -0.5]), "variances: arm 1 has -0.5"),
        (GaussianBandit, ([0.0],), "at least 2 arms, not 1"),
        (GaussianBandit, ([0.0, 1.0, 2.0], [1.0, 1.0]), "3 means and 2 variances"),
        (GaussianBandit, ([[0.0, 1.0], [2.0, 3.0]], [1.0, 1.0]), r"shape \(2, 2\) and variances of shape \(1, 2\)"),
        (GaussianBandit, (np.zeros((1, 2, 2)),), r"means must have shape"),
        (GaussianBandit, (np.zeros((0, 2)),), r"means must have shape"),
        (GaussianBandit, ("abc",), "means must be numbers"),
        (BernoulliBandit, ([0.5, 1.1],), "means: arm 1 has 1.1"),
        (BernoulliBandit, ([[0.5, 0.2], [-0.1, 0.3]],), "means: arm 0 has -0.1"),
        (PoissonBandit, ([0.5, -0.1],), "means: arm 1 has -0.1"),
        (PoissonBandit, ([[0.5, 0.2], [1e7, 0.3]],), "means: arm 0 has 10000000.0"),
    ],
)
def test_malformed_instances(kind: type, given: tuple[object, ...], message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        kind(*given)
