"""The arm of largest upper bound: the same as by all bounds, with ties by the stated rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from bai_gym.agents.tools.divergences import arm_of_largest_bound, upper_bound
from bai_gym.agents.tools.posteriors import BERNOULLI, GAUSSIAN, RewardFamily


@pytest.mark.each("family", [GAUSSIAN, BERNOULLI])
def test_the_arm_of_largest_bound(episode: Callable[..., Any], family: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        e = episode(rng.integers(1, 50, 6), rng.random(6))
        s = RewardFamily.of(family=family, variances=rng.random(6) + 0.1)
        rates = rng.random(6) * 5 + 1
        bounds = [upper_bound(e, s, arm, rates[arm]) for arm in range(6)]
        bounds[2] = -np.inf
        assert arm_of_largest_bound(e, s, rates, 2, rng) == (np.argmax(bounds), max(bounds))


def test_arms_of_equal_means_and_pulls_are_tied(episode: Callable[..., Any]) -> None:
    rng, s = np.random.default_rng(0), RewardFamily.of(family=BERNOULLI, variances=np.zeros(5))
    e, rates = episode([4, 4, 9, 4, 4], [0.75, 0.5, 0.5, 0.75, 0.75]), np.full(5, 3.0)
    assert arm_of_largest_bound(e, s, rates, 3, rng)[0] == 0
    found = [arm_of_largest_bound(e._replace(tie=0), s, rates, 1, rng)[0] for _ in range(3000)]
    counts = np.bincount(found, minlength=5)
    assert counts[[1, 2]].sum() == 0 and chisquare(counts[[0, 3, 4]]).pvalue > 0.001
