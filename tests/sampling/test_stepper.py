"""Unrolling blocks and rules from observations alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.sampling import Block, Episode, Outcome, Plan, Rule, Sequential, State, Stepper
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.tasks import BestArm


class World:
    """N episodes of K arms; reward j of arm k in episode i is ``rewards[i, k, j]``, repeated in a cycle."""

    def __init__(self, rewards: Any, budget: int) -> None:
        self.rewards = np.asarray(rewards, float)
        self.statistics = Statistics.zeros(self.rewards.shape[:2])
        self.left = budget

    def observation(self) -> Observation:
        s = self.statistics
        remaining = np.full((len(s.pulls), 1), self.left)
        return {"pulls": s.pulls, "means": s.means, "variances": s.variances, "remaining": remaining}

    def pull(self, arms: IntArray) -> FloatArray:
        rows = np.arange(len(self.rewards))
        turn = self.statistics.pulls[rows, arms] % self.rewards.shape[2]
        rewards = self.rewards[rows, arms, turn]
        self.statistics.add(rows * self.rewards.shape[1] + arms, rewards)
        self.left -= 1
        return rewards


class Scripted:
    """Asks for the given requests, one after the other, and recommends arm 1."""

    def __init__(self, *requests: Any) -> None:
        self.requests = list(requests)
        self.seen: list[list[list[int]]] = []

    def allocate(self, observation: Observation) -> Any:
        self.seen.append(observation["pulls"].tolist())
        return self.requests.pop(0) if self.requests else None

    def recommend(self, observation: Observation) -> IntArray:
        return np.ones(len(observation["pulls"]), np.int64)


def next_slot(e: Episode, s: State, w: State, rng: np.random.Generator) -> int:
    """Slot 0, 1, ..., 0, 1, ..."""
    return (e.pulled + 1) % e.num_arms


class Cycling(Scripted):
    """Makes blocks, then pulls slots in turn by a rule, and keeps its outcome."""

    def __init__(self, blocks: list[Any], steps: int, arms: Any = None, window: Statistics | None = None) -> None:
        super().__init__()
        self.blocks, self.steps, self.window = blocks, steps, window
        self.arms = None if arms is None else np.array(arms)
        self.played: Outcome | None = None

    def start(self, seen: Observation) -> Plan:
        for block in self.blocks:
            yield Block(np.atleast_2d(block))
        rng = np.random.default_rng(0)
        rule = Rule(choose=next_slot)
        self.played = yield Sequential(rule, self.steps, "first", rng, arms=self.arms, window=self.window)
        return self.recommend(seen)

    @property
    def outcome(self) -> list[Any]:
        assert self.played is not None
        found = self.played.statistics
        return [found.pulls.tolist(), found.means.tolist(), found.variances.tolist()]


def stepping(agent: Any) -> Stepper:
    return Stepper(agent, ActionEncoding(3, BestArm(), fixed_confidence=False))


def play(stepper: Stepper, world: World, steps: int) -> list[list[int]]:
    arms = []
    for _ in range(steps):
        arms.append(stepper.act(world.observation()))
        world.pull(arms[-1])
    return np.transpose(arms).tolist()


def play_out(agent: Scripted, world: World) -> list[list[int]]:
    """Play to the end, and let the stepper see the last reward."""
    stepper = stepping(agent)
    arms = play(stepper, world, world.left)
    stepper.act(world.observation())
    return arms


def test_blocks_are_unrolled_in_order_and_asked_for_when_spent() -> None:
    agent = Scripted([[2, 1, 0], [1, 1, 1]], [[0, 0, 1], [0, 1, 0]])
    world = World(np.zeros((2, 3, 1)), 4)
    stepper = stepping(agent)
    assert play(stepper, world, 4) == [[0, 1, 0, 2], [0, 1, 2, 1]]
    assert agent.seen == [[[0, 0, 0], [0, 0, 0]], [[2, 1, 0], [1, 1, 1]]]
    assert stepper.act(world.observation()).tolist() == [1, 1]
    assert stepper.idle is None


def test_a_rule_sees_the_window_of_its_candidates() -> None:
    rewards = np.array([[[1.0, 3.0], [5.0, 5.0], [2.0, 4.0]], [[0.0, 8.0], [6.0, 2.0], [7.0, 7.0]]])
    agent = Cycling([[[1, 1, 1], [1, 1, 1]]], 2, arms=[[2, 0], [1, 2]])
    assert play_out(agent, World(rewards, 5)) == [[0, 1, 2, 2, 0], [0, 1, 2, 1, 2]]
    # Slot 0: arm 2 of episode 0 (2, then 4) and arm 1 of episode 1 (6, then 2); slot 1: arm 0 (1, 3) and arm 2 (7, 7).
    assert agent.outcome == [[[2, 2], [2, 2]], [[3.0, 2.0], [4.0, 7.0]], [[2.0, 2.0], [8.0, 0.0]]]


def test_a_rule_with_a_window_of_its_own_starts_from_it() -> None:
    window = Statistics(np.array([[1, 0]]), np.array([[4.0, 0.0]]), np.zeros((1, 2)))
    agent = Cycling([[1, 1, 1]], 2, arms=[[1, 0]], window=window)
    assert play_out(agent, World(np.array([[[1.0], [2.0], [3.0]]]), 5)) == [[0, 1, 2, 1, 0]]
    assert agent.outcome == [[[2, 1]], [[3.0, 1.0]], [[2.0, 0.0]]]
    assert window.pulls.tolist() == [[1, 0]]


def test_asking_twice_changes_nothing() -> None:
    agent = Cycling([[1, 1]], 2)
    stepper, world = stepping(agent), World(np.array([[[1.0], [2.0]]]), 4)
    arms = []
    for _ in range(4):
        answers = {int(stepper.act(world.observation())[0]) for _ in range(3)}
        assert len(answers) == 1
        arms.append(answers.pop())
        world.pull(np.array(arms[-1:]))
    assert arms == [0, 1, 0, 1]
    assert stepper.requests == 2 and agent.played is None
    assert [stepper.act(world.observation()).tolist() for _ in range(2)] == [[1], [1]]
    assert agent.outcome[0] == [[2, 2]]


def test_pulls_after_the_agent_stopped_are_counted() -> None:
    stepper, world = stepping(Scripted([[1, 0, 1], [0, 2, 0]])), World(np.zeros((2, 3, 1)), 5)
    assert play(stepper, world, 5) == [[0, 2, 1, 1, 1], [1, 1, 1, 1, 1]]
    stepper.act(world.observation())
    assert stepper.idle is not None and stepper.idle.tolist() == [[0, 3, 0], [0, 3, 0]]
    assert (world.statistics.pulls - stepper.idle).tolist() == [[1, 0, 1], [0, 2, 0]]


def other_arm(world: World) -> None:
    world.pull(np.array([1, 1]))


def two_pulls(world: World) -> None:
    world.pull(np.array([0, 0]))
    world.pull(np.array([0, 0]))


def half(world: World) -> None:
    world.pull(np.array([0, 1]))


@pytest.mark.each("change", [other_arm, two_pulls, half])
def test_an_observation_that_does_not_follow_is_refused(change: Callable[[World], None]) -> None:
    stepper, world = stepping(Scripted([[4, 0], [4, 0]])), World(np.zeros((2, 2, 1)), 8)
    assert stepper.act(world.observation()).tolist() == [0, 0]
    change(world)
    with pytest.raises(AgentError, match="does not follow from the agent's last action: was the agent reset"):
        stepper.act(world.observation())


def test_what_does_not_follow_is_refused() -> None:
    def after(pulls: int, *requests: Any, arms: int = 2) -> tuple[Stepper, World]:
        """A stepper of one episode that has made these pulls."""
        stepper, world = stepping(Scripted(*requests)), World(np.zeros((1, arms, 1)), 4)
        play(stepper, world, pulls)
        return stepper, world

    begun, _ = after(3, [[2, 0]], [[2, 0]])
    with pytest.raises(AgentError, match="was the agent reset"):
        begun.act(World(np.zeros((1, 2, 1)), 4).observation())
    ended, world = after(4, [[4, 0]])
    ended.act(world.observation())
    with pytest.raises(AgentError, match="has given its recommendation: reset it"):
        ended.act(World(np.zeros((1, 2, 1)), 4).observation())
    recommending, world = after(4, [[4]], arms=1)
    with pytest.raises(AgentError, match="recommend: arm 1 does not exist"):
        recommending.act(world.observation())
    uneven = World(np.zeros((2, 2, 1)), 3).observation()
    uneven["remaining"][1] = 2
    with pytest.raises(AgentError, match="lock-step"):
        stepping(Scripted([[1, 0], [1, 0]])).act(uneven)
