"""DSH, SubsetSH and FBKT: stages by hand, and whole episodes against plain transcriptions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents import FBKT, DoublingHalving, SubsetHalving
from bai_gym.agents.elimination.fbkt import round_shares
from bai_gym.agents.elimination.subset_halving import largest_subset
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


class Rewards:
    """Prescribed rewards, noted as they are drawn."""

    def __init__(self, rewards: Any, budget: int) -> None:
        self.rewards, self.left = rewards, budget
        self.arms: list[int] = []

    def pull(self, arm: int) -> float:
        self.arms.append(arm)
        self.left -= 1
        row = self.rewards[arm]
        return float(row[(self.arms.count(arm) - 1) % len(row)])

    def means(self, arms: list[int], pulls: int) -> dict[int, float] | None:
        """Pull in cyclic order; return the means, or None if the budget ends before."""
        seen: dict[int, list[float]] = {arm: [] for arm in arms}
        for number in range(min(pulls, self.left)):
            arm = arms[number % len(arms)]
            seen[arm].append(self.pull(arm))
        return (
            {arm: math.fsum(one) / len(one) for arm, one in seen.items()}
            if sum(map(len, seen.values())) == pulls
            else None
        )


def better_half(means: dict[int, float]) -> list[int]:
    return sorted(sorted(means, key=lambda arm: (-means[arm], arm))[: -(-len(means) // 2)])


def doubling(rewards: Rewards, num_arms: int) -> int | None:
    winner, each = None, num_arms
    while rewards.left:
        active = list(range(num_arms))
        while len(active) > 1:
            means = rewards.means(active, each)
            if means is None:
                return winner
            active = better_half(means)
        winner, each = active[0], 2 * each
    return winner


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(0, 60))
def test_doubling_halving_follows_its_transcription(trace: Play, seed: int, num_arms: int, more: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 8, (num_arms, 30)) / 8
    agent = DoublingHalving(tie="first")
    budget = agent.minimum_budget(num_arms) + more
    rewards = Rewards(rows, budget)
    winner = doubling(rewards, num_arms)
    played = trace(agent, rows, budget)
    assert (played.arms, played.recommendation) == (rewards.arms, winner)


def test_the_winner_of_the_last_run_or_the_largest_mean(trace: Play) -> None:
    # Two arms: runs of 2, 4 and 8 pulls. Arm 0 wins the first two runs with 1 : 0 and 0.6 : 0.5, the third is cut.
    rewards = [[1.0, 0.6, 0.6, *[0.0] * 9], [0.0, 0.5, 0.5, *[0.9] * 9]]
    assert trace(DoublingHalving(tie="first"), rewards, 12).recommendation == 0
    assert trace(DoublingHalving(tie="first", output="mean"), rewards, 12).recommendation == 1
    assert trace(DoublingHalving(tie="first"), rewards, 14).recommendation == 1  # the third is over
    assert DoublingHalving(output="mean").anytime and not DoublingHalving().anytime


def test_the_largest_subset_by_hand() -> None:
    # c ceil(log2 c): 2, 6, 8, 15, 18, 21, 24, 36 for c = 2, ..., 9.
    sizes = {1: 1, 2: 2, 5: 2, 6: 3, 7: 3, 8: 4, 14: 4, 15: 5, 24: 8, 35: 8, 36: 9}
    assert {budget: largest_subset(100, budget) for budget in sizes} == sizes
    assert largest_subset(6, 10_000) == 6


def test_a_subset_is_played_by_sequential_halving(trace: Play) -> None:
    # 9 pulls of 100 arms: 4 of them, of which two are pulled once and two three times (two stages of 4).
    agent = SubsetHalving()
    played = trace(agent, [[float(arm)] for arm in range(100)], 9)
    counts = np.bincount(played.arms, minlength=100)
    assert sorted(counts[counts > 0]) == [1, 1, 3, 3]
    assert played.recommendation == max(played.arms) and len(played.idle) == 1
    assert trace(SubsetHalving(subset=1), [[1.0], [2.0]], 3).counts(2) in ([3, 0], [0, 3])


def test_every_arm_is_in_the_subset_equally_often() -> None:
    # The best of 50 arms is found if it is among the 8: a gap of 10 deviations. Binomial of 8/50, five deviations.
    runs = 4000
    bandit = GaussianBandit(np.where(np.arange(50) == 17, 10.0, 0.0) * np.ones((runs, 1)), 1.0)
    agent = SubsetHalving()
    agent.reset(ProblemInfo(50, 24, runs), np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 24, np.random.default_rng(1))
    found = np.count_nonzero(rollout.recommendation == 17)
    assert abs(found - 0.16 * runs) < 5 * math.sqrt(0.16 * 0.84 * runs)


def knockout(rewards: Rewards, num_arms: int, budget: int, scale: bool) -> int:
    rounds = math.ceil(math.log2(num_arms))
    shares = [r / 6 * (2 / 3) ** r for r in range(1, rounds + 1)]
    left = list(range(num_arms))
    for share in shares:
        half, odd = divmod(len(left), 2)
        playing = left[odd:]
        each = math.floor(share * budget / (sum(shares) if scale else 1) + 1e-9) // (2 * half)
        means = rewards.means(playing, each * 2 * half)
        assert means is not None
        pairs = zip(playing[:half], playing[half:], strict=True)
        left = left[:odd] + [first if means[first] >= means[second] else second for first, second in pairs]
    return left[0]


@given(st.booleans(), st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(0, 40))
def test_knockouts_follow_their_transcription(trace: Play, scale: bool, seed: int, num_arms: int, more: int) -> None:
    rows = np.random.default_rng(seed).integers(0, 4, (num_arms, 30)) / 4
    agent = FBKT(tie="first", leftover="scale" if scale else "drop")
    budget = agent.minimum_budget(num_arms) + more
    rewards = Rewards(rows, budget)
    winner = knockout(rewards, num_arms, budget, scale)
    played = trace(agent, rows, budget)
    assert (played.arms, played.recommendation) == (rewards.arms, winner)


def test_shares_of_rounds_by_hand() -> None:
    # phi = 3: r / 6 (2/3)^r = 1/9, 4/27, 4/27, ...; 5 arms take three rounds of 4, 2 and 2 arms that play.
    assert [float(share) for share in round_shares(5, 3, "drop")] == pytest.approx([1 / 9, 4 / 27, 4 / 27])
    assert [float(share) for share in round_shares(5, 3, "scale")] == pytest.approx([3 / 11, 4 / 11, 4 / 11])
    assert FBKT().minimum_budget(5) == 36 and FBKT(leftover="scale").minimum_budget(5) == 15
    assert float(sum(round_shares(2**60, 3, "drop"))) == pytest.approx(1.0, abs=1e-8)
