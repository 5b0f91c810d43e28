"""Every registered id, swept through the checkers of Gymnasium and stable-baselines3 and through the same contract."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bai_gym.data import find
from bai_gym.envs.registration import IDS
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.specification import KEYWORDS
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import ParameterError
from bai_gym.wings import Registration

# What a checker may say. Rewards, and so means and variances, have no bound that holds for every problem.
ALLOWED = (
    "A Box observation space minimum value is -infinity.",
    "A Box observation space maximum value is infinity.",
)

# stable-baselines3 advises to flatten a matrix; its policies do so themselves.
MATRIX = tuple(
    f"Your observation {key} has an unconventional shape (neither an image, nor a 1D vector)."
    for key in ("features", "candidates", "metric_means", "metric_variances")
)

every_id = pytest.mark.each("entry", IDS, ids=lambda entry: str(entry.id))


@pytest.fixture(autouse=True)
def stand_ins(request: pytest.FixtureRequest, small_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the data of an id are missing, and a small made-up file can stand in for them, let it."""
    entry = request.node.callspec.params.get("entry") if hasattr(request.node, "callspec") else None
    if entry is not None and entry.data != "movielens-1m" and find(entry.data) is None:
        monkeypatch.setenv("BAI_GYM_DATA", str(small_data))


def make(entry: Registration, **keywords: Any) -> gym.Env[Any, Any]:
    """Make the environment, or skip where its data are missing."""
    if entry.data is not None and find(entry.data) is None:
        pytest.skip(f"the data set {entry.data} is not here: set BAI_GYM_DATA to the folder that has it")
    return gym.make(entry.id, **keywords)


@pytest.mark.each("make", [gym.make, gym.make_vec])
def test_an_unknown_keyword_lists_all_that_are_allowed(make: Callable[..., Any]) -> None:
    for entry in IDS:
        with pytest.raises(ParameterError, match="'batchsize'") as caught:
            make(entry.id, batchsize=3)
        assert isinstance(caught.value, TypeError), entry.id
        assert "unexpected keyword argument 'batchsize'" in str(caught.value)  # of which TorchRL looks for the words
        allowed = str(caught.value).rpartition("allowed: ")[2].split(", ")
        assert {*KEYWORDS, *entry.keywords, "instance", "instance_seed"} <= set(allowed), entry.id
        assert len(allowed) == len(set(allowed)) and not {"self", "problem", "keywords"} & set(allowed)


def complaints(caught: list[warnings.WarningMessage]) -> list[str]:
    messages = [str(warning.message) for warning in caught]
    return [message for message in messages if not any(allowed in message for allowed in ALLOWED)]


def test_the_ids_are_distinct_and_registered() -> None:
    ids = [entry.id for entry in IDS]
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(gym.registry)
    env = gym.make("BAI-Gaussian40-v0").unwrapped
    assert (env.get_wrapper_attr("num_arms"), env.get_wrapper_attr("budget")) == (40, 5000)


@every_id
def test_rewards_are_of_the_kind_that_listings_and_infos_declare(entry: Registration) -> None:
    env = make(entry, budget=6).unwrapped
    assert isinstance(env, BestArmEnv)
    _, info = env.reset(seed=0)
    assert info["rewards"] == entry.rewards == str(env.problem_info().rewards)
    rng = np.random.default_rng(0)
    bandit = env.problem.draw(1, rng)
    for _ in range(4):  # 400 pulls of every arm
        drawn = bandit.pull(np.tile(np.arange(bandit.num_arms), 100), rng)
        assert env.problem_info().rewards.refusal(drawn) is None
    low, high = bandit.limits()
    assert env.problem_info().rewards.low <= low <= high <= env.problem_info().rewards.high
    _, infos = gym.make_vec(entry.id, num_envs=2).reset()
    assert infos["rewards"].tolist() == [entry.rewards] * 2


def has_features(env: gym.Env[Any, Any]) -> bool:
    return env.get_wrapper_attr("problem").num_features is not None


