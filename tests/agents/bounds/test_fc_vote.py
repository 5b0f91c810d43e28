"""FCVote: scales and votes by hand, and runs that see their own pulls only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.agents import FCVote
from bai_gym.agents.bounds.fc_vote import scales
from bai_gym.agents.registry import make
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_scales_by_hand() -> None:
    assert scales(100, 20) == [(20, 5)]
    assert FCVote().minimum_budget(7) == 14  # twice what LUCB needs
    # log2(10000 / 80) = 6.97: six scales of 1,666 pulls each.
    assert scales(10_000, 20) == [(20, 83), (40, 41), (80, 20), (160, 10), (320, 5), (640, 2)]
    for first in (1, 3, 20):
        for budget in range(first, 40 * first):
            assert sum(cap * runs for cap, runs in scales(budget, first)) <= budget


def test_the_first_scale_of_which_half_of_the_runs_stop_decides(trace: Play) -> None:
    # Scales of 8 runs of at most 40 pulls and 4 of at most 80. Runs see their own pulls only: the first four that arm 0
    # always pays, the next ones no difference, and those of the second scale that arm 1 pays.
    one, other = (
        trace(make("UGapEc", b=1.0, delta=0.05, tie="first"), rewards, 80, fixed_confidence=True)
        for rewards in ([[1.0], [0.0]], [[0.0], [1.0]])
    )
    first, second = (4 * count for count in one.counts(2))
    rewards = [[1.0] * first + [0.5] * 80 + [0.0] * 200, [0.0] * second + [0.5] * 80 + [1.0] * 200]
    played = trace(FCVote(agent="UGapEc", b=1.0, delta=0.05, first=40, tie="first"), rewards, 640)
    assert played.arms == 4 * one.arms + 4 * [0, 1] * 20 + 4 * other.arms and len(one.arms) < 40
    assert played.recommendation == 0


def test_where_no_run_stops_the_arm_that_was_best_most_often_is_recommended(trace: Play) -> None:
    # 5 runs of 20 pulls. Arm 1 is the better one in the first run, by more than arm 0 in the others.
    rewards = [[0.4] * 10 + [0.6] * 40, [0.9] * 10 + [0.5] * 40]
    played = trace(FCVote(agent="UGapEc", b=1.0, delta=0.05, first=20, tie="first"), rewards, 100)
    assert (len(played.arms), played.recommendation) == (100, 0)


def test_the_bound_holds() -> None:
    # Means 0.9 and 0.1: the scale of cap 160 is nearly always valid.
    runs = 20
    bandit = BernoulliBandit(np.tile([0.1, 0.9, 0.1], (runs, 1)))
    agent = FCVote()
    agent.reset(ProblemInfo(3, 2000, runs), np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 2000, np.random.default_rng(1))
    assert (rollout.recommendation == 1).all()
    assert (rollout.pulls.sum(axis=1) <= 2000).all()


def test_gaussian_rewards_take_their_deviation() -> None:
    agent = FCVote(agent="UGapEc", sigma=1.0)
    agent.reset(ProblemInfo(4, 2000, 8), np.random.default_rng(0))
    bandit = GaussianBandit(np.tile([3.0, 0.0, 0.0, 0.0], (8, 1)), 1.0)
    assert not play_blocks(agent, bandit, 2000, np.random.default_rng(1)).recommendation.any()
