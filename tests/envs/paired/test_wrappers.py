"""The wrappers that gym.make adds, and the keywords that all environments share."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bai_gym.envs.late import LateRewards
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import EpisodeSpec
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.envs.wrappers import make_env, make_vec_env
from bai_gym.errors import ParameterError
from bai_gym.paired import PairedGaussianBandit
from bai_gym.paired.envs import Differences
from bai_gym.problems import FixedProblem

WRAPPED: list[dict[str, Any]] = [{"batch_size": 3, "delay": 1}, {"pairs": True}]
MEANS = [0.3, 0.1, 0.2]


def problem() -> FixedProblem:
    return FixedProblem(PairedGaussianBandit(MEANS, correlation=0.5))


def batch(mode: str, keywords: dict[str, Any]) -> Any:
    return make_vec_env(problem(), 4, 8, mode, fixed_confidence=True, **keywords)


@pytest.mark.parametrize("keywords", WRAPPED)
def test_the_last_observation_is_the_same_in_every_autoreset_mode(keywords: dict[str, Any]) -> None:
    """Episode 0 stops after two pulls, the others are truncated by the eighth."""
    last: list[list[Any]] = []
    for mode in ("SameStep", "Disabled"):
        envs = batch(mode, keywords)
        seen, _ = envs.reset(seed=1)
        ends: list[Any] = [None] * 4
        for step in range(8):
            actions = np.array([step % 3, 1, step % 2, 2])
            actions[0] = 4 if step == 2 else actions[0]
            if mode == "Disabled" and step > 2:
                break
            seen, _, terminated, truncated, info = envs.step(actions)
            for row in np.flatnonzero(terminated | truncated):
                ends[row] = info["final_obs"][row] if mode == "SameStep" else {k: v[row] for k, v in seen.items()}
        last.append(ends)
    same, disabled = last
    assert same[0].keys() == disabled[0].keys() == envs.single_observation_space.keys()
    assert all((same[0][key] == disabled[0][key]).all() for key in same[0])
    for end in same[1:]:
        assert end in envs.single_observation_space
        assert end["pulls"].sum() == 8 and not end.get("pending", np.zeros(1)).any()


@pytest.mark.parametrize("keywords", WRAPPED)
def test_restarted_episodes_show_nothing_of_the_old_ones(keywords: dict[str, Any]) -> None:
    envs = batch("Disabled", keywords)
    envs.reset(seed=2)
    for arm in (0, 1, 2, 0, 1):
        before, *_ = envs.step(np.full(4, arm))
    after, _ = envs.reset(options={"reset_mask": np.array([False, True, False, False])})
    for key in {"pulls", "means", "variances", "pending", "differences", "difference_variances"} & after.keys():
        assert not after[key][1].any(), key
        np.testing.assert_array_equal(after[key][[0, 2, 3]], before[key][[0, 2, 3]], err_msg=key)


@pytest.mark.parametrize("keywords", [{}, *WRAPPED])
def test_a_copy_goes_on_like_the_original(keywords: dict[str, Any]) -> None:
    for env, first, arms in (
        (make_env(problem(), 9, **keywords), 1, (2, 0, 1)),
        (make_vec_env(problem(), 2, 9, **keywords), np.array([1, 2]), np.array([[2, 0], [0, 1], [1, 1]])),
    ):
        env.reset(seed=3)
        env.step(first)
        for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            original = copy.deepcopy(env)
            for arm in arms:
                one, other = original.step(arm)[0], twin.step(arm)[0]
            assert one["pulls"].sum() + one.get("pending", np.zeros(1)).sum() == 4 * (np.ndim(first) + 1)
            for key, values in one.items():
                np.testing.assert_array_equal(values, other[key], err_msg=key)


def test_an_estimate_is_read_from_the_rewards_that_have_arrived() -> None:
    env = make_env(problem(), 9, batch_size=3, fixed_confidence=True, reward="estimate")
    env.reset(seed=0)
    for arm in (0, 1, 2, 0):
        seen, *_ = env.step(arm)
    assert seen["pending"].tolist() == [1, 0, 0]
    assert env.step(3)[1] == seen["means"][0]


@pytest.mark.filterwarnings("ignore:.*A Box observation space (min|max)imum value is", "ignore:.*has a wrapper applied")
@pytest.mark.parametrize("keywords", WRAPPED)
def test_wrappers_are_part_of_what_gym_make_makes(keywords: dict[str, Any]) -> None:
    made: Any = gym.make("BAI-PairedGaussian10-v0", budget=12, **keywords)
    check_env(make_env(problem(), 12, **keywords), skip_render_check=True)
    again: Any = gym.make(made.spec)
    kind = Differences if "pairs" in keywords else LateRewards
    inner = again
    wrappers = 0
    while isinstance(inner, gym.Wrapper):
        wrappers += isinstance(inner, kind)
        inner = inner.env
    assert wrappers == 1 and again.observation_space == made.observation_space
    frames = gym.make("BAI-PairedGaussian10-v0", budget=12, render_mode="rgb_array_list", **keywords)
    assert frames.render_mode == "rgb_array_list"


def test_what_needs_a_wrapper_is_refused_without_one() -> None:
    spec = EpisodeSpec.of(problem())
    for keywords in ({"pairs": True}, {"batch_size": 2}, {"delay": 1}):
        for plain in (
            lambda **words: BestArmEnv(problem(), **words),
            lambda **words: BestArmVectorEnv(problem(), **words),
        ):
            with pytest.raises(ParameterError, match=r"use gym\.make"):
                plain(**keywords)
    with pytest.raises(ParameterError, match="leave out batch_size and delay"):
        gym.make("BAI-PairedGaussian10-v0", pairs=True, batch_size=4)
    with pytest.raises(ParameterError, match="'budget' cannot be given with a specification"):
        make_env(problem(), spec, budget=3)
    with pytest.raises(ParameterError, match="num_bandits must divide"):
        make_env(
            problem(),
            EpisodeSpec.of(
                FixedProblem(PairedGaussianBandit([0.0] * 4, correlation=0.0)), task="best-of-each", num_bandits=2
            ),
        )