@every_id
def test_gymnasium_finds_nothing_wrong(entry: Registration) -> None:
    env = make(entry)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(env.unwrapped, skip_render_check=True)
    assert complaints(caught) == []


@pytest.mark.each("name", ["BAI-Custom-v0", "BAI-TopM-Gaussian64-v0", "BAI-FC-CustomGoodArm-v0"])
def test_nor_in_any_way_to_render(name: str) -> None:
    pytest.importorskip("pygame")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(gym.make(name).unwrapped)
    assert complaints(caught) == []


@pytest.mark.slow
@every_id
def test_stable_baselines_finds_nothing_wrong(entry: Registration) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    env = make(entry)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checker.check_env(env)
    messages = [str(warning.message) for warning in caught]
    assert [message for message in messages if not message.startswith(MATRIX)] == []


@every_id
def test_spaces(entry: Registration) -> None:
    env = make(entry, budget=6)
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, BestArmEnv)
    num_arms, spec, space = unwrapped.num_arms, unwrapped.episode_spec, env.action_space
    assert isinstance(env.observation_space, gym.spaces.Dict)
    if spec.task.metrics > 1:  # they are in a wrapper
        return
    assert {key: part.shape for key, part in env.observation_space.items()} == {
        "pulls": (num_arms,),
        "means": (num_arms,),
        "variances": (num_arms,),
        "remaining": (1,),
    } | ({"features": (num_arms, unwrapped.problem.num_features)} if has_features(env) else {}) | (
        {"candidates": (num_arms, unwrapped.problem.num_features)} if "Transductive" in entry.id else {}
    )
    assert spec.fixed_confidence == ("-FC-" in entry.id) == (spec.pull_cost > 0)
    task = entry.keywords.get("task", "best-arm")
    words = {"TopM": "top-m", "MultiBandit": "best-of-each", "Thresholding": "thresholding", "GoodArm": "good-arm"}
    words["AllWithin"] = "all-within"
    assert task == next((name for word, name in words.items() if word in entry.id), "best-arm")
    assert unwrapped.problem.known == (entry.family != "function")
    if task == "best-arm":
        answers = spec.task.sizes(num_arms)[0] if spec.task.answer == "item" else num_arms
        assert space == gym.spaces.Discrete(num_arms + answers if spec.fixed_confidence else num_arms)
        return
    assert isinstance(space, gym.spaces.MultiDiscrete)
    sizes = [2] * num_arms
    if task == "best-of-each":
        bandits = entry.keywords["num_bandits"]
        sizes = [num_arms // bandits] * bandits
    if task == "good-arm":  # an arm, or none
        sizes = [num_arms + 1]
    assert space.nvec.tolist() == [num_arms + spec.fixed_confidence, *sizes]
    space.seed(0)
    samples = np.array([space.sample() for _ in range(40)])
    assert all(space.contains(sample) for sample in samples)
    if task == "top-m":  # what is sampled is a set of the right size
        assert set(samples[:, 1:].sum(axis=1)) == {entry.keywords["m"]}
    elif task in ("thresholding", "all-within"):  # or of any size
        assert len(set(samples[:, 1:].sum(axis=1))) > 2


def pull(env: BestArmEnv, arm: int) -> Any:
    """The action that pulls an arm: other entries are not read."""
    return arm if env.action_encoding.shape == () else np.array([arm, *[1] * (env.action_encoding.shape[0] - 1)])


@every_id
def test_an_episode_runs_to_its_end(entry: Registration) -> None:
    env = make(entry, budget=6)
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, BestArmEnv)
    observation, info = env.reset(seed=1)
    masked = unwrapped.action_encoding.masked
    assert masked == (unwrapped.episode_spec.task.answer != "arm" and not unwrapped.episode_spec.fixed_confidence)
    everything = [1] * unwrapped.num_arms
    earlier = observation["pulls"].sum()
    assert (earlier > 0) == (unwrapped.problem.earlier is not None)
    env.action_space.seed(1)
    capped = unwrapped.episode_spec.fixed_confidence
    for step in range(6):
        assert env.observation_space.contains(observation)
        declared = {} if step else {"rewards": str(unwrapped.problem_info().rewards)}
        assert not masked or info.pop("action_mask").tolist() == everything
        assert info == {"phase": "explore", **declared}
        assert (observation["pulls"].sum(), observation["remaining"].item()) == (earlier + step, 6 - step)
        observation, reward, terminated, truncated, info = env.step(pull(unwrapped, step % 2))
        assert type(info.pop("outcome")) is float
        assert (type(reward), terminated, type(truncated)) == (float, False, bool)
        assert reward == (-1e-4 if capped else 0.0)
        assert truncated == (capped and step == 5)
    assert env.observation_space.contains(observation)
    due = np.arange(len(everything)) < unwrapped.episode_spec.task.sizes(len(everything))[0]
    assert not masked or info.pop("action_mask").tolist() == due.astype(int).tolist()
    assert info == {"phase": "done" if capped else "recommend"}
    if capped:  # the last pull has ended the episode; in the next the agent stops before
        env.reset()
        for _ in range(2):
            env.step(pull(unwrapped, 0))
    task, means = unwrapped.problem_info().task, unwrapped._episode.bandit.means  # as this episode numbers the arms
    answer = task.correct_recommendation(means)
    action = unwrapped.action_encoding.recommend(answer)[0]
    seen = observation["means"]
    observation, reward, terminated, truncated, info = env.step(action)
    assert not masked or info.pop("action_mask").tolist() == due.astype(int).tolist()
    assert (terminated, truncated) == (True, False)
    assert env.observation_space.contains(observation)
    assert observation["remaining"].item() == (4 if capped else 0)
    if not unwrapped.problem.known:
        assert info == {"phase": "done", "estimate": seen[action]}
        assert reward == info["estimate"]
        return
    assert reward == 1.0
    assert set(info) == {"phase", "correct", "simple_regret", "correct_recommendation"}
    assert (info["phase"], info["correct"], info["simple_regret"]) == ("done", True, 0.0)
    named = np.asarray(info["correct_recommendation"])[None]  # the answer, or one that ties with it
    assert named.shape == answer.shape and task.correct(means, named).all()


