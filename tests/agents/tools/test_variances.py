"""Estimates of variances by hand, compiled rules and arrays alike, and that equal first rewards make no arm certain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import OCBA
from bai_gym.agents.tools.variances import ESTIMATES, VarianceState, estimated_variance, estimated_variances, pool
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.statistics import Statistics

PULLS, MEANS, VARIANCES = [2, 4, 3], [0.0, 0.5, 1.0], [0.0, 1.0 / 3.0, 0.0]


@pytest.mark.each(
    ("estimate", "expected"),
    [
        ("jeffreys", [5 / 36, 1 / 4, 7 / 64]),  # p = 1/6, 1/2, 7/8
        ("floor", [1 / 18, 1 / 3, 1 / 27]),  # the average variance is 1/9
        ("sample", VARIANCES),
    ],
)
def test_estimates_by_hand(estimate: str, expected: list[float], episode: Callable[..., Any]) -> None:
    (s, _), e = VarianceState.of(estimate=ESTIMATES.index(estimate)), episode(PULLS, MEANS, VARIANCES)
    pool(e, s)
    found = [estimated_variance(*arm, s) for arm in zip(PULLS, MEANS, VARIANCES, strict=True)]
    np.testing.assert_allclose(found, expected)
    seen = Statistics(*(np.array([row]) for row in (PULLS, MEANS, VARIANCES)))
    np.testing.assert_allclose(estimated_variances(seen, ESTIMATES.index(estimate)), [expected])


def test_an_allocation_for_normal_rewards_is_noted_where_they_are_not() -> None:
    for bandit, notes in ((GaussianBandit([0.5, 0.4]), 0), (BernoulliBandit([0.5, 0.4]), 1)):
        assert len(OCBA().unmet_assumptions(bandit)) == notes
