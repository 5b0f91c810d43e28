"""The adapter to stable-baselines3: it equals SB3's own batch of scalar ones, and its algorithms learn."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

pytest.importorskip("stable_baselines3")

from stable_baselines3 import DQN, PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor

from bai_gym.bandits import GaussianBandit
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.errors import BaiGymError, ParameterError, UnknownAttributeError
from bai_gym.problems import FixedProblem
from bai_gym.training import SB3VecEnv

# Every reward is its arm's mean, so that a shared generator and one for each environment come to the same.
EXACT: dict[str, Any] = {"means": [0.2, 0.9, 0.9, 0.5], "variances": 0.0, "shuffle": False}

TASKS: dict[str, dict[str, Any]] = {
    "one arm": {},
    "simple regret": {"reward": "simple_regret"},
    "several arms": {"task": "top-m", "m": 2},
    "several bandits": {"task": "best-of-each", "num_bandits": 2},
    "arms above a threshold": {"task": "thresholding", "threshold": 0.5},
    "fixed confidence": {"fixed_confidence": True, "pull_cost": 0.1},
    "several arms, fixed confidence": {"task": "top-m", "m": 2, "fixed_confidence": True, "pull_cost": 0.1},
}

every_task = pytest.mark.each("task", TASKS)


def scalars(num_envs: int, name: str = "BAI-Custom-v0", **keywords: Any) -> DummyVecEnv:
    """What the adapter stands in for."""
    return DummyVecEnv([lambda: Monitor(gym.make(name, **keywords))] * num_envs)


def same_infos(ours: list[dict[str, Any]], theirs: list[dict[str, Any]], dones: Any) -> None:
    """Assert that the last infos of episodes are those of SB3's own batch, but for the clock."""
    for one, two, done in zip(ours, theirs, dones, strict=True):
        if not done:
            assert one == {}
            continue
        one, two = dict(one), dict(two)
        right = one.pop("is_success")
        assert (type(right), right) == (bool, two.get("correct", False))
        assert type(one["episode"].pop("t")) is type(two["episode"].pop("t")) is float
        assert {key: type(value) for key, value in one.items()} == {key: type(value) for key, value in two.items()}
        np.testing.assert_equal(one, two)


def play(ours: VecEnv, theirs: VecEnv, steps: int) -> list[int]:
    """Assert that both give the same answers; return how many episodes ended in each step."""
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    ours.action_space.seed(0)
    np.testing.assert_equal(ours.reset(), dict(theirs.reset()))
    assert ours.reset_infos == theirs.reset_infos
    ends = []
    for _ in range(steps):
        actions = np.array([ours.action_space.sample() for _ in range(ours.num_envs)])
        (one, rewards, dones, infos), (other, rewards2, dones2, infos2) = ours.step(actions), theirs.step(actions)
        np.testing.assert_equal(one, dict(other))
        assert {key: value.dtype for key, value in one.items()} == {key: value.dtype for key, value in other.items()}
        for array, array2 in ((rewards, rewards2), (dones, dones2)):
            assert (array.dtype, array.shape) == (array2.dtype, array2.shape)
            np.testing.assert_array_equal(array, array2)
        same_infos(infos, infos2, dones)
        assert ours.reset_infos == theirs.reset_infos
        ends.append(int(dones.sum()))
    return ends


@pytest.mark.each(
    ("name", "budget"),
    [
        ("BAI-Gaussian32-v0", 9),
        ("BAI-Bernoulli4-v0", 9),
        ("BAI-TopM-Bernoulli10-v0", 9),
        ("BAI-FC-Bernoulli10-v0", 5),
    ],
)
def test_a_batch_of_one_is_the_scalar_environment(name: str, budget: int) -> None:
    ours, theirs = SB3VecEnv(name, num_envs=1, budget=budget), scalars(1, name, budget=budget)
    assert ours.seed(7) == theirs.seed(7) == [7]
    assert sum(play(ours, theirs, 60)) >= 6


@every_task
def test_a_batch_is_that_of_scalar_environments(task: str) -> None:
    keywords = {**EXACT, **TASKS[task], "budget": 4}
    ours, theirs = SB3VecEnv("BAI-Custom-v0", num_envs=3, **keywords), scalars(3, **keywords)
    ends = play(ours, theirs, 60)
    assert sum(ends) >= 36
    assert ({1, 2} & set(ends) != set()) == ("fixed_confidence" in keywords)  # they did not all end together
    play(ours, theirs, 7)  # a reset in the middle of episodes


