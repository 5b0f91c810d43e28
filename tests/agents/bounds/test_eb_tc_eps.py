"""EB-TC-eps: its first pulls by hand, whole episodes against a plain transcription, and what the slack is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import EBTCEps
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_first_pulls_by_hand(trace: Play) -> None:
    # Constant rewards 2 and 1: B = 0, C = 1. M <= t / 2 at t = 1 (M = 0), t = 2 (M = 1), t = 4 (M = 2), but not at t =
    # 3 (M = 2 > 1.5) and t = 5 (M = 3 > 2.5).
    assert trace(EBTCEps(tie="first"), [[2.0], [1.0]], 7).arms == [0, 1, 1, 1, 0, 1, 0]


def transcribed(rewards: np.ndarray, budget: int, epsilon: float, beta: float | str) -> list[int]:
    K = len(rewards)
    visits: dict[tuple[int, int], list[float]] = {}
    own: dict[tuple[int, int], int] = {}
    pulls = list(range(K))
    while len(pulls) < budget:
        N = np.bincount(pulls, minlength=K)
        m = np.array([rewards[a][: N[a]].mean() for a in range(K)])
        B = min(range(K), key=lambda a: (-m[a], N[a], a))
        cost = {j: (m[B] - m[j] + epsilon) / np.sqrt(1 / N[B] + 1 / N[j]) for j in range(K) if j != B}
        C = min(cost, key=lambda j: (cost[j], N[j], j))
        share = N[C] / (N[B] + N[C]) if beta == "ids" else beta
        visits.setdefault((B, C), []).append(share)
        t, average = len(visits[B, C]), np.mean(visits[B, C])
        if own.setdefault((B, C), 0) <= (1 - average) * t + 1e-9:
            own[B, C] += 1
            pulls.append(C)
        else:
            pulls.append(B)
    return pulls


@pytest.mark.each("beta", [0.5, 0.75, "ids"])
def test_episodes_follow_the_transcription(trace: Play, beta: float | str) -> None:
    for seed, epsilon in ((0, 0.1), (1, 0.1), (2, 1.0)):
        rewards = np.random.default_rng(seed).normal([[0.6], [0.6], [0.5], [0.2]], 1.0, (4, 300))
        played = trace(EBTCEps(epsilon=epsilon, beta=beta, tie="first"), rewards, 300)
        assert played.arms == transcribed(rewards, 300, epsilon, beta)


def test_with_a_large_slack_the_others_share_equally() -> None:
    # (gap + epsilon) / sqrt(1 / T_B + 1 / T_j) is then smallest for the fewest pulls; the first pulls of each pair are
    # of the challenger.
    bandit = GaussianBandit(np.tile([3.0, 1.0, 0.5, 0.0], (50, 1)), 0.01)
    agent = EBTCEps(epsilon=1e6)
    agent.reset(ProblemInfo(4, 604, 50), np.random.default_rng(0))
    pulls = play_blocks(agent, bandit, 604, np.random.default_rng(1)).pulls
    assert np.abs(pulls - [301, 101, 101, 101]).max() <= 4


@pytest.mark.each(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon of EB-TC-eps must be"),
        ({"beta": "half"}, r"beta of EB-TC-eps must be 'ids' or a number in \(0, 1\), not 'half'"),
        ({"beta": 1.0}, "beta of EB-TC-eps must"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        EBTCEps(**parameters).reset(ProblemInfo(3, 20))


def test_pairs_of_too_many_arms() -> None:
    with pytest.raises(ParameterError, match="num_arms=10000000 would take about"):
        EBTCEps().reset(ProblemInfo(10**7, 10**7))
