"""Bandits of every kind, for the tests that all of them must pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FeatureBandit,
    GaussianBandit,
    PairedFiniteBandit,
    PairedGaussianBandit,
    PoissonBandit,
    PriorBandit,
    SampleTable,
    linear_bandit,
)
from bai_gym.gaussian_process import GaussianPrior


def gaussian() -> GaussianBandit:
    return GaussianBandit([[0.0, 5.0, -1.0], [2.0, 0.5, 1.0]], [[1.0, 0.25, 4.0], [0.5, 0.0, 9.0]])


def bernoulli() -> BernoulliBandit:
    return BernoulliBandit([[0.5, 0.9, 0.05], [0.3, 1.0, 0.0]])


def empirical() -> EmpiricalBandit:
    rewards = np.array([1.0, 2.0, 2.0, 5.0, 7.5, 7.5, 0.0, 1.0, 100.0], np.float32)
    table = SampleTable.of(rewards, np.array([0, 4, 6, 8, 9]))  # arms 1 2 2 5, 7.5 7.5, 0 1, 100
    return EmpiricalBandit(table, np.array([[0, 1, 2], [2, 3, 0]]))


def poisson() -> PoissonBandit:
    return PoissonBandit([[0.2, 3.0, 40.0], [1.0, 0.0, 500.0]])


FEATURES = [[1.0, 0.0], [-0.6, 0.8], [0.5, 2.0]]


def linear() -> FeatureBandit:
    return linear_bandit(FEATURES, [[1.0, 0.5], [-2.0, 1.0]], noise_variance=2.5)


def logistic() -> FeatureBandit:
    features = np.array([FEATURES, [[2.0, 1.0], [0.0, 0.0], [-1.0, 3.0]]])
    return linear_bandit(features, [1.0, 0.5], link="logit")


def probit() -> FeatureBandit:
    return linear_bandit(FEATURES, [[1.0, 0.5], [-2.0, 1.0]], link="probit")


def log_linear() -> FeatureBandit:
    return linear_bandit(FEATURES, [[1.0, 0.5], [-2.0, 1.0]], link="log")


PRIOR = GaussianPrior(np.eye(3))


def with_prior() -> PriorBandit:
    return PriorBandit(linear(), PRIOR)


def paired_gaussian() -> PairedGaussianBandit:
    means, variances = [[0.0, 5.0, -1.0], [2.0, 0.5, 1.0]], [[1.0, 0.25, 4.0], [0.5, 0.0, 9.0]]
    return PairedGaussianBandit(means, variances, correlation=[[1.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 1.0]])


SCORES = np.array([[1.0, 0.0, 7.5], [2.0, 1.0, 7.5], [2.0, 0.0, 7.5], [5.25, 0.0, 7.5]])


def paired_with_replacement() -> PairedFiniteBandit:
    return PairedFiniteBandit(SCORES, np.array([[0, 1, 2], [1, 2, 0]]), replace=True)


KINDS = [gaussian, bernoulli, empirical, poisson, linear, logistic, probit, log_linear, with_prior]
KINDS += [paired_gaussian, paired_with_replacement]


@pytest.fixture(params=KINDS, ids=lambda make: make.__name__)
def make_bandit(request: pytest.FixtureRequest) -> Callable[[], Bandit]:
    """A function that makes a bandit of two instances of three arms, some of them without variance."""
    return request.param
