"""Intervals that hold at all times: ends where the evidence suffices, kinds of rewards, and watched streams."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.tools.mixtures import log_bounded, log_student
from bai_gym.live.estimates import Estimates, Pull
from bai_gym.rewards import BINARY, COUNTS, REAL, Rewards


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
    for low, width in ((0.0, 1.0), (0.0, 100.0), (-3.0, 0.5)):
        rewards = Rewards.of(f"bounded({low}, {low + width})")
        for share in (0.0, 1e-300, 1e-12, 0.09, 0.5, 0.905, 0.91, 0.92, 1.0 - 1e-12, 1.0 - 2.0**-53, 1.0):
            value = min(low + width * share, low + width)
            for pulls in (1, 2, 3, 1000):
                for arms in (2, 20, 200):
                    log = [Pull(0, value)] * pulls
                    lower, upper = Estimates.of(log, arms, rewards=rewards).lasting[0]
                    slack = 1e-12 * width
                    assert low - slack <= lower <= value + slack, (rewards, share, pulls)
                    assert value - slack <= upper <= low + width + slack, (rewards, share, pulls)
                    assert pulls < 1000 or upper - lower < 0.3 * width, (rewards, share)


def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("lasting", Path(__file__).parents[2] / "benchmarks" / "lasting.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_limits_of_the_simulation_are_those_of_the_intervals() -> None:
    module, rng, inside = benchmark(), np.random.default_rng(2), 0
    for name, (kind, mean) in module.REWARDS.items():
        if kind == module.NORMAL:  # agents alone use it
            continue
        rewards = REAL if kind == module.UNKNOWN else BINARY if kind == module.BINARY else Rewards.of("bounded(0, 1)")
        ends = module.limits(kind, mean, 60, math.log(4 / 0.05))
        for _ in range(150):
            n = int(rng.integers(1, 61))
            if kind == module.UNKNOWN:
                values = rng.normal(2.0 * rng.random(), 1.0, n)
            else:
                values = np.where(rng.random(n) < rng.random(), 1.0, 0.0)
                values[: n // 4] = values[: n // 4] if kind == module.BINARY else rng.random(n // 4)
            lower, upper = Estimates.of([Pull(0, float(value)) for value in values], 4, rewards=rewards).lasting[0]
            missed = module.is_out(kind, n, values.sum(), (values**2).sum(), ends, mean, math.log(80))
            assert missed == (mean < lower or upper < mean), (name, values)
            inside += not missed
    assert 150 < inside < 450


@pytest.mark.each(
    ("name", "arms", "runs"), [("Gaussian, unknown variances", 20, 400), ("Bernoulli, mean 0.5", 20, 400)]
)
def test_intervals_of_all_arms_rarely_miss_at_any_time_also_that_of_the_chosen_one(
    name: str, arms: int, runs: int
) -> None:
    joint, single = benchmark().misses(name, arms, 300, runs, np.random.default_rng(5))
    assert joint.max() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert single.max() > 0.25  # of intervals that hold for each arm alone, at level 95 %


@pytest.mark.slow
def test_intervals_of_all_arms_at_full_size() -> None:
    module = benchmark()
    for name in module.REWARDS:
        for arms in module.ARMS:
            joint, _ = module.misses(name, arms, 1000, 2000, np.random.default_rng(arms))
            assert joint.max() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000), (name, arms)


def test_whoever_watches_rarely_sees_a_lasting_interval_miss() -> None:
    rng, missed, fixed, streams = np.random.default_rng(1), 0, 0, 150
    for _ in range(streams):
        log = [Pull(0, float(value)) for value in rng.random(300) < 0.2]
        looks = [Estimates.of(log[:end], 2, rewards=BINARY) for end in range(5, 301, 10)]
        missed += any(not look.lasting[0, 0] <= 0.2 <= look.lasting[0, 1] for look in looks)
        fixed += any(not look.intervals[0, 0] <= 0.2 <= look.intervals[0, 1] for look in looks)
    assert missed <= 15 < fixed  # at most 5 % are expected of one kind, and about 20 % of the other
