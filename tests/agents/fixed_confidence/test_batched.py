"""Tri-BBAI: batches by hand, errors, numbers of batches, and what the authors' constants do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.bandits import BernoulliBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.theory import characteristic_time, optimal_weights

Play = Callable[..., Any]
RUNS = 300


def play(agent: Any, bandit: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the recommendations and the pulls of all arms."""
    batch = bandit.select(np.zeros(RUNS, np.int64)) if bandit.means.shape[0] == 1 else bandit
    agent.reset(ProblemInfo(bandit.num_arms, 200_000, RUNS, fixed_confidence=True), np.random.default_rng(1))
    rollout = play_blocks(agent, batch, 200_000, np.random.default_rng(2))
    return rollout.recommendation.reshape(RUNS), rollout.pulls


def test_the_batches_of_the_authors_runs_by_hand(trace: Play) -> None:
    # delta = 0.01, K = 2: l = 4.605, L1 = ceil(2 * 0.6931 * 2.146) = 3, L2 = ceil(40 * 4.605 * 1.527) = 282, L3 = 22.
    # Means 1 and 0 with sigma = 1/2 become 0.99 and 0.01: T* = 8 sigma^2 / 0.98^2 = 2.0825 and w* = 1/2, so that batch
    # q has ceil(1.001 * 2^q * 0.5 * 2.0825 * 4.605) pulls of each arm: 10 and 20. Then the evidence is
    # 33^2 / (33 + 33) / 2 / 0.25 = 33, and it stops.
    parameters = {"constants": "paper-runs", "delta": 0.01, "sigma": 0.5, "tie": "first", "family": "gaussian"}
    played = trace(agents.make("Tri-BBAI", **parameters), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert played.arms == [0, 1] * (3 + 10 + 20)  # the arm with the most pulls left, and tie="first"


def test_a_last_batch_of_the_authors_runs_answers_without_evidence(trace: Play) -> None:
    # T* = 8 / 0.08^2 is large: both batches have L2 pulls of each arm, and L3 < L1 + 2 L2 adds none.
    parameters = {"constants": "paper-runs", "delta": 0.01, "sigma": 1.0, "tie": "first", "family": "gaussian"}
    agent = agents.make("Tri-BBAI", **parameters)
    played = trace(agent, [[0.1], [0.0]], 5000, fixed_confidence=True)
    assert len(played.arms) == 2 * (3 + 2 * 282) and played.recommendation == 0
    # As proved it goes on.
    agent = agents.make("Tri-BBAI", **{**parameters, "constants": "proved"})
    assert len(trace(agent, [[0.1], [0.0]], 1200, fixed_confidence=True).arms) > 2 * (3 + 2 * 282)


def test_batches_are_counted() -> None:
    """For a small delta two batches or three suffice; pulls are near the optimum, and in its proportions."""
    means, delta = np.array([0.6, 0.4, 0.3, 0.3]), 1e-12
    agent = agents.make("Tri-BBAI", delta=delta, family="bernoulli")
    found, pulls = play(agent, BernoulliBandit(means))
    assert agent.batches.shape == (RUNS,) and agent.batches.min() >= 2 and agent.batches.mean() < 3.0
    assert (found == 0).all()
    least = float(characteristic_time(means)) * np.log(1 / delta)
    assert least < pulls.sum(1).mean() < 4.0 * least
    share = pulls.mean(0) / pulls.mean(0).sum()
    assert np.abs(share - optimal_weights(means)).max() < 0.1


def test_the_authors_constants_need_a_delta_below_1_e() -> None:
    agent = agents.make("Tri-BBAI", constants="paper-runs", delta=0.4)
    with pytest.raises(ParameterError, match="delta below 1/e"):
        agent.reset(ProblemInfo(4, 500))
