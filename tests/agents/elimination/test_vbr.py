"""VBR (reading A): the schedule, the pulls and the rejections by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.elimination.vbr import VBR
from bai_gym.agents.tools.rejects import rejection_times
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


def test_rejections_of_equal_spread_by_hand(trace: Play) -> None:
    # Arms pay m, m + 2, m, m + 2, ...: arms of as many pulls have the same variance, so that the pulls go round. Arm 2
    # (smallest mean) goes at 15 pulls, then arms 0 and 1 are pulled to 20.
    rewards = [[5.0, 7.0], [3.0, 5.0], [1.0, 3.0]]
    played = trace(VBR(tie="first"), rewards, 20)
    assert played.arms[:6] == [0, 1, 2] * 2
    assert np.bincount(played.arms[:15]).tolist() == [5, 5, 5]
    assert sorted(np.bincount(played.arms[15:])) == [2, 3]
    assert played.recommendation == 0


def pseudo_code(
    rewards: Any, budget: int, *, gamma: float = 1.96, reject: str = "mean", early: bool = False
) -> list[int]:
    """Section 2.13 with raw rewards; returns the pulls, and the survivor at the end."""
    made: list[list[float]] = [[] for _ in rewards]
    arms: list[int] = []

    def pull(arm: int) -> None:
        made[arm].append(rewards[arm][len(made[arm]) % len(rewards[arm])])
        arms.append(arm)

    def mean(arm: int) -> float:
        return float(np.mean(made[arm]))

    def radius(arm: int) -> float:
        spread = float(np.var(made[arm], ddof=1)) if len(set(made[arm])) > 1 else 0.0
        return gamma * math.sqrt(spread / len(made[arm]))

    active = list(range(len(rewards)))
    for _ in range(2):
        for arm in active:
            pull(arm)
    for time in rejection_times(len(rewards), budget):
        while len(arms) < time:
            pull(min(active, key=lambda arm: (-round(radius(arm), 9), len(made[arm]), arm)))
            if early and min(mean(i) + radius(i) for i in active) < max(mean(i) - radius(i) for i in active):
                break
        worst = {arm: mean(arm) + (radius(arm) if reject == "ucb" else 0.0) for arm in active}
        active.remove(min(active, key=lambda arm: (round(worst[arm], 9), len(made[arm]), arm)))
    return [*arms, *active]


@pytest.mark.each("early", [False, True])
@pytest.mark.each("reject", ["mean", "ucb"])
@pytest.mark.each("seed", range(12))
def test_it_follows_the_pseudo_code(trace: Play, seed: int, reject: str, early: bool) -> None:
    rng = np.random.default_rng(seed)
    num_arms = int(rng.integers(2, 7))
    rewards = np.arange(num_arms)[:, None] * 0.4 + rng.normal(size=(num_arms, 80)) * rng.random((num_arms, 1))
    budget = 2 * num_arms + int(rng.integers(0, 60))
    agent = VBR(tie="first", reject=reject, early=early, gamma=0.7)
    played = trace(agent, rewards, budget)
    *arms, survivor = pseudo_code(rewards, budget, gamma=0.7, reject=reject, early=early)
    assert played.recommendation == survivor
    assert played.arms[: len(arms)] == arms
    assert set(played.arms[len(arms) :]) <= {survivor}
    assert early or len(arms) == budget


def test_early_rejection_happens_after_a_pull_and_one_at_a_time(trace: Play) -> None:
    # No variance: all intervals are points. One arm goes after each pull (7th, 8th, 9th), the rest is the survivor's.
    played = trace(VBR(tie="first", early=True), [[1.0], [2.0], [4.0], [3.0]], 30)
    assert played.arms[8:] == [0, 1, 2] + [2] * 19
    assert played.recommendation == 2


def test_the_upper_bound_rejects_another_arm_than_the_mean(trace: Play) -> None:
    # After 15 of 20 pulls arm 1 has mean 0 and a wide interval, arm 2 has mean 1 and none; arm 0 is far above.
    rewards = [[100.0], [-9.0, 9.0], [1.0]]
    by_mean = trace(VBR(tie="first"), rewards, 20)
    by_bound = trace(VBR(tie="first", reject="ucb"), rewards, 20)
    assert by_mean.arms[:15] == by_bound.arms[:15] == [0, 1, 2] * 2 + [1] * 9
    assert 1 not in by_mean.arms[15:] and set(by_mean.arms[15:]) == {0, 2}
    assert 2 not in by_bound.arms[15:] and set(by_bound.arms[15:]) == {1}


def test_without_variance_the_pulls_go_round(trace: Play) -> None:
    played = trace(VBR(tie="first"), [[1.0], [3.0], [2.0]], 20)
    assert played.arms == [0, 1, 2] * 5 + [1, 2] * 2 + [1]
    assert played.recommendation == 1


def test_at_the_minimum_budget_the_best_mean_wins(trace: Play) -> None:
    assert trace(VBR(tie="first"), [[1.0], [3.0], [2.0]], 6).recommendation == 1


@pytest.mark.each(
    ("parameters", "message"),
    [
        ({"gamma": 0.0}, "gamma of VBR must be a positive number, not 0.0"),
        ({"gamma": math.nan}, "gamma of VBR"),
        ({"gamma": math.inf}, "gamma of VBR"),
        ({"reject": "median"}, "reject of VBR must be 'mean' or 'ucb', not 'median'"),
    ],
)
def test_parameters_out_of_range(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        VBR(**parameters).reset(ProblemInfo(3, 20))
