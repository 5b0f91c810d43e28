"""PairedRace: tests by hand and in plain Python, evidence of coins, and errors of at most delta."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import PairedRace
from bai_gym.agents.paired.race import log_evidence
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError
from bai_gym.paired import PairedGaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY, UNIT

Play = Callable[..., Any]


def width(sample: Any, look: int, others: int, delta: float) -> float:
    """The width of a test of differences in [-1, 1], in plain Python."""
    t, d = len(sample), 6.0 * delta / (math.pi**2 * others * look**2)
    rate = math.log(2.0 / d)
    return math.sqrt(2.0 * np.var(sample, ddof=1) * rate / t) + 14.0 * rate / (3.0 * (t - 1))


def ratio(sample: Any) -> float:
    """The mixture over the effect size, normal of variance 1/10 or 1, of the likelihood ratio to a mean of 0."""
    t, u, mixed = len(sample), np.mean(sample) ** 2 / np.var(sample), 0.0
    for weight, rho in ((0.95, 10.0), (0.05, 1.0)):
        kappa = rho / (t + rho)
        mixed += weight * math.sqrt(kappa) * ((1.0 + u) / (1.0 + kappa * u)) ** (t / 2.0)
    return float(mixed)


def evidence(a: int, b: int) -> float:
    """2^n B(a + 1, b + 1) P(Bin(n, 1/2) <= a) with n = a + b + 1, in whole numbers."""
    n = a + b + 1
    return sum(math.comb(n, k) for k in range(a + 1)) / (n * math.comb(a + b, a))


def plain_race(X: Any, kind: str, budget: int, delta: float, first: int) -> tuple[list[int], set[int]]:
    """Pulls of each arm and the arms that remain, item by item; only whole rounds are played."""
    K = X.shape[1]
    active, pulls = set(range(K)), [0] * K
    for t in range(1, len(X) + 1):
        if len(active) == 1 or sum(pulls) + len(active) > budget:
            break
        for i in active:
            pulls[i] += 1
        dropped = set()
        for i in active:
            for j in active - {i}:
                difference = X[:t, j] - X[:t, i]
                if kind == "binary":
                    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
                    lost = evidence(wins, losses) >= (K - 1) / delta
                elif kind == "gaussian":
                    lost = t > 1 and difference.mean() > 0.0 and ratio(difference) >= (K - 1) / delta
                elif t < first:
                    lost = False
                else:
                    lost = difference.mean() > width(difference, t - first + 1, K - 1, delta)
                if lost:
                    dropped.add(i)
        active -= dropped
    return pulls, active


@pytest.mark.each("kind", ["gaussian", "binary", "bounded"])
def test_races_are_those_of_plain_python(both: Play, kind: str) -> None:
    rng = np.random.default_rng(5)
    gaps = [9.0, 0.0, 0.0, -9.0] if kind == "bounded" else [1.0, 0.4, 0.2, 0.0]
    X = rng.normal(size=(6, 360, 4)) + 2.0 * rng.normal(size=(6, 360, 1)) + gaps
    if kind != "gaussian":
        X = 1.0 / (1.0 + np.exp(-X))
    if kind == "binary":
        X = np.round(X)
    known = {"gaussian": {}, "binary": {"kind": BINARY}, "bounded": {"kind": UNIT}}[kind]
    agent, budget = PairedRace(delta=0.2, first_items=5, tie="first"), 700
    played = both(agent, X, budget, **known)
    lengths = set()
    for number, x in enumerate(X):
        pulls, active = plain_race(x, kind, budget, 0.2, 5)
        lengths.add(sum(pulls))
        if len(active) == 1:
            assert played.pulls[number].tolist() == pulls, number
            assert {int(played.recommendation[number])} == active, number
        else:
            assert played.pulls[number].sum() == budget and int(played.recommendation[number]) in active, number
    assert len(lengths) > 2  # episodes end at different times


def test_a_constant_difference_decides_and_equal_columns_run_to_the_cap(both: Play) -> None:
    noise = np.random.default_rng(1).normal(size=(1, 100, 1)) * 10.0
    # 0.95 (1 + t / 10)^((t - 1) / 2) + 0.05 (1 + t)^((t - 1) / 2) is 9.6 for t = 6, and 30 for t = 7.
    assert both(PairedRace(), noise + [0.0, 0.125], 150).pulls.tolist() == [[7, 7]]
    # In [0, 1] the width 14 x 3.5 / (3 (t - 1)) is below the difference from t = 18 on, and the first test is at 100.
    sure = np.tile([0.0, 1.0], (1, 200, 1))
    assert both(PairedRace(first_items=100), sure, 400, kind=UNIT).pulls.tolist() == [[100, 100]]
    played = both(PairedRace(tie="first"), noise + [0.0, 0.0], 151)
    assert played.pulls.tolist() == [[76, 75]]


def test_rewards_of_another_kind_are_refused(both: Play) -> None:
    with pytest.raises(AgentError, match=r"a reward of 0\.5 is not binary"):
        both(PairedRace(family="binary"), np.full((1, 20, 2), 0.5), 40)


def test_notes_say_what_the_confidence_does_not_cover(script: Play) -> None:
    X = np.zeros((1, 5, 2))
    assert not PairedRace().unmet_assumptions(PairedGaussianBandit([0.0, 1.0], correlation=0.5))
    assert not PairedRace().unmet_assumptions(script(X, BINARY))
    (note,) = PairedRace().unmet_assumptions(script(X, BINARY, num_items=5))
    assert "items drawn independently" in note


def test_evidence_is_a_mean_over_chances_above_one_half() -> None:
    p = np.linspace(0.5, 1.0, 200_001)
    for a, b in [(0, 0), (5, 0), (0, 5), (12, 3), (40, 30)]:
        mean = float(np.mean((2 * p) ** a * (2 * (1 - p)) ** b))
        assert evidence(a, b) == pytest.approx(mean, rel=1e-4), (a, b)
        assert float(log_evidence(np.array(1.0 * a), np.array(1.0 * b))) == pytest.approx(math.log(mean), abs=1e-4)


@pytest.mark.slow
def test_pulls_fall_with_the_correlation_and_errors_stay_below_delta() -> None:
    # Ten arms, a gap of 0.3, variances of 1: 1,470 and 390 pulls on average of 2,000 runs.
    for rho, pulls, slack in [(0.5, 1470, 110), (0.9, 390, 20)]:
        bandit = PairedGaussianBandit([0.3] + [0.0] * 9, 1.0, correlation=rho).select(np.zeros(500, np.int64))
        agent = PairedRace()
        agent.reset(ProblemInfo(10, 40_000, 500, truth=bandit), np.random.default_rng(0))
        played = play_blocks(agent, bandit, 40_000, np.random.default_rng(1))
        assert (played.recommendation != 0).mean() <= 0.1, rho
        assert played.pulls.sum(axis=1).mean() == pytest.approx(pulls, abs=slack), rho
