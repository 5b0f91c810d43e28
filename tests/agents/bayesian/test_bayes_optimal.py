"""Bayes-optimal play: it attains its value, nobody surpasses it, and it says where it cannot play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.bandits import Bandit, BernoulliBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.theory import optimal_value, solve_bayes


def play(agent: Any, bandit: Bandit, budget: int, seed: int = 0) -> Rollout:
    agent.reset(ProblemInfo(bandit.num_arms, budget, bandit.batch, knows=agent.knows), np.random.default_rng([seed, 1]))
    return play_blocks(agent, bandit, budget, np.random.default_rng([seed, 2]))


def instances(num_arms: int, runs: int) -> BernoulliBandit:
    return BernoulliBandit(np.random.default_rng(0).random((runs, num_arms)))


# ------------------------------------------------------------------------------------------------ the optimum


def test_other_priors() -> None:
    rng = np.random.default_rng(0)
    bandit = BernoulliBandit(rng.beta(3.0, 0.5, size=(40_000, 2)))
    rollout = play(agents.make("BayesOptimal", alpha=3.0, beta=0.5), bandit, 15)
    wrong = np.mean(rollout.recommendation != bandit.means.argmax(axis=1))
    least = 1 - optimal_value(2, 15, alpha=3.0, beta=0.5)
    assert wrong == pytest.approx(least, abs=3.5 * np.sqrt(least * (1 - least) / 40_000))
    uniform = play(agents.make("BayesOptimal"), bandit, 15)  # the wrong prior costs something, here about 0.01
    assert np.mean(uniform.recommendation != bandit.means.argmax(axis=1)) > wrong


# ------------------------------------------------------------------------------------------------ a round by hand


def test_a_round_by_hand(trace: Any) -> None:
    # Three arms, two pulls, the expected mean. After a success the arm is the best guess at 2/3 already, and only the
    # pull of another one can change that (to 2/3 as well): all are worth 2/3. After a failure it stands at 1/3, and a
    # pull of another one is worth (2/3 + 1/2) / 2, since the third is left at 1/2.
    rewards = [[0.0], [1.0], [1.0]]
    agent = agents.make("BayesOptimal", objective="simple_regret", tie="first")
    played = trace(agent, rewards, 2)
    assert (played.arms, played.recommendation) == ([0, 1], 1)
    assert trace(agent, [[0.0], [0.0], [0.0]], 2).recommendation == 2  # at 1/2, without a pull
    assert trace(agent, [[1.0], [0.0], [0.0]], 2).recommendation == 0


@pytest.mark.each("objective", ["correct", "simple_regret"])
def test_every_pull_is_optimal(objective: str, trace: Any) -> None:
    rewards = np.random.default_rng(0).integers(2, size=(3, 20)).astype(float)
    played = trace(agents.make("BayesOptimal", objective=objective), rewards, 20)
    solution = solve_bayes(3, 20, objective)
    pulls, successes = np.zeros((3, 1), np.int64), np.zeros((3, 1), np.int64)
    for arm in played.arms:
        assert solution.best_actions(successes, pulls)[arm, 0]
        successes[arm] += int(rewards[arm, pulls[arm, 0] % 20])
        pulls[arm] += 1
    assert solution.best_actions(successes, pulls)[played.recommendation, 0]


def test_ties_are_broken_by_the_rule() -> None:
    bandit = instances(3, 6000)
    first = play(agents.make("BayesOptimal", tie="first"), bandit, 1)
    assert first.pulls.sum(axis=0).tolist() == [6000, 0, 0]
    random = play(agents.make("BayesOptimal"), bandit, 1)
    assert (abs(random.pulls.sum(axis=0) - 2000) < 4.5 * np.sqrt(6000 * 2 / 9)).all()
    failed = random.statistics.means.sum(axis=1) == 0  # then both arms without a pull are better, and equally good
    assert (random.pulls[np.arange(6000), random.recommendation] == ~failed).all()


# ------------------------------------------------------------------------------------------------ the contract


@pytest.mark.each("rewards", [[[0.5], [0.5]], [[2.0], [2.0]], [[-1.0], [-1.0]], [[1.0, 3.0], [1.0, 3.0]]])
def test_rewards_beside_0_and_1_are_refused(rewards: list[list[float]], trace: Any) -> None:
    with pytest.raises(AgentError, match="needs rewards of 0 and 1"):
        trace(agents.make("BayesOptimal"), rewards, 6)


def test_what_it_cannot_do_is_said() -> None:
    agent = agents.make("BayesOptimal")
    with pytest.raises(ParameterError, match="10 arms with budget 200 is too large to compute"):
        agent.reset(ProblemInfo(10, 200, knows=agent.knows))
    agent = agents.make("BayesOptimal", memory_limit=1e-6)
    with pytest.raises(ParameterError, match="too large to compute"):
        agent.reset(ProblemInfo(3, 12, knows=agent.knows))
