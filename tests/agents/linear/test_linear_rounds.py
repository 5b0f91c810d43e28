"""RAGE, XY-static and XY-oracle: against plain transcriptions of their pseudo-code, and what they promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.agents.linear.linear_rounds import proved_worse
from bai_gym.bandits import FeatureBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.linear import linear_bandit
from bai_gym.linear.designs import pair_design, round_design
from bai_gym.problems import ProblemInfo


def rounded(weights: np.ndarray, pulls: int) -> np.ndarray:
    even = np.round(weights / weights.max(), 6)
    return np.asarray(round_design(even / even.sum(), pulls))


class Script:
    """Arms whose rewards are always the same, so that pulls by blocks are known; the linear model fits them badly."""

    def __init__(self, means: np.ndarray) -> None:
        self.means, self.made = means, np.zeros(len(means), np.int64)

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """The sums of the next rewards."""
        self.made += counts
        return np.asarray(counts * self.means)


def plain_rage(x: np.ndarray, script: Script, delta: float, drops: str, r0: int) -> int:
    """The pseudo-code of Fiez et al. (2019), with sigma = 1."""
    active, number = list(range(len(x))), 1
    while len(active) > 1:
        design = pair_design(x, x[active])
        level = math.log(2 * len(x) ** 2 * number**2 / delta)
        pulls = math.ceil(8 * 4.0 ** (number - 1) * design.value * (1 + 1 / r0) * level)
        counts = rounded(design.weights, max(pulls, 2 * r0 * np.count_nonzero(design.weights)))
        inverse = np.linalg.inv(x.T @ (counts[:, None] * x))
        theta = inverse @ x.T @ script.sums(counts)
        dropped = []
        for i in active:
            for j in active:
                y = x[j] - x[i]
                needed = math.sqrt(2 * y @ inverse @ y * level) if drops == "variance" else 2.0**-number
                if i != j and needed <= y @ theta:
                    dropped.append(i)
        active = [arm for arm in active if arm not in dropped]
        number += 1
    return active[0]


def plain_static(x: np.ndarray, script: Script, delta: float) -> int:
    """XY-static with sigma = 1: growing rounds by one design, with a test after each."""
    weights = pair_design(x, x).weights
    counts, number = (weights > 0).astype(np.int64), 1
    sums = script.sums(counts)
    while True:
        inverse = np.linalg.inv(x.T @ (counts[:, None] * x))
        theta = inverse @ x.T @ sums
        best = int((x @ theta).argmax())
        level = math.log(2 * number**2 * len(x) ** 2 / delta)
        others = [x[best] - x[j] for j in range(len(x)) if j != best]
        if all(y @ theta > math.sqrt(2 * y @ inverse @ y * level) for y in others):
            return best
        number += 1
        more = rounded(weights, int(counts.sum()) + math.ceil(1.35**number)) - counts
        sums, counts = sums + script.sums(more), counts + more


def soare(dimension: int, angle: float) -> np.ndarray:
    x = np.vstack([np.eye(dimension), np.zeros(dimension)])
    x[-1, :2] = math.cos(angle), math.sin(angle)
    return x


def test_they_pull_and_recommend_as_their_pseudo_code() -> None:
    cases: tuple[tuple[str, dict[str, Any], Callable[..., int]], ...] = (
        ("RAGE", {"delta": 0.05}, lambda x, script: plain_rage(x, script, 0.05, "variance", 10)),
        ("RAGE", {"drops": "gap", "r0": 3}, lambda x, script: plain_rage(x, script, 0.1, "gap", 3)),
        ("XY-static", {"delta": 0.05}, lambda x, script: plain_static(x, script, 0.05)),
    )
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = soare(3, 0.8) if seed == 0 else rng.standard_normal((6, 3))
        size = 0.3 if seed % 2 else 1.0  # small gaps take several rounds, of which each has an estimate of its own
        means = size * (x @ [1.5, 0.0, 0.5] + 0.1 * rng.standard_normal(len(x)))
        for name, given, plain in cases:
            script = Script(means)
            recommended = plain(x, script)
            bandit = FeatureBandit(GaussianBandit(means[None], 0.0), x)
            played = play(name, bandit, 1, 10_000_000, sigma=1.0, tie="first", **given)
            assert played.pulls[0].tolist() == script.made.tolist(), (name, given, seed)
            assert played.recommendation[0] == recommended, (name, given, seed)


def test_arms_are_dropped_as_by_all_pairs() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 40, 300):
        z, values = rng.standard_normal((size, 3)), rng.standard_normal(size)
        gaps = values - values[:, None]
        distances = ((z[:, None] - z) ** 2).sum(axis=2)
        expected = ((gaps > 0) & (gaps >= np.sqrt(0.3 * distances))).any(axis=1)
        np.testing.assert_array_equal(proved_worse(z, values, 0.3), expected)


def play(name: str, bandit: Any, runs: int, cap: int, **given: Any) -> Any:
    agent = agents.make(name, **given)
    many = bandit.select(np.zeros(runs, np.int64))
    info = ProblemInfo(many.num_arms, cap, runs, truth=many, knows=agent.knows, fixed_confidence=True)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, many, cap, np.random.default_rng(1))


def test_the_oracle_by_hand() -> None:
    # Two unit vectors, p pulls of each after round p. It stops when gap^2 exceeds 4 log(2 p^2 2 / 0.1) / p, which is
    # 5.53 at p = 5 and 4.85 at p = 6.
    bandit = FeatureBandit(GaussianBandit([[2.28, 0.0]], 0.0), np.eye(2))  # gap^2 = 5.2
    assert play("XY-oracle", bandit, 1, 1000, sigma=1.0, delta=0.1).pulls.tolist() == [[6, 6]]


def test_the_cap_ends_a_round_and_the_oracle_is_faster() -> None:
    bandit = linear_bandit(soare(4, 0.3), [2.0, 0.0, 0.0, 0.0])
    spent = {name: play(name, bandit, 40, 100_000).pulls.sum(axis=1).mean() for name in ("XY-static", "XY-oracle")}
    assert spent["XY-oracle"] < 0.5 * spent["XY-static"]
    for name in ("RAGE", "XY-static", "XY-oracle"):
        for cap in (5, 37, 300):
            rollout = play(name, bandit, 20, cap, delta=1e-6)
            assert (rollout.pulls.sum(axis=1) == cap).all(), (name, cap)
        two_best = linear_bandit([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [3.0, 0.0])  # with the same features
        rollout = play(name, two_best, 20, 10_000)
        assert rollout.pulls.sum(axis=1).max() < 10_000 and (rollout.recommendation < 2).all(), name
