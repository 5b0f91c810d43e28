"""GNA and NA-AIPW: shares, a round and the estimator by hand, and the gain over equal shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import GNA, NAAIPW
from bai_gym.agents.bounds.neyman import NeymanState, draw_by_shares, set_shares
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


@pytest.fixture
def shares(episode: Play) -> Play:
    """Shares for standard deviations of the arms, of which one is the best."""

    def find(deviations: list[float], best: int) -> list[float]:
        w = np.empty(len(deviations))
        e = episode([2] * len(w), [0.0] * len(w), np.array(deviations) ** 2)
        set_shares(e, NeymanState.of()[0], best, w)
        return w.tolist()

    return find


def test_shares_by_hand(shares: Play) -> None:
    assert shares([1.0, 3.0], 0) == pytest.approx([0.25, 0.75])  # two arms: by their deviations, whichever is better
    assert shares([1.0, 3.0], 1) == pytest.approx([0.25, 0.75])
    # S = 9 + 16: 2 / (2 + 5) of the best, the rest 9 : 16.
    assert shares([2.0, 3.0, 4.0], 0) == pytest.approx([2 / 7, 9 / 35, 16 / 35])
    root = math.sqrt(3)  # equal deviations, four arms: 1 / (1 + sqrt(3)) of the best
    assert shares([0.0] * 4, 2) == pytest.approx([root / (3 + 3 * root)] * 2 + [1 / (1 + root), root / (3 + 3 * root)])
    # Deviations 0 and 1: 0.001 and 1, so shares below 0.05, which are raised.
    assert shares([0.0, 1.0], 0) == pytest.approx([0.05 / (0.05 + 1 / 1.001), 1 / 1.001 / (0.05 + 1 / 1.001)])


def test_a_tracked_round_by_hand(trace: Play) -> None:
    # Arm 0 pays 3 and 1, arm 1 pays 0 and 0, arm 2 pays 1 and -1: deviations sqrt 2, 0 (raised to sqrt 2 / 1000) and
    # sqrt 2; arm 0 is the best, of share 1/2, and of the others arm 2 has nearly all, arm 1 at least 0.1 / 3. After 6
    # pulls 2 of each: 6 w - T is largest for arm 0, by the share 0.5 / 1.0333: 2.903 - 2, and as much for arm 2, less
    # what arm 1 has. It pays 2: variance 1, shares by 1 and sqrt 2: 0.414 and 0.586 of 1.033: 7 w - T = -0.19, 1.97.
    rewards = [[3.0, 1.0, 2.0], [0.0, 0.0], [1.0, -1.0]]
    played = trace(GNA(sampling="track", estimator="mean", tie="first"), rewards, 8)
    assert (played.arms[6:], played.recommendation) == ([0, 2], 0)


def test_the_estimate_by_hand(episode: Play) -> None:
    # The last pull was of arm 1 with probability 1/4 and a mean of 2 before; its reward is 3: 4 is added to its sum,
    # and then the means of the moment to all.
    s, w = NeymanState.of(arm=1, chance=0.25, before=2.0, estimates=np.array([10.0, 20.0]), share=np.zeros(2))
    e = episode([2, 2], [1.0, 2.5], [1.0, 1.0], pulled=1, reward=3.0)
    arm = draw_by_shares(e, s, w, np.random.default_rng(0))
    assert w.estimates.tolist() == [11.0, 26.5]
    assert (s.arm, s.before, s.chance) == (arm, e.mean[arm], pytest.approx(0.5))


def test_the_last_reward_completes_the_estimates(trace: Play) -> None:
    # Rewards are the means before: whatever arm is drawn, the estimates are 1 and 0.9.
    assert {trace(NAAIPW(), [[1.0], [0.9]], 5, seed=seed).recommendation for seed in range(8)} == {0}


def test_draws_have_the_shares() -> None:
    # Deviations 1 and 3 estimated from many pulls: a quarter of the draws are of the first arm.
    runs, budget = 400, 1000
    bandit = GaussianBandit(np.tile([0.1, 0.0], (runs, 1)), np.tile([1.0, 9.0], (runs, 1)))
    for agent in (NAAIPW(), GNA(), NAAIPW(sampling="track", estimator="mean")):
        agent.reset(ProblemInfo(2, budget, runs), np.random.default_rng(0))
        pulls = play_blocks(agent, bandit, budget, np.random.default_rng(1)).pulls
        assert pulls[:, 0].mean() / budget == pytest.approx(0.25, abs=0.01)
