"""Sequential halving in rounds of pulls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym import agents, evaluate
from bai_gym.agents.elimination.batch_halving import target_pulls

Play = Callable[..., Any]


def test_targets_by_hand() -> None:
    """Four arms and 16 pulls: two stages of 8 pulls, 2 of each of 4 arms, then 4 of each of 2."""
    assert target_pulls(4, 16, advance_first=False) == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert target_pulls(4, 16, advance_first=True) == [0, 1] * 4 + [2, 3, 4, 5] * 2
    assert target_pulls(3, 11, advance_first=True) == [0] * 3 + [1, 2] * 2


def test_rounds_by_hand(trace: Play) -> None:
    """Four arms of rewards .4, .3, .2, .1, rounds of 6 of 16 pulls.

    Breadth first, the first round has a pull of each arm, and a second one of the first two, since no reward is known.
    The second round has the second pulls of arms 2 and 3, and arms 0 and 1 begin the next stage. Advance first, the
    first round has both pulls of arms 0 to 2. In the second, arm 3 makes its pulls; arm 0 begins the next stage, all of
    whose 4 pulls it makes; the third has those of arm 1.
    """
    for name, expected in (
        ("BatchSH", [[2, 2, 1, 1], [2, 2, 1, 1], [2, 2, 0, 0]]),
        ("ASH", [[2, 2, 2, 0], [4, 0, 0, 2], [0, 4, 0, 0]]),
    ):
        played = trace(agents.make(name, batch_size=6, tie="first"), [[0.4], [0.3], [0.2], [0.1]], 16)
        rounds = [np.bincount(played.arms[start : start + 6], minlength=4).tolist() for start in (0, 6, 12)]
        assert (rounds, played.recommendation) == (expected, 0), name


def test_an_arm_whose_rewards_are_under_way_comes_last(trace: Play) -> None:
    # Rounds of 3: the second one begins with arm 3, and ends with second pulls of arms whose rewards are known.
    for shift in (0.0, -1.0):
        rewards = [[mean + shift] for mean in (0.4, 0.3, 0.2, 0.1)]
        played = trace(agents.make("BatchSH", batch_size=3, tie="first"), rewards, 16)
        assert sorted(played.arms[3:6]) == [0, 1, 3], shift


def test_ash_recommends_as_sequential_halving_on_the_same_rewards(scripted_blocks: Play) -> None:
    """In settings that meet its condition; breadth first does not."""
    rng, different = np.random.default_rng(1), dict.fromkeys(("ASH", "BatchSH"), 0)
    for _ in range(60):
        num_arms, size = int(rng.integers(2, 24)), int(rng.integers(1, 40))
        least = math.ceil(max(4.0, num_arms / size) * math.ceil(math.log2(num_arms)))
        budget = size * (least + int(rng.integers(least + 1)))
        rewards = 0.5 * rng.standard_normal((num_arms, 1)) + rng.standard_normal((num_arms, budget))
        halving = scripted_blocks(agents.make("SH-Reuse", rounding="equal", tie="first"), rewards, budget)
        for name in different:
            played = scripted_blocks(agents.make(name, batch_size=size, tie="first"), rewards, budget)
            different[name] += int(played.recommendation[0] != halving.recommendation[0])
    assert different["ASH"] == 0 < different["BatchSH"]


def test_rounds_are_those_of_the_environment() -> None:
    """In 9 rounds of 50 pulls ASH leaves no pull of the last round."""
    result = evaluate("ASH", "BAI-Bernoulli10-v0", budget=403, runs=20, env_kwargs={"batch_size": 50})
    assert sum(result.mean_pulls) == pytest.approx(403)
