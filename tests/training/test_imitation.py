"""Watching an agent play, and learning to do as it does."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch
from gymnasium import spaces

from bai_gym import agents
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.spaces import observation_space
from bai_gym.errors import AgentError, BudgetError, ParameterError
from bai_gym.training import ArmPolicy, imitate, imitation
from bai_gym.training.imitation import RECOMMENDATION, Watched, watch

pytestmark = pytest.mark.slow


def env_of(name: str = "BAI-Bernoulli4-v0", **keywords: Any) -> BestArmEnv:
    made = gym.make(name, **keywords).unwrapped
    assert isinstance(made, BestArmEnv)
    return made


def watched(teacher: str, episodes: int = 50, seed: int = 0, **keywords: Any) -> Watched:
    return watch(teacher, env_of(**keywords), episodes, np.random.default_rng(seed))


def policy(seed: int = 0) -> ArmPolicy:
    torch.manual_seed(seed)
    return ArmPolicy(observation_space(4, 30), spaces.Discrete(4), lambda _: 1e-3, "binary", 16)


def test_what_is_watched_is_what_the_agent_did() -> None:
    budget, episodes = 30, 50
    seen = watched("SR(tie=first, leftover=last)", budget=budget)
    steps = budget + 1
    assert {name: tuple(array.shape) for name, array in seen.observations.items()} == {
        "pulls": (steps * episodes, 4),
        "means": (steps * episodes, 4),
        "variances": (steps * episodes, 4),
        "remaining": (steps * episodes, 1),
    }
    assert {array.dtype for array in (*seen.observations.values(), seen.rewards, seen.weights)} == {torch.float32}
    assert (seen.actions.dtype, tuple(seen.actions.shape)) == (torch.int64, (steps * episodes,))
    tables = {name: array.numpy().reshape(steps, episodes, -1) for name, array in seen.observations.items()}
    actions = seen.actions.numpy().reshape(steps, episodes)
    assert (tables["remaining"][:, :, 0] == np.arange(budget, -1, -1)[:, None]).all()
    # The action of a step is the pull that the next observation shows.
    pulled = np.diff(tables["pulls"], axis=0)
    np.testing.assert_array_equal(pulled, np.eye(4)[actions[:-1]])
    # SR, without ties at random, decides by the observation alone: asked again it says the same.
    agent = agents.make("SR", tie="first", leftover="last")
    agent.reset(env_of_problem_info(agent, budget, episodes), np.random.default_rng(1))
    for step in range(steps):
        np.testing.assert_array_equal(
            agent.act({name: table[step].astype(float) for name, table in tables.items()}), actions[step]
        )


def env_of_problem_info(agent: Any, budget: int, episodes: int) -> Any:
    batch = gym.make_vec("BAI-Bernoulli4-v0", episodes, budget=budget)
    batch.reset(seed=0)
    return batch.unwrapped.problem_info(agent.knows)  # type: ignore[attr-defined]


def test_rewards_are_those_of_the_end_and_the_recommendation_counts_more() -> None:
    # Certain arms: uniform allocation is always right.
    keywords = {"means": [0.0, 1.0, 0.5], "variances": 0.0, "budget": 29}
    seen = watched("Uniform", name="BAI-Custom-v0", **keywords)
    assert (seen.rewards == 1.0).all()
    weights = seen.weights.numpy().reshape(30, 50)
    assert (weights[:-1] == 1.0).all() and (weights[-1] == np.float32(RECOMMENDATION * 30)).all()
    assert (watched("Uniform", budget=5).weights == 1.0).all()  # never less than a pull
    regret = watched("Uniform(mode=random)", episodes=400, budget=8, reward="simple_regret").rewards.reshape(9, 400)
    assert (regret == regret[0]).all() and (regret <= 0).all() and len(set(regret[0].tolist())) > 20
    right = watched("Uniform", episodes=400, budget=8).rewards.reshape(9, 400)
    assert (right == right[0]).all() and set(right[0].tolist()) == {0.0, 1.0}


def test_answers_of_several_arms_are_watched_too() -> None:
    seen = watched("UGapEb", name="BAI-TopM-Bernoulli10-v0", budget=25)
    assert tuple(seen.actions.shape) == (26 * 50, 11)
    last = seen.actions.reshape(26, 50, 11)[-1]
    assert (last[:, 1:].sum(dim=1) == 3).all()


def test_a_seed_decides_what_is_watched() -> None:
    one, same, other = (watched("TS", seed=seed).actions for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)


def likelihood(made: ArmPolicy, seen: Watched) -> float:
    """Mean log-likelihood of a teacher's actions."""
    with torch.no_grad():
        _, log_probabilities, _ = made.evaluate_actions(seen.observations, seen.actions)
    return float(log_probabilities.mean())


def test_imitation_makes_the_actions_of_new_episodes_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "ROUND", 10_000)
    monkeypatch.setattr(imitation, "BATCH", 128)
    # An index of the means and pulls, and so a function of what the policy sees; but for the first pulls.
    env, teacher = env_of(budget=30), "UCB-E(a=1.0, b=1.0)"
    held_out = watch(teacher, env, 200, np.random.default_rng(99))
    made = policy()
    before = likelihood(made, held_out)
    calls: list[tuple[int, int]] = []
    rounds = []

    def noted(*given: Any) -> Watched:
        rounds.append(watch(*given))
        return rounds[-1]

    monkeypatch.setattr(imitation, "watch", noted)
    imitate(made, teacher, env, 40_000, 0, lambda done, total: calls.append((done, total)))
    assert calls == [(done, 4) for done in range(1, 5)]
    assert len({played.observations["means"].numpy().tobytes() for played in rounds}) == 4  # new episodes in each
    assert not made.training
    # From about log(1/4), which chance gives, at least half of the way to 0, which nothing exceeds.
    assert before < -1.0
    assert likelihood(made, held_out) > before / 2
    with torch.no_grad():
        error = torch.mean((made.predict_values(held_out.observations)[:, 0] - held_out.rewards) ** 2)
    assert error < held_out.rewards.var()


def test_the_same_seed_gives_the_same_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "ROUND", 1000)

    def weights(seed: int, disturbed: int) -> list[torch.Tensor]:
        made = policy()
        torch.manual_seed(disturbed)
        imitate(made, "TS", env_of(budget=12), 3000, seed)
        return [weight.detach() for weight in made.parameters()]

    for one, other in zip(weights(0, 1), weights(0, 2), strict=True):
        assert torch.equal(one, other)
    assert any(not torch.equal(*pair) for pair in zip(weights(0, 1), weights(1, 1), strict=True))


def test_agents_that_cannot_be_imitated(monkeypatch: pytest.MonkeyPatch) -> None:
    class OneAtATime:
        name = "one at a time"

        def act(self, observation: Any) -> int:
            return 0

    monkeypatch.setitem(agents.registry._AGENTS, "one at a time", OneAtATime)
    for teacher, name, keywords, error, words in (
        ("SH", "BAI-Bernoulli4-v0", {"budget": 3}, BudgetError, "below the minimum of SH"),
        ("VBR", "BAI-TopM-Bernoulli10-v0", {}, AgentError, "VBR does not support the task 'top-m'"),
        ("UGapEc", "BAI-FC-Bernoulli10-v0", {}, ParameterError, "UGapEc cannot be imitated"),
        ("one at a time", "BAI-Bernoulli4-v0", {}, ParameterError, "one at a time cannot be imitated"),
    ):
        with pytest.raises(error, match=words) as caught:
            watch(teacher, env_of(name, **keywords), 5, np.random.default_rng(0))
        assert "\n" not in str(caught.value)
