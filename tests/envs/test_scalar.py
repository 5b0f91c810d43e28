"""One episode at a time: rewards worked by hand, what observations and infos hold, mistakes, and pictures."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from bai_gym.bandits import GaussianBandit
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import (
    BaiGymError,
    BudgetError,
    InstanceError,
    ParameterError,
    UnknownKeywordError,
)
from bai_gym.problems import FixedProblem

MEANS = [0.2, 0.9, 0.9, 0.5]  # two best arms
EXACT = {"means": MEANS, "variances": 0.0, "shuffle": False}  # every reward is its arm's mean


def play(env: gym.Env[Any, Any], pulls: list[int], recommendation: int) -> tuple[float, dict[str, Any]]:
    """Return the reward and info of the last step."""
    env.reset(seed=0)
    for arm in pulls:
        _, reward, terminated, _, _ = env.step(arm)
        assert (reward, terminated) == (0.0, False)
    _, last, terminated, truncated, info = env.step(recommendation)
    assert (terminated, truncated) == (True, False)
    return float(last), info


# Recommended arm -> (1 if right, simple regret), with the best mean 0.9.
BY_HAND = {0: (0.0, 0.7), 1: (1.0, 0.0), 2: (1.0, 0.0), 3: (0.0, 0.4)}


@pytest.mark.each(("arm", "expected"), BY_HAND.items())
def test_rewards_by_hand(arm: int, expected: tuple[float, float]) -> None:
    right, regret = expected
    for kind, reward in (("correct", right), ("simple_regret", -regret)):
        got, info = play(gym.make("BAI-Custom-v0", budget=2, reward=kind, **EXACT), [0, 1], arm)
        assert got == pytest.approx(reward)
        assert math.copysign(1.0, got) == (-1.0 if reward < 0 else 1.0)  # no minus zero
        assert info == {
            "phase": "done",
            "correct": bool(right),
            "simple_regret": pytest.approx(regret),
            "correct_recommendation": 1,
        }


def test_observations_are_the_statistics() -> None:
    env = gym.make("BAI-Custom-v0", means=[0.0, 5.0, -1.0], variances=[1.0, 4.0, 0.0], budget=5, shuffle=False)
    env.reset(seed=3)
    rewards: dict[int, list[float]] = {0: [], 1: [], 2: []}
    for arm in (0, 1, 1, 2, 1):
        observation, *_ = env.step(arm)
        # The last reward, recovered from the change of the mean.
        rewards[arm].append(observation["means"][arm] * observation["pulls"][arm] - sum(rewards[arm]))
        for other, seen in rewards.items():
            assert observation["pulls"][other] == len(seen)
            assert observation["means"][other] == pytest.approx(np.mean(seen) if seen else 0.0)
            assert observation["variances"][other] == pytest.approx(np.var(seen, ddof=1) if len(seen) > 1 else 0.0)
    assert len(set(rewards[1])) == 3
    assert rewards[2] == [-1.0]


def test_observations_are_copies() -> None:
    env = gym.make("BAI-Custom-v0", budget=3)
    first, _ = env.reset(seed=0)
    second, *_ = env.step(1)
    assert first["pulls"].sum() == 0
    second["pulls"][:] = 77
    second["remaining"][:] = 77
    third, *_ = env.step(1)
    assert (third["pulls"].tolist(), third["remaining"].item()) == ([0, 2, 0, 0], 1)


# Fixed and random instances


def instances(name: str, seeds: tuple[int, ...], **keywords: Any) -> list[list[float]]:
    env = gym.make(name, **keywords).unwrapped
    assert isinstance(env, BestArmEnv)
    found = []
    for seed in seeds:
        env.reset(seed=seed)
        found.append(env.problem_info({"complexity"}).means[0].tolist())
    return found


def test_a_fixed_instance_stays() -> None:
    name = "BAI-Gaussian32-v0"
    fixed: dict[str, Any] = {"instance": "fixed", "shuffle": False}
    one, two = instances(name, (1, 2), **fixed)
    assert one == two
    assert instances(name, (5,), **fixed, instance_seed=0) == [one]
    assert instances(name, (1,), **fixed, instance_seed=1) != [one]
    first, second = instances(name, (1, 2), instance="fixed")  # in an order of each episode's own
    assert first != second and sorted(first) == sorted(second) == sorted(one)


# ProblemInfo


# Mistakes


@pytest.mark.each("action", [-1, 4, 1.5, math.nan, None, "1", [0, 1]])
def test_an_action_that_is_no_arm_is_refused(action: Any) -> None:
    env = BestArmEnv("custom", means=MEANS)
    env.reset(seed=0)
    with pytest.raises(ParameterError, match=r"is not an arm; arms are numbered 0 to 3$") as caught:
        env.step(action)
    assert "\n" not in str(caught.value)
    observation, *_ = env.step(0)  # nothing has happened in between
    assert observation["pulls"].sum() == 1


def test_steps_and_pictures_need_a_reset() -> None:
    env = BestArmEnv("custom", budget=1, render_mode="ansi")
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="reset"):
        env.render()
    play(env, [0], 0)
    with pytest.raises(ResetNeeded, match=r"the episode is over: call reset\(\)"):
        env.step(0)
    assert "done" in env.render()


MISTAKES: list[tuple[str, dict[str, Any], type[BaiGymError], str]] = [
    ("BAI-Gaussian64-v0", {"reward": "regret"}, ParameterError, "reward"),
    ("BAI-Gaussian64-v0", {"budget": 0}, BudgetError, "budget"),
    ("BAI-Gaussian64-v0", {"num_arms": 1}, InstanceError, "arms"),
    ("BAI-Gaussian64-v0", {"instance": "frozen"}, ParameterError, "instance"),
    (
        "BAI-Gaussian64-v0",
        {"arms": 3},
        UnknownKeywordError,
        "'arms' of the.*num_arms, noisy_best, instance",
    ),
    ("BAI-Custom-v0", {"means": [1.0, math.nan]}, InstanceError, "means: arm 1"),
    ("BAI-Custom-v0", {"means": [[0.0, 1.0], [1.0, 0.0]]}, InstanceError, "one instance"),
    ("BAI-Custom-v0", {"means": [0.0, 1.0], "variances": [1.0, -1.0]}, InstanceError, "arm 1"),
    ("BAI-Custom-v0", {"variances": [1.0, 1.0]}, ParameterError, "means"),
    ("BAI-Custom-v0", {"distribution": "poisson"}, ParameterError, "distribution"),
]


@pytest.mark.each("batch", [False, True], ids=["scalar", "batch"])
@pytest.mark.each(("name", "keywords", "kind", "match"), MISTAKES)
def test_mistakes_are_named_in_one_line(
    name: str, keywords: dict[str, Any], kind: type[BaiGymError], match: str, batch: bool
) -> None:
    with pytest.raises(kind, match=match) as caught:
        gym.make_vec(name, num_envs=2, **keywords) if batch else gym.make(name, **keywords)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 320


def test_a_problem_is_a_name_or_a_problem() -> None:
    with pytest.raises(ParameterError, match="not a GaussianBandit"):
        BestArmEnv(GaussianBandit([0.0, 1.0]))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'num_arms' cannot be given"):
        BestArmEnv(FixedProblem(GaussianBandit([0.0, 1.0])), num_arms=2)


# Pictures


def test_an_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ParameterError, match="ansi, rgb_array, human, not 'svg'"):
        BestArmEnv("custom", render_mode="svg")
    with pytest.warns(UserWarning, match="render_mode='svg'"), pytest.raises(ParameterError, match="not 'svg'"):
        gym.make("BAI-Custom-v0", render_mode="svg")
    with pytest.raises(ParameterError, match="vectorization_mode='sync'"):
        BestArmVectorEnv("custom", render_mode="ansi")


def test_a_window_opens_and_closes() -> None:
    pygame = pytest.importorskip("pygame")
    env = gym.make("BAI-Custom-v0", budget=2, render_mode="human")
    env.reset(seed=0)
    assert pygame.display.get_surface() is not None
    start = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(1)
    assert (pygame.surfarray.array3d(pygame.display.get_surface()) != start).any()
    env.close()
    assert not pygame.display.get_init()
    env.close()


@pytest.mark.each("options", [5, {"seed": 5}, ["reset_mask"]])
def test_unknown_options_are_refused_in_one_line(options: Any) -> None:
    batch = gym.make_vec("BAI-Bernoulli4-v0", num_envs=2, vectorization_mode="vector_entry_point")
    for env in (gym.make("BAI-Bernoulli4-v0").unwrapped, batch):
        with pytest.raises(ParameterError, match="options|option"):
            env.reset(options=options)
