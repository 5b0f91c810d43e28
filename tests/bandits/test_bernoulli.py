"""Bernoulli arms."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import BernoulliBandit
from bai_gym.errors import InstanceError


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ([0.5, 1.1], r"means: arm 1 has 1.1; a Bernoulli mean lies in \[0, 1\]"),
        ([[0.5, 0.2], [-0.1, 0.3]], "means: arm 0 has -0.1"),
        ([0.5, np.nan], "means: arm 1 has nan"),
        ([0.5], "at least 2 arms"),
    ],
)
def test_malformed_instances(means: object, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        BernoulliBandit(means)


def test_variances() -> None:
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
