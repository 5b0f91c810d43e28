"""Bandits of every kind, for the tests that all of them must pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bai_gym.bandits import Bandit, BernoulliBandit, EmpiricalBandit, GaussianBandit, SampleTable


def gaussian() -> GaussianBandit:
    return GaussianBandit([[0.0, 5.0, -1.0], [2.0, 0.5, 1.0]], [[1.0, 0.25, 4.0], [0.5, 0.0, 9.0]])


def bernoulli() -> BernoulliBandit:
    return BernoulliBandit([[0.5, 0.9, 0.05], [0.3, 1.0, 0.0]])


def empirical() -> EmpiricalBandit:
    rewards = np.array([1.0, 2.0, 2.0, 5.0, 7.5, 7.5, 0.0, 1.0, 100.0], np.float32)
    table = SampleTable.of(rewards, np.array([0, 4, 6, 8, 9]))  # arms 1 2 2 5, 7.5 7.5, 0 1, 100
    return EmpiricalBandit(table, np.array([[0, 1, 2], [2, 3, 0]]))


@pytest.fixture(params=[gaussian, bernoulli, empirical], ids=lambda make: make.__name__)
def make_bandit(request: pytest.FixtureRequest) -> Callable[[], Bandit]:
    """A function that makes a bandit of two instances of three arms, some of them without variance."""
    return request.param
