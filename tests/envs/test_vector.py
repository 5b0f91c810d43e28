"""The native batch: a batch of one is the scalar form, and autoreset is that of Gymnasium's own vector environments."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv

from bai_gym.envs.registration import IDS
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import BaiGymError, ParameterError

# Two best arms, and every reward is its arm's mean, so that batches with different generators can be compared.
EXACT: dict[str, Any] = {"means": [0.2, 0.9, 0.9, 0.5], "variances": 0.0, "shuffle": False}


# The tasks, with a fixed budget and with fixed confidence, on the arms above.
FIXED: dict[str, Any] = {"fixed_confidence": True, "pull_cost": 0.125}
TASKS: dict[str, dict[str, Any]] = {
    "best-arm": {},
    "top-m": {"task": "top-m", "m": 2},
    "best-of-each": {"task": "best-of-each", "num_bandits": 2},
    "thresholding": {"task": "thresholding", "threshold": 0.625},
}
KINDS = TASKS | {f"FC-{name}": {**task, **FIXED} for name, task in TASKS.items()}
BERNOULLI = {"means": [0.3, 0.6, 0.5, 0.2], "distribution": "bernoulli"}

# Other parameters, on ids that are there.
OTHER: list[tuple[str, dict[str, Any]]] = [
    *(("BAI-Custom-v0", {**BERNOULLI, **keywords}) for keywords in KINDS.values()),
    ("BAI-Gaussian32-v0", {"noisy_best": False, "instance": "fixed"}),
    ("BAI-Gaussian8-v0", {"batch_size": 3, "delay": 1}),
    ("BAI-PairedGaussian10-v0", {"pairs": True}),
    ("BAI-Custom-v0", {"means": [0.1, 0.5, 0.2], "costs": [1.0, 2.0, 0.5]}),
    ("BAI-LinearSphere8-v0", {"instance": "fixed"}),
    ("BAI-CustomLinear-v0", {"link": "log"}),
]
FIRST = {entry.family: entry for entry in reversed(IDS) if not entry.data and "-FC-" not in entry.id}
CASES = [(entry.id, dict[str, Any]()) for entry in FIRST.values()]
CASES += [case for case in OTHER if case[0] in {entry.id for entry in IDS}]

every_mode = pytest.mark.each("mode", list(AutoresetMode), ids=lambda mode: str(mode.value))


def same(one: Any, two: Any, where: str = "") -> None:
    """Assert that two results of a step have equal types, shapes and values, through dictionaries and tuples."""
    assert type(one) is type(two), where
    if isinstance(one, dict):
        assert set(one) == set(two), where
        for key in one:
            same(one[key], two[key], f"{where}[{key!r}]")
    elif isinstance(one, tuple) or (isinstance(one, np.ndarray) and one.dtype == object):
        assert len(one) == len(two), where
        for i, (left, right) in enumerate(zip(one, two, strict=True)):
            same(left, right, f"{where}[{i}]")
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (two.dtype, two.shape), where
        np.testing.assert_array_equal(one, two, err_msg=where)
    else:
        assert one == two, where


def first_of(values: dict[str, Any]) -> dict[str, Any]:
    """The observation or info of a batch of one as that of a single episode."""
    return {key: value[0] for key, value in values.items() if key[0] != "_" and values.get(f"_{key}", [True])[0]}


def sampled(space: gym.Space[Any], rng: np.random.Generator, env: Any) -> Any:
    """An action; where half of the actions stop, most of those that are drawn pull; always one that is allowed."""
    action, num_arms = space.sample(), env.num_arms
    if env.action_encoding.masked:
        return action % min(num_arms, *env.episode_spec.task.sizes(num_arms))
    if env.episode_spec.costs is not None:
        return int(rng.choice(np.flatnonzero(env.action_masks())))
    stops_half = isinstance(space, gym.spaces.Discrete) and space.n == 2 * num_arms
    return action % num_arms if stops_half and rng.random() < 0.7 else action


@pytest.mark.slow
@pytest.mark.each("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP], ids=lambda mode: str(mode.value))
@pytest.mark.each(("name", "keywords"), CASES)
def test_a_batch_of_one_is_the_scalar_form(name: str, keywords: dict[str, Any], mode: AutoresetMode) -> None:
    env = gym.make(name, budget=6, **keywords)
    batch = gym.make_vec(name, num_envs=1, budget=6, autoreset_mode=mode, **keywords)
    assert isinstance(batch.unwrapped, BestArmVectorEnv)
    (one, info), (many, infos) = env.reset(seed=5), batch.reset(seed=5)
    same(one, first_of(many))
    same(info, first_of(infos))
    env.action_space.seed(1)
    rng = np.random.default_rng(1)
    ends = cuts = 0
    for _ in range(120):
        action = sampled(env.action_space, rng, env.unwrapped)
        one, reward, terminated, truncated, info = env.step(action)
        many, rewards, ended, cut, infos = batch.step(np.array([action]))
        assert (reward, terminated, truncated) == (rewards[0], ended[0], cut[0])
        ends, cuts = ends + terminated, cuts + truncated
        over = terminated or truncated
        if over and mode is AutoresetMode.SAME_STEP:
            same(one, infos["final_obs"][0])
            infos = infos["final_info"]
        else:
            same(one, first_of(many))
        np.testing.assert_equal(info, first_of(infos))
        if over:
            one, _ = env.reset()
            if mode is AutoresetMode.NEXT_STEP:
                many, rewards, ended, *_ = batch.step(np.array([action]))
                assert (rewards[0], ended[0]) == (0.0, False)
            same(one, first_of(many))
    assert ends >= 10 and (cuts >= 2) == ("fixed_confidence" in keywords)


def both(mode: AutoresetMode, num_envs: int = 3, **keywords: Any) -> tuple[VectorEnv[Any, Any, Any], ...]:
    """The native batch, and Gymnasium's of scalar environments."""
    sync = {"autoreset_mode": mode}
    return (
        gym.make_vec("BAI-Custom-v0", num_envs=num_envs, autoreset_mode=mode, **EXACT, **keywords),
        gym.make_vec(
            "BAI-Custom-v0", num_envs=num_envs, vectorization_mode="sync", vector_kwargs=sync, **EXACT, **keywords
        ),
    )


