"""Rewards that arrive at the end of a round of pulls, or rounds later."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import bai_gym  # noqa: F401
from bai_gym.common.rounds import Rounds
from bai_gym.errors import ParameterError

BUDGET = 23
STATISTICS = ("pulls", "means", "variances")


def episode(**keywords: Any) -> list[dict[str, Any]]:
    """Return the observations of an episode of fixed pulls."""
    env = gym.make("BAI-Gaussian8-v0", budget=BUDGET, **keywords)
    env.reset(seed=0)
    env.step(7)  # of an episode that is given up
    observation, _ = env.reset(seed=1)
    arms = np.random.default_rng(0).integers(8, size=BUDGET)
    return [observation, *(env.step(int(arm))[0] for arm in arms)]


def test_when_rewards_arrive() -> None:
    """Pulls 1 to 5, 6 to 10 and 11 are the rounds of 11 pulls; a round of delay moves all but the last arrival."""
    assert [Rounds(5).arrived(made, 11) for made in range(12)] == [0] * 5 + [5] * 5 + [10, 11]
    assert [Rounds(5, 1).arrived(made, 11) for made in range(12)] == [0] * 10 + [5, 11]
    assert [Rounds(1, 2).arrived(made, 4) for made in range(5)] == [0, 0, 0, 1, 4]
    assert [Rounds(5).left(made, 11) for made in (0, 4, 5, 10)] == [5, 1, 5, 1]


def test_rounds_of_one_pull_change_nothing() -> None:
    now, same = episode(), episode(batch_size=1, delay=0)
    assert [list(observation) for observation in now] == [list(observation) for observation in same]
    for one, other in zip(now, same, strict=True):
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.parametrize(("batch_size", "delay"), [(5, 0), (1, 3), (5, 2), (100, 0)])
def test_an_observation_is_an_earlier_one_with_the_pending_pulls(batch_size: int, delay: int) -> None:
    at_once, late = episode(), episode(batch_size=batch_size, delay=delay)
    for made, observation in enumerate(late):
        arrived = Rounds(batch_size, delay).arrived(made, BUDGET)
        for name in STATISTICS:
            assert observation[name].tobytes() == at_once[arrived][name].tobytes(), (made, name)
        assert (observation["pulls"] + observation["pending"] == at_once[made]["pulls"]).all()
        assert observation["remaining"] == at_once[made]["remaining"]


def test_episodes_of_a_batch_end_at_different_times() -> None:
    """Two episodes in rounds of two: the first stops after two pulls and begins again while the other goes on."""
    env = gym.make_vec(
        "BAI-Gaussian8-v0",
        2,
        budget=9,
        batch_size=2,
        fixed_confidence=True,
    )
    env.reset(seed=0)
    seen = [env.step(np.array(arms))[0] for arms in ([0, 1], [0, 1], [8, 1], [0, 1], [2, 1])]
    assert [observation["pulls"].sum(axis=1).tolist() for observation in seen] == [
        [0, 0],
        [2, 2],
        [2, 2],
        [0, 4],
        [0, 4],
    ]
    assert [observation["pending"].sum(axis=1).tolist() for observation in seen] == [
        [1, 1],
        [0, 0],
        [0, 1],
        [0, 0],
        [1, 1],
    ]


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ({"batch_size": 0}, "batch_size must be an integer of at least 1"),
        ({"delay": -1}, "delay must be an integer of at least 0"),
        ({"batch_size": 4, "costs": [1.0, 2.0, 1.0]}, "costs need batch_size=1 and delay=0"),
    ],
)
def test_what_is_refused(keywords: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        gym.make("BAI-Bernoulli3-v0", **keywords)
