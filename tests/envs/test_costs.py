"""Budgets in money: what pulls cost, when the recommendation is due, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import BaiGymError, BudgetError

EXACT: dict[str, Any] = {"means": [0.1, 0.5, 0.2], "variances": 0.0, "costs": [1.0, 2.0, 0.5], "shuffle": False}


def test_an_episode_by_hand() -> None:
    env = gym.make("BAI-Custom-v0", budget=3.6, **EXACT)
    observation, info = env.reset(seed=0)
    assert info == {"phase": "explore", "rewards": "real"} and env.action_space == gym.spaces.Discrete(6)
    assert observation["costs"].tolist() == [1.0, 2.0, 0.5]
    for arm, left, phase in ((1, 1.6, "explore"), (0, 0.6, "explore"), (2, 0.1, "recommend")):
        observation, reward, *_, info = env.step(arm)
        assert (reward, info) == (0.0, {"phase": phase, "outcome": EXACT["means"][arm]})
        assert observation["remaining"] == pytest.approx(left)
        assert env.observation_space.contains(observation)
    with pytest.raises(BudgetError):
        env.step(2)
    after, reward, terminated, truncated, info = env.step(3 + 1)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["unspent"] == pytest.approx(0.1) and after["pulls"].tolist() == [1, 1, 1]


def test_a_pull_that_is_too_expensive_changes_nothing() -> None:
    env = gym.make("BAI-Custom-v0", budget=2.5, **{**EXACT, "variances": 1.0})
    other = gym.make("BAI-Custom-v0", budget=2.5, **{**EXACT, "variances": 1.0})
    env.reset(seed=1), other.reset(seed=1)
    env.step(0), other.step(0)
    with pytest.raises(BudgetError):
        env.step(1)
    mine, theirs = env.step(2)[0], other.step(2)[0]
    assert all((mine[name] == theirs[name]).all() for name in theirs)
    batch = BestArmVectorEnv("custom", num_envs=2, budget=2.5, **EXACT)
    batch.reset(seed=0)
    before = batch.step([0, 2])[0]
    with pytest.raises(BudgetError):
        batch.step([3 + 0, 1] if before["remaining"][1, 0] < 2.0 else [1, 3 + 0])
    now = batch.step([2, 2])[0]  # the recommendation has not ended its episode
    assert (now["pulls"].sum(axis=1) == before["pulls"].sum(axis=1) + 1).all()


def test_costs_by_name_are_those_in_order(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("size,reward\nlarge,1\nsmall,2\nlarge,0\nsmall,3\n")
    log: dict[str, Any] = {"path": str(tmp_path / "log.csv"), "arm_column": "size", "reward_column": "reward"}
    log |= {"arms": ["large", "small"], "budget": 4.0, "costs": {"small": 1.0, "large": 2.0}}
    assert BestArmEnv("table", **log).episode_spec.costs == (2.0, 1.0)
    assert BestArmVectorEnv("table", 2, **log).episode_spec.costs == (2.0, 1.0)
    numbered = gym.make("BAI-Custom-v0", **{**EXACT, "budget": 4.0, "costs": {"2": 0.5, "0": 1.0, "1": 2.0}}).unwrapped
    assert isinstance(numbered, BestArmEnv) and numbered.episode_spec.costs == (1.0, 2.0, 0.5)


def test_with_fixed_confidence_the_pull_cost_multiplies_costs_and_the_cap_is_money() -> None:
    for vector in (False, True):
        keywords: dict[str, Any] = {"budget": 3.3, "fixed_confidence": True, "pull_cost": 0.01, **EXACT}
        env: Any = BestArmVectorEnv("custom", num_envs=1, **keywords) if vector else BestArmEnv("custom", **keywords)
        env.reset(seed=0)
        first = env.step([0] if vector else 0)
        last = env.step([1] if vector else 1)
        assert np.ravel([first[1], last[1]]) == pytest.approx([-0.01, -0.02])
        assert (bool(np.ravel(last[2])[0]), bool(np.ravel(last[3])[0])) == (False, True), vector


def test_equal_costs_are_a_budget_of_pulls() -> None:
    same = {"fixed_confidence": True, "pull_cost": 0.01, **EXACT, "costs": [0.5, 0.5, 0.5]}
    pulls = BestArmEnv("custom", budget=3.3, **same).episode_spec.in_pulls()
    assert (pulls.budget, pulls.costs, pulls.pull_cost) == (6, None, 0.005)


@pytest.mark.each(
    "keywords",
    [
        {"costs": [1.0, 2.0]},
        {"costs": [1.0, 2.0, 0.0]},
        {"costs": [1.0, 2.0, "x"]},
        {"budget": 1.9},
        {"costs": None, "budget": 2.5},
        {"costs": {"0": 1.0, "1": 2.0, "2": 0.5, "3": 1.0}},
    ],
)
def test_what_is_refused(keywords: dict[str, Any]) -> None:
    with pytest.raises(BaiGymError):
        gym.make("BAI-Custom-v0", **{"budget": 4.0, **EXACT, **keywords})