@every_mode
@pytest.mark.each("kind", ["simple_regret", *KINDS])
def test_autoreset_is_that_of_gymnasium(kind: str, mode: AutoresetMode) -> None:
    ours, theirs = both(mode, budget=5, **KINDS.get(kind, {"reward": kind}))
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"] is mode
    rng = np.random.default_rng(3)
    same(ours.reset(seed=0), theirs.reset(seed=0))
    ours.single_action_space.seed(0)
    ends, cuts, ended_at_once = np.zeros(3, int), np.zeros(3, int), set()
    for step in range(80):
        if step == 50:
            same(ours.reset(), theirs.reset())
        if step in (2, 9, 30):  # with a fixed budget, this alone brings them out of step
            mask = np.arange(3) % 2 == step % 2
            same(ours.reset(options={"reset_mask": mask}), theirs.reset(options={"reset_mask": mask.copy()}))
        actions = np.array([sampled(ours.single_action_space, rng, theirs.envs[0].unwrapped) for _ in range(3)])
        result = ours.step(actions)
        same(result, theirs.step(actions), f"step {step}")
        over = result[2] | result[3]
        ends += result[2]
        cuts += result[3]
        ended_at_once.add(int(over.sum()))
        if mode is AutoresetMode.DISABLED and over.any():
            same(ours.reset(options={"reset_mask": over}), theirs.reset(options={"reset_mask": over.copy()}))
    assert ends.min() >= 4 and 1 in ended_at_once
    assert (cuts.min() >= 1) == kind.startswith("FC")


def test_without_autoreset_an_episode_that_is_over_must_be_reset() -> None:
    envs = gym.make_vec("BAI-Custom-v0", num_envs=2, budget=1, autoreset_mode="Disabled")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before the first step"):
        envs.step(np.array([0, 0]))
    envs.reset(seed=0)
    envs.step(np.array([0, 0]))
    envs.step(np.array([0, 0]))
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step(np.array([0, 0]))
    envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step(np.array([0, 0]))
    envs.reset()
    envs.step(np.array([0, 0]))


@pytest.mark.each("name", ["BAI-Gaussian32-v0", "BAI-Custom-v0"])
def test_without_copies_the_arrays_are_the_live_ones(name: str) -> None:
    copied, live = (
        gym.make_vec(name, num_envs=3, budget=4, copy=copy, autoreset_mode="SameStep") for copy in (True, False)
    )
    (kept, _), (first, _) = copied.reset(seed=0), live.reset(seed=0)
    for step in range(12):
        actions = np.array([step % 3, 2, 3])
        one, two = copied.step(actions), live.step(actions)
        same(one, two)
        assert all(np.shares_memory(two[0][key], first[key]) for key in first)
        assert not any(np.shares_memory(one[0][key], kept[key]) for key in kept)
        if one[2].any():  # what has ended is kept apart, although the arrays have gone on
            assert [end["pulls"].sum() for end in two[4]["final_obs"]] == [4, 4, 4]
    assert kept["pulls"].sum() == 0


def test_malformed_batches_modes_and_masks_are_refused() -> None:
    for num_envs in (0, 2.5, True):
        with pytest.raises(ParameterError, match="num_envs must be an integer of at least 1"):
            BestArmVectorEnv("custom", num_envs=num_envs)
    with pytest.raises(ParameterError, match="'never'"):
        gym.make_vec("BAI-Custom-v0", num_envs=2, autoreset_mode="never")
    assert BestArmVectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP  # the class is left alone
    envs = BestArmVectorEnv("custom", num_envs=2)
    with pytest.raises(ResetNeeded, match="without a reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False])})
    envs.reset(seed=0)
    for mask in (np.array([True]), np.zeros(2, bool), np.array([1, 0]), "first"):
        with pytest.raises(ParameterError, match="2 booleans"):
            envs.reset(options={"reset_mask": mask})


def test_problem_info_is_about_all_episodes() -> None:
    envs = BestArmVectorEnv("gaussian", num_envs=3, num_arms=4, budget=6)
    with pytest.raises(ResetNeeded, match="before problem_info"):
        envs.problem_info()
    envs.reset(seed=0)
    problem_info = envs.problem_info({"variances"})
    assert (problem_info.batch, problem_info.num_arms, problem_info.budget) == (3, 4, 6)
    assert problem_info.variances.shape == (3, 4)
    with pytest.raises(BaiGymError, match="without declaring"):
        _ = envs.problem_info().variances


def test_a_list_of_seeds_names_the_batch() -> None:
    env = gym.make_vec("BAI-Bernoulli3-v0", num_envs=3, vectorization_mode="vector_entry_point")
    rewards = []
    for seeds in ([1, 2, 3], [1, 2, 3], [3, 2, 1]):
        env.reset(seed=seeds)
        rewards.append([env.step(np.zeros(3, np.int64))[0]["means"].tolist() for _ in range(20)])
    assert rewards[0] == rewards[1] != rewards[2]
    env.reset(seed=[None] * 3)
    for wrong in ([1, 2], [1, 2, -3], [1, 2, None]):
        with pytest.raises(ParameterError, match="seed"):
            env.reset(seed=wrong)
