"""Saved models of stable-baselines3 as agents: they play in the runner as they would by themselves."""

from __future__ import annotations

import copy
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.vec_env import VecNormalize

from bai_gym import compare, evaluate
from bai_gym.adapters.late import acting
from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import AgentError, BaiGymError, DataError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.tasks import BestArm, BestOfEach, TopM
from bai_gym.training import ArmPolicy, SB3Agent, SB3VecEnv

pytestmark = pytest.mark.slow

Contents = Callable[[Path], dict[str, bytes]]
ENV, BUDGET = "BAI-Bernoulli4-v0", 12
PRIOR = frozenset({"prior"})

# Name of a model -> the environment, the budget, the algorithm, its policy.
MODELS: dict[str, tuple[str, int, Any, Any]] = {
    "arms": (ENV, BUDGET, PPO, ArmPolicy),
    "a2c": (ENV, BUDGET, A2C, ArmPolicy),
    "ppo": (ENV, BUDGET, PPO, "MultiInputPolicy"),
    "dqn": (ENV, BUDGET, DQN, "MultiInputPolicy"),
    "sets": ("BAI-TopM-Bernoulli10-v0", 10, PPO, "MultiInputPolicy"),
    "features": ("BAI-CustomLinear-v0", BUDGET, PPO, "MultiInputPolicy"),
    "arms, features": ("BAI-CustomLinear-v0", BUDGET, PPO, ArmPolicy),
    "each": ("BAI-MultiBandit2-v0", 10, PPO, "MultiInputPolicy"),
    "scaled": (ENV, BUDGET, PPO, "MlpPolicy"),
    "scaled arms": (ENV, BUDGET, PPO, ArmPolicy),
    "scaled sets": ("BAI-TopM-Bernoulli10-v0", 10, PPO, "MlpPolicy"),
    "scaled, stops": ("BAI-FC-Bernoulli10-v0", 10, A2C, "MlpPolicy"),
    "stops": ("BAI-FC-Bernoulli10-v0", 10, A2C, "MultiInputPolicy"),
    "sets, stops": ("BAI-FC-TopM-Bernoulli-Setup3-v0", 10, PPO, "MultiInputPolicy"),
}


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that have learned for a moment."""
    folder = tmp_path_factory.mktemp("models")
    torch.set_num_threads(1)
    for name, (env, budget, algorithm, policy) in MODELS.items():
        envs = SB3VecEnv(env, num_envs=4, budget=budget, observation="scaled" if "scaled" in name else "statistics")
        keywords: dict[str, Any] = {"learning_starts": 8, "buffer_size": 99} if algorithm is DQN else {"n_steps": 8}
        if algorithm is PPO:
            keywords |= {"batch_size": 16, "n_epochs": 1}
        model = algorithm(policy, envs, learning_rate=0.01, device="cpu", seed=1, **keywords)
        model.learn(64).save(folder / name)
    return folder


def test_features_are_what_a_model_was_trained_on_or_nothing_to_it(models: Path) -> None:
    keywords = {"features": [[0.5], [0.45], [0.4], [0.3]], "theta": [1.0]}
    plain = SB3Agent.load(models / "ppo")
    assert evaluate(plain, "BAI-CustomLinear-v0", budget=BUDGET, runs=5, env_kwargs=keywords).runs == 5
    for env, given in ((ENV, {}), ("BAI-CustomLinear-v0", keywords)):
        with pytest.raises(AgentError, match=r"trained on features of shape \(4, 2\), which this environment does not"):
            evaluate(SB3Agent.load(models / "features"), env, budget=BUDGET, runs=5, env_kwargs=given)


@pytest.mark.each("policy", ["MultiInputPolicy", ArmPolicy])
def test_a_model_trained_on_late_rewards_plays_there_and_where_none_is_late(policy: Any) -> None:
    late = {"budget": BUDGET, "batch_size": 4}
    model = PPO(policy, SB3VecEnv(ENV, num_envs=4, **late), n_steps=8, batch_size=16, n_epochs=1, seed=1)
    agent = SB3Agent(model=model.learn(64))
    env: Any = gym.make(ENV, **late)
    seen, _ = env.reset(seed=0)
    info = env.unwrapped.problem_info(agent.knows)
    agent.reset(info, np.random.default_rng(0))
    acts = acting(agent, info)
    for _ in range(BUDGET):
        assert acts(seen) == model.predict(seen, deterministic=True)[0]  # it is shown what it was trained on
        seen, *_ = env.step(acts(seen))
    for keywords in ({"batch_size": 4}, {"delay": 2}, {}):
        assert evaluate(agent, ENV, budget=BUDGET, runs=5, env_kwargs=keywords).runs == 5


def test_a_model_that_needs_more_than_an_environment_shows_says_so() -> None:
    env = gym.make("BAI-PairedGaussian10-v0", budget=20, pairs=True)
    model = PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=1)
    with pytest.raises(AgentError, match="PPO was trained on difference_variances and differences, which this env"):
        evaluate(model, "BAI-PairedGaussian10-v0", budget=20, runs=5)


def played(agent: Any, env: str = ENV, budget: int = BUDGET, **keywords: Any) -> tuple[int, list[float]]:
    result = evaluate(agent, env, budget=budget, runs=40, **keywords)
    return result.errors, result.mean_pulls.tolist()


def test_a_model_that_stops_is_stopped(models: Path) -> None:
    agent = SB3Agent.load(models / "stops", deterministic=False)
    # Drawn from nearly equal probabilities, each step stops one time in two: 100 steps without are as good as none.
    result = evaluate(agent, "BAI-FC-Bernoulli10-v0", budget=100, runs=20)
    assert 0 < result.mean_pulls.sum() < 20


@pytest.mark.each("name", ["stops", "sets, stops"])
def test_at_the_cap_it_stops(models: Path, name: str) -> None:
    agent = SB3Agent.load(models / name, deterministic=False)
    one = gym.make(MODELS[name][0], budget=10).unwrapped
    one.reset(seed=0)
    agent.reset(one.problem_info(agent.knows), np.random.default_rng(0))
    num_arms = one.num_arms
    seen: dict[str, Any] = {
        "pulls": np.ones((200, num_arms), np.int64),
        "means": np.tile(np.arange(num_arms) / num_arms, (200, 1)),
        "variances": np.zeros((200, num_arms)),
    }
    before, at_cap = (agent.act({**seen, "remaining": np.full((200, 1), left)}) for left in (1, 0))
    first, last = (actions if actions.ndim == 1 else actions[:, 0] for actions in (before, at_cap))
    assert (first < num_arms).any() and (last >= num_arms).all()


@pytest.mark.each("name", ["arms", "ppo", "dqn", "sets"])
def test_it_acts_as_the_model_does(models: Path, name: str) -> None:
    env, budget, algorithm, _ = MODELS[name]
    model = algorithm.load(models / name, device="cpu")
    batch = gym.make_vec(env, 16, budget=budget)
    assert isinstance(batch, BestArmVectorEnv)
    agent = SB3Agent.load(models / name)
    seen, _ = batch.reset(seed=0)
    agent.reset(batch.problem_info(agent.knows), np.random.default_rng(0))
    for _ in range(budget):
        actions = agent.act(seen)
        np.testing.assert_array_equal(actions, model.predict(seen, deterministic=True)[0])
        seen, *_ = batch.step(actions)


@pytest.mark.each("name", MODELS)
def test_a_batch_is_its_episodes(models: Path, name: str) -> None:
    env, budget, *_ = MODELS[name]
    batch = gym.make_vec(env, 8, budget=budget)
    agent = SB3Agent.load(models / name)
    seen, _ = batch.reset(seed=0)
    agent.reset(batch.unwrapped.problem_info(agent.knows), np.random.default_rng(0))
    for _ in range(budget + 1):
        actions = agent.act(seen)
        for row in range(8):
            single = agent.act({name: array[row] for name, array in seen.items()})
            assert type(single) is int or single.shape == actions.shape[1:]
            np.testing.assert_array_equal(single, actions[row])
        seen, *_ = batch.step(actions)
    result = evaluate(SB3Agent.load(models / name, deterministic=False), env, budget=budget, runs=20)
    assert result.knows == ("prior",) and ("stops" in name or result.mean_pulls.sum() == pytest.approx(budget))


def test_sets_are_made_sets_of_m(models: Path) -> None:
    rng, runs, num_arms = np.random.default_rng(0), 400, 10
    seen: dict[str, Any] = {
        "pulls": np.ones((runs, num_arms), np.int64),
        "means": rng.random((runs, num_arms)),
        "variances": np.zeros((runs, num_arms)),
    }
    agent = SB3Agent.load(models / "sets", deterministic=False)
    agent.reset(ProblemInfo(num_arms, 10, runs, task=TopM(3), knows=PRIOR), rng)
    for left in (0, 1):
        chosen = agent.act({**seen, "remaining": np.full((runs, 1), left)})[:, 1:].sum(axis=1)
        assert set(chosen) == {3} if left == 0 else set(chosen) > {3}  # not due, and left alone


# ------------------------------------------------------------------------------------------------ other K and budgets


@pytest.mark.each(("env", "budget"), [("BAI-Bernoulli2-v0", 9), ("BAI-Bernoulli10-v0", 31)])
def test_policies_over_arms_play_with_any_number_and_budget(models: Path, env: str, budget: int) -> None:
    agent = SB3Agent.load(models / "arms")
    assert played(agent, env, budget) == played(agent, env, budget)
    one = gym.make(env, budget=budget).unwrapped
    seen, _ = one.reset(seed=0)
    agent.reset(one.problem_info(agent.knows), np.random.default_rng(0))
    for _ in range(budget):
        seen, *_ = one.step(agent.act(seen))
    assert (seen["pulls"] > 0).all()
    *_, info = one.step(agent.act(seen))
    assert "correct" in info


def test_others_play_with_as_many_arms_as_they_know_and_do_the_task_they_know(models: Path) -> None:
    agent = SB3Agent.load(models / "ppo.zip")
    with pytest.raises(AgentError, match="has not been reset"):
        agent.act({})
    played(agent, budget=25)  # another budget
    with pytest.raises(AgentError, match=r"^SB3\(ppo\) was trained on 4 arms and cannot play with 10: .*ArmPolicy"):
        played(agent, "BAI-Bernoulli10-v0")
    for name, keywords, words in (
        ("arms", {"task": TopM(2)}, "'top-m' with a fixed budget"),
        ("ppo", {"task": BestOfEach(2)}, "'best-of-each' with a fixed budget"),
        ("dqn", {"fixed_confidence": True}, "'best-arm' with fixed confidence"),
        ("sets", {"task": TopM(3), "fixed_confidence": True}, "'top-m' with fixed confidence"),
        ("stops", {}, "'best-arm' with a fixed budget"),
    ):
        info = ProblemInfo(4 if MODELS[name][0] == ENV else 10, 10, knows=PRIOR, **keywords)
        with pytest.raises(AgentError, match=f"another kind of recommendation than the task {words}"):
            SB3Agent.load(models / name).reset(info)


# ------------------------------------------------------------------------------------------------ reproducible


def test_the_drawing_is_the_agents_own(models: Path) -> None:
    agent = SB3Agent.load(models / "arms", deterministic=False)
    seen = {
        "pulls": np.ones((200, 4)),
        "means": np.full((200, 4), 0.5),
        "variances": np.zeros((200, 4)),
        "remaining": np.full((200, 1), 9),
    }
    found = []
    for seed, disturbed in ((0, 1), (0, 2), (1, 1)):
        torch.manual_seed(disturbed)
        agent.reset(ProblemInfo(4, 13, 200, knows=PRIOR), np.random.default_rng(seed))
        before = torch.random.get_rng_state()
        found.append([agent.act(seen), agent.act(seen)])
        assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0][0] != found[2][0]).any() and (found[0][0] != found[0][1]).any()
    with torch.no_grad():
        logits = agent.policy.arm_logits({name: torch.as_tensor(one[:1]).float() for name, one in seen.items()})
    expected = 200 * torch.softmax(logits, dim=-1)[0].numpy()
    # 4.6 standard deviations: level 4e-6, below 0.001 over all counts.
    for actions in found[0]:
        counts = np.bincount(actions, minlength=4)
        assert (abs(counts - expected) < 4.6 * np.sqrt(expected * (1 - expected / 200))).all()


def test_a_changed_file_is_another_agent(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.zip"
    shutil.copy(models / "arms.zip", path)
    first = SB3Agent.load(path)
    assert first.label == f"SB3({tmp_path.name})"
    shutil.copy(models / "a2c.zip", path)
    second = SB3Agent.load(path)
    assert first.digest != second.digest
    given = {"pulls": np.ones((1, 4)), "means": np.eye(4)[:1], "variances": np.zeros((1, 4)), "remaining": [[3]]}
    tensors = {name: torch.as_tensor(np.array(one)).float() for name, one in given.items()}
    assert not torch.equal(*(agent.policy.arm_logits(tensors) for agent in (first, second)))
    monkeypatch.chdir(models)
    relative = SB3Agent.load("arms")
    monkeypatch.chdir(tmp_path)
    for twin in (copy.deepcopy(relative), pickle.loads(pickle.dumps(relative))):  # a path, and no network
        assert played(twin) == played(relative)
    assert len(pickle.dumps(relative)) < 1000


@pytest.mark.each("name", ["arms", "dqn"])
def test_a_model_in_memory_plays_as_its_file_does(models: Path, name: str, tmp_path: Path) -> None:
    model = MODELS[name][2].load(models / name, device="cpu")
    saved = SB3Agent.load(models / name, deterministic=False, device="cpu")
    held = SB3Agent(model=model, label=saved.label, deterministic=False)
    assert played(held) == played(saved) == played(held, workers=2)
    assert played(str(models / f"{name}.zip")) == played(SB3Agent.load(models / name))
    if name == "dqn":
        return

    def chunks(*agents: Any) -> dict[Path, int]:
        compare(agents, ENV, budgets=[BUDGET], runs=40, out=tmp_path)
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("chunks/*/*.parquet")}

    before, again = chunks(model), chunks(model, "SR")
    assert before and before.items() < again.items()  # played before: resumed
    model.set_env(SB3VecEnv(ENV, num_envs=4, budget=BUDGET))
    model.learn(64)  # trained on, it is another agent
    assert chunks(model).items() > again.items()


def test_recurrent_and_maskable_models_act_as_by_themselves(tmp_path: Path) -> None:
    contrib = pytest.importorskip("sb3_contrib")
    envs = SB3VecEnv(ENV, num_envs=4, budget=BUDGET)
    for algorithm, policy, learning in (
        (contrib.RecurrentPPO, "MultiInputLstmPolicy", {}),
        (contrib.MaskablePPO, "MultiInputPolicy", {}),
    ):
        model = algorithm(policy, envs, n_steps=16, batch_size=16, learning_rate=0.01, device="cpu", seed=1)
        model.learn(64, **learning).save(tmp_path / "model")
        batch = gym.make_vec(ENV, 16, budget=BUDGET)
        for agent in (SB3Agent(model=model), SB3Agent.load(tmp_path / "model")):
            seen, _ = batch.reset(seed=0)
            agent.reset(batch.unwrapped.problem_info(agent.knows), np.random.default_rng(0))
            state = None
            for step in range(BUDGET + 1):
                begins = np.full(16, step == 0)
                expected, state = model.predict(seen, state=state, episode_start=begins, deterministic=True)
                np.testing.assert_array_equal(agent.act(seen), expected)
                seen, *_ = batch.step(expected)


def test_what_vec_normalize_does_is_taken_along(tmp_path: Path) -> None:
    for observation, policy in (("statistics", "MultiInputPolicy"), ("scaled", "MlpPolicy")):
        around = VecNormalize(SB3VecEnv(ENV, num_envs=4, budget=BUDGET, observation=observation))
        model = PPO(policy, around, n_steps=16, batch_size=16, learning_rate=0.01, device="cpu", seed=1).learn(128)
        model.save(tmp_path / "model")
        around.save(str(tmp_path / "normalize.pkl"))
        batch = gym.make_vec(ENV, 16, budget=BUDGET)
        scaling = Scaling(batch.single_observation_space, Rewards("binary"), BestArm())
        for agent in (SB3Agent(model=model), SB3Agent(path=tmp_path / "model", normalize=tmp_path / "normalize.pkl")):
            seen, _ = batch.reset(seed=0)
            agent.reset(batch.unwrapped.problem_info(agent.knows), np.random.default_rng(0))
            for _ in range(BUDGET + 1):
                given = around.normalize_obs(scaling(seen) if observation == "scaled" else seen)
                expected = model.predict(given, deterministic=True)[0]
                np.testing.assert_array_equal(agent.act(seen), expected)
                seen, *_ = batch.step(expected)
        assert played(agent) == played(agent, workers=2)
    (tmp_path / "normalize.pkl").write_bytes(b"")
    with pytest.raises(DataError, match="no VecNormalize, or a damaged file"):
        SB3Agent(model=model, normalize=tmp_path / "normalize.pkl")


def test_a_network_or_a_function_is_an_agent() -> None:
    space = gym.make(ENV, observation="scaled").observation_space
    assert space.shape is not None
    network = torch.nn.Linear(space.shape[0], 4)
    with torch.no_grad():  # the largest mean
        network.weight[:] = 0.0
        network.bias[:] = 0.0
        for arm in range(4):
            network.weight[arm, 8 * arm + 2] = 1.0
    found = compare([network, SB3Agent(model=means_of, label="means")], ENV, budgets=[BUDGET], runs=400)
    by_name = {result.agent: result.errors for result in found}
    assert set(by_name) == {"Linear", "means"} and by_name["Linear"] == pytest.approx(by_name["means"], abs=60)
    assert max(by_name.values()) < 240  # chance: 300
    drawn = SB3Agent(model=network, deterministic=False, label="drawn")
    assert evaluate(drawn, ENV, budget=BUDGET, runs=400).errors < 290
    with pytest.raises(ParameterError, match=r"must be callable, or have predict"):
        SB3Agent(model=3)


def means_of(seen: Any) -> Any:
    return seen[:, 2:32:8].argmax(axis=1)


# ------------------------------------------------------------------------------------------------ mistakes


def test_other_files_are_refused(models: Path, tmp_path: Path) -> None:
    whole = (models / "ppo.zip").read_bytes()
    model = tmp_path / "model.zip"

    def refused(error: type[BaiGymError], words: str, path: Any = model, **keywords: Any) -> None:
        with pytest.raises(error, match=words) as caught:
            SB3Agent.load(path, **keywords)
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 300

    for nothing in (model, tmp_path, "", "/"):
        refused(ParameterError, "there is no saved model", nothing)
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :]
    for damaged in (b"", b"text", whole[:-100], whole[:middle], whole[middle:], changed):
        model.write_bytes(damaged)
        refused(DataError, "is no model of stable-baselines3, or is damaged")
    for name in ("data", "readme.txt"):
        with zipfile.ZipFile(model, "w") as archive:
            archive.writestr(name, "{}")
        refused(DataError, "is no model of stable-baselines3, or is damaged")
    PPO("MlpPolicy", "CartPole-v1", device="cpu").save(model)
    refused(ParameterError, "was trained on other observations")
    refused(ParameterError, "device 'nonsense'", models / "ppo", device="nonsense")
