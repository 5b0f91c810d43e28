"""Differences of paired arms on common items, on every path: steps, batches, blocks and compiled rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import bai_gym
from bai_gym.bandits import Bandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.envs.wrappers import make_env, make_vec_env
from bai_gym.errors import AgentError, ParameterError
from bai_gym.paired import PairedBandit, PairedFiniteBandit, PairedGaussianBandit
from bai_gym.paired.bandits import differences
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.sampling import Block, Rule, Sequential, State
from bai_gym.statistics import FloatArray, Observation

K = 4
BUDGET = 40
MATRIX = np.random.default_rng(0).integers(0, 3, (7, K)) / 2.0

Make = Callable[[], PairedBandit]
KINDS: dict[str, Make] = {
    "gaussian": lambda: PairedGaussianBandit(np.linspace(1e4, 1e4 + 1, K), correlation=0.7),
    "finite": lambda: PairedFiniteBandit(MATRIX, np.arange(K)),
    "with replacement": lambda: PairedFiniteBandit(MATRIX, np.arange(K), replace=True),
}


def expected(bandit: Bandit, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the differences, pair by pair, from the rewards of every item."""
    rows = np.arange(len(pulls))
    last = int(pulls.max())
    rewards = bandit.item_rewards(np.repeat(rows[:, None], last, 1), np.tile(np.arange(last), (rows.size, 1)))
    means, variances = np.zeros((len(pulls), K, K)), np.zeros((len(pulls), K, K))
    for row, i, k in itertools.product(rows, range(K), range(K)):
        number = int(min(pulls[row, i], pulls[row, k]))
        apart = rewards[row, :number, i] - rewards[row, :number, k]
        means[row, i, k] = apart.mean() if number else 0.0
        variances[row, i, k] = apart.var(ddof=1) if number > 1 else 0.0
    return means, variances


def check(seen: Observation, bandit: Bandit) -> None:
    means, variances = expected(bandit, np.atleast_2d(seen["pulls"]))
    np.testing.assert_allclose(seen["differences"].reshape(means.shape), means, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(seen["difference_variances"].reshape(means.shape), variances, rtol=1e-7, atol=1e-8)


@pytest.mark.each("make", KINDS.values(), ids=KINDS)
def test_environments_observe_the_differences_on_common_items(make: Make) -> None:
    env = make_env(FixedProblem(make()), budget=BUDGET, pairs=True)
    envs = make_vec_env(
        FixedProblem(make()), num_envs=3, budget=BUDGET, pairs=True, autoreset_mode=AutoresetMode.DISABLED
    )
    rng = np.random.default_rng(1)
    seen, _ = env.reset(seed=0)
    many, _ = envs.reset(seed=0)
    for _ in range(BUDGET - 5):
        seen, *_ = env.step(int(rng.integers(K)))
        many, *_ = envs.step(rng.integers(0, [1, 2, K]))
        assert seen in env.observation_space and many in envs.observation_space
    check(seen, env.unwrapped._episode.bandit)
    check(many, envs.unwrapped._episodes.bandit)
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    many, *_ = envs.step(np.array([1, 2, 3]))  # some have fewer pulls left: a mixed step
    many, *_ = envs.step(np.array([1, 3, 3]))
    assert many["pulls"][1].tolist() == [0, 0, 1, 1]
    check(many, envs.unwrapped._episodes.bandit)


def fewest(pulls: float, mean: float, variance: float, s: State) -> float:
    return mean


class Comparing:
    """Pulls unequal blocks, then by a rule, and keeps what it has seen."""

    name = "Comparing"
    uses_pairs = True
    anytime = True
    seen: list[dict[str, Any]]

    def reset(self, info: ProblemInfo, rng: np.random.Generator) -> None:
        assert info.paired
        self.rng, self.batch, self.turn, self.seen = rng, info.batch, 0, []

    def allocate(self, observation: Observation) -> Any:
        self.seen.append({name: np.array(value) for name, value in observation.items()})
        self.turn += 1
        blocks = ([3, 3, 3, 3], [0, 5, 1, 0], [2, 0, 2, 0])
        if self.turn <= 3:
            return np.tile(blocks[self.turn - 1], (self.batch, 1))
        if self.turn == 4:
            return Sequential(Rule(index=fewest), 10, "first", self.rng)
        return None if self.turn > 5 else Block(np.tile([1, 0, 0, 2], (self.batch, 1)))

    def recommend(self, observation: Observation) -> Any:
        self.seen.append({name: np.array(value) for name, value in observation.items()})
        return observation["differences"].sum(axis=2).argmax(axis=1)


@pytest.mark.each("make", KINDS.values(), ids=KINDS)
def test_block_path_has_the_differences_after_every_request_and_at_checkpoints(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "REWARDS_AT_ONCE", 5 * 4 * K)  # so that items come in several parts
    bandit, agent = make().select(np.zeros(5, np.int64)), Comparing()
    agent.reset(ProblemInfo(K, 60, 5, truth=bandit), np.random.default_rng(0))
    rollout = play_blocks(agent, bandit, 60, np.random.default_rng(1), checkpoints=(7, 15, 29))
    assert [int(seen["pulls"][0].sum()) for seen in agent.seen][:4] == [0, 7, 12, 15]
    for seen in agent.seen:
        if seen["pulls"].any():
            check(seen, bandit)
    assert len(rollout.checkpoints) == 3 and rollout.pulls.sum() == 5 * 35


def test_the_runner_turns_them_on_for_agents_that_declare_it() -> None:
    env = BestArmEnv(FixedProblem(KINDS["finite"]()), budget=BUDGET)
    results = [bai_gym.evaluate(Comparing, env, runs=8, path=path) for path in ("blocks", "steps")]
    assert all(result.runs == 8 for result in results)
    unpaired = gym.make("BAI-Custom-v0").unwrapped
    with pytest.raises(AgentError, match="Comparing compares arms on common items"):
        bai_gym.evaluate(Comparing, unpaired, runs=2)


def test_pairs_need_paired_arms() -> None:
    for make in (lambda: gym.make("BAI-Custom-v0", pairs=True), lambda: gym.make_vec("BAI-Custom-v0", 2, pairs=True)):
        with pytest.raises(ParameterError, match="pairs=True observes differences"):
            make()
