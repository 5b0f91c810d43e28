"""Peace-rho against cases worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.linear import linear_bandit
from bai_gym.problems import ProblemInfo


def reset(agent: Any, truth: Any, budget: int, seed: int = 0) -> Any:
    agent.reset(ProblemInfo(truth.num_arms, budget, truth.batch, truth=truth), np.random.default_rng(seed))
    return agent


def test_unit_vectors_by_hand(trace: Callable[..., Any]) -> None:
    # rho of k unit vectors is 2 k. Four of them: 8, so 3 rounds, of 5, 5 and 6 pulls. First: one each, and one more.
    # The two best have rho 4 = 8 / 2, and share the next 5 pulls.
    # One alone has rho 0 <= 4 / 2: all further pulls are for that one, whose later rewards cannot harm it any more.
    rewards = [[1.0, 0.0], [3.0, 3.0, 2.0, 3.0, -9.0], [2.0], [0.0]]
    assert agents.make("Peace-rho").minimum_budget(4) == 16
    played = trace(agents.make("Peace-rho", tie="first"), rewards, 16, features=np.eye(4))
    assert sorted(played.arms[:5]) == [0, 0, 1, 2, 3]
    assert sorted(played.arms[5:10]) in ([1, 1, 1, 2, 2], [1, 1, 2, 2, 2])
    assert played.arms[10:] == [1] * 6
    assert played.recommendation == 1


def test_the_rounds_follow_rho() -> None:
    # Two arms at distance s: rho = s^2-fold of the smallest weight sum, (sum |w|)^2 with x - x' = sum w x.
    truth = linear_bandit([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0], noise_variance=1e-6)
    agent = reset(agents.make("Peace-rho"), truth, 100)
    assert agent.rounds_of.tolist() == [2]  # rho = 4
    near = linear_bandit([[1.0, 0.0], [1.0, 0.2]], [1.0, 0.0])
    assert reset(agents.make("Peace-rho"), near, 100).rounds_of.tolist() == [2]  # w = (1, -1) still
    between = linear_bandit([[1.0, 0.0], [0.5, 0.0]], [1.0, 0.0])
    assert reset(agents.make("Peace-rho"), between, 100).rounds_of.tolist() == [1]  # half of the first arm: 1/4