def rollout(env: gym.Env[Any, Any], seed: int, steps: int) -> list[Any]:
    """Everything that comes back from some steps, over several episodes."""
    observation, info = env.reset(seed=seed)
    env.action_space.seed(0)
    seen: list[Any] = [observation, info]
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        seen += [observation, reward, terminated, truncated, info]
        if terminated or truncated:
            seen += env.reset()
    return seen


@every_id
def test_equal_seeds_give_equal_episodes_and_other_seeds_others(entry: Registration) -> None:
    first, again, other = (rollout(make(entry, budget=20), seed, 40) for seed in (3, 3, 4))
    np.testing.assert_equal(first, again)
    with pytest.raises(AssertionError):
        np.testing.assert_equal(first, other)


@every_id
def test_a_batch_is_native_unless_asked_otherwise(entry: Registration) -> None:
    unwrapped = make(entry).unwrapped
    assert isinstance(unwrapped, BestArmEnv)
    native = gym.make_vec(entry.id, num_envs=3, budget=4)
    sync = gym.make_vec(entry.id, num_envs=3, vectorization_mode="sync", budget=4)
    assert isinstance(native.unwrapped, BestArmVectorEnv)
    assert isinstance(sync, gym.vector.SyncVectorEnv)
    assert native.observation_space == sync.observation_space
    assert native.action_space == sync.action_space
    for envs in (native, sync):
        observation, _ = envs.reset(seed=2)
        assert envs.observation_space.contains(observation)
        answer = unwrapped.episode_spec.task.sizes(unwrapped.num_arms)[0]
        for _ in range(6):
            action = envs.action_space.sample()
            item = unwrapped.episode_spec.task.answer == "item"
            observation, *_ = envs.step(action % answer if item else action)
            assert envs.observation_space.contains(observation)
        envs.close()
