"""The dispatcher: with one pull outstanding it is the stepper, with more the order of the rewards does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym.api import agent_source
from bai_gym.envs.actions import ActionEncoding
from bai_gym.live.dispatcher import Dispatcher
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Plan, Rule, Sequential, Stepper
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm

MEANS = np.array([0.2, 0.5, 0.9, 0.4])
BUDGET = 90


def reward(arm: int, number: int) -> float:
    """A multiple of 0.1, which depends on the number of the pull alone."""
    return float(np.random.default_rng(number).binomial(10, MEANS[arm])) / 10.0


def ready(name: str, budget: int = BUDGET) -> Any:
    agent = agent_source(name).make()
    agent.reset(ProblemInfo(4, budget), np.random.default_rng(3))
    return agent


def played(dispatcher: Dispatcher, outstanding: int, seed: int = 0) -> tuple[list[int], int]:
    """Keep so many pulls outstanding, and tell their rewards in random order."""
    order, waiting = np.random.default_rng(seed), []
    while dispatcher.recommendation is None:
        while len(waiting) < outstanding and dispatcher.ask() is not None:
            waiting.append(len(dispatcher.arms))
        number = waiting.pop(order.integers(len(waiting)))
        dispatcher.tell(number, reward(dispatcher.arms[number - 1], number))
    for number in waiting:  # of an agent that has stopped
        dispatcher.tell(number, 0.0)
    return dispatcher.arms, dispatcher.recommendation


SAMPLE = ["SR", "SHAdaVar", "TTTS", "LUCB(b=1.0)", "A-UGapEb-V"]


def stepped(agent: Any) -> tuple[list[int], int]:
    """Play in a loop of single steps, until the agent stops or the budget is spent."""
    stepper = Stepper(agent, ActionEncoding(4, BestArm(), fixed_confidence=False))
    statistics, arms = Statistics.zeros((4,)), []
    while len(arms) < BUDGET:
        seen = {"pulls": statistics.pulls.copy(), "means": statistics.means.copy()}
        seen |= {"variances": statistics.variances.copy(), "remaining": np.array([BUDGET - len(arms)])}
        arm = stepper.act(seen)
        if stepper.stopped:
            return arms, int(stepper.recommendation[0])
        arms.append(arm)
        statistics.add(arm, reward(arm, len(arms)))
    seen = {"pulls": statistics.pulls, "means": statistics.means, "variances": statistics.variances}
    return arms, int(stepper.act(seen | {"remaining": np.array([0])}))


def test_an_arm_without_a_reward_is_not_recommended_where_the_pulls_end_early() -> None:
    dispatcher = Dispatcher(ready("SR"), True, 4, BUDGET)
    arm = dispatcher.ask()
    dispatcher.tell(1, -1.0)
    dispatcher.stop()
    assert dispatcher.recommendation == arm


@pytest.mark.each("name", SAMPLE)
def test_with_one_pull_outstanding_it_is_the_stepper(name: str) -> None:
    assert played(Dispatcher(ready(name), True, 4, BUDGET), 1) == stepped(ready(name))
    arms, recommendation = played(Dispatcher(ready(name), True, 4, BUDGET), 8)
    assert len(arms) <= BUDGET and 0 <= recommendation < 4


@pytest.mark.each("name", ["SR", "SH"])
def test_an_agent_that_plays_by_blocks_does_not_depend_on_the_order_of_rewards(name: str) -> None:
    serial = played(Dispatcher(ready(name), True, 4, BUDGET), 1)
    for seed in range(3):
        assert played(Dispatcher(ready(name), True, 4, BUDGET), 7, seed) == serial


class Means:
    """Records means, then pulls the arm of largest mean five times."""

    def start(self, seen: Any) -> Plan:
        self.seen = seen
        return self.plan()

    def plan(self) -> Plan:
        yield Block(np.array([[2, 1, 1]]))
        rule = Rule(index=largest_mean)
        yield Sequential(rule, 5, "first", np.random.default_rng(0))
        return np.array([2])


def largest_mean(pulls: float, mean: float, variance: float, s: Any) -> float:
    return mean


def test_a_case_worked_by_hand() -> None:
    """Arm 0 has two pulls in the block; rewards of an arm count in the order of its pulls."""
    agent = Means()
    d = Dispatcher(agent, True, 3, 9)
    assert [d.ask() for _ in range(5)] == [0, 1, 2, 0, None]  # the block must end first
    d.tell(4, 5.0)  # the second pull of arm 0 waits for the first
    assert agent.seen["pulls"].tolist() == [[0, 0, 0]]
    d.tell(3, 3.0)
    d.tell(2, 2.0)
    assert agent.seen["means"].tolist() == [[0.0, 2.0, 3.0]]
    assert d.ask() is None
    d.tell(1, 3.0)
    assert agent.seen["means"].tolist() == [[4.0, 2.0, 3.0]]
    assert [d.ask(), d.ask()] == [0, 0]  # the second, as if the first had the reward 3, one of two nearest to 4
    assert agent.seen["remaining"].tolist() == [[3]]  # less those outstanding
    d.tell(6, 100.0)  # waits
    assert d.ask() == 0
    d.tell(5, -104.0)  # means of arm 0: -32, then 1
    assert agent.seen["means"].tolist() == [[1.0, 2.0, 3.0]]
    assert [d.ask(), d.ask(), d.ask()] == [2, 2, None]
    assert d.recommendation is None and len(d.arms) == 9
    for number in (9, 7, 8):
        d.tell(number, 0.0)
    assert d.recommendation == 2 and d.over and d.ask() is None


def test_the_assumed_reward_is_the_observed_one_nearest_to_the_mean() -> None:
    """Arm 0 has the rewards 2, 6, 1: a mean of 3, and with 2 once more one of 2.75; or 1, 6, 5: 4, and 4.25 with 5."""
    for rewards, other, next_arm in (((2.0, 6.0, 1.0), 2.9, 1), ((1.0, 6.0, 5.0), 3.4, 0)):
        d = Dispatcher(Means(), True, 3, 9)
        assert [d.ask() for _ in range(4)] == [0, 1, 2, 0]
        for number, reward in ((1, rewards[0]), (4, rewards[1]), (2, other), (3, 0.0)):
            d.tell(number, reward)
        assert d.ask() == 0
        d.tell(5, rewards[2])
        assert [d.ask(), d.ask()] == [0, next_arm]


def test_a_refusal_ends_the_episode_with_the_best_mean() -> None:
    refused: list[int] = []

    def allowed(arm: int) -> bool:
        refused.append(arm)
        return len(refused) <= 20

    for name in ("Uniform", "TTTS", "LUCB"):
        refused.clear()
        d = Dispatcher(ready(name), True, 4, BUDGET, allowed=allowed)
        assert played(d, 3)[1] == 2
        assert (len(d.arms), len(refused)) == (20, 21)


def test_earlier_rewards_count() -> None:
    earlier = Statistics(np.array([[50, 50, 50, 50]]), np.array([[0.9, 0.1, 0.1, 0.1]]), np.full((1, 4), 0.01))
    arms, recommendation = played(Dispatcher(ready("TTTS", 8), True, 4, 8, earlier=earlier), 1)
    assert (len(arms), recommendation) == (8, 0)  # the eight pulls alone speak for arm 2
    assert earlier.pulls.sum() == 200  # unchanged


def test_asking_in_vain_changes_nothing() -> None:
    """A rule that stops on assumed rewards alone hands out nothing, until it is told the rewards."""

    def arms_of(vain: int) -> list[int]:
        d = Dispatcher(ready("LUCB(b=0.2)", 300), True, 4, 300)
        told = 0
        while not d.over:
            while len(d.arms) - told < 6 and d.ask() is not None:
                pass
            if 4 < len(d.arms) < told + 6 and not d.over:
                refusals.append(len(d.arms))
                assert [d.ask() for _ in range(vain)] == [None] * vain
            if told < len(d.arms):
                told += 1
                d.tell(told, MEANS[d.arms[told - 1]])
        return d.arms

    refusals: list[int] = []
    assert arms_of(0) == arms_of(3)
    assert refusals
