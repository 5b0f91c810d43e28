"""Intervals at all times: the arm of largest upper end, by all ends, and ties by the stated rule; ends and insides."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from bai_gym.agents.fixed_confidence.intervals import IntervalState, arm_of_largest_upper_end, excess, upper_end
from bai_gym.agents.fixed_confidence.stopping import NAMES
from bai_gym.agents.tools.posteriors import BERNOULLI, GAUSSIAN
from bai_gym.theory import bernoulli_kl

Play = Callable[..., Any]


def state(family: int, threshold: str, variances: Any) -> Any:
    return IntervalState.of(family=family, threshold=NAMES.index(threshold), level=math.log(10), variances=variances)


@pytest.mark.each("threshold", ["mixture", "union", "gk16"])
@pytest.mark.each("family", [GAUSSIAN, BERNOULLI])
def test_the_arm_of_largest_upper_end(episode: Play, family: int, threshold: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        e = episode(rng.integers(1, 50, 6), rng.random(6))
        s, w = state(family, threshold, rng.random(6) + 0.1)
        ends = [upper_end(e, s, w, arm) for arm in range(6)]
        for arm, end in enumerate(ends):
            assert abs(excess(e, s, w, arm, end)) < 1e-6 or end > 1.0 - 1e-5, arm
            assert excess(e, s, w, arm, 0.5 * (end + e.mean[arm])) < 0.0 < excess(e, s, w, arm, end + 0.05), arm
        ends[2] = -np.inf
        assert arm_of_largest_upper_end(e, s, w, 2, rng) == (np.argmax(ends), max(ends))


def test_arms_of_equal_means_and_pulls_are_tied(episode: Play) -> None:
    for threshold in ("mixture", "union"):
        rng, (s, w) = np.random.default_rng(0), state(BERNOULLI, threshold, np.zeros(5))
        e = episode([4, 4, 9, 4, 4], [0.75, 0.5, 0.5, 0.75, 0.75])
        assert arm_of_largest_upper_end(e, s, w, 3, rng)[0] == 0
        found = [arm_of_largest_upper_end(e._replace(tie=0), s, w, 1, rng)[0] for _ in range(3000)]
        counts = np.bincount(found, minlength=5)
        assert counts[[1, 2]].sum() == 0 and chisquare(counts[[0, 3, 4]]).pvalue > 0.001, threshold


def test_ends_are_at_the_rate(episode: Play) -> None:
    heuristic = state(GAUSSIAN, "gk16", np.ones(2))
    for mean in (0.0, 0.3):
        for pulls in (20, 5000):
            end = upper_end(episode([pulls], [mean]), *state(BERNOULLI, "union", np.zeros(1)), 0)
            rate = math.log(40.0 * pulls**2)
            assert mean < end < 1 and pulls * bernoulli_kl(mean, end) == pytest.approx(rate, rel=1e-6)
    assert upper_end(episode([3], [1.0]), *state(BERNOULLI, "union", np.zeros(1)), 0) == 1.0
    for others in (4, 400):  # which the heuristic counts too
        level = math.log(10.0) + math.log(1.0 + math.log(4.0 + others))
        end = upper_end(episode([4, others], [0.5, 0.5]), *heuristic, 0)
        assert end == pytest.approx(0.5 + math.sqrt(2.0 * level / 4.0))
    # By hand, one 0 with one arm: E(x) = 0.95 + 0.05 / (2 (1 - x)). The interval of level log 10 ends where it is 10.
    end = upper_end(episode([1], [0.0]), *state(BERNOULLI, "mixture", np.zeros(1)), 0)
    assert end == pytest.approx(1.0 - 0.025 / 9.05, abs=1e-9)
