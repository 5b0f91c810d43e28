"""LUCB: rounds by hand, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.fixed_confidence.lucb import LUCB
from bai_gym.tasks import BestArm, TopM

Play = Callable[..., Any]


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
            LUCB(b=1.0, threshold="paper", tie="first"), rewards, 1000, fixed_confidence=True, task=BestArm(epsilon)
        )
        assert played.arms[2:] == [best, 1 - best] * (rounds - 1)
        assert played.recommendation == best


def test_two_arms_with_mixtures_by_hand(trace: Play) -> None:
    # It stops when 4 (1 + 20 / t) (log 20 + log(1 + t / 20) / 2) / (2 t) < 1: 7.64 and 7.5 at t = 15, 7.40 and 8 at 16.
    played = trace(LUCB(b=1.0, tie="first"), [[1.0], [0.0]], 1000, fixed_confidence=True)
    assert played.arms[2:] == [0, 1] * 15 and played.recommendation == 0


def test_a_set_by_hand(trace: Play) -> None:
    # J = {0, 1}, the challenger is arm 2. In round 1 widths are equal, and arm 1 has the smaller lower bound; in round
    # 2 they are 1.79 for the one pull of arm 0 and 1.26 for the two of arm 1: -0.79 and -0.36. And so on, in turn.
    played = trace(
        LUCB(b=1.0, threshold="paper", tie="first"), [[1.0], [0.9], [0.0]], 2000, fixed_confidence=True, task=TopM(2)
    )
    assert played.arms[:11] == [0, 1, 2, 1, 2, 0, 2, 1, 2, 0, 2]
    assert played.recommendation == [1, 1, 0]
    # An odd last pull goes to the wider arm of the last pair, (0, 2): arm 0 with its one pull.
    played = trace(LUCB(b=1.0, threshold="paper", tie="first"), [[1.0], [0.9], [0.0]], 6, task=TopM(2))
    assert (played.arms, played.recommendation) == ([0, 1, 2, 1, 2, 0], [1, 1, 0])


@pytest.mark.each(
    ("rewards", "budget", "arms"),
    [
        # Round 1: 0 and 1. Then the challenger is arm 2, whose U, 1.79, exceeds 0.5 + 1.26; it is wider than arm 0.
        ([[1.0], [0.5], [0.0]], 6, [0, 1, 2, 0, 1, 2]),
        # Equally wide: the first of the contrast, the better one.
        ([[0.0], [1.0]], 5, [0, 1, 1, 0, 1]),
        ([[0.0], [1.0]], 2, [0, 1]),
    ],
)
def test_an_odd_last_pull_goes_to_the_wider_arm(trace: Play, rewards: Any, budget: int, arms: list[int]) -> None:
    for fixed_confidence in (False, True):
        played = trace(LUCB(b=1.0, threshold="paper", tie="first"), rewards, budget, fixed_confidence=fixed_confidence)
        assert (played.arms, played.idle, played.recommendation) == (arms, [], int(np.argmax(rewards)))
