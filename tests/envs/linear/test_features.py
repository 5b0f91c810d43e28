"""Features in observations: there from the first one on, the same during an episode, the agent's to read."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from bai_gym import evaluate
from bai_gym.agents import Agent
from bai_gym.agents.base import Plan
from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import InstanceError
from bai_gym.problems import Problem
from bai_gym.sampling import Block

SPHERE = "BAI-LinearSphere8-v0"


def truth(env: BestArmVectorEnv) -> Any:
    return env._episodes.bandit.features


def test_a_scalar_environment_shows_the_features_of_its_instance() -> None:
    env = gym.make(SPHERE, budget=3)
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, BestArmEnv) and isinstance(env.observation_space, gym.spaces.Dict)
    space = env.observation_space["features"]
    assert (space.shape, space.dtype) == ((8, 10), np.float64)
    seen = []
    for seed in (0, 1):
        first, _ = env.reset(seed=seed)
        features = unwrapped._episode.bandit.features
        assert features is not None
        for step in range(4):
            observation, *_ = env.step(step)
            np.testing.assert_array_equal(observation["features"], features[0])
            assert env.observation_space.contains(observation)
            observation["features"][:] = np.nan  # belongs to who got it
        np.testing.assert_array_equal(first["features"], features[0])
        seen.append(first["features"])
    assert (seen[0] != seen[1]).all()


@pytest.mark.each("copy", [True, False], ids=["copies", "live"])
@pytest.mark.each("mode", list(AutoresetMode), ids=lambda mode: str(mode.value))
@pytest.mark.each("name", [SPHERE, "BAI-LinearAdaptive8-v0"])
def test_a_batch_shows_the_features_of_the_current_instances(name: str, mode: AutoresetMode, copy: bool) -> None:
    envs = gym.make_vec(name, num_envs=3, budget=2, autoreset_mode=mode, copy=copy)
    assert isinstance(envs, BestArmVectorEnv)
    observation, _ = envs.reset(seed=0)
    for _ in range(9):
        before = np.array(observation["features"])
        np.testing.assert_array_equal(before, truth(envs))
        assert envs.observation_space.contains(observation)
        if mode is AutoresetMode.DISABLED and envs._episodes.over.all():
            mask = np.array([True, False, True])
            observation, _ = envs.reset(options={"reset_mask": mask})
            changed = np.array([(one != two).any() for one, two in zip(before, observation["features"], strict=True)])
            assert (changed == mask).all()
            observation, _ = envs.reset(options={"reset_mask": ~mask})
            continue
        observation, _, ended, _, info = envs.step(np.zeros(3, np.int64))
        if mode is AutoresetMode.SAME_STEP and ended.any():  # what has ended has the features that it had
            for row in range(3):
                np.testing.assert_array_equal(info["final_obs"][row]["features"], before[row])


def test_episodes_that_end_at_different_times_get_features_of_their_own() -> None:
    envs = gym.make_vec(SPHERE, num_envs=4, budget=9, fixed_confidence=True, autoreset_mode="SameStep", copy=False)
    assert isinstance(envs, BestArmVectorEnv)
    observation, _ = envs.reset(seed=0)
    with pytest.raises(ValueError, match="read-only"):
        observation["features"][0, 0, 0] = 0.0
    rng = np.random.default_rng(0)
    for _ in range(40):
        before = observation["features"].copy()
        observation, _, ended, cut, _ = envs.step(rng.integers(0, 10, 4))
        np.testing.assert_array_equal(observation["features"], truth(envs))
        np.testing.assert_array_equal((observation["features"] != before).any(axis=(1, 2)), ended | cut)


class Wrong(Problem):
    num_arms = 3
    num_features = 2

    def __init__(self, bandit: Bandit) -> None:
        self._bandit = bandit

    def draw(self, batch: int, rng: np.random.Generator) -> Bandit:
        return self._bandit.select(np.zeros(batch, np.int64))


@pytest.mark.each(
    ("bandit", "found"),
    [(GaussianBandit(np.zeros(3)), "none"), (FeatureBandit(GaussianBandit(np.zeros(3)), np.eye(3)), "3")],
)
def test_a_problem_must_keep_its_word(bandit: Bandit, found: str) -> None:
    with pytest.raises(InstanceError, match=f"Wrong has num_features=2, and draws bandits with {found}"):
        BestArmEnv(Wrong(bandit)).reset()


# ------------------------------------------------------------------------------------------------ agents


class PlansByFeatures(Agent):
    """Pulls all arms once, and recommends by features alone."""

    name = "PlansByFeatures"

    def plan(self) -> Plan:
        yield Block(np.ones((self.batch, self.num_arms), np.int64))
        assert self.features is not None
        return self.features[..., 0].argmax(axis=-1)


@pytest.mark.each("path", ["blocks", "steps"])
def test_a_plan_reads_features(path: str) -> None:
    keywords = {"rotate": False}  # by the features, it knows an arm whatever its number
    result = evaluate(PlansByFeatures, "BAI-LinearCorner6-v0", budget=6, runs=30, path=path, env_kwargs=keywords)
    assert (result.errors, result.runs) == (0, 30)
    with pytest.raises(AssertionError):
        evaluate(PlansByFeatures, "BAI-Gaussian8-v0", budget=8, runs=3, path=path)
