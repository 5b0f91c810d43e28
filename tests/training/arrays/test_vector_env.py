"""Episodes in PyTorch: the contract of Gymnasium's vector environments, with tensors."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from scipy.stats import ks_2samp

from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.problems import FixedProblem

torch = pytest.importorskip("torch")
from bai_gym.training.arrays import TorchVectorEnv  # noqa: E402

NUM_ENVS = 4
SURE = FixedProblem(GaussianBandit([0.0, 2.0, 1.0], 0.0))


def test_an_episode_is_the_budget_and_a_recommendation() -> None:
    env = TorchVectorEnv(SURE, NUM_ENVS, budget=3, reward="simple_regret", shuffle=False)
    observation, _ = env.reset(seed=0)
    assert observation["pulls"].shape == (NUM_ENVS, 3)
    for left, arm in ((2, 1), (1, 1), (0, 2)):
        observation, rewards, ended, truncated, info = env.step(torch.full((NUM_ENVS,), arm))
        assert observation["remaining"].flatten().tolist() == [left] * NUM_ENVS
        assert not rewards.any() and not ended.any() and not truncated.any()
        assert info["outcome"].tolist() == [[0.0, 2.0, 1.0][arm]] * NUM_ENVS
    assert observation["pulls"].tolist() == [[0.0, 2.0, 1.0]] * NUM_ENVS
    assert observation["means"].tolist() == [[0.0, 2.0, 1.0]] * NUM_ENVS
    _, rewards, ended, _, info = env.step([0, 1, 2, 1])
    assert rewards.tolist() == [-2.0, 0.0, -1.0, 0.0] and ended.all()
    assert info["correct"].tolist() == [False, True, False, True]
    assert info["correct_recommendation"].tolist() == [1] * NUM_ENVS
    observation, rewards, ended, _, _ = env.step([0] * NUM_ENVS)  # begins new episodes
    assert not observation["pulls"].any() and not rewards.any() and not ended.any()


@pytest.mark.each("bandit", [GaussianBandit([0.3, 0.0], [0.5, 2.0]), BernoulliBandit([0.3, 0.8])])
def test_steps_and_blocks_have_one_distribution(bandit: Any) -> None:
    env = TorchVectorEnv(FixedProblem(bandit), 5_000, budget=8)
    env.reset(seed=1)
    for arm in (0, 1, 1, 0, 1, 0, 1, 1):
        stepped = env.step(torch.full((5_000,), arm))[0]
    env.reset(seed=2)
    block = env.pull(torch.tensor([[3, 5]]).expand(5_000, 2))
    for name in ("means", "variances"):
        for arm in (0, 1):
            one, other = (part[name][:, arm].round(decimals=4) for part in (stepped, block))
            assert ks_2samp(one, other).pvalue > 0.001 / 8
    assert torch.equal(stepped["pulls"], block["pulls"])


def test_a_seed_fixes_every_number() -> None:
    def play(seed: int) -> list[Any]:
        env = TorchVectorEnv("BAI-Gaussian8-v0", NUM_ENVS)
        env.reset(seed=seed)
        return [*env.step(torch.arange(NUM_ENVS))[0].values(), *env.pull(torch.full((NUM_ENVS, 8), 2)).values()]

    one, same, other = play(3), play(3), play(4)
    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not torch.equal(one[1], other[1])


def test_gradients_flow_through_blocks() -> None:
    env = TorchVectorEnv("BAI-Bernoulli3-v0", NUM_ENVS, dtype=torch.float64)
    env.reset(seed=0)
    logits = torch.zeros(NUM_ENVS, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(3):
        means = env.pull(10.0 * torch.softmax(logits, 1))["means"]
    (slope,) = torch.autograd.grad(means.amax(1).sum(), logits)
    assert torch.isfinite(slope).all() and (slope != 0.0).any()


def test_mistakes_are_answered_in_one_line() -> None:
    env = TorchVectorEnv("BAI-Bernoulli3-v0", 2, budget=5)
    with pytest.raises(ResetNeeded):
        env.step([0, 0])
    env.reset(seed=0)
    form, range_ = "actions must be 2 integers", "an action is not an arm; .*0 to 2"
    for wrong, message in (([0], form), ([0, 3], range_), ([-1, 0], range_), ([0.0, 1.0], form)):
        with pytest.raises(ParameterError, match=message):
            env.step(wrong)
    for counts in ([[1, 1, 1], [1, 1, 0]], [[-1, 1, 1], [0, 0, 1]], [[1, 1], [1, 1]]):
        with pytest.raises(ParameterError, match="counts must be"):
            env.pull(torch.tensor(counts))
    with pytest.raises(ParameterError, match="integers, unless they require a gradient"):
        env.pull(torch.full((2, 3), 0.5))
    with pytest.raises(ParameterError, match="6 pulls with 5 left"):
        env.pull(torch.full((2, 3), 2))
    with pytest.raises(UnknownNameError):
        TorchVectorEnv("BAI-Bernouli3-v0")
    refused: list[dict[str, Any]] = [{"reward": "estimate"}, {"costs": [1, 2, 3], "delay": 1}]
    for keywords in [*refused, {"fixed_confidence": True, "batch_size": 3}]:
        with pytest.raises(ParameterError):
            TorchVectorEnv("BAI-Bernoulli3-v0", **keywords)
    capped = TorchVectorEnv("BAI-FC-Bernoulli10-v0", 2, budget=20)
    capped.reset(seed=0)
    with pytest.raises(ParameterError, match="20 pulls with 19 left"):  # the last one ends the episode
        capped.pull(torch.full((2, 10), 2))
    with pytest.raises(ParameterError, match="Gaussian or Bernoulli arms"):
        TorchVectorEnv("BAI-CustomLinear-v0").reset()


def test_rewards_arrive_round_by_round() -> None:
    """Rounds of 2 of 5 pulls, a round late: after 4 pulls the first two have arrived, and all at the end."""
    env = TorchVectorEnv(SURE, NUM_ENVS, budget=5, batch_size=2, delay=1)
    with pytest.raises(ParameterError, match="all episodes of a torch batch start at once"):
        env.reset(options={"reset_mask": np.ones(NUM_ENVS, bool)})
    seen = [env.reset(seed=0)[0]]
    seen += [env.step([arm] * NUM_ENVS)[0] for arm in (0, 1, 1)]
    with pytest.raises(ParameterError, match="2 pulls with 1 left of the round"):
        env.pull(torch.tensor([[1, 0, 1]] * NUM_ENVS))
    seen += [env.pull(torch.tensor([[0, 0, 1]] * NUM_ENVS)), env.step([2] * NUM_ENVS)[0]]
    assert [one["pulls"][0].tolist() for one in seen] == [[0.0] * 3] * 4 + [[1.0, 1.0, 0.0], [1.0, 2.0, 2.0]]
    assert [one["pending"][0].sum() for one in seen] == [0.0, 1.0, 2.0, 3.0, 2.0, 0.0]
    assert set(seen[4]) == set(env.single_observation_space)


def test_they_are_those_of_the_native_batch_but_for_random_numbers() -> None:
    """Without an order of their own, given arms lead to the same pulls, ends, scores and keys, for any actions."""
    cases: list[tuple[str, dict[str, Any]]] = [
        *(
            ("BAI-Gaussian8-v0", {"observation": view, "batch_size": size})
            for view in ("statistics", "scaled")
            for size in (1, 3)
        ),
        ("BAI-Bernoulli4-v0", {"observation": "scaled"}),
        ("BAI-Custom-v0", {"means": [1.0, 0.5, 0.0], "costs": [1.0, 2.0, 0.5], "observation": "scaled"}),
        ("BAI-TopM-Custom-v0", {"means": [1.0, 0.5, 0.2, 0.0], "reward": "simple_regret"}),
        ("BAI-MultiBandit-Custom-v0", {"means": [1.0, 0.5, 0.2, 0.0]}),
        ("BAI-CustomThresholding-v0", {"means": [1.0, 0.2], "threshold": 0.5, "observation": "scaled"}),
        ("BAI-CustomGoodArm-v0", {"means": [0.1, 0.2], "threshold": 0.5}),
        ("BAI-FC-AllWithin-Custom-v0", {"means": [1.0, 0.9], "pull_cost": 0.01, "observation": "scaled"}),
        ("BAI-FC-Bernoulli10-v0", {}),
    ]
    for env_id, keywords in cases:
        keywords = {"budget": 12, "shuffle": False, **keywords}
        env, native = TorchVectorEnv(env_id, 5, **keywords), gym.make_vec(env_id, 5, **keywords)
        assert env.single_action_space == native.single_action_space
        fixed = not env_id.startswith(("BAI-Gaussian", "BAI-Bernoulli", "BAI-FC-Bernoulli"))
        seen, other = env.reset(seed=0), native.reset(seed=0)
        native.action_space.seed(0)
        for _ in range(40):
            assert set(seen[-1]) == set(other[-1]), (env_id, keywords)
            scaled = not isinstance(seen[0], dict)
            shown = seen[0].numpy() if scaled else {key: one.numpy() for key, one in seen[0].items()}
            assert shown in env.observation_space, (env_id, keywords)
            for key in () if scaled else ("pulls", "remaining", *({"pending"} & set(shown))):
                assert np.array_equal(shown[key], other[0][key]), (env_id, keywords, key)
            actions = native.action_space.sample()
            seen, other = env.step(torch.as_tensor(actions)), native.step(actions)
            for one, two in zip(seen[1 + (not fixed) : 4], other[1 + (not fixed) : 4], strict=True):
                assert one.numpy() == pytest.approx(two), (env_id, keywords)
        assert not scaled or env.single_observation_space == native.single_observation_space
