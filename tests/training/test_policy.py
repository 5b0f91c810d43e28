"""Policies over arms: the same network in PyTorch and in NumPy, its symmetries, and that SB3 trains and saves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("stable_baselines3")

import torch
from stable_baselines3 import A2C, PPO

from bai_gym.agents.training import ArmNetwork
from bai_gym.agents.training.scaling import Scaling
from bai_gym.envs.spaces import observation_space
from bai_gym.errors import ParameterError
from bai_gym.rewards import Rewards
from bai_gym.tasks import BestArm
from bai_gym.training import ArmPolicy, SB3VecEnv, export

KINDS = ("any", "binary")
every_kind = pytest.mark.each("rewards", KINDS)
SHORT: dict[str, Any] = {"n_steps": 8, "device": "cpu", "seed": 0}


def policy(num_arms: int, rewards: Any = "any", width: int = 16, seed: int = 0) -> ArmPolicy:
    torch.manual_seed(seed)
    made = ArmPolicy(observation_space(num_arms, 50), spaces.Discrete(num_arms), lambda _: 1e-3, rewards, width)
    with torch.no_grad():  # biases start at 0, and would not be seen
        for weight in made.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return made


def observation(num_arms: int, seed: int, rewards: str) -> dict[str, Any]:
    """Random statistics of a few episodes, arms without a pull among them."""
    rng = np.random.default_rng(seed)
    pulls = rng.integers(0, 12, size=(6, num_arms))
    pulls[:, 0] = np.maximum(pulls[:, 0], 1)
    means = rng.binomial(pulls, 0.6) / np.maximum(pulls, 1) if rewards == "binary" else rng.normal(size=pulls.shape)
    return {
        "pulls": pulls,
        "means": np.where(pulls > 0, means, 0.0),
        "variances": np.where(pulls > 1, rng.exponential(size=pulls.shape), 0.0),
        "remaining": rng.integers(0, 3, size=(6, 1)) * 20,
    }


def tensors(given: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.as_tensor(array, dtype=torch.float32) for name, array in given.items()}


@every_kind
@pytest.mark.each("num_arms", [2, 33])
def test_numpy_and_torch_have_the_same_logits(rewards: str, num_arms: int, tmp_path: Path) -> None:
    made = policy(num_arms, rewards)
    export(made, {"env": "here"}).save(tmp_path / "weights.npz")
    exported = ArmNetwork.load(tmp_path / "weights.npz")
    assert (exported.rewards, exported.facts) == (rewards, {"env": "here"})
    for arms in (num_arms, 5):  # another number of arms too
        given = observation(arms, 1, rewards)
        with torch.no_grad():
            ours = made.arm_logits(tensors(given)).numpy()
        theirs = exported.logits(given)
        pulled = given["pulls"] > 0
        np.testing.assert_allclose(theirs[pulled], ours[pulled], atol=1e-4)
        np.testing.assert_allclose(theirs, ours, atol=1e-2)  # near 10,000, where float32 is coarse


@every_kind
def test_the_distribution_is_that_of_the_logits(rewards: str) -> None:
    made, given = policy(4, rewards), tensors(observation(4, 2, rewards))
    with torch.no_grad():
        expected = torch.log_softmax(made.arm_logits(given), dim=-1)
        found = made.get_distribution(given).distribution.logits
        actions, values, log_probabilities = made(given)
        rated, rated_log, entropy = made.evaluate_actions(given, actions)
        predicted = made.predict_values(given)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(log_probabilities, expected[torch.arange(6), actions])
    torch.testing.assert_close(rated_log, log_probabilities)
    assert values.shape == rated.shape == predicted.shape == (6, 1) and entropy.shape == (6,)
    torch.testing.assert_close(values, rated)
    torch.testing.assert_close(values, predicted)


@every_kind
@given(st.integers(2, 20), st.integers(0, 2**32 - 1), st.data())
@settings(deadline=None, max_examples=40)
def test_a_permutation_permutes_logits_and_leaves_values(rewards: str, num_arms: int, seed: int, data: Any) -> None:
    order = np.array(data.draw(st.permutations(range(num_arms))))
    given = observation(num_arms, seed, rewards)
    moved = {name: array if name == "remaining" else array[:, order] for name, array in given.items()}
    made = policy(num_arms, rewards, seed=seed % 1000)
    with torch.no_grad():
        (one, value), (other, value2) = (
            (made.arm_logits(seen).numpy(), made.predict_values(seen).numpy()) for seen in map(tensors, (given, moved))
        )
    pulled = given["pulls"][:, order] > 0
    np.testing.assert_allclose(other[pulled], one[:, order][pulled], atol=1e-4)
    np.testing.assert_allclose(other, one[:, order], atol=1e-2)
    np.testing.assert_allclose(value, value2, atol=1e-4)


def test_arms_without_a_pull_come_first() -> None:
    envs = SB3VecEnv("BAI-Bernoulli10-v0", num_envs=8, budget=15)
    made = policy(10, "binary")
    seen = envs.reset()
    for _ in range(10):
        actions, _ = made.predict(seen)  # drawn
        seen, *_ = envs.step(actions)
    assert (seen["pulls"] == 1).all()


@pytest.mark.each("algorithm", [PPO, A2C])
def test_algorithms_learn_and_save_it(algorithm: Any, tmp_path: Path) -> None:
    envs = SB3VecEnv("BAI-Bernoulli4-v0", num_envs=4, budget=7)
    keywords = {"batch_size": 16} if algorithm is PPO else {}
    kwargs = {"rewards": "binary", "width": 8}
    model = algorithm(ArmPolicy, envs, learning_rate=0.01, policy_kwargs=kwargs, **keywords, **SHORT)
    before = {name: weight.detach().clone() for name, weight in model.policy.named_parameters()}
    model.learn(128)
    dead = [name for name, weight in model.policy.named_parameters() if torch.equal(weight, before[name])]
    assert set(dead) <= {"mlp_extractor.logit.bias"}  # which all arms have in common
    model.save(tmp_path / "model")
    given = tensors(observation(4, 3, "binary"))
    loaded = algorithm.load(tmp_path / "model", env=envs, device="cpu")
    assert (loaded.policy.rewards, loaded.policy.width) == ("binary", 8)
    with torch.no_grad():
        found, wanted = ((p.arm_logits(given), p.predict_values(given)) for p in (loaded.policy, model.policy))
    torch.testing.assert_close(found, wanted)
    loaded.learn(64)


def test_it_learns_something() -> None:
    # The best of two certain arms: whoever looks at the means is always right.
    keywords: dict[str, Any] = {"means": [0.0, 1.0], "variances": 0.0, "budget": 2}
    envs = SB3VecEnv("BAI-Custom-v0", num_envs=32, **keywords)
    model = PPO(
        ArmPolicy,
        envs,
        n_steps=6,
        batch_size=96,
        learning_rate=0.01,
        policy_kwargs={"width": 8},
        device="cpu",
        seed=0,
    ).learn(32 * 6 * 10)
    seen = envs.reset()
    for _ in range(2):
        seen, *_ = envs.step(model.predict(seen, deterministic=True)[0])
    assert (model.predict(seen, deterministic=True)[0] == seen["means"].argmax(axis=1)).all()


@every_kind
def test_scaled_observations_have_the_same_logits(rewards: str) -> None:
    given, actions = observation(4, 4, rewards), spaces.Discrete(4)
    scaling = Scaling(observation_space(4, 50), Rewards("binary" if rewards == "binary" else "real"), BestArm())
    made = policy(4, rewards)
    scaled = ArmPolicy(scaling.space, actions, lambda _: 1e-3, width=16)
    scaled.load_state_dict(made.state_dict())
    with torch.no_grad():
        vectors = torch.as_tensor(scaling(given))
        torch.testing.assert_close(scaled.arm_logits(vectors), made.arm_logits(tensors(given)), atol=1e-2, rtol=1e-4)
        torch.testing.assert_close(scaled.predict_values(vectors), made.predict_values(tensors(given)))


def test_mistakes_have_one_line() -> None:
    ours, three = observation_space(3, 50), spaces.Discrete(3)
    for space, actions, keywords, words in (
        (spaces.Box(-1, 1, (4,)), three, {}, "sees the observations"),
        (spaces.Dict({"pulls": spaces.Box(0, 1, (3,))}), three, {}, "sees the observations"),
        (ours, spaces.Discrete(4), {}, r"actions Discrete\(K\)"),
        (ours, three, {"width": 0}, "at least 1, not 0"),
        (ours, three, {"width": True}, "at least 1, not True"),
        (ours, three, {"rewards": "ratings"}, "'any' or 'binary', not 'ratings'"),
    ):
        with pytest.raises(ParameterError, match=words) as caught:
            ArmPolicy(space, actions, lambda _: 1e-3, **keywords)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    for name in ("BAI-TopM-Bernoulli10-v0", "BAI-FC-Bernoulli10-v0"):
        with pytest.raises(ParameterError, match="one arm after a fixed budget.*MultiInputPolicy"):
            PPO(ArmPolicy, SB3VecEnv(name, num_envs=2), device="cpu")
