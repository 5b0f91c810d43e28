"""Rounds of a race: all remaining arms are played on the next item, and then some may be dropped.

Episodes need different numbers of pulls for a round, and end after different numbers of rounds. So a rule makes the
pulls of a round one after the other, and waits; what is dropped is decided in NumPy, for all episodes that wait.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import Count
from bai_gym.agents.tools.batches import BatchState, are_looks
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, WAIT, Episode, Outcome, PerArm, Rule, Sequential, States
from bai_gym.statistics import BoolArray, FloatArray, IntArray, Statistics

__all__ = ["History", "QueueAgent", "RaceAgent", "RoundState", "pull_in_turn"]


class RoundState(BatchState):
    """What the rounds of a race use."""

    remains: PerArm  # 1, or 0 for arms that have been dropped
    queue: PerArm  # the arms to pull next, in this order
    length: int  # how many there are
    place: int  # how many of them have been pulled
    reward: PerArm  # the last reward of each arm
    rounds: int  # that have ended
    over: bool  # whether the race is


def pull_in_turn(e: Episode, s: RoundState, w: RoundState, rng: np.random.Generator) -> int:
    """Pull the arms of the queue, then wait for the next ones."""
    if e.pulled >= 0:
        w.reward[e.pulled] = e.reward
    if s.over:
        return STOP
    if s.place == s.length:
        return WAIT
    if s.place == 0:
        for arm in range(e.num_arms):
            e.active[arm] = int(w.remains[arm])
    s.place += 1
    return int(w.queue[s.place - 1])


class History:
    """The rewards of N episodes on all items so far.

    An episode that is set back to an earlier state overwrites what has been noted since.

    Args:
        batch: N.
        num_arms: K.

    Attributes:
        rewards: ``(N, items, K)``, with room for more items than have been played.
    """

    def __init__(self, batch: int, num_arms: int) -> None:
        """Start before the first item."""
        self.rewards: FloatArray = np.zeros((batch, 16, num_arms))

    def note(self, rows: IntArray, items: IntArray, arms: IntArray | slice, rewards: FloatArray) -> None:
        """Note the rewards of arms on the ``(m,)`` items, numbered from 0, of ``(m,)`` episodes."""
        if items.max() >= self.rewards.shape[1]:
            self.rewards = np.concatenate([self.rewards, np.zeros_like(self.rewards)], axis=1)
        self.rewards[rows, items, arms] = rewards

    def means(self, rows: IntArray, items: IntArray, arms: IntArray) -> FloatArray:
        """Return the mean reward of arms on the first ``(m,)`` items, the same for the same rewards in any order."""
        rewards = self.rewards[rows, :, arms]
        noted = np.arange(rewards.shape[1]) < items[:, None]
        return np.asarray(np.where(noted, rewards, 0.0).sum(axis=1) / items)


@dataclass(kw_only=True)
class QueueAgent(Agent):
    """Base of agents that pull a few arms in turn, and then decide which are next.

    Args:
        batch_size: Pulls between two looks at the rewards of several items, at least 1, the default. A look is made
            after the item in which a batch ends.

    Attributes:
        state: The fields of the state, a subclass of :class:`RoundState`.
    """

    batch_size: Count = 1

    uses_variances = False
    uses_pairs = True
    state: ClassVar[type[RoundState]] = RoundState

    @property
    def rule(self) -> Rule:
        """The rule that makes the pulls."""
        return Rule(choose=pull_in_turn, state=self.state)

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the batch size."""

    def values(self) -> dict[str, FloatArray]:
        """Return the initial values of further arrays of the state."""
        return {}

    @override
    def plan(self) -> Plan:
        values: dict[str, Any] = {"remains": np.ones(self.num_arms), "batch_size": self.batch_size, **self.values()}
        outcome = yield Sequential(
            self.rule, self.budget, self.tie, self.rng, values, supply=self.line_up, in_rounds=True, agent=self.name
        )
        return self.conclude(outcome)

    @abstractmethod
    def line_up(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Fill the queue of ``(m,)`` episodes that wait, or end them; called before the first pull, too.

        Everything that a later call needs is part of the states, or is overwritten (:class:`History`): an episode may
        be set back to an earlier state.
        """

    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the best of the remaining arms."""
        return best_remaining(outcome.statistics, outcome.states["remains"] == 1.0, self.tie, self.rng)


@dataclass(kw_only=True)
class RaceAgent(QueueAgent):
    """Base of races: pulls every remaining arm on the next item, and then drops those that a test rejects.

    It ends when one arm is left, or where the number of items is known and all have been played. The best of the
    remaining arms is recommended.
    """

    stops = True

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Note the number of items."""
        super().begin(info)
        self.most = np.inf if info.num_items is None else info.num_items

    @override
    def line_up(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Drop arms, and line up those that remain for the next item."""
        ended = rows[states["length"][rows] > 0]  # before the first round nothing has been played
        if ended.size:
            states["rounds"][ended] += 1
            self.note(ended, states)
            looking = ended[are_looks(ended, states, statistics.pulls[ended].sum(axis=1))]
            if looking.size:
                states["remains"][looking] = self.remaining(looking, states)
        remains = states["remains"][rows] == 1.0
        left = np.count_nonzero(remains, axis=1)
        keys = self.rng.random(remains.shape) if self.tie == "random" else np.zeros(remains.shape)
        states["queue"][rows] = np.where(remains, keys, 2.0).argsort(axis=1, kind="stable")
        states["length"][rows], states["place"][rows] = left, 0.0
        states["over"][rows] = (left == 1) | (states["rounds"][rows] == self.most)

    @abstractmethod
    def note(self, rows: IntArray, states: States) -> None:
        """Note the rewards of a round of ``(m,)`` episodes."""

    @abstractmethod
    def remaining(self, rows: IntArray, states: States) -> BoolArray:
        """Return which arms remain after a look, ``(m, K)``, of ``(m,)`` episodes; those dropped before do not."""
