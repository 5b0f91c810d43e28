"""FCVote: scales by hand, the vote against a transcription, and runs that see their own pulls only."""

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
    # log2(10000 / 80) = 6.97: six scales of 1,666 pulls each.
    assert scales(10_000, 20) == [(20, 83), (40, 41), (80, 20), (160, 10), (320, 5), (640, 2)]
    for first in (1, 3, 20):
        for budget in range(first, 40 * first):
            assert sum(cap * runs for cap, runs in scales(budget, first)) <= budget


def transcription(rewards: Any, budget: int, agent: str, trace: Play) -> tuple[list[int], int]:
    """Every run as an episode of its own, on the rewards that the runs before have left."""
    rows, arms = [np.asarray(row) for row in rewards], []
    answer = None
    for cap, runs in scales(budget, 2 * make(agent).minimum_budget(len(rows))):
        votes, best = np.zeros(len(rows)), np.zeros(len(rows))
        for _ in range(runs):
            counts = np.bincount(arms, minlength=len(rows))
            left = [np.roll(row, -count) for row, count in zip(rows, counts, strict=True)]
            played = trace(make(agent, delta=0.05, tie="first"), left, cap, fixed_confidence=True)
            seen = np.bincount(played.arms, minlength=len(rows))
            best[int(np.argmax([row[:count].mean() for row, count in zip(left, seen, strict=True)]))] += 1
            if len(played.arms) < cap:
                votes[played.recommendation] += 1
            arms += played.arms
        if answer is None and 2 * votes.sum() >= runs:
            answer = int(votes.argmax())
    return arms, int(best.argmax()) if answer is None else answer


def test_runs_and_votes_follow_their_transcription(trace: Play) -> None:
    rng = np.random.default_rng(5)
    # Means 0.98 and 0.02, which the largest cap suffices for, and 0.6 and 0.4, where no run stops.
    for agent, means in (("LUCB", (0.98, 0.02)), ("UGapEc", (0.4, 0.6))):
        rewards = (rng.random((2, 1101)) < np.array(means)[:, None]).astype(float)
        played = trace(FCVote(agent=agent, tie="first"), rewards, 1100)
        assert (played.arms, played.recommendation) == transcription(rewards, 1100, agent, trace)
        assert (len(played.arms) < 948) == (agent == "LUCB")


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
