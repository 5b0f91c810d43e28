"""XY-adaptive: two phases by hand, against a plain transcription of its pseudo-code, and its estimates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.linear import linear_bandit
from bai_gym.problems import ProblemInfo


def whitened(x: np.ndarray) -> np.ndarray:
    """Coordinates with sum u u^T = K / r I, of features of full rank."""
    return np.asarray(np.linalg.svd(x, full_matrices=False)[0] * math.sqrt(len(x) / x.shape[1]))


def sphere(num_arms: int, dimension: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((num_arms, dimension))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def plain(features: np.ndarray, rewards: np.ndarray, alpha: float, ridge: float, delta: float) -> tuple[list[int], int]:
    """The pseudo-code with sigma = 1: the pulls, and the recommendation; rewards are those of each arm, in turn."""
    x, made, pulled = whitened(features), np.zeros(len(features), np.int64), []
    k, d = x.shape
    active, size_past, rho_past, rho, phase = list(range(k)), d * (d + 1) + 1, 1.0, 1.0, 1
    while len(active) > 1:
        v, b, size, before = np.eye(d), np.zeros(d), d, made.copy()
        pairs = np.array([x[i] - x[j] for i in active for j in active if i > j])
        while rho / size >= alpha * rho_past / size_past:
            solved = np.linalg.solve(v, x.T)
            seen = (pairs @ solved) ** 2 / (1.0 + (x.T * solved).sum(axis=0))
            largest = ((pairs @ np.linalg.inv(v) * pairs).sum(axis=1)[:, None] - seen).max(axis=0)
            helpful = np.flatnonzero(largest <= largest.min() * (1.0 + 1e-9))  # equally so, up to rounding
            arm = int(helpful[(made - before)[helpful].argmin()])
            rho = largest[arm]
            v, b, size = v + np.outer(x[arm], x[arm]), b + x[arm] * rewards[arm, made[arm]], size + 1
            made[arm] += 1
            pulled.append(arm)
        size_past, rho_past = size, rho
        # Few arms may span the differences that are left, and not the space: least squares then has no inverse.
        inverse = np.linalg.pinv(v - (1.0 - ridge) * np.eye(d), rcond=1e-9, hermitian=True)
        spanned = np.abs(pairs @ inverse @ (v - (1.0 - ridge) * np.eye(d)) - pairs).max() < 1e-6
        level, dropped = math.log(2 * math.pi**2 * k**2 * phase**2 / (6 * delta)), []
        for i in active:
            for j in active:
                y = x[j] - x[i]
                if i != j and spanned and math.sqrt(2 * y @ inverse @ y * level) <= y @ inverse @ b:
                    dropped.append(i)
        active = [arm for arm in active if arm not in dropped]
        phase += 1
    return pulled, active[0]


def test_it_pulls_and_recommends_as_its_pseudo_code(trace: Callable[..., Any]) -> None:
    cases = [(5, 2, 0.1, 0.1), (6, 3, 0.1, 0.05), (8, 3, 0.3, 0.1), (6, 4, 0.2, 0.01), (7, 6, 0.1, 0.1)]
    for case, (k, d, alpha, delta) in enumerate(cases):
        rng = np.random.default_rng(case)
        x = sphere(k, d, case) * rng.uniform(0.5, 2.0, (k, 1))
        theta = x[0] / (x[0] @ x[0])
        rewards = 4.0 * (x @ theta)[:, None] + rng.standard_normal((k, 20_000))
        for estimate, ridge in (("least-squares", 0.0), ("ridge", 1.0)):
            pulled, recommended = plain(x, rewards, alpha, ridge, delta)
            agent = agents.make("XY-adaptive", alpha=alpha, delta=delta, estimate=estimate, sigma=1.0, tie="first")
            played = trace(agent, rewards, 20_000, features=x, fixed_confidence=True)
            assert played.arms == pulled, (case, estimate)
            assert played.recommendation == recommended, (case, estimate)


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
