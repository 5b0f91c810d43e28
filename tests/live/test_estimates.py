"""Intervals that hold at all times: ends where the evidence suffices, kinds of rewards, and watched streams."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bai_gym.agents.tools.mixtures import log_bounded, log_student
from bai_gym.live.estimates import Estimates, Pull
from bai_gym.rewards import BINARY, COUNTS, REAL, Rewards
from bai_gym.statistics import Statistics


def test_a_single_reward_joins_earlier_ones() -> None:
    # 3 rewards of mean 0 and variance 1, and a 4: squares 2 + 3 + 9 around the mean 1.
    earlier = Statistics(np.array([[3, 0]]), np.zeros((1, 2)), np.array([[1.0, 0.0]]))
    found = Estimates.of([Pull(0, 4.0)], 2, earlier)
    assert found.means[0] == 1.0 and found.standard_errors[0] == pytest.approx(math.sqrt(14 / 3 / 4))


def test_ends_are_where_the_evidence_is_twenty_to_one_for_each_arm() -> None:
    ones = [1.0] * 12 + [0.0] * 28
    for rewards, shift, width in ((BINARY, 0.0, 1.0), (Rewards.of("bounded(-2, 3)"), -2.0, 5.0)):
        log = [Pull(0, shift + width * value) for value in ones] + [Pull(1, shift)] * 3
        low, high = (Estimates.of(log, 3, rewards=rewards).lasting[0] - shift) / width
        for end in (low, high):
            assert log_bounded(40.0, 12.0, end) == pytest.approx(math.log(3 * 20.0), abs=1e-6), rewards
        assert low < 0.3 < high
    assert np.isnan(Estimates.of(log, 3, rewards=rewards).lasting[2]).all()
    values = np.random.default_rng(0).normal(5.0, 2.0, 60)
    lasting = Estimates.of([Pull(0, value) for value in values], 2, rewards=REAL).lasting
    u = (lasting[0] - values.mean()) ** 2 / values.var()
    evidence = log_student(np.full(2, 60.0), u)
    assert (evidence >= math.log(40.0)).all() and evidence.tolist() == pytest.approx([math.log(40.0)] * 2, abs=0.2)
    few = [Pull(0, 1.0), Pull(0, 2.0), Pull(1, 4.0), Pull(1, 4.0)]  # too few, or equal: nothing can be said
    assert np.isnan(Estimates.of(few, 2, rewards=REAL).lasting).all()
    assert np.isnan(Estimates.of(few, 2, rewards=COUNTS).lasting).all()


def test_constant_rewards_at_and_near_the_bounds_have_intervals() -> None:
    shares = (0.0, 1e-300, 1e-12, 0.09, 0.905, 0.92, 1.0 - 2.0**-53, 1.0)
    for (low, width), share, pulls, arms in itertools.product(
        ((0.0, 100.0), (-3.0, 0.5)), shares, (1, 3, 1000), (2, 200)
    ):
        value, slack = min(low + width * share, low + width), 1e-12 * width
        rewards = Rewards.of(f"bounded({low}, {low + width})")
        lower, upper = Estimates.of([Pull(0, value)] * pulls, arms, rewards=rewards).lasting[0]
        case = rewards, share, pulls, arms
        assert low - slack <= lower <= value + slack and value - slack <= upper <= low + width + slack, case
        assert pulls < 1000 or upper - lower < 0.3 * width, case


def test_whoever_watches_rarely_sees_a_lasting_interval_miss() -> None:
    rng, missed, fixed = np.random.default_rng(1), 0, 0
    for _ in range(100):
        log = [Pull(0, float(value)) for value in rng.random(300) < 0.2]
        looks = [Estimates.of(log[:end], 2, rewards=BINARY) for end in range(5, 301, 15)]
        missed += any(not look.lasting[0, 0] <= 0.2 <= look.lasting[0, 1] for look in looks)
        fixed += any(not look.intervals[0, 0] <= 0.2 <= look.intervals[0, 1] for look in looks)
    assert missed <= 8 < fixed  # at most 2.5 % are expected of one kind, and about 20 % of the other
