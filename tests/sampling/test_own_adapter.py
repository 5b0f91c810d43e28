"""An adapter that a user writes: rewards are lost, and what plays plans and agents knows nothing of it."""

from collections import ChainMap
from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym import agents
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks, play_steps
from bai_gym.benchmark.sources import GivenInstances
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.sampling import (
    Block,
    Episode,
    Plan,
    Request,
    Rule,
    Sequential,
    State,
    Stepper,
    execute,
    singly,
)
from bai_gym.statistics import IntArray, Statistics


class Lossy:
    """An agent whose rewards are lost with probability p: the pull is paid for, and its reward never arrives."""

    def __init__(self, agent: agents.Agent, p: float, rng: np.random.Generator) -> None:
        self.agent, self.p, self.rng = agent, p, rng

    def start(self, seen: Any) -> Plan:
        self.own = Statistics.zeros(seen["pulls"].shape)
        self.view = ChainMap({name: getattr(self.own, name) for name in Statistics.__slots__}, seen)
        return execute(self.agent.start(self.view), self.play)

    def play(self, request: Request) -> Plan:
        return execute(singly(request, self.view), self.pull)

    def pull(self, arms: IntArray) -> Plan:
        rewards = np.where(self.rng.random(arms.size) < self.p, np.nan, (yield Block.single(arms)).means[:, 0])
        there = np.flatnonzero(~np.isnan(rewards))  # rewards that arrive
        self.own.add(there * self.own.pulls.shape[1] + arms[there], rewards[there])
        return rewards


def played(name: str, runs: int, *, steps: bool) -> tuple[IntArray, IntArray]:
    """Play 60 pulls of four arms; return how many rewards of each have arrived, and the recommendations."""
    bandit = GaussianBandit(np.tile([1.0, 0.6, 0.3, 0.0], (runs, 1)), 1.0)
    env = BestArmVectorEnv(GivenInstances(bandit), runs, budget=60, autoreset_mode="Disabled")
    agent, rng = agents.make(name), np.random.default_rng([steps, runs])
    agent.reset(env.episode_spec.problem_info(bandit, agent.knows), rng)
    lossy = Lossy(agent, 0.2, rng)
    act = Stepper(lossy, env.action_encoding).act
    rollout = play_steps(act, env, env.reset(seed=3)[0]) if steps else play_blocks(lossy, bandit, 60, rng)
    assert (rollout.pulls.sum(axis=1) == 60).all()  # lost ones are paid for
    return lossy.own.pulls, rollout.recommendation


class Turns(State):
    """What the rule below remembers."""

    turn: int = 0


def in_turn(e: Episode, s: Turns, w: Turns, rng: np.random.Generator) -> int:
    """Pull the arms one after the other, by the number of choices."""
    s.turn += 1
    return (s.turn - 1) % e.num_arms


def test_a_rule_knows_nothing_of_a_lost_pull() -> None:
    request = Sequential(Rule(choose=in_turn, state=Turns), 6, "first", np.random.default_rng(0))
    seen = {name: np.zeros((1, 3), np.int64 if name == "pulls" else float) for name in Statistics.__slots__}
    plan = singly(request, seen)
    asked = [next(plan), *(plan.send(np.array([reward])) for reward in (1.0, np.nan, 1.0, np.nan, np.nan))]
    assert np.concatenate(asked).tolist() == [0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("name", ["SH", "SHAdaVar", "UCB-E"])
def test_lost_rewards_have_one_law_in_blocks_and_in_steps(name: str) -> None:
    """Wrong in 1 of 1,000 seeds for each agent."""
    runs = 100
    (one, chosen), (other, recommended) = (played(name, runs, steps=steps) for steps in (False, True))
    assert abs(one.sum() / (60 * runs) - 0.8) < 4 * np.sqrt(0.16 / (60 * runs))
    for pair in [(chosen, recommended), *zip(one.T, other.T, strict=True)]:
        assert ks_2samp(*pair, method="asymp").pvalue > 1e-3 / 5
