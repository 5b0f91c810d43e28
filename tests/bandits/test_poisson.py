"""Poisson arms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, poisson

from bai_gym.bandits import PoissonBandit
from bai_gym.errors import InstanceError


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ([0.5, -0.1], r"means: arm 1 has -0.1; a Poisson mean lies in \[0, 1000000\]"),
        ([[0.5, 0.2], [1e7, 0.3]], "means: arm 0 has 10000000.0"),
        ([0.5, np.nan], "means: arm 1 has nan"),
        ([0.5], "at least 2 arms"),
    ],
)
def test_malformed_instances(means: object, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        PoissonBandit(means)


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
