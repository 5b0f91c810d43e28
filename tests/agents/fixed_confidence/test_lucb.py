"""LUCB: rounds by hand, whole episodes against its rules, and when it stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.fixed_confidence.lucb import LUCB, exploration
from bai_gym.agents.tools.widths import hoeffding
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm, Task, TopM

Play = Callable[..., Any]


def radius_of(agent: LUCB, pulls: Any, t: int) -> Any:
    level = exploration(agent.num_arms, float(t), agent.delta)
    return np.array([hoeffding(level, agent.b, 2.0 * count) for count in pulls])


def test_widths_by_hand() -> None:
    agent = LUCB(delta=0.2, b=3.0)
    agent.reset(ProblemInfo(4, 100))
    # Round 2: log((5/4) 4 x 16 / 0.2) = log 400.
    expected = [3 * math.sqrt(math.log(400) / divisor) for divisor in (2, 4, 100)]
    np.testing.assert_allclose(radius_of(agent, [1, 2, 50], 2), expected, rtol=1e-14)


@pytest.mark.each(
    ("epsilon", "rounds"),
    # With t pulls of each arm in round t, it stops when 2 sqrt(log(25 t^4) / (2 t)) < 1 + epsilon.
    # epsilon = 0: log(25 t^4) < t / 2: 17.324 and 17 at t = 34; 17.440 and 17.5 at t = 35.
    # epsilon = 1/2: log(25 t^4) < (9/8) t: 12.810 and 12.375 at t = 11; 13.159 and 13.5 at t = 12.
    [(0.0, 35), (0.5, 12)],
)
def test_two_arms_by_hand(trace: Play, epsilon: float, rounds: int) -> None:
    for rewards, best in (([[1.0], [0.0]], 0), ([[0.0], [1.0]], 1)):
        played = trace(
            LUCB(threshold="paper", tie="first"), rewards, 1000, fixed_confidence=True, task=BestArm(epsilon)
        )
        assert played.arms[2:] == [best, 1 - best] * (rounds - 1)
        assert played.recommendation == best


def test_two_arms_with_mixtures_by_hand(trace: Play) -> None:
    # It stops when 4 (1 + 20 / t) (log 20 + log(1 + t / 20) / 2) / (2 t) < 1: 7.64 and 7.5 at t = 15, 7.40 and 8 at 16.
    played = trace(LUCB(tie="first"), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert played.arms[2:] == [0, 1] * 15 and played.recommendation == 0


def test_a_set_by_hand(trace: Play) -> None:
    # J = {0, 1}, the challenger is arm 2. In round 1 widths are equal, and arm 1 has the smaller lower bound; in round
    # 2 they are 1.79 for the one pull of arm 0 and 1.26 for the two of arm 1: -0.79 and -0.36. And so on, in turn.
    played = trace(
        LUCB(threshold="paper", tie="first"), [[1.0], [0.9], [0.0]], 2000, fixed_confidence=True, task=TopM(2)
    )
    assert played.arms[:11] == [0, 1, 2, 1, 2, 0, 2, 1, 2, 0, 2]
    assert played.recommendation == [1, 1, 0]


@pytest.mark.each(
    ("rewards", "task", "budget", "arms"),
    [
        # Of the last pair, (0, 2), the wider: arm 0 with its one pull.
        ([[1.0], [0.9], [0.0]], TopM(2), 6, [0, 1, 2, 1, 2, 0]),
        # Round 1: 0 and 1. Then the challenger is arm 2, whose U, 1.79, exceeds 0.5 + 1.26; it is wider than arm 0.
        ([[1.0], [0.5], [0.0]], BestArm(), 6, [0, 1, 2, 0, 1, 2]),
        # Equally wide: the lower.
        ([[0.0], [1.0]], BestArm(), 5, [0, 1, 1, 0, 0]),
        ([[0.0], [1.0]], BestArm(), 3, [0, 1, 0]),
        ([[0.0], [1.0]], BestArm(), 2, [0, 1]),
    ],
)
def test_an_odd_last_pull_goes_to_the_wider_arm(
    trace: Play, rewards: Any, task: Task, budget: int, arms: list[int]
) -> None:
    for fixed_confidence in (False, True):
        played = trace(
            LUCB(threshold="paper", tie="first"), rewards, budget, task=task, fixed_confidence=fixed_confidence
        )
        assert (played.arms, played.idle) == (arms, [])
        best = np.argsort([-arm[0] for arm in rewards])
        expected = (
            int(best[0]) if isinstance(task, BestArm) else [int(k in best[: task.m]) for k in range(len(rewards))]
        )
        assert played.recommendation == expected


def test_each_episode_of_a_batch_stops_for_itself() -> None:
    bandit = GaussianBandit(np.tile([0.1, 0.9, 0.4, 1.3], (40, 1)), 0.02)
    task, agent = TopM(2, 0.1), LUCB(b=0.3, threshold="paper")
    info = ProblemInfo(4, 20_000, 40, task=task, fixed_confidence=True)
    agent.reset(info, np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 20_000, np.random.default_rng(1), task)
    spent = rollout.pulls.sum(axis=1)
    assert len(set(spent.tolist())) > 10 and (spent % 2 == 0).all()
    for pulls, mean, chosen, total in zip(
        rollout.pulls, rollout.statistics.means, rollout.recommendation, spent, strict=True
    ):
        # Round t begins with K + 2 (t - 1) pulls; at the last the intervals were apart.
        widths = radius_of(agent, pulls, (int(total) - 4) // 2 + 1)
        assert chosen.tolist() == (mean >= np.sort(mean)[-2]).tolist()
        apart = np.max((mean + widths)[chosen == 0]) - np.min((mean - widths)[chosen == 1])
        assert apart < 0.1
