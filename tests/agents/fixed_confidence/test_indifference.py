"""Rinott's procedure and KN: by hand, and errors of at most delta."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.agents import KN, Rinott
from bai_gym.agents.fixed_confidence.indifference import KNState, screen
from bai_gym.bandits import GaussianBandit

Play = Callable[..., Any]


def test_second_stages_by_hand(trace: Play) -> None:
    # h = 2.6141 for K = 2, n_0 = 10, P* = 0.95. Arm 0 pays -1, 1, ...: S^2 = 10/9, ceil(h^2 10/9 / 0.25) = 31; arm 1
    # always 0.5: no second stage.
    rewards = [[-1.0, 1.0], [0.5]]
    agent = Rinott(delta=0.05, indifference=0.5, tie="first")
    played = trace(agent, rewards, 1000, fixed_confidence=True)
    assert (played.counts(2), played.recommendation) == ([31, 10], 1)
    # Stopped by the cap in the second stage; and with a budget for the first one only.
    assert trace(agent, rewards, 25, fixed_confidence=True).counts(2) == [15, 10]
    assert trace(agent, rewards, 20).counts(2) == [10, 10]


def test_screening_by_hand(trace: Play) -> None:
    # n_0 = 3, delta = 0.125, K = 2: h^2 = 2 (0.25^-1 - 1) = 6. S^2 = 1 and 0: the margin of sums is 6 / 2 - r / 2 for a
    # zone of 1. Arm 0 pays 0, 1, -1 and then 0: sum 0; arm 1 always 0.3: 0.3 r. 0.3 r > 3 - r / 2 from r = 4 on.
    agent = KN(delta=0.125, indifference=1.0, first_pulls=3, tie="first", variance="sample")
    played = trace(agent, [[0.0, 1.0, -1.0, *[0.0] * 20], [0.3]], 1000, fixed_confidence=True)
    assert (played.arms, played.recommendation) == ([0, 1] * 4, 1)
    # Equal sums: the margin is 0 with r = 6, and so both are left then.
    played = trace(agent, [[0.0, 1.0, -1.0, *[0.0] * 20], [0.0]], 1000, fixed_confidence=True)
    assert (len(played.arms), played.recommendation) == (12, 0)


def test_arms_that_lose_still_compete_in_their_round(episode: Play) -> None:
    # r = 4, h^2 = 4, a zone of 1: margins of means (S_i^2 + S_j^2 - 1) / 2 = 1/2, 1/2 of arm 0 with the others, and 3/2
    # of these, S^2 = 0, 2, 2. Arm 0 loses against arm 2; arm 1 loses against arm 0 alone.
    s, w = KNState.of(
        zone=1.0, square=4.0, remaining=3, lost=np.zeros(3), variance=np.array([0, 2, 2, 2, 4, 4, 2, 4, 4.0])
    )
    e = episode([4, 4, 4], [0.6, 0.0, 1.4])
    assert screen(e, s, w, np.random.default_rng(0)) == 13
    assert (e.active.tolist(), w.lost.tolist(), s.remaining) == ([0, 0, 1], [1.0, 1.0, 0.0], 1)


@pytest.mark.each(
    ("keywords", "noted"),
    [
        ({"means": [0.9, 0.5]}, ()),
        ({"means": [0.9, 0.85], "distribution": "bernoulli"}, ("Gaussian", "by at least 0.1,")),
    ],
)
@pytest.mark.each("name", ["Rinott", "KN"])
def test_tables_say_where_the_confidence_is_not_proved(name: str, keywords: dict[str, Any], noted: tuple) -> None:
    found = bai_gym.evaluate(name, "BAI-FC-Custom-v0", runs=2, env_kwargs=keywords)
    said = [note for note in found.notes if "its confidence is proved for" in note]
    assert len(said) == len(noted)
    assert all(words in note for words, note in zip(noted, said, strict=True))


def test_one_instance_with_a_small_gap_is_enough_for_a_note() -> None:
    assert KN().unmet_assumptions(GaussianBandit([[0.9, 0.5], [0.9, 0.85]]))
