"""Bayes-optimal play: it attains its value, nobody surpasses it, and it says where it cannot play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from bai_gym import agents, evaluate
from bai_gym.agents.registry import BUILT_IN
from bai_gym.agents.tools.normal_prior import PriorAgent
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.errors import AgentError, BudgetError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import TopM
from bai_gym.theory import optimal_value, solve_bayes

RUNS = 10_000
FEWER = 4_000  # of each agent
LEVEL = 0.001
SIZES = [(2, 20), (3, 12)]
# Agents of a fixed budget that find one arm; Thompson sampling with the posterior for 0/1 rewards.
BERNOULLI = {"posterior": "bernoulli"}
PLAYERS: list[tuple[str, dict[str, Any]]] = [
    (name, {"allow_small_budget": True} | {"TS": BERNOULLI, "TTTS": BERNOULLI}.get(name, {}))
    for name in agents.names()
    for agent in [agents.make(name)]
    if not (agent.stops or agent.needs_features or agent.uses_pairs) and "best-arm" in agent.tasks
]


def play(agent: Any, bandit: Bandit, budget: int, seed: int = 0) -> Rollout:
    agent.reset(ProblemInfo(bandit.num_arms, budget, bandit.batch, knows=agent.knows), np.random.default_rng([seed, 1]))
    return play_blocks(agent, bandit, budget, np.random.default_rng([seed, 2]))


def instances(num_arms: int, runs: int) -> BernoulliBandit:
    return BernoulliBandit(np.random.default_rng(0).random((runs, num_arms)))


# ------------------------------------------------------------------------------------------------ the optimum


@pytest.mark.slow
@pytest.mark.each(("num_arms", "budget"), SIZES)
@pytest.mark.each(("name", "parameters"), PLAYERS, ids=lambda v: v if isinstance(v, str) else "")
def test_nobody_surpasses_it(name: str, parameters: dict[str, Any], num_arms: int, budget: int) -> None:
    if BUILT_IN[name].arms not in (None, num_arms):
        return
    # A theorem for those that are told nothing about the instance; that the others do not either is an observation.
    agent = agents.make(name, **parameters)
    if isinstance(agent, agents.GaussianProcessAgent):  # with mean and variance of the uniform prior
        agent.kernel, agent.prior_mean = np.eye(num_arms) / 12.0, 0.5
    elif isinstance(agent, PriorAgent):
        agent.prior_mean, agent.prior_sd = 0.5, 12.0**-0.5
    result = evaluate(agent, f"BAI-Bernoulli{num_arms}-v0", budget=budget, runs=FEWER, seed=1)
    least = 1 - optimal_value(num_arms, budget)
    assert binom.cdf(result.errors, FEWER, least) > LEVEL / (len(PLAYERS) * len(SIZES))


@pytest.mark.slow
@pytest.mark.each("tie", ["random", "first"])
@pytest.mark.each(("num_arms", "budget"), SIZES)
def test_it_attains_its_value(num_arms: int, budget: int, tie: str) -> None:
    env = f"BAI-Bernoulli{num_arms}-v0"
    result = evaluate(agents.make("BayesOptimal", tie=tie), env, budget=budget, runs=40_000, seed=2)
    least = 1 - optimal_value(num_arms, budget)
    assert result.error_probability == pytest.approx(least, abs=3.5 * np.sqrt(least * (1 - least) / 40_000))
    assert result.unspent == 0 and result.knows == ("prior",)
    regret = evaluate(agents.make("BayesOptimal", objective="simple_regret"), env, budget=budget, runs=40_000, seed=3)
    least = optimal_value(num_arms, budget, objective="simple_regret")
    assert regret.simple_regret == pytest.approx(least, abs=3.5 * regret.simple_regret_se)


def test_other_priors() -> None:
    rng = np.random.default_rng(0)
    bandit = BernoulliBandit(rng.beta(3.0, 0.5, size=(40_000, 2)))
    rollout = play(agents.make("BayesOptimal", alpha=3.0, beta=0.5), bandit, 15)
    wrong = np.mean(rollout.recommendation != bandit.means.argmax(axis=1))
    least = 1 - optimal_value(2, 15, alpha=3.0, beta=0.5)
    assert wrong == pytest.approx(least, abs=3.5 * np.sqrt(least * (1 - least) / 40_000))
    uniform = play(agents.make("BayesOptimal"), bandit, 15)  # the wrong prior costs something, here about 0.01
    assert np.mean(uniform.recommendation != bandit.means.argmax(axis=1)) > wrong


def test_single_steps_attain_it_too() -> None:
    result = evaluate("BayesOptimal", "BAI-Bernoulli3-v0", budget=12, runs=RUNS, seed=4, path="steps")
    least = 1 - optimal_value(3, 12)
    assert result.error_probability == pytest.approx(least, abs=3.5 * np.sqrt(least * (1 - least) / RUNS))


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


@pytest.mark.each(("num_arms", "budget"), [(2, 1), (2, 60), (3, 30), (5, 3), (5, 12), (64, 1), (64, 5)])
@pytest.mark.each("mean", [0.0, 0.5, 1.0])
def test_budgets_are_spent_and_arms_recommended(num_arms: int, budget: int, mean: float) -> None:
    rollout = play(agents.make("BayesOptimal"), BernoulliBandit(np.full((50, num_arms), mean)), budget)
    assert (rollout.pulls.sum(axis=1) == budget).all()
    assert np.isin(rollout.recommendation, np.arange(num_arms)).all()


def test_easy_worlds_are_solved_in_every_run() -> None:
    best = np.random.default_rng(0).integers(4, size=500)
    bandit = BernoulliBandit((np.arange(4) == best[:, None]).astype(float))
    rollout = play(agents.make("BayesOptimal"), bandit, 12)
    np.testing.assert_array_equal(rollout.recommendation, best)


def test_no_pull_is_too_few() -> None:
    with pytest.raises(BudgetError, match="budget 0 is below the minimum of BayesOptimal for 3 arms: give at least 1"):
        agents.make("BayesOptimal").reset(ProblemInfo(3, 0, knows={"prior"}))


def test_other_rewards_are_refused() -> None:
    with pytest.raises(AgentError, match="BayesOptimal needs rewards of 0 and 1, but got another one"):
        play(agents.make("BayesOptimal"), GaussianBandit(np.full((20, 2), 0.5), 1.0), 5)


@pytest.mark.each(
    "rewards", [[[0.5], [0.5]], [[2.0], [2.0]], [[-1.0], [-1.0]], [[1.0, 3.0], [1.0, 3.0]], [[0.0, 2.0], [0.0, 2.0]]]
)
def test_whole_rewards_beside_0_and_1_are_refused(rewards: list[list[float]], trace: Any) -> None:
    with pytest.raises(AgentError, match="needs rewards of 0 and 1"):
        trace(agents.make("BayesOptimal"), rewards, 6)


@pytest.mark.each(
    ("parameters", "message"),
    [
        ({"objective": "regret"}, "objective must be 'correct' or 'simple_regret', not 'regret'"),
        ({"alpha": -1.0}, "alpha must be a number from 0.1 to 1000, not -1.0"),
        ({"beta": "b"}, "beta of BayesOptimal must be a number, not 'b'"),
        ({"memory_limit": 1e-6}, "3 arms with budget 12 is too large to compute .* limit 1e-06 GB"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    agent = agents.make("BayesOptimal", **parameters)
    with pytest.raises(ParameterError, match=message):
        agent.reset(ProblemInfo(3, 12, knows=agent.knows))


def test_what_it_cannot_do_is_said() -> None:
    agent = agents.make("BayesOptimal")
    with pytest.raises(ParameterError, match="10 arms with budget 200 is too large to compute"):
        agent.reset(ProblemInfo(10, 200, knows=agent.knows))
    with pytest.raises(AgentError, match="BayesOptimal does not support the task 'top-m'"):
        agent.reset(ProblemInfo(4, 8, task=TopM(2), knows=agent.knows))
    with pytest.raises(AgentError, match="BayesOptimal does not decide when to stop"):
        agent.reset(ProblemInfo(4, 8, fixed_confidence=True, knows=agent.knows))
