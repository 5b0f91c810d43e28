"""Agents that expect every reward at once, where rewards arrive late."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bai_gym import agents, evaluate
from bai_gym.adapters import late, with_assumed
from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.tools.scanning import pull_in_turn
from bai_gym.bandits import BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks, play_steps
from bai_gym.benchmark.sources import GivenInstances
from bai_gym.common.rounds import Rounds
from bai_gym.envs.wrappers import make_vec_env
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import BINARY, REAL, Rewards
from bai_gym.sampling import Block, Rule, Sequential, start
from bai_gym.statistics import IntArray, Statistics


class Scripted(Agent):
    """Requests given blocks, and notes their outcomes and what it sees."""

    name = "Scripted"

    def __init__(self, *blocks: Block | Sequential) -> None:
        self.blocks, self.outcomes, self.views = blocks, [], []  # type: ignore[var-annotated]

    def plan(self) -> Plan:
        for block in self.blocks:
            self.outcomes.append((yield block))
            self.views.append({name: np.array(self._seen[name]) for name in self._seen})
        return np.zeros(1, np.int64)


def counts(*pulls: int) -> IntArray:
    return np.array([pulls])


def run(agent: Agent, rounds: Rounds, budget: int, told: list[Statistics], rewards: Rewards = REAL) -> list[list[int]]:
    """Play with given arrivals, and return the pulls of the rounds."""
    seen = {"pulls": counts(0, 0), "means": np.zeros((1, 2)), "variances": np.zeros((1, 2))}
    seen["remaining"] = np.array([[budget]])
    plan, asked = late(partial(start, agent), rounds, rewards)(seen), []
    outcome = None
    while True:
        try:
            part = plan.send(outcome)
        except StopIteration:
            return asked
        asked.append(part.whole.counts[0].tolist())
        outcome = told.pop(0)
        seen["remaining"] -= part.end
        there = np.flatnonzero(outcome.pulls)
        arrived = Statistics.of(seen)
        arrived.merge(
            there, Statistics(*(getattr(outcome, name).take(there) for name in ("pulls", "means", "variances")))
        )


def test_blocks_are_cut_into_rounds_by_hand() -> None:
    """Blocks of 2 + 1 and 1 + 2 pulls in rounds of 2: the second round has the end of one and the start of the other.

    After 3 pulls the last pull of the first block, of arm 0, is pending: it counts with the mean of arm 0, 1.0. The
    second round then brings 3.0 for arm 0, and 5.0 for arm 1, of the second block; the third 7.0 for arm 1.
    """
    agent = Scripted(Block(counts(2, 1)), Block(counts(0, 3)))
    first = Statistics(counts(1, 1), np.array([[1.0, 2.0]]), np.zeros((1, 2)))
    second = Statistics(counts(1, 1), np.array([[3.0, 5.0]]), np.zeros((1, 2)))
    third = Statistics(counts(0, 2), np.array([[0.0, 8.0]]), np.array([[0.0, 2.0]]))
    assert run(agent, Rounds(2), 6, [first, second, third]) == [[1, 1], [1, 1], [0, 2]]
    assert agent.outcomes[0].pulls.tolist() == [[2, 1]]
    assert agent.outcomes[0].means.tolist() == [[1.0, 2.0]]
    assert agent.views[0]["pulls"].tolist() == [[2, 1]]
    assert agent.views[0]["remaining"] == 3
    assert agent.outcomes[1].pulls.tolist() == [[0, 3]]
    assert agent.outcomes[1].means.tolist() == [[0.0, 7.0]]  # (5 + 7 + 9) / 3
    assert agent.views[1]["means"].tolist() == [[2.0, 5.75]]
    assert agent.views[1]["remaining"] == 0


def test_pending_pulls_are_assumed_at_the_mean() -> None:
    """Arm 1 has no reward: it counts as an average arm, of (2 x 0.5) / 2. Means of zeros and ones stay possible."""
    seen = {"pulls": np.array([2, 0]), "means": np.array([0.5, 0.0]), "pending": np.array([1, 2]), "other": np.ones(1)}
    real, binary = with_assumed(seen, REAL), with_assumed(seen, BINARY)
    assert list(real) == ["pulls", "means", "other"]
    assert real["pulls"].tolist() == [3, 2]
    assert real["means"].tolist() == [0.5, 0.5]
    assert binary["means"].tolist() == [2 / 3, 0.5]
    # Before any reward, the middle of what rewards can be.
    seen |= {"pulls": np.zeros(2, int), "means": np.zeros(2), "pending": np.array([1, 0])}
    assert with_assumed(seen, Rewards("bounded", 1.0, 3.0))["means"].tolist() == [2.0, 0.0]


def test_a_rule_learns_the_moments_of_the_rewards_that_arrive() -> None:
    rule = Rule(choose=pull_in_turn)
    agent = Scripted(Sequential(rule, 10, "first", np.random.default_rng(0), {}))
    told = Statistics(counts(5, 5), np.array([[1.0, 2.0]]), np.array([[2.0, 8.0]]))
    assert run(agent, Rounds(10), 10, [told]) == [[5, 5]]
    for name in ("means", "variances"):
        assert np.allclose(getattr(agent.outcomes[0].statistics, name), getattr(told, name))


def played(
    name: str,
    rounds: Rounds,
    bandit: Any,
    *,
    steps: bool,
    seed: int = 0,
    checkpoints: tuple[int, ...] = (),
    **options: Any,
) -> Rollout:
    """Play 60 pulls of all instances of a bandit."""
    agent, rng = agents.make(name, **options), np.random.default_rng(seed)
    agent.reset(ProblemInfo(bandit.num_arms, 60, bandit.batch, truth=bandit, rounds=rounds), rng)
    if not steps:
        return play_blocks(agent, bandit, 60, rng, checkpoints=checkpoints, rounds=rounds)
    late = {"batch_size": rounds.batch_size, "delay": rounds.delay}
    env = make_vec_env(GivenInstances(bandit), bandit.batch, budget=60, autoreset_mode="Disabled", **late)
    return play_steps(agent.act, env, env.reset(seed=seed)[0], checkpoints, agent.recommend)


def test_every_pull_is_made_and_every_reward_counts() -> None:
    """Agents that recommend the best sample mean do so on all rewards, whenever they have arrived."""
    bandit = BernoulliBandit(np.tile([0.8, 0.5, 0.5, 0.3], (20, 1)))
    for rounds in (Rounds(7), Rounds(60), Rounds(1, 3), Rounds(8, 2)):
        for steps in (False, True):
            rollout = played("OCBA", rounds, bandit, steps=steps)
            assert (rollout.statistics.pulls.sum(axis=1) == 60).all(), (rounds, steps)
            means = rollout.statistics.means
            chosen = np.take_along_axis(means, rollout.recommendation[:, None], 1)[:, 0]
            assert np.allclose(chosen, means.max(axis=1), rtol=1e-12), (rounds, steps)
            assert (played("SH", rounds, bandit, steps=steps).pulls.sum(axis=1) <= 60).all()


@pytest.mark.parametrize("name", ["SH", "TS"])
def test_blocks_and_steps_have_one_law(name: str) -> None:
    """Wrong in 1 of 1,000 seeds for each of 6 tables of pulls of the best arm, in four classes."""
    bandits: list[Callable[[], Any]] = [
        lambda: BernoulliBandit(np.tile([0.7, 0.5, 0.3], (500, 1))),
        lambda: GaussianBandit(np.tile([0.7, 0.2, 0.0], (500, 1)), np.ones((500, 3))),
    ]
    for make in bandits:
        for rounds in (Rounds(8), Rounds(5, 1)):
            pulls = [played(name, rounds, make(), steps=steps, seed=5).pulls[:, 0] for steps in (False, True)]
            cuts = np.unique(np.quantile(np.concatenate(pulls), [0.25, 0.5, 0.75]))
            table = np.array([np.bincount(np.digitize(counts, cuts), minlength=cuts.size + 1) for counts in pulls])
            assert chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > 1e-3, rounds


def test_an_agent_of_fixed_confidence_stops_on_rewards_that_have_arrived() -> None:
    for path in ("auto", "steps"):
        env = {"batch_size": 20, "fixed_confidence": True, "means": [0.9, 0.3, 0.2], "distribution": "bernoulli"}
        result = evaluate("LUCB", "BAI-Custom-v0", budget=2_000, runs=5, path=path, env_kwargs=env)
        assert result.errors <= 3
        assert result.truncated == 0
        assert result.sample_complexity * 5 % 20 == pytest.approx(0.0)


def test_checkpoints_see_the_rewards_that_have_arrived() -> None:
    """Rounds of 4 pulls of two arms, whose rewards are their means: after 2 pulls none has arrived, delayed after 6."""
    keywords = {"means": [0.1, 0.9], "variances": 0.0, "batch_size": 4, "shuffle": False}
    for path in ("blocks", "steps"):
        for delay, errors in ((0, [3, 0, 0, 0]), (1, [3, 3, 3, 0])):
            options: dict[str, Any] = {"env_kwargs": {**keywords, "delay": delay}, "runs": 3, "path": path}
            agent = "Uniform(tie=first)"
            rows = evaluate(agent, "BAI-Custom-v0", budget=10, checkpoints=[2, 4, 6, 8], **options)
            assert [row.errors for row in rows] == [*errors, 0], (path, delay)
            assert [row.mean_pulls.sum() for row in rows] == [2, 4, 6, 8, 10]


def test_checkpoints_change_nothing_of_what_follows() -> None:
    """Every reward is its arm's mean: the pulls are the same."""
    bandit = GaussianBandit(np.random.default_rng(0).random((40, 4)), 0.0)
    for name in ("UCB1", "Uniform"):
        for rounds in (Rounds(7), Rounds(8, 2)):
            without, scored = (
                played(name, rounds, bandit, steps=False, checkpoints=points, tie="first")
                for points in ((), (3, 7, 20, 41))
            )
            assert (without.pulls == scored.pulls).all(), (name, rounds)
            assert [point.pulls.sum(axis=1).tolist() for point in scored.checkpoints] == [
                [point] * 40 for point in (3, 7, 20, 41)
            ]


class FewestPulls:
    """A user's agent that only acts: pulls the arm of fewest pulls, and recommends the best."""

    def act(self, observation: dict[str, Any]) -> int:
        return int((observation["means"] if observation["remaining"] == 0 else -observation["pulls"]).argmax())


def test_an_agent_that_only_acts_sees_its_own_pulls() -> None:
    result = evaluate(FewestPulls, "BAI-Gaussian8-v0", budget=80, runs=3, env_kwargs={"batch_size": 40})
    assert result.mean_pulls.tolist() == [10.0] * 8
