"""XY-adaptive: two phases by hand, and its estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.bandits import linear_bandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo


def sphere(num_arms: int, dimension: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((num_arms, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def test_two_phases_of_two_unit_vectors(trace: Callable[..., Any]) -> None:
    # After m pulls of each arm rho / n = 1 / (m + 1)^2, which 1 / 70 ends: (1/9 + 1/8) / 17 < 1/70 < 1/64. The gap of
    # 1.65 exceeds sqrt(2 (1/8 + 1/7) log(40 pi^2 / 3)) = 1.617, but 8/9 of it not sqrt(2 (1/9 + 1/8) ...) = 1.518. The
    # next phase ends below (1/9 + 1/8) / 170, at 1/27^2.
    rewards = np.repeat([[1.65], [0.0]], 100, axis=1)
    for estimate, expected in (("least-squares", [8, 7]), ("ridge", [8 + 26, 7 + 26])):
        agent = agents.make("XY-adaptive", sigma=1.0, tie="first", estimate=estimate)
        played = trace(agent, rewards, 200, features=np.eye(2), fixed_confidence=True)
        assert (played.counts(2), played.recommendation) == (expected, 0), estimate


def play(x: Any, theta: Any, runs: int, cap: int, **given: Any) -> Any:
    agent = agents.make("XY-adaptive", **given)
    bandit = linear_bandit(x, theta).select(np.zeros(runs, np.int64))
    info = ProblemInfo(bandit.num_arms, cap, runs, truth=bandit, knows=agent.knows, fixed_confidence=True)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, bandit, cap, np.random.default_rng(1))


def test_the_cap_ends_a_phase_and_equal_arms_count_as_one() -> None:
    for cap in (4, 37, 300):
        rollout = play(sphere(4, 3, 0), [1.0, 0.0, 0.0], 20, cap, delta=1e-6)
        assert (rollout.pulls.sum(axis=1) == cap).all(), cap
    rollout = play([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [3.0, 0.0], 20, 10_000)
    assert rollout.pulls.sum(axis=1).max() < 10_000 and (rollout.recommendation < 2).all()


def test_tables_say_that_the_published_estimate_is_not_proved() -> None:
    assert agents.make("XY-adaptive").notes == ()
    assert "biased" in agents.make("XY-adaptive", estimate="ridge").notes[0]
