"""Successive accepts and rejects, by hand and against its pseudo-code; for one arm it is successive rejects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import SuccessiveRejects
from bai_gym.agents.elimination.sar import SAR
from bai_gym.agents.tools.rejects import phase_lengths
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import TopM

Play = Callable[..., Any]


@pytest.mark.each(
    ("means", "m", "arms", "chosen"),
    # n = 23, K = 4: (n - K) / logbar(4) = 19 x 12 / 19 = 12, so that n_k = 3, 4, 6.
    [
        # Gaps 0.9 - 0.3 to accept arm 0, 0.8 - 0.1 to reject arm 3: it goes. Then 0.6 and 0.5: arm 0 is accepted. Of
        # arms 1 and 2 the gaps are the same: arm 2 is rejected.
        ([0.9, 0.8, 0.3, 0.1], 2, [0, 1, 2, 3] * 3 + [0, 1, 2] + [1, 2] * 2, [1, 1, 0, 0]),
        # 0.8 against 0.2, then 0.7 against 0.2: arms 0 and 1 are accepted; at last arm 3 is rejected.
        ([0.9, 0.8, 0.3, 0.1], 3, [0, 1, 2, 3] * 3 + [1, 2, 3] + [2, 3] * 2, [1, 1, 1, 0]),
        # Equal gaps reject: arm 3. Then as many arms are left as are wanted: all are accepted, one a phase.
        ([0.5, 0.5, 0.5, 0.0], 3, [0, 1, 2, 3] * 3 + [0, 1, 2] + [1, 2] * 2, [1, 1, 1, 0]),
        ([0.1, 0.2, 0.6, 0.4], 1, [0, 1, 2, 3] * 3 + [1, 2, 3] + [2, 3] * 2, [0, 0, 1, 0]),
    ],
)
def test_four_arms_by_hand(trace: Play, means: list[float], m: int, arms: list[int], chosen: list[int]) -> None:
    played = trace(SAR(tie="first"), [[mean] for mean in means], 23, task=TopM(m))
    assert (played.arms, played.recommendation) == (arms, chosen)
    assert len(played.idle) == 23 - len(arms) and set(played.idle) == {chosen.index(1)}


def test_decisions_are_made_by_all_pulls_so_far(trace: Play) -> None:
    # After 3 pulls arm 0 leads by 2/3 to 1/3; after 6 arm 1 by 2/3 to 1/2. Arm 3 is rejected first, arm 2 accepted.
    rewards = [[1, 1, 0, 0, 0, 1], [0, 1, 0, 1, 1, 1], [2], [-2]]
    played = trace(SAR(tie="first"), rewards, 23, task=TopM(2))
    assert played.counts(4) == [6, 6, 4, 3]
    assert played.recommendation == [0, 1, 1, 0]


def slow_episode(rewards: Any, budget: int, m: int) -> tuple[list[int], set[int]]:
    """Pulls of each arm, and the arms accepted."""
    active, accepted = list(range(len(rewards))), set[int]()
    made = [0] * len(rewards)
    for length in phase_lengths(len(rewards), budget).tolist():
        for arm in active:
            made[arm] = length
        mean = {arm: float(np.mean(rewards[arm][:length])) for arm in active}
        order = sorted(active, key=lambda arm: -mean[arm])
        wanted = m - len(accepted)
        if wanted == 0:
            accepts = False
        elif wanted == len(order):
            accepts = True
        else:
            gap_acc = mean[order[0]] - mean[order[wanted]]
            gap_rej = mean[order[wanted - 1]] - mean[order[-1]]
            accepts = gap_acc > gap_rej
        decided = order[0] if accepts else order[-1]
        active.remove(decided)
        if accepts:
            accepted.add(decided)
    return made, accepted | (set(active) if len(accepted) < m else set())


@pytest.mark.each("num_arms", range(2, 9))
def test_it_follows_the_pseudo_code_and_returns_m_arms(scripted_blocks: Play, num_arms: int) -> None:
    rng = np.random.default_rng(num_arms)
    for m in range(1, num_arms):
        for budget in (num_arms + 1, num_arms + 2, 4 * num_arms + 3, 80):
            rewards = rng.normal(np.linspace(0, 0.5, num_arms)[:, None], 0.5, (num_arms, budget))
            made, accepted = slow_episode(rewards, budget, m)
            rollout = scripted_blocks(SAR(tie="first"), rewards, budget, task=TopM(m))
            assert len(accepted) == m
            assert rollout.pulls.tolist() == [made] and sum(made) <= budget
            assert np.flatnonzero(rollout.recommendation[0]).tolist() == sorted(accepted)


@pytest.mark.each("seed", range(20))
def test_for_one_arm_it_is_successive_rejects(trace: Play, scripted_blocks: Play, seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_arms = int(rng.integers(2, 9))
    budget = num_arms + 1 + int(rng.integers(0, 80))
    rewards = rng.normal(size=(num_arms, budget))
    rejects = trace(SuccessiveRejects(tie="first"), rewards, budget)
    one = trace(SAR(tie="first"), rewards, budget)
    assert (one.arms, one.recommendation) == (rejects.arms, rejects.recommendation)
    as_set = trace(SAR(tie="first"), rewards, budget, task=TopM(1))
    assert (as_set.arms, as_set.recommendation.index(1)) == (rejects.arms, rejects.recommendation)


@pytest.mark.each("m", [1, 2, 4])
def test_tied_arms_are_accepted_equally_often(m: int) -> None:
    bandit = GaussianBandit(np.full((4000, 5), 0.5), 0.0)
    agent, task = SAR(), TopM(m)
    agent.reset(ProblemInfo(5, 30, 4000, task=task), np.random.default_rng(0))
    chosen = play_blocks(agent, bandit, 30, np.random.default_rng(1), task).recommendation
    assert (chosen.sum(axis=1) == m).all()
    # 4.6 standard deviations of a binomial of m / 5.
    assert (abs(chosen.sum(axis=0) - 800 * m) < 4.6 * np.sqrt(4000 * m / 5 * (1 - m / 5))).all()


def test_small_budgets(trace: Play) -> None:
    for budget in (1, 2, 3, 4):
        for m in (1, 2, 3):
            agent = SAR(tie="first", allow_small_budget=True)
            played = trace(agent, [[0.1], [0.4], [0.3], [0.2]], budget, task=TopM(m))
            assert sum(played.recommendation) == m
            if m == 1:  # the best of those that could be pulled
                assert played.arms == list(range(budget))
                assert played.recommendation.index(1) == min(budget - 1, 1)