def test_the_terminal_observation_is_the_last_and_the_returned_one_the_first() -> None:
    envs = SB3VecEnv("BAI-Bernoulli4-v0", num_envs=2, budget=3)
    envs.reset()
    for arm in range(3):
        before, *_, infos = envs.step(np.array([arm, 0]))
        assert infos == [{}, {}]
    first, rewards, dones, infos = envs.step(np.array([0, 0]))
    assert dones.all()
    assert all((first[key] == (3 if key == "remaining" else 0)).all() for key in first)
    assert [info["terminal_observation"]["pulls"].tolist() for info in infos] == [[1, 1, 1, 0], [3, 0, 0, 0]]
    for row, info in enumerate(infos):
        np.testing.assert_equal(info["terminal_observation"], {key: value[row] for key, value in before.items()})
        assert info["episode"]["l"] == 4
        assert info["episode"]["r"] == rewards[row] == info["correct"] == info["is_success"]
        assert (info["simple_regret"] == 0) == info["correct"]


def test_an_episode_is_truncated_where_the_pulls_are_used_up_and_not_where_it_stops() -> None:
    envs = SB3VecEnv("BAI-Custom-v0", num_envs=3, **EXACT, fixed_confidence=True, pull_cost=0.1, budget=2)
    envs.reset()
    *_, dones, infos = envs.step(np.array([0, 0, 5]))
    assert dones.tolist() == [False, False, True]
    _, rewards, dones, infos = envs.step(np.array([0, 4, 0]))
    assert dones.tolist() == [True, True, False]
    assert [info.get("TimeLimit.truncated") for info in infos] == [True, False, None]
    np.testing.assert_array_equal(rewards, np.array([-0.1, 0.0, -0.1], np.float32))
    assert [info["is_success"] for info in infos[:2]] == [False, False]
    assert "correct" not in infos[0] and infos[1]["correct"] is False
    assert [(info["episode"]["r"], info["episode"]["l"]) for info in infos[:2]] == [(-0.2, 2), (-0.1, 2)]


def test_nothing_that_was_returned_is_overwritten() -> None:
    envs = SB3VecEnv("BAI-Bernoulli3-v0", num_envs=4, budget=2)
    kept: list[Any] = [envs.reset()]
    copies = copy.deepcopy(kept)
    for _ in range(7):
        answer = envs.step(np.zeros(4, np.int64))
        kept.append(answer)
        copies.append(copy.deepcopy(answer))
    np.testing.assert_equal(kept, copies)
    answer[1][:] = 9.0  # as PPO does for truncated episodes
    answer[3][1]["mine"] = 1
    _, rewards, _, infos = envs.step(np.zeros(4, np.int64))
    assert rewards.max() <= 1.0 and "mine" not in infos[1]


def test_a_seed_is_used_once() -> None:
    envs = SB3VecEnv("BAI-Bernoulli3-v0", num_envs=3, budget=4)

    def means() -> Any:
        envs.reset()
        return envs.batch._episodes.bandit.means.copy()

    envs.seed(1)
    first, second = means(), means()
    assert (first != second).all()
    envs.seed(1)
    np.testing.assert_array_equal(means(), first)
    np.random.seed(5)  # noqa: NPY002  # SB3's own generator: its set_random_seed is to decide here
    one = envs.seed()
    assert len(set(one)) == 1
    np.random.seed(5)  # noqa: NPY002
    assert envs.seed(None) == one
    for wrong in (-1, 1.5, "1"):
        with pytest.raises(ParameterError, match="seed must be an integer of at least 0"):
            envs.seed(wrong)  # type: ignore[arg-type]


def test_what_the_episodes_share_can_be_read() -> None:
    envs = SB3VecEnv("BAI-Bernoulli4-v0", num_envs=3, budget=7)
    assert envs.get_attr("budget") == [7, 7, 7]
    assert envs.get_attr("num_arms", indices=1) == [4]
    assert envs.get_attr("render_mode", indices=[0, 2]) == [None, None]
    assert envs.spec is not None and envs.spec.id == "BAI-Bernoulli4-v0" and envs.render_mode is None
    assert envs.has_attr("episode_spec") and not envs.has_attr("np_random")
    assert envs.env_is_wrapped(Monitor, indices=[1]) == [False]
    for wrong in (3, -4, [0, 5]):
        with pytest.raises(ParameterError, match="there is no episode"):
            envs.get_attr("budget", wrong)
    envs.close()


