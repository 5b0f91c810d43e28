"""CR-A and CR-C: rejections by hand, and every pull against a plain transcription of the rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.agents import CRA, CRC
from bai_gym.bandits import BernoulliBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_a_hopeless_arm_is_rejected_at_once(trace: Play) -> None:
    # K = 3, n = 12: log~(3) = 4/3, beta = 4/3 x 3 / 12 = 1/3, G = sqrt(3) - 1 = 0.73. Arm 0 is below the average of the
    # others by 0.75, and below the next by 0.7. CR-C pulls it once more; then beta = 4/9 and G = 1/2.
    rewards = [[0.0], [0.8], [0.7]]
    assert trace(CRA(tie="first"), rewards, 12).counts(3) == [1, 6, 5]
    assert trace(CRC(tie="first"), rewards, 12).counts(3) == [2, 5, 5]


def test_twice_the_range_is_half_the_gap(trace: Play) -> None:
    rewards = np.random.default_rng(1).random((4, 30))
    for kind in (CRA, CRC):
        plain = trace(kind(tie="first"), rewards, 60)
        assert trace(kind(tie="first", b=2.0), 2.0 * rewards, 60) == plain
        assert trace(kind(tie="first", sigma=1.0), 2.0 * rewards, 60) == plain
        assert trace(kind(tie="first", b=3.0), rewards, 60) != plain


def test_a_rejected_arm_is_not_recommended(trace: Play) -> None:
    # The gap of 0.4 exceeds G once beta > 1 / 1.4^2 = 0.51, so 4/3 t > 0.51 n: after 58 of 150 pulls arm 0 is rejected
    # with mean 0.6. Then the others pay less, and end at means of about 0.3.
    rewards = [[0.6], [1.0] * 20 + [0.0] * 80, [1.0] * 20 + [0.1] * 80]
    played = trace(CRA(tie="first"), rewards, 150)
    assert played.counts(3) == [20, 65, 65] and played.recommendation == 2


def test_two_arms_are_pulled_equally_often(trace: Play) -> None:
    for kind in (CRA, CRC):
        assert trace(kind(), [[1.0], [0.0]], 40).counts(2) == [20, 20]


def transcription(rewards: Any, budget: int, b: float, average: bool) -> tuple[list[int], int]:
    """The pulls and the recommendation, as the pseudo-code has them; ties as under the rule "first"."""
    seen: list[list[float]] = [[row[0]] for row in rewards]
    arms = list(range(len(rewards)))
    active = set(arms)
    for _ in range(budget - len(rewards)):
        pulls = [len(one) for one in seen]
        means = [math.fsum(one) / len(one) for one in seen]
        j, rejected = len(active), [k for k in range(len(rewards)) if k not in active]
        low = min(active, key=lambda k: (means[k], pulls[k], k))
        log_bar = 0.5 + sum(1 / k for k in range(2, j + 1))
        beta = log_bar * sum(pulls[k] for k in active) / (budget - sum(pulls[k] for k in rejected))
        if j > 2 and (not rejected or pulls[low] > max(pulls[k] for k in rejected)):
            others = [means[k] for k in active if k != low]
            gap = (math.fsum(others) / len(others) if average else min(others)) - means[low]
            if gap / b > 1 / math.sqrt(beta) - 1:
                active.remove(low)
        arm = min(active, key=lambda k: (pulls[k], k))
        seen[arm].append(rewards[arm][pulls[arm] % len(rewards[arm])])
        arms.append(arm)
    return arms, max(active, key=lambda k: (math.fsum(seen[k]) / len(seen[k]), len(seen[k]), -k))


@pytest.mark.slow
@given(st.booleans(), st.sampled_from([0.5, 1.0]), st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(0, 60))
def test_every_pull_is_that_of_the_transcription(
    trace: Play, average: bool, b: float, seed: int, num_arms: int, more: int
) -> None:
    rng = np.random.default_rng(seed)
    # Of sums of multiples of 1/16 rounding is out of the way; the means have ties.
    rewards = np.round(b * rng.beta(2 * rng.random((num_arms, 1)) + 0.2, 1.0, (num_arms, 50)) * 16) / 16
    agent = (CRA if average else CRC)(tie="first", b=b)
    played = trace(agent, rewards, num_arms + more)
    assert (played.arms, played.recommendation) == transcription(rewards, num_arms + more, b, average)


def test_the_aggressive_form_rejects_earlier() -> None:
    # The average of the others is at least the smallest of them.
    spent = []
    for kind in (CRA, CRC):
        bandit = BernoulliBandit(np.tile(np.linspace(0.75, 0.3, 10), (500, 1)))
        agent = kind()
        agent.reset(ProblemInfo(10, 2000, 500), np.random.default_rng(0))
        spent.append(play_blocks(agent, bandit, 2000, np.random.default_rng(1)).pulls[:, -1].mean())
    assert spent[0] < 0.8 * spent[1]


def test_a_range_and_a_deviation_are_not_given_together() -> None:
    for agent, message in (
        (CRA(b=2.0, sigma=1.0), "CR-A takes b or sigma, not both"),
        (CRC(b=0.0), "b of CR-C must be a positive number, not 0.0"),
        (CRC(sigma=-1.0), "sigma of CR-C must be a positive number, not -1.0"),
    ):
        with pytest.raises(ParameterError, match=message):
            agent.reset(ProblemInfo(3, 100))
