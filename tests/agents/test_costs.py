"""Agents that take account of costs: rounds worked by hand, budgets, and the same results where all costs are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym import agents
from bai_gym.agents.tools.spending import bought_counts
from bai_gym.api import agent_source
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks, play_single_steps
from bai_gym.envs.scalar import BestArmEnv
from bai_gym.errors import AgentError, BudgetError
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.results.reader import read_results
from bai_gym.theory import characteristic_time, fixed_confidence_bound

AWARE = ("SH", 'SH(costs="sqrt")', "SH-Reuse", "SR", "Uniform", 'Uniform(costs="sqrt")', "OCBA")
STOPS = ("TrackAndStop(sigma=1.0)", 'TrackAndStop(sigma=1.0, tracking="C")')


def played(agent: Any, means: list[float], costs: list[float], money: float, batch: int = 1, seed: int = 0) -> Any:
    """Play blocks of Gaussian arms of variance 1, or 0 for one episode."""
    rng = np.random.default_rng(seed)
    bandit = GaussianBandit(np.tile(means, (batch, 1)), np.full((batch, len(means)), 1.0 if batch > 1 else 0.0))
    info = ProblemInfo(len(means), money, batch, costs=tuple(costs))
    agent.reset(info, rng)
    return play_blocks(agent, bandit, info.funds, rng)


def test_halving_by_hand() -> None:
    # Stage 1 has 20 of 40, and all arms cost 8: 2 pulls each (16). Arms 0 and 1 (cost 5) have the other 24: 4 each.
    assert played(agents.make("SH"), [4.0, 3.0, 2.0, 1.0], [4, 1, 1, 2], 40.0).pulls.tolist() == [[6, 6, 2, 2]]
    # 20 / (2 + 1 + 1 + 1.414) = 3.69 divided by the roots: 1, 3, 3, 2 pulls (14). Then 26 / 3 = 8.67: 4 and 8.
    agent = agents.make("SH", costs="sqrt")
    assert played(agent, [4.0, 3.0, 2.0, 1.0], [4, 1, 1, 2], 40.0).pulls.tolist() == [[5, 11, 3, 2]]


def test_successive_rejects_by_hand() -> None:
    # Growth 1/3, 1/6; sizes 3, 2. Factor of phase 1: 40 / (2 x (1 + 1/3)) = 15: 5 pulls each, which cost 30. Phase 2:
    # arms 0 and 1 cost 5 together, and have 10: 2 pulls each.
    assert played(agents.make("SR"), [3.0, 2.0, 1.0], [4, 1, 1], 40.0).pulls.tolist() == [[7, 7, 5]]


def test_ocba_by_hand() -> None:
    # Two arms of equal variances get pulls in proportion to 1 / sqrt(cost): 20 x 4 + 40 x 1.
    for means, costs, pulls in (([1.0, 0.0], [4, 1], [20, 40]), ([0.0, 1.0], [4, 1], [20, 40])):
        found = played(agents.make("OCBA"), means, costs, 120.0).pulls[0]
        assert np.abs(found - pulls).max() <= 2, means


def test_square_root_counts_leave_no_arm_out() -> None:
    assert bought_counts(np.array([102.0]), np.array([[100.0, 1.0, 1.0]]), "sqrt").tolist() == [[1, 1, 1]]
    assert bought_counts(np.array([0.3]), np.array([[0.1, 0.1, 0.1]]), "equal").tolist() == [[1, 1, 1]]


def test_no_budget_is_exceeded_and_little_is_left() -> None:
    rng = np.random.default_rng(3)
    for name in (*AWARE, *STOPS):
        for number in range(2):
            costs = np.exp(rng.normal(0.0, 1.5, 5))
            money = float(costs.sum() * rng.uniform(3.0, 40.0))
            means = [0.05, 0.0, 0.04, 0.02, 0.05]  # too close for agents that stop
            spent = played(agents_named(name), means, costs.tolist(), money, 50, number).pulls @ costs
            assert (spent <= money * (1 + 1e-9)).all(), (name, costs)
            left = costs.sum() if name not in STOPS and name != "OCBA" else costs.max()
            assert (spent >= money - left * (1 + 1e-9)).all(), (name, costs)


def agents_named(name: str) -> Any:
    """Return an agent by its name with parameters."""
    return agent_source(name).make()


def test_costs_of_one_are_no_costs() -> None:
    for name in ("SH", 'SH(costs="sqrt")', "SR", "Uniform", "OCBA", "TTTS"):
        keywords: dict[str, Any] = {"budget": 120, "runs": 20}
        plain = bai_gym.evaluate(name, "BAI-Bernoulli3-v0", **keywords)
        keywords["budget"] = 120 * 2.5
        priced = bai_gym.evaluate(name, "BAI-Bernoulli3-v0", env_kwargs={"costs": [2.5] * 3}, **keywords)
        assert priced.errors == plain.errors, name
        assert (priced.mean_pulls == plain.mean_pulls).all(), name
        assert priced.money_spent == pytest.approx(2.5 * plain.sample_complexity)


def test_a_gymnasium_loop_makes_the_same_pulls() -> None:
    means, costs = [4.0, 3.0, 2.0, 1.0], [4.0, 1.0, 1.0, 2.0]
    for name in (*AWARE, "TrackAndStop(sigma=1.0)"):
        env = BestArmEnv(FixedProblem(GaussianBandit([means], 0.0)), budget=40.0, costs=costs, shuffle=False)
        observation, _ = env.reset(seed=0)
        agent = agents_named(name)
        agent.tie = "first"
        agent.reset(env.problem_info(), np.random.default_rng(0))
        steps = play_single_steps(agent.act, env, observation)
        assert steps.recommendation.tolist() == [0], name
        assert float(steps.pulls[0] @ np.array(costs)) <= 40.0 + 1e-9
        if name.startswith(("SH", "SR", "Uniform")):
            assert played(agents_named(name), means, costs, 40.0).pulls.tolist() == steps.pulls.tolist(), name


def test_who_takes_no_account_of_costs_is_refused() -> None:
    for agent in ("TTTS", Thirds):
        with pytest.raises(AgentError, match="costs"):
            bai_gym.evaluate(agent, "BAI-Bernoulli3-v0", budget=30.0, runs=2, env_kwargs={"costs": [1.0, 2.0, 1.0]})
    with pytest.raises(AgentError):
        agents.make("TTTS").reset(ProblemInfo(2, 30.0, costs=(1.0, 2.0)))
    with pytest.raises(BudgetError):  # two stages of one pull of each arm cost 8
        bai_gym.evaluate("SH", "BAI-Bernoulli3-v0", budget=7.9, runs=2, env_kwargs={"costs": [1.0, 2.0, 1.0]})


class Thirds:
    """Pulls every arm equally often, and knows of no costs."""

    def reset(self, info: ProblemInfo, _: Any = None) -> None:
        self.each = info.budget // info.num_arms

    def allocate(self, observation: Any) -> Any:
        pulls = observation["pulls"]
        return None if pulls.any() else np.full(pulls.shape, self.each, np.int64)

    def recommend(self, observation: Any) -> Any:
        return observation["means"].argmax(axis=-1)


def test_an_overspending_block_is_refused() -> None:
    class Overspends(Thirds):
        uses_costs = True

        def allocate(self, observation: Any) -> Any:
            return np.full(observation["pulls"].shape, 11, np.int64)

    with pytest.raises(AgentError):
        played(Overspends(), [1.0, 0.0], [1.0, 2.0], 32.9)
    assert played(Overspends(), [1.0, 0.0], [1.0, 2.0], 33.0).pulls.tolist() == [[11, 11]]


def test_results_in_money_are_read_again(tmp_path: Path) -> None:
    keywords = {"means": [1.0, 0.0], "costs": [0.25, 0.1]}
    result = bai_gym.evaluate("Uniform", "BAI-Custom-v0", budget=1.1, runs=20, env_kwargs=keywords, out=tmp_path)
    assert (result.sample_complexity, result.costs) == (6.0, (0.25, 0.1))
    assert result.money_spent == pytest.approx(1.05) and result.unspent == pytest.approx(0.05)
    (table,) = read_results(tmp_path)
    (again,) = table.results
    assert (again.budget, again.costs, again.money_spent) == (1.1, (0.25, 0.1), result.money_spent)
    assert "money spent" in result.__str__() and not result.stops


def test_the_characteristic_time_in_money() -> None:
    means = np.array([0.5, 0.25, 0.1, 0.0])
    for costs, expected in (((1, 1, 1, 1), 152.6), ((10, 1, 1, 1), 582.0), ((1, 10, 10, 10), 776.9)):
        assert characteristic_time(means, np.array(costs, float)) == pytest.approx(expected, abs=0.06), costs


def test_track_and_stop_saves_money() -> None:
    keywords = {"means": [0.5, 0.25, 0.1, 0.0], "variances": 1.0, "costs": [10.0, 1.0, 1.0, 1.0]}
    agent = "TrackAndStop(sigma=1.0, lazy=0.01)"
    env = {**keywords, "fixed_confidence": True}
    result = bai_gym.evaluate(agent, "BAI-Custom-v0", budget=1e6, runs=100, env_kwargs=env)
    bound = float(fixed_confidence_bound(np.array(keywords["means"]), 0.1, np.array(keywords["costs"])))
    assert result.errors <= 10 and result.truncated == 0 and result.money_spent is not None
    assert result.lower_bound == pytest.approx(bound) and result.over_bound == result.money_spent / bound
    assert result.money_spent < 4500  # 3,700; shares for arms of equal costs cost 5,100