def test_maskable_policies_find_out_which_actions_are_allowed() -> None:
    prices = {**EXACT, "costs": [1.0, 2.0, 3.0, 4.0], "budget": 5.0}
    question = {"features": np.eye(2), "theta": [0.5, 0.1], "candidates": np.eye(2)[[0, 1, 1]], "budget": 2}
    for name, keywords, actions, expected in (
        *(("BAI-Custom-v0", {**EXACT, **task, "budget": 3}, [0, 1], None) for task in TASKS.values()),
        ("BAI-Custom-v0", prices, [2, 0], "11111111, 11001111, 10001111"),  # 5, 2 and 1 left
        ("BAI-CustomLinear-v0", question, [0, 1], "110, 110, 111"),
    ):
        if name not in gym.registry:  # it is of a wing
            continue
        envs, single = SB3VecEnv(name, num_envs=2, **keywords), gym.make(name, **keywords)
        envs.reset(), single.reset()
        size = int(np.sum(getattr(envs.action_space, "nvec", getattr(envs.action_space, "n", 0))))
        seen = [envs.env_method("action_masks")]
        for arm in actions:
            action = np.zeros(envs.action_space.shape, np.int64)
            action[(0,) * action.ndim] = arm
            envs.step(np.array([action, action])), single.step(action)
            seen.append(envs.env_method("action_masks"))
            assert single.get_wrapper_attr("action_masks")().tolist() == seen[-1][0].tolist() == seen[-1][1].tolist()
        assert envs.has_attr("action_masks") and all(mask.shape == (size,) for masks in seen for mask in masks), (
            keywords
        )
        words = ", ".join("".join(str(int(one)) for one in masks[0]) for masks in seen)
        assert words == expected if expected else "0" not in words, keywords


def test_what_makes_no_sense_for_one_episode_is_refused() -> None:
    envs = SB3VecEnv("BAI-Bernoulli4-v0", num_envs=3)
    with pytest.raises(UnknownAttributeError, match="no objects with an attribute 'np_random'; they share budget"):
        envs.get_attr("np_random")
    with pytest.raises(AttributeError, match="no objects with a method 'problem_info'.*`batch`"):
        envs.env_method("problem_info", indices=[0])
    with pytest.raises(ParameterError, match="'budget' of a native batch cannot be set"):
        envs.set_attr("budget", 3)
    with pytest.raises(ParameterError, match="no options"):
        envs.set_options({"reset_mask": [True]})
    for nothing in (None, {}, [{}, {}, {}]):
        envs.set_options(nothing)
    with pytest.raises(ParameterError, match="actions must be"):
        envs.step_wait()
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before"):
        envs.step(np.zeros(3, np.int64))
    envs.reset()
    with pytest.raises(ParameterError, match="arms are numbered 0 to 3"):
        envs.step(np.array([0, 0, 4]))


@pytest.mark.each("fixed_confidence", [False, True])
def test_sets_of_another_size_are_made_sets_of_m(fixed_confidence: bool) -> None:
    keywords = {**EXACT, "task": "top-m", "m": 2, "budget": 5, "fixed_confidence": fixed_confidence}
    envs = SB3VecEnv("BAI-Custom-v0", num_envs=4, **keywords)
    envs.reset()
    for arm in (0, 1, 2, 3):
        envs.step(np.array([[arm, 1, 1, 1, 1]] * 4))  # not due: not read
    if not fixed_confidence:
        envs.step(np.array([[0, 0, 0, 0, 0]] * 4))
    actions = np.array([[0, 0, 0, 0, 0], [0, 1, 1, 1, 1], [0, 1, 0, 0, 0], [0, 1, 0, 0, 1]])
    actions[:, 0] = 4 if fixed_confidence else 0
    given = actions.copy()
    *_, dones, infos = envs.step(actions)
    np.testing.assert_array_equal(actions, given)
    assert dones.all()
    # The two arms of largest mean; the same; arm 0 and the first of the best; 0 and 3, as they were named.
    assert [info["correct"] for info in infos] == [True, True, False, False]
    np.testing.assert_allclose([info["simple_regret"] for info in infos], [0.0, 0.0, 0.7, 0.7])
    with pytest.raises(ParameterError, match="4 x 5 integers"):
        envs.step(np.zeros(4, np.int64))


