from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bai_gym.errors import InstanceError
from bai_gym.problems import BernoulliPriorProblem


def test_the_prior_is_uniform() -> None:
    bandit = BernoulliPriorProblem(5).draw(50_000, np.random.default_rng(3))
    assert bandit.means.shape == (50_000, 5)
    assert stats.kstest(bandit.means.reshape(-1), "uniform").pvalue > 1e-3  # false-alarm rate; the seed is fixed
    correlations = np.corrcoef(bandit.means.T)[np.triu_indices(5, 1)]
    # Ten correlations of 50,000 pairs, each about N(0, 1/50,000): a level of 1e-3 for all of them together.
    assert np.abs(correlations).max() < stats.norm.isf(1e-4 / 2) / np.sqrt(50_000)
    np.testing.assert_allclose(bandit.variances, bandit.means * (1 - bandit.means))


def test_one_arm_is_refused() -> None:
    with pytest.raises(InstanceError, match="at least 2 arms, not 1"):
        BernoulliPriorProblem(1)
