"""Scaled observations: in their spaces for every id, the same scalar and batched, in NumPy and PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from bai_gym import compare
from bai_gym.agents.training.scaled import LastPull, LastPullBatch, Progress
from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.registration import IDS
from bai_gym.errors import MissingDataError, ParameterError

CASES: list[tuple[str, dict[str, Any]]] = [
    ("BAI-Bernoulli4-v0", {}),
    ("BAI-Gaussian8-v0", {"budget": 30}),
    ("BAI-Bernoulli4-v0", {"costs": [1.0, 2.0, 3.0, 1.5], "budget": 20.0}),
    ("BAI-Bernoulli4-v0", {"batch_size": 4, "delay": 1}),
    ("BAI-TopM-Bernoulli10-v0", {"budget": 30}),
    ("BAI-MultiBandit2-v0", {"budget": 30}),
    ("BAI-GoodArm-Bernoulli10-v0", {"budget": 30}),
    ("BAI-CustomThresholding-v0", {"budget": 30}),
    ("BAI-FC-Bernoulli10-v0", {"budget": 30}),
    ("BAI-LinearAdaptive8-v0", {"budget": 30}),
]
CASES = [case for case in CASES if case[0] in gym.registry]  # one of them is of a wing


def chosen(env: Any, rng: np.random.Generator) -> Any:
    """``(N, ...)`` random actions: pulls of arms that can be paid for, or recommendations where there are none."""
    batch = env.unwrapped
    affordable = batch.action_masks().reshape(-1, batch.action_masks().shape[-1])[:, : batch.num_arms]
    arms = np.where(affordable, rng.random(affordable.shape), -1.0).argmax(axis=1)
    actions = batch.action_encoding.pull(arms)
    episodes = getattr(batch, "_episodes", None) or batch._episode
    actions = batch.action_encoding.completed(actions, rng.random(affordable.shape), episodes.remaining)
    return np.where(affordable.any(axis=1).reshape(-1, *[1] * (actions.ndim - 1)), actions, actions + batch.num_arms)


def test_a_batch_is_its_episodes_and_the_statistics_say_the_same() -> None:
    torch = pytest.importorskip("torch")
    for env_id, keywords in CASES:
        rng = np.random.default_rng(0)
        one, plain = (gym.make(env_id, **keywords, observation=kind) for kind in ("scaled", "statistics"))
        batch = gym.make_vec(env_id, 1, **keywords, observation="scaled", autoreset_mode="SameStep")
        statistics = gym.make_vec(env_id, 5, **keywords, copy=False)
        scaling = Scaling(plain.observation_space, plain.unwrapped.problem.rewards, plain.unwrapped.episode_spec.task)
        seen, raw = one.reset(seed=3)[0], plain.reset(seed=3)[0]
        several, many = batch.reset(seed=3)[0], statistics.reset(seed=1)[0]
        for _ in range(2 * 31):
            assert seen in one.observation_space and several in batch.observation_space, env_id
            floats = {key: np.asarray(array, np.float64) for key, array in many.items()}
            expected = scaling.flat(floats, np)
            tensors = {key: torch.tensor(array) for key, array in floats.items()}
            np.testing.assert_allclose(scaling.flat(tensors, torch), expected, atol=1e-12, err_msg=env_id)
            np.testing.assert_array_equal(seen, several[0], env_id)
            np.testing.assert_array_equal(seen, scaling({key: np.array([array]) for key, array in raw.items()})[0])
            action = chosen(one, rng)
            seen, *said, _ = one.step(action[0])
            raw = plain.step(action[0])[0]
            several, *_, info = batch.step(action)
            many = statistics.step(chosen(statistics, rng))[0]
            if said[1] or said[2]:
                np.testing.assert_array_equal(seen, info["final_obs"][0], env_id)
                break


def test_a_batch_in_parts_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for env_id, keywords in CASES:
        batch = gym.make_vec(env_id, 5, **keywords, observation="scaled")
        raw = gym.make_vec(env_id, 5, **keywords)
        scaling = Scaling(raw.single_observation_space, raw.unwrapped.problem.rewards, raw.unwrapped.episode_spec.task)
        expected, statistics = batch.reset(seed=0)[0], raw.reset(seed=0)[0]
        for _ in range(5):
            monkeypatch.setattr("bai_gym.agents.training.scaling.CELLS", 2 * scaling.num_arms)
            np.testing.assert_array_equal(scaling(statistics), expected, env_id)
            monkeypatch.undo()
            action = chosen(raw, np.random.default_rng(0))
            expected, statistics = batch.step(action)[0], raw.step(action)[0]


@pytest.mark.slow
def test_every_id_passes_the_checkers_without_a_warning() -> None:
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    for entry in IDS:
        try:
            env = gym.make(entry.id, observation="scaled")
        except MissingDataError:
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            check_env(env, skip_render_check=True)
            sb3.check_env(env)
        said = [str(warning.message) for warning in caught]
        assert [text for text in said if "different from the unwrapped" not in text] == [], entry.id
        assert np.isfinite(env.observation_space.high).all() and env.observation_space.dtype == np.float32, entry.id


def test_means_of_zeros_and_ones_are_bounded() -> None:
    assert gym.make("BAI-Bernoulli4-v0").observation_space["means"].high.tolist() == [1.0] * 4
    assert gym.make("BAI-Gaussian8-v0").observation_space["means"].high.tolist() == [np.inf] * 8


def test_another_kind_of_observation_is_refused() -> None:
    with pytest.raises(ParameterError, match="observation must be 'statistics' or 'scaled'"):
        gym.make("BAI-Bernoulli4-v0", observation="flat")
    with pytest.raises(ParameterError, match="are for wrappers: use gym.make"):
        gym.make("BAI-Bernoulli4-v0").unwrapped.__class__("bernoulli", observation="scaled")


def test_progress_adds_up_to_the_reward_of_the_end() -> None:
    for env_id, keywords in CASES:
        if "costs" in keywords:
            continue
        rng = np.random.default_rng(1)
        one = gym.make(env_id, **keywords, reward="progress")
        modes = [
            gym.make_vec(env_id, 1, **keywords, reward="progress", observation=kind, autoreset_mode=m)
            for kind in ("scaled", "statistics")
            for m in ("SameStep", "NextStep")
        ]
        first = Progress(gym.make(env_id, **keywords).unwrapped)
        first.reset(seed=0)
        scaled = gym.make(env_id, **keywords, reward="progress", observation="scaled")
        for env in (one, scaled, *modes):
            env.reset(seed=0)
        begun, total = first._before, 0.0
        assert 0.0 < begun < 0.6, env_id
        for _ in range(31):
            action = chosen(one, rng)
            _, reward, terminated, truncated, info = one.step(action[0])
            total += float(reward)
            assert scaled.step(action[0])[1] == pytest.approx(float(reward), abs=1e-6), env_id
            for batch in modes:
                assert batch.step(action)[1][0] == pytest.approx(float(reward), abs=1e-6), env_id
            if terminated or truncated:
                break
        if terminated:
            assert total == pytest.approx(info["correct"] - begun, abs=1e-5), env_id
        assert modes[1].step(action)[1][0] == 0.0  # begins the next episode


def test_outcomes_and_the_last_pull() -> None:
    for env_id in ("BAI-Bernoulli4-v0", "BAI-FC-Bernoulli10-v0"):
        made = {"budget": 20, "observation": "scaled"}
        one = LastPull(gym.make(env_id, **made, disable_env_checker=True).env)
        batch = LastPullBatch(gym.make_vec(env_id, 1, **made, autoreset_mode="SameStep"))
        plain = gym.make(env_id, budget=20)
        seen, several = one.reset(seed=0)[0], batch.reset(seed=0)[0]
        raw, total, rng = plain.reset(seed=0)[0], 0.0, np.random.default_rng(0)
        ended = False
        while not ended:
            assert seen in one.observation_space and several in batch.observation_space
            action = chosen(plain, rng)
            seen, _, terminated, truncated, info = one.step(action[0])
            raw = plain.step(action[0])[0]
            several, *_, infos = batch.step(action)
            ended = terminated or truncated
            told, last = infos["final_info"] if ended else infos, seen[-one.get_wrapper_attr("num_arms") - 1 :]
            if terminated:
                assert "outcome" not in info and not np.any(told.get("_outcome", False)) and not last.any()
                continue
            total += info["outcome"]
            assert total == pytest.approx((raw["pulls"] * raw["means"]).sum())
            assert told["outcome"].tolist() == [info["outcome"]] and last[action[0]] == 1.0
            assert last[-1] == info["outcome"] and last.sum() == 1.0 + info["outcome"]
        np.testing.assert_array_equal(infos["final_obs"][0], seen)
    late = gym.make("BAI-Bernoulli4-v0", batch_size=5)
    late.reset(seed=0)
    assert "outcome" not in late.step(0)[-1]


def test_a_budget_that_is_drawn() -> None:
    env, batch = gym.make("BAI-Bernoulli4-v0", budget=(10, 40)), gym.make_vec("BAI-Bernoulli4-v0", 500, budget=(10, 40))
    budgets = batch.reset(seed=0)[0]["remaining"][:, 0]
    assert (budgets.min(), budgets.max()) == (10, 40) and batch.reset(seed=0, options={"budget": 12})[0][
        "remaining"
    ].max() == 12
    assert {int(env.reset(seed=seed)[0]["remaining"][0]) for seed in range(200)} == set(range(10, 41))
    seen, _ = env.reset(options={"budget": 20})
    steps = 0
    while not env.step(0)[2]:
        steps += 1
    assert int(seen["remaining"][0]) == steps == 20
    assert gym.make("BAI-Bernoulli4-v0").unwrapped.episode_spec.least_budget is None
    for options, words in (
        ({"budget": 41}, "from 10 to 40, not 41"),
        ({"seed": 1}, "no option 'seed'; it has 'budget'"),
    ):
        with pytest.raises(ParameterError, match=words):
            env.reset(options=options)
    for keywords, words in (
        ({"budget": (0, 9)}, "smallest budget"),
        ({"budget": (1, 9), "delay": 1}, "leave out costs, batch"),
    ):
        with pytest.raises(ParameterError, match=words):
            gym.make("BAI-Bernoulli4-v0", **keywords)
    with pytest.raises(ParameterError, match=r"the budget is drawn, from 10 to 40: name those to compare, budgets="):
        compare(["SR"], "BAI-Bernoulli4-v0", env_kwargs={"budget": (10, 40)}, runs=10)


def test_any_set_is_a_recommendation_where_observations_are_scaled() -> None:
    pytest.importorskip("torch")
    from bai_gym.training.arrays import TorchVectorEnv

    keywords = {"budget": 12, "num_arms": 4, "m": 2, "shuffle": False}
    one, batch = (
        make("BAI-TopM-Bernoulli10-v0", **more, **keywords, observation="scaled")
        for make, more in ((gym.make, {}), (gym.make_vec, {"num_envs": 50}))
    )
    tensors = TorchVectorEnv("BAI-TopM-Bernoulli10-v0", 50, observation="scaled", **keywords)
    pulls = np.array([0, 1, 2, 3] * 3)
    for env in (one, batch, tensors):
        env.reset(seed=0)
        for arm in pulls:
            action = np.array([arm, 0, 0, 0, 0])
            env.step(action if env is one else np.tile(action, (50, 1)))
        episodes = getattr(env.unwrapped, "_episodes", None) or env.unwrapped._episode
        means = np.asarray(episodes.shown.means).copy()
        named = np.array([0, 0, 0, 0, 1])  # the last arm, and so the best of the others
        info = env.step(named if env is one else np.tile(named, (50, 1)))[4]
        right = np.asarray(info["correct_recommendation"]).reshape(-1, 4)
        correct = np.asarray(info["correct"]).reshape(-1)
        others = np.sort(means[:, :3], axis=1)
        found = (np.arange(4) == 3) | (np.arange(4) == means[:, :3].argmax(axis=1)[:, None])
        sure = others[:, 1] < others[:, 2]
        assert sure.any() and (correct == (found == right).all(axis=1))[sure].all(), env