def test_a_batch_can_be_given() -> None:
    problem = FixedProblem(GaussianBandit([0.0, 1.0], 0.0))
    envs = SB3VecEnv(BestArmVectorEnv(problem, num_envs=2, budget=1, autoreset_mode="SameStep", shuffle=False))
    assert (envs.num_envs, envs.spec) == (2, None)
    envs.reset()
    assert envs.step(np.array([1, 0]))[0]["means"].tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert SB3VecEnv("BAI-Bernoulli3-v0").num_envs == 64


@pytest.mark.filterwarnings("ignore:Exception ignored in. <function VectorEnv:pytest.PytestUnraisableExceptionWarning")
def test_mistakes_have_one_line() -> None:
    batch = gym.make_vec("BAI-Bernoulli3-v0", num_envs=2, autoreset_mode="SameStep")
    shared = gym.make_vec("BAI-Bernoulli3-v0", autoreset_mode="SameStep", copy=False)
    for env, keywords, words in (
        ("BAI-Bernouli3-v0", {}, "Did you mean BAI-Bernoulli3-v0"),
        ("BAI-Bernoulli3-v0", {"num_envs": 0}, "at least 1, not 0"),
        ("BAI-Bernoulli3-v0", {"budget": 0}, "budget must be"),
        ("BAI-Bernoulli3-v0", {"arms": 3}, "'arms' of"),
        ("BAI-Bernoulli3-v0", {"render_mode": "ansi"}, "render_mode"),
        ("BAI-Bernoulli3-v0", {"vectorization_mode": "sync"}, "SB3VecEnv decides"),
        ("BAI-Bernoulli3-v0", {"copy": False}, "SB3VecEnv decides"),
        ("FrozenLake-v1", {}, "cannot be made as a native batch"),
        (gym.make("BAI-Bernoulli3-v0"), {}, "not a OrderEnforcing"),
        (batch, {"num_envs": 2, "budget": 3}, "num_envs, budget cannot be given"),
        (gym.make_vec("BAI-Bernoulli3-v0"), {}, "autoreset_mode='SameStep' and copy=True"),
        (shared, {}, "autoreset_mode='SameStep' and copy=True"),
    ):
        with pytest.raises(BaiGymError, match=words) as caught:
            SB3VecEnv(env, **keywords)
        assert "\n" not in str(caught.value)


SMALL: dict[str, Any] = {"policy": "MultiInputPolicy", "device": "cpu", "seed": 0}


def test_ppo_learns() -> None:
    # Arm 1 is the best by far: what is to be learned is to recommend it, whatever the observation.
    keywords: dict[str, Any] = {"means": [0.0, 1.0, 0.0], "variances": 0.0, "budget": 3}
    envs = SB3VecEnv("BAI-Custom-v0", num_envs=32, **keywords)
    model = PPO(env=envs, n_steps=16, batch_size=128, learning_rate=0.01, gamma=1.0, **SMALL)
    model.learn(6000)
    assert np.mean(model.ep_success_buffer) > 0.8  # 0.33 at the start
    assert {info["l"] for info in model.ep_info_buffer} == {4}
    mean, _ = evaluate_policy(model, VecMonitor(SB3VecEnv("BAI-Custom-v0", num_envs=8, **keywords)), 40)
    assert mean > 0.9


def test_dqn_runs() -> None:
    envs = SB3VecEnv("BAI-FC-Bernoulli10-v0", num_envs=4, budget=6)
    model = DQN(env=envs, buffer_size=1000, learning_starts=100, batch_size=16, **SMALL).learn(800)
    buffer = model.replay_buffer
    assert buffer is not None
    ended, size = buffer.dones[: buffer.pos], buffer.size()
    left, left_next = (where["remaining"][:size, :, 0] for where in (buffer.observations, buffer.next_observations))
    # The step after an end leads to the last observation of that episode, not to the first of the next.
    stopped = (ended == 1) & (buffer.actions[:size, :, 0] >= 10)
    assert (left_next[stopped] == left[stopped]).all()
    assert (left_next[~stopped] == left[~stopped] - 1).all()
    assert (buffer.timeouts[:size] == (left_next == 0)).all()
    assert buffer.timeouts.any() and stopped.any()
