"""Plans of different schedules in lock-step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from bai_gym.agents import Agent
from bai_gym.agents.base import Plan
from bai_gym.agents.linear.lockstep import grouped, in_lockstep
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block, Rule, Sequential
from bai_gym.statistics import IntArray, Statistics

MEANS = np.array([0.5, 0.25, 2.0])
SCHEDULES = {0: [4, 2, 3], 1: [1, 5], 2: [9]}  # pulls of each block; the second group has 3 pulls nobody looks at


@dataclass(kw_only=True)
class Mixed(Agent):
    """Five episodes in three groups, each with blocks of its own lengths on arms 2 and 0."""

    name: ClassVar[str] = "Mixed"

    def begin(self, info: ProblemInfo) -> None:
        self.seen: dict[int, list[Statistics]] = {group: [] for group in SCHEDULES}
        self.asked: dict[int, list[IntArray]] = {group: [] for group in SCHEDULES}

    def plan(self) -> Plan:
        groups = [(rows, self.one(key, rows)) for key, rows in grouped(np.array([1, 0, 2, 0, 1]))]
        return (yield from in_lockstep(groups, 5, 3, self.tie, self.rng))

    def one(self, key: int, rows: IntArray) -> Plan:
        for pulls in SCHEDULES[key]:
            first = self.rng.integers(pulls + 1, size=rows.size)
            counts = np.stack([first, pulls - first], axis=-1)
            self.seen[key].append((yield Block(counts, np.tile([2, 0], (rows.size, 1)))))
            self.asked[key].append(counts)
        return np.full(rows.size, key)


def test_every_group_gets_the_outcomes_of_its_own_blocks() -> None:
    agent = Mixed()
    agent.reset(ProblemInfo(3, 9, 5), np.random.default_rng(0))
    bandit = GaussianBandit(np.tile(MEANS, (5, 1)), 0.0)
    rollout = play_blocks(agent, bandit, 9, np.random.default_rng(1))
    assert (rollout.pulls.sum(axis=-1) == 9).all()
    assert rollout.recommendation.tolist() == [1, 0, 2, 0, 1]
    for key, schedule in SCHEDULES.items():
        assert len(agent.seen[key]) == len(schedule)
        for asked, seen in zip(agent.asked[key], agent.seen[key], strict=True):
            np.testing.assert_array_equal(seen.pulls, asked)
            np.testing.assert_array_equal(seen.means, np.where(asked > 0, MEANS[[2, 0]], 0.0))
    # Groups 0 and 2 pull nothing but arms 0 and 2; group 1 has made 3 more pulls, one of each arm.
    assert (rollout.pulls[[1, 2, 3], 1] == 0).all()
    assert (rollout.pulls[[0, 4], 1] == 1).all()


def test_rules_are_refused() -> None:
    def plan() -> Plan:
        yield Sequential(Rule(choose=lambda e, s, rng: 0), 3, "random", np.random.default_rng(0))

    groups = [(np.array([row]), plan()) for row in range(2)]
    with pytest.raises(AgentError, match="plans that run in lockstep may ask for blocks only"):
        next(in_lockstep(groups, 2, 2, "random", np.random.default_rng(0)))
