"""Unrolling blocks and rules from observations alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.sampling import Block, Episode, Outcome, Plan, Rule, Sequential, State, Stepper, batched
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


def test_each_episode_of_a_batch_makes_the_pulls_of_its_own_block() -> None:
    agent = Scripted([[2, 1, 0], [0, 1, 2]])
    assert play(stepping(agent), World(np.zeros((2, 3, 1)), 3), 3) == [[0, 1, 0], [1, 2, 2]]


def test_blocks_are_unrolled_in_order_and_asked_for_when_spent() -> None:
    agent = Scripted([[2, 1, 0], [1, 1, 1]], [[0, 0, 1], [0, 1, 0]])
    world = World(np.zeros((2, 3, 1)), 4)
    stepper = stepping(agent)
    assert play(stepper, world, 4) == [[0, 1, 0, 2], [0, 1, 2, 1]]
    assert agent.seen == [[[0, 0, 0], [0, 0, 0]], [[2, 1, 0], [1, 1, 1]]]
    assert stepper.act(world.observation()).tolist() == [1, 1]
    assert stepper.idle is None


def test_one_episode_gives_python_ints() -> None:
    stepper = stepping(Scripted([1, 1]))
    world = World(np.zeros((1, 2, 1)), 2)
    for expected in (0, 1):
        arm = stepper.act({name: value[0] for name, value in world.observation().items()})
        assert type(arm) is int and arm == expected
        world.pull(np.array([arm]))
    final = stepper.act({name: value[0] for name, value in world.observation().items()})
    assert type(final) is int and final == 1


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


def test_a_rule_over_all_arms_starts_from_all_samples() -> None:
    agent = Cycling([[1, 0]], 3)
    assert play_out(agent, World(np.array([[[1.0, 3.0], [2.0, 2.0]]]), 4)) == [[0, 0, 1, 0]]
    assert agent.outcome[0] == [[3, 1]]


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=30), min_size=2, max_size=3))
def test_whole_rewards_are_recovered_exactly(rewards: list[list[int]]) -> None:
    longest = max(map(len, rewards))
    world = World([[(arm * longest)[:longest] for arm in rewards]], 60)
    # An empty window: its means are exact only if every recovered reward is.
    empty = Statistics.zeros((1, len(rewards)))
    agent = Cycling([[20] + [0] * (len(rewards) - 1)], 40, arms=[list(range(len(rewards)))], window=empty)
    stepper = stepping(agent)
    play(stepper, world, 20)
    drawn: list[list[float]] = [[] for _ in rewards]
    for _ in range(40):
        arm = stepper.act(world.observation())
        drawn[arm[0]].append(world.pull(arm)[0])
    stepper.act(world.observation())
    assert agent.outcome[0] == [[len(arm) for arm in drawn]]
    assert agent.outcome[1] == [[float(np.sum(arm)) / len(arm) for arm in drawn]]
    np.testing.assert_allclose(agent.outcome[2], [[np.var(arm, ddof=1) for arm in drawn]], rtol=1e-12, atol=1e-12)


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


def test_the_recommendation_is_given_once_and_repeated() -> None:
    class Fickle(Scripted):
        calls = 0

        def recommend(self, observation: Observation) -> IntArray:
            self.calls += 1
            return np.array([self.calls])

    agent = Fickle([[1, 0, 0]])
    stepper, world = stepping(agent), World(np.zeros((1, 3, 1)), 1)
    play(stepper, world, 1)
    assert [stepper.act(world.observation()).tolist() for _ in range(3)] == [[1], [1], [1]]


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


@pytest.mark.parametrize("change", [other_arm, two_pulls, half])
def test_an_observation_that_does_not_follow_is_refused(change: Callable[[World], None]) -> None:
    stepper, world = stepping(Scripted([[4, 0], [4, 0]])), World(np.zeros((2, 2, 1)), 8)
    assert stepper.act(world.observation()).tolist() == [0, 0]
    change(world)
    with pytest.raises(AgentError, match="does not follow from the agent's last action: was the agent reset"):
        stepper.act(world.observation())


def test_a_new_episode_without_a_reset_is_refused() -> None:
    stepper, world = stepping(Scripted([[2, 0]], [[2, 0]])), World(np.zeros((1, 2, 1)), 4)
    play(stepper, world, 2)
    world.pull(stepper.act(world.observation()))
    with pytest.raises(AgentError, match="was the agent reset"):
        stepper.act(World(np.zeros((1, 2, 1)), 4).observation())


def test_an_episode_after_the_recommendation_needs_a_reset() -> None:
    stepper, world = stepping(Scripted([[2, 0]])), World(np.zeros((1, 2, 1)), 2)
    play(stepper, world, 2)
    stepper.act(world.observation())
    with pytest.raises(AgentError, match="has given its recommendation: reset it"):
        stepper.act(World(np.zeros((1, 2, 1)), 2).observation())


def test_episodes_out_of_step_are_refused() -> None:
    observation = World(np.zeros((2, 2, 1)), 3).observation()
    observation["remaining"][1] = 2
    with pytest.raises(AgentError, match="lock-step"):
        stepping(Scripted([[1, 0], [1, 0]])).act(observation)


def test_impossible_recommendations_are_refused() -> None:
    stepper, world = stepping(Scripted([[1]])), World(np.zeros((1, 1, 1)), 1)
    play(stepper, world, 1)
    with pytest.raises(AgentError, match="recommend: arm 1 does not exist"):
        stepper.act(world.observation())


def test_batched_adds_the_missing_axis() -> None:
    single = {"pulls": np.zeros(3), "remaining": np.ones(1)}
    assert {name: array.shape for name, array in batched(single).items()} == {"pulls": (1, 3), "remaining": (1, 1)}
    batch: Observation = {"pulls": np.zeros((2, 3))}
    assert batched(batch) is batch


def test_block_and_its_counts_survive_the_unrolling() -> None:
    block = Block(np.array([[2, 0]]))
    play(stepping(Scripted(block)), World(np.zeros((1, 2, 1)), 2), 2)
    assert block.counts.tolist() == [[2, 0]]
