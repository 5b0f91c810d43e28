"""Gaussian arms: what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import GaussianBandit
from bai_gym.errors import InstanceError


def test_a_scalar_variance_holds_for_all_arms() -> None:
    assert GaussianBandit([1, 2, 3], 4).variances.tolist() == [[4.0, 4.0, 4.0]]
    assert GaussianBandit([1, 2]).variances.tolist() == [[1.0, 1.0]]


def test_parameters_are_copied() -> None:
    means = np.array([[0.0, 1.0]])
    bandit = GaussianBandit(means, means)
    means[...] = 7.0
    assert bandit.means.tolist() == bandit.variances.tolist() == [[0.0, 1.0]]


@pytest.mark.each(
    ("means", "variances", "message"),
    [
        ([0.0, np.nan, 1.0], 1.0, "means: arm 1 has nan; every value must be a finite number"),
        ([0.0, 1.0, np.inf], 1.0, "means: arm 2 has inf"),
        ([0.0, 1.0], [1.0, np.nan], "variances: arm 1 has nan"),
        ([0.0, 1.0], [1.0, -0.5], "variances: arm 1 has -0.5; a variance cannot be negative"),
        ([0.0], 1.0, "at least 2 arms, not 1"),
        ([0.0, 1.0, 2.0], [1.0, 1.0], "3 means and 2 variances are given"),
        ([[0.0, 1.0], [2.0, 3.0]], [1.0, 1.0], r"shape \(2, 2\) and variances of shape \(1, 2\)"),
        (np.zeros((1, 2, 2)), 1.0, r"means must have shape \(K,\) or \(N, K\), not \(1, 2, 2\)"),
        (np.zeros((0, 2)), 1.0, r"means must have shape \(K,\) or \(N, K\), not \(0, 2\)"),
        ("abc", 1.0, "means must be numbers, one per arm, not 'abc'"),
        ([0.0, 1.0], None, "variances: arm 0 has nan"),
    ],
)
def test_malformed_instances(means: object, variances: object, message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        GaussianBandit(means, variances)
