"""Candidates that need not be arms: the task, the spaces, the masks, and what is refused."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, BaiGymError, InstanceError, ParameterError
from bai_gym.linear.tasks import BestCandidate
from bai_gym.problems import build
from bai_gym.tasks import BestArm

ARMS = [[1.0, 0.0], [0.0, 1.0]]
THETA = [0.5, 0.4]  # means of the arms
CANDIDATES = [[1.0, 0.0], [1.0, 1.0], [0.0, -1.0], [1.0, 1.0]]  # means 0.5, 0.9, -0.4, 0.9: the best is no arm
LISTED: dict[str, Any] = {"shuffle": False, "rotate": False}


def problem(**keywords: Any) -> Any:
    return build("custom-linear", features=ARMS, theta=THETA, **keywords)


def test_the_task_by_hand() -> None:
    task = BestCandidate(CANDIDATES, np.array(ARMS))
    means = np.array([[0.5, 0.4], [-0.5, -0.4], [0.3, 0.0]])
    assert task.correct_recommendation(means).tolist() == [1, 2, 0]  # candidates 0, 1 and 3 tie in the last one
    for chosen, regrets in ((0, [0.4, 0.9, 0.0]), (1, [0.0, 1.3, 0.0]), (2, [1.3, 0.0, 0.3]), (3, [0.0, 1.3, 0.0])):
        recommended = np.full(3, chosen)
        np.testing.assert_allclose(task.simple_regret(means, recommended), regrets, atol=1e-15)
        assert task.correct(means, recommended).tolist() == [regret == 0.0 for regret in regrets], chosen
    assert task.sizes(2) == (4,)
    assert [task.arms(np.array(j), 2) for j in range(4)] == [(0,), (), (), ()]
    assert task.of_arms([0], 2) == 0
    for wrong in ([4], [-1], [0.5], [0, 1]):
        with pytest.raises(AgentError):
            task.check(wrong, 1, 2)
    with pytest.raises(ParameterError):
        task.of_arms([1], 2)
    with pytest.raises(ParameterError):
        task.check_arms(3)


def test_arms_of_lower_rank_and_arms_that_are_candidates() -> None:
    rng = np.random.default_rng(0)
    features = rng.standard_normal((5, 2)) @ rng.standard_normal((2, 4))
    mix = rng.standard_normal((6, 5))
    task = BestCandidate(np.vstack([mix @ features, features]), features)
    theta = rng.standard_normal(4)
    means = features @ theta
    np.testing.assert_allclose(task.combinations @ means, np.concatenate([mix @ means, means]), atol=1e-12)
    np.testing.assert_array_equal(task.combinations[6:], np.eye(5))
    accurate = BestCandidate(features, features, epsilon=0.5)
    correct = accurate.correct(np.tile(means, (5, 1)), np.arange(5))
    assert correct.tolist() == (means.max() - means <= 0.5).tolist()
    assert task.in_place_of(BestArm(0.5)).epsilon == 0.5  # as an environment with epsilon=0.5 has it


def test_episodes_by_hand() -> None:
    env = BestArmEnv(problem(candidates=CANDIDATES), budget=3, **LISTED)
    assert env.action_space == gym.spaces.Discrete(4)
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    np.testing.assert_array_equal(observation["candidates"], CANDIDATES)
    for left in (3, 2, 1):
        assert info["action_mask"].tolist() == [1, 1, 0, 0], left
        assert env.action_space.sample(info["action_mask"]) < 2
        with pytest.raises(ParameterError):
            env.step(3)
        observation, _, _, _, info = env.step(1)
    assert observation["remaining"] == 0 and info["phase"] == "recommend"
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    _, reward, terminated, _, info = env.step(3)
    assert (reward, terminated, info["correct"], info["correct_recommendation"]) == (1.0, True, True, 1)
    keywords: dict[str, Any] = {"fixed_confidence": True, "reward": "simple_regret", **LISTED}
    stopping = BestArmEnv(problem(candidates=CANDIDATES), budget=9, **keywords)
    assert stopping.action_space == gym.spaces.Discrete(6)
    assert "action_mask" not in stopping.reset(seed=0)[1]
    stopping.step(1)
    _, reward, terminated, _, info = stopping.step(2)  # K + 0
    assert terminated and info["simple_regret"] == pytest.approx(0.4) == -reward
    fewer = BestArmEnv(problem(candidates=CANDIDATES[2:3]), budget=1, **LISTED)  # fewer candidates than arms
    fewer.reset(seed=0)
    assert fewer.step(0)[4]["action_mask"].tolist() == [1, 0]
    with pytest.raises(ParameterError):
        fewer.step(1)


def test_a_batch_is_as_many_single_episodes() -> None:
    batch = BestArmVectorEnv(problem(candidates=CANDIDATES), 3, budget=2, **LISTED)
    observation, info = batch.reset(seed=0)
    assert observation in batch.observation_space
    assert observation["candidates"].shape == (3, 4, 2)
    assert info["action_mask"].tolist() == [[1, 1, 0, 0]] * 3 and info["_action_mask"].all()
    with pytest.raises(ParameterError):
        batch.step([0, 2, 0])
    single = BestArmVectorEnv(problem(candidates=CANDIDATES), 1, budget=1, autoreset_mode="SameStep", **LISTED)
    single.reset(seed=0)
    single.step([1])
    last = single.step([3])[4]["final_info"]
    assert last["action_mask"].tolist() == [[1, 1, 1, 1]] and last["correct"].all()
    batch.step([0, 1, 0])
    info = batch.step([0, 1, 0])[4]
    assert info["action_mask"].tolist() == [[1, 1, 1, 1]] * 3
    _, rewards, terminated, _, info = batch.step([0, 1, 3])
    assert rewards.tolist() == [0.0, 1.0, 1.0] and terminated.all()
    assert info["correct_recommendation"].tolist() == [1, 1, 1]
    stopping = BestArmVectorEnv(problem(candidates=CANDIDATES), 2, budget=9, fixed_confidence=True, **LISTED)
    stopping.reset(seed=0)
    assert stopping.step([1, 3])[2].tolist() == [False, True]  # the second answers candidate 1


def test_what_is_refused() -> None:
    for keywords, error in (
        ({"candidates": [[1.0]]}, InstanceError),
        ({"candidates": [[1.0, np.nan]]}, InstanceError),
        ({"candidates": np.empty((0, 2))}, InstanceError),
        ({"candidates": CANDIDATES, "link": "logit"}, ParameterError),
    ):
        with pytest.raises(error) as caught:
            problem(**keywords)
        assert "candidate" in str(caught.value) and "\n" not in str(caught.value), keywords
    with pytest.raises(InstanceError, match="candidate 1"):
        build("custom-linear", features=[[1.0, 0.0], [2.0, 0.0]], theta=THETA, candidates=[[3.0, 0.0], [0.0, 1.0]])
    given = problem(candidates=CANDIDATES)
    for keywords in ({"task": "top-m", "m": 1}, {"reward": "estimate"}, {"task": "best-candidate"}):
        with pytest.raises(BaiGymError):
            BestArmEnv(given, **keywords)
    with pytest.raises(BaiGymError):
        gym.make("BAI-Gaussian8-v0", candidates=CANDIDATES)  # arms without features
