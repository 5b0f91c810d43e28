"""The user's own functions as an environment."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import bai_gym
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, BaiGymError, InstanceError, ParameterError, PullError
from bai_gym.live import FunctionBandit
from bai_gym.live.executor import Executor
from bai_gym.problems import build
from bai_gym.problems.info import ProblemInfo


def play(env: gym.Env[Any, Any], actions: list[int], seed: int = 0) -> tuple[Any, float, dict[str, Any]]:
    """Make the pulls and the recommendation; return the last observation, reward and info."""
    env.reset(seed=seed)
    for action in actions:
        observation, reward, terminated, _, info = env.step(action)
    assert terminated
    return observation, float(reward), info


def make(pull: Any, num_arms: int | None = 3, budget: int = 4, **keywords: Any) -> gym.Env[Any, Any]:
    return gym.make(
        "BAI-Function-v0", disable_env_checker=True, pull=pull, num_arms=num_arms, budget=budget, **keywords
    )


def test_an_episode_calls_the_function_and_nothing_else() -> None:
    calls: list[int] = []

    def pull(arm: int) -> float:
        calls.append(arm)
        return float(arm + len(calls))

    env = make(pull)
    observation, reward, info = play(env, [2, 2, 0, 2, 2])
    assert calls == [2, 2, 0, 2]
    # Arm 2 gave 3, 4 and 6; arm 0 gave 3.
    assert observation["means"].tolist() == [3.0, 0.0, 13 / 3]
    assert reward == 13 / 3
    assert info == {"phase": "done", "estimate": 13 / 3}


def test_an_arm_without_a_pull_counts_as_the_worst_one_seen() -> None:
    env = make(lambda arm: -1.0 - arm)
    assert play(env, [0, 1, 0, 1, 2])[1] == -2.0  # recommending an arm without a pull must not pay off
    assert play(env, [0, 1, 0, 1, 0])[1] == -1.0


def test_the_demonstration_throws_as_far_as_without_air() -> None:
    # v^2 / g sin(2 angle), with a mean of 20^2 + 2^2 for v^2: 41.2 m at 45 degrees, and 41.2 m sin(120 degrees) at 60.
    bandit = build("function").draw(1, np.random.default_rng(0))
    far = bandit.pull_block(np.array([[0, 0, 2000, 2000]]), np.random.default_rng(1)).means[0, 2:]
    np.testing.assert_allclose(far, [41.18, 35.67], rtol=0.02)  # 4.5 standard errors


def test_a_failure_is_named_and_the_policy_holds() -> None:
    env = make(lambda arm: 1 / arm)
    env.reset()
    env.step(1)
    with pytest.raises(PullError, match=r"^pull 2 \(arm 0\) failed: ZeroDivisionError"):
        env.step(0)
    env = make(lambda arm: 1 / arm, on_error="worst", worst=-5)
    assert play(env, [0, 1, 0, 1, 0])[1] == -5.0
    late = make(lambda arm: time.sleep(3600 * arm) or 1.0, timeout=0.3, on_error="worst", worst=0.0, budget=2)
    assert play(late, [0, 1, 0])[0]["means"].tolist() == [1.0, 0.0, 0.0]


def test_a_batch_makes_its_pulls_one_after_the_other() -> None:
    calls: list[int] = []
    envs = gym.make_vec("BAI-Function-v0", num_envs=3, budget=1, pull=lambda arm: calls.append(arm) or arm, num_arms=4)
    assert isinstance(envs, BestArmVectorEnv)
    envs.reset(seed=0)
    envs.step(np.array([3, 1, 2]))
    assert calls == [3, 1, 2]
    _, rewards, ended, _, info = envs.step(np.array([3, 1, 0]))
    assert (rewards.tolist(), ended.all()) == ([3.0, 1.0, 2.0], True)
    np.testing.assert_array_equal(info["estimate"], rewards)
    assert "correct" not in info


def test_nobody_knows_the_truth_and_everybody_the_features() -> None:
    env = make(float, features=np.eye(3))
    assert env.reset()[0]["features"].tolist() == np.eye(3).tolist()
    assert isinstance(env.unwrapped, BestArmEnv) and not env.unwrapped.problem.known
    bandit = FunctionBandit(Executor(float, 3), batch=2)
    assert np.isnan(bandit.means).all() and np.isnan(bandit.variances).all()
    problem_info = ProblemInfo(3, 10, 2, truth=bandit, knows={"variances"})
    with pytest.raises(AgentError, match="without the true instances"):
        _ = problem_info.variances


REFUSED: list[tuple[dict[str, Any], type[BaiGymError], str]] = [
    ({"reward": "correct"}, ParameterError, "reward='correct' needs the true means"),
    ({"pull": None, "num_arms": 3}, ParameterError, "num_arms is given without pull"),
    ({"pull": 7}, ParameterError, "pull must be a function of the arm"),
    ({"features": [[1.0]]}, InstanceError, "arms"),
    ({"rewards": "percent"}, ParameterError, "rewards must be"),
]


@pytest.mark.parametrize(("keywords", "kind", "message"), REFUSED)
def test_wrong_arguments_are_refused(keywords: dict[str, Any], kind: type[BaiGymError], message: str) -> None:
    with pytest.raises(kind, match=message):
        make(**{"pull": float, **keywords})


def test_agents_cannot_be_compared_without_the_truth() -> None:
    with pytest.raises(ParameterError, match="with unknown true means.*use bai_gym.live.identify"):
        bai_gym.evaluate("SR", "BAI-Function-v0", runs=2)


def test_blocks_and_single_pulls_are_the_same_calls() -> None:
    values = iter(range(100))
    bandit = FunctionBandit(Executor(lambda arm: next(values), 2))
    rng = np.random.default_rng(0)
    block = bandit.pull_block(np.array([[3, 1]]), rng)
    # Arm 0 gave 0, 1, 2: mean 1, variance 1. Arm 1 gave 3.
    assert (block.means.tolist(), block.variances.tolist()) == ([[1.0, 3.0]], [[1.0, 0.0]])
    part = bandit.pull_block(np.array([[2]]), rng, arms=np.array([[1]]), variances=False)
    assert (part.means.tolist(), part.variances.tolist()) == ([[4.5]], [[0.0]])
    assert bandit.pull(np.array([1]), rng).tolist() == [6.0]
