"""Turns an agent that asks for blocks into one that acts pull by pull."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bai_gym.errors import AgentError
from bai_gym.moves import Moves
from bai_gym.sampling.block import Block
from bai_gym.sampling.requests import check_request
from bai_gym.sampling.rule import SamplingRule, StoppingRule
from bai_gym.statistics import IntArray, Observation, Statistics, exact_means

__all__ = ["Allocator", "Stepper", "batched"]


class Allocator(Protocol):
    """An agent that asks for blocks of pulls."""

    def allocate(self, observation: Observation) -> Any:
        """Return the next request, see :func:`bai_gym.sampling.requests.check_request`."""

    def recommend(self, observation: Observation) -> Any:
        """Return the recommendations of all episodes, in the form of the task."""


def batched(observation: Observation) -> Observation:
    """Return the observation of a single episode as that of a batch of one; leave a batch as it is."""
    if observation["pulls"].ndim == 2:
        return observation
    return {name: value[None] for name, value in observation.items()}


class Stepper:
    """Unrolls an agent's requests, one pull per step, from observations alone.

    A reward is not part of an observation; where a sampling rule needs it, it is recovered from the change of the
    pulled arm's mean (exactly, if it is 0 or 1 or a rating). With a fixed budget, an agent that stops before it is
    spent goes on pulling what it would recommend, because an episode spends its whole budget; those pulls are counted
    in :attr:`idle`. With fixed confidence it stops the episode, and plays one episode at a time: those of a batch would
    end at different times.

    Args:
        agent: The agent.
        moves: How actions are written.

    Attributes:
        idle: ``(N, K)`` pulls made after the agent had asked for its last one, or None if there are none.
    """

    def __init__(self, agent: Allocator, moves: Moves) -> None:
        """Start an episode."""
        self._agent = agent
        self._moves = moves
        self._progress: _Progress | None = None
        self._steps_left = 0
        self._done = False  # whether the agent has asked for its last pull, in all episodes
        self._pulled: tuple[IntArray, Statistics] | None = None  # the arms of the last action, and what was seen then
        self._answer: npt.NDArray[Any] | None = None
        self._stopped: npt.NDArray[np.bool_] | None = None  # episodes that make idle pulls
        self.idle: IntArray | None = None

    @property
    def stopped(self) -> bool:
        """Whether the last action is a pull that the agent has not asked for, in all episodes."""
        return self._stopped is not None and bool(self._stopped.all())

    def act(self, observation: Observation) -> Any:
        """Return the next action: an arm to pull, or at the end the recommendation.

        Args:
            observation: Of one episode, arrays ``(K,)``, or of a batch in lock-step, ``(N, K)``.

        Returns:
            An action of the environment (an int, where that is a number), ``(N, ...)`` int64 for a batch; the same as
            before if asked twice about one observation.

        Raises:
            AgentError: If the observation does not follow from the last action, or the agent asks for something
                impossible.
        """
        batch = batched(observation)
        action = self._next(batch)
        if observation["pulls"].ndim == 2:
            return action
        return int(action[0]) if action.ndim == 1 else action[0]

    def _next(self, observation: Observation) -> npt.NDArray[Any]:
        episodes = len(observation["pulls"])
        remaining = int(observation["remaining"].flat[0])
        if self._moves.fixed_confidence and episodes > 1:
            raise AgentError(
                "with fixed confidence the episodes of a batch end at different times: act on one episode at a time, "
                "or let bai_gym.evaluate play them by blocks"
            )
        if (observation["remaining"] != remaining).any():
            raise AgentError("the episodes of a batch must be in lock-step: equally many pulls left in all of them")
        if self._answer is not None:
            if remaining > 0 and not self._moves.fixed_confidence:
                raise AgentError("the agent has given its recommendation: reset it before the next episode")
            return self._answer
        if self._pulled is not None:
            arms, before = self._pulled
            if remaining > 0 and (observation["pulls"] == before.pulls).all():
                return self._moves.pull(arms)  # asked twice about the same observation
            self._take_in(arms, before, Statistics.of(observation))
        if remaining > 0 and self._steps_left == 0 and not self._done:
            self._ask(observation, remaining)
        running = self._running(episodes)
        if remaining == 0 or (self._moves.fixed_confidence and not running.any()):
            self._answer = self._moves.recommend(self._recommendation(observation))
            return self._answer
        arms = np.zeros(episodes, np.int64)
        if running.any() and self._progress is not None:
            arms = self._progress.choose()
        self._stopped = None if running.all() else ~running
        if self._stopped is not None:
            self.idle = np.zeros(observation["pulls"].shape, np.int64) if self.idle is None else self.idle
            named = self._moves.task.first_arm(self._recommendation(observation), self._moves.num_arms)
            arms = np.where(running, arms, named)
        self._pulled = arms, Statistics.of(observation).copy()
        return self._moves.pull(arms)

    def _ask(self, observation: Observation, remaining: int) -> None:
        answer = self._agent.allocate(observation)
        episodes, num_arms = observation["pulls"].shape
        request, self._steps_left = check_request(answer, episodes, num_arms, remaining)
        if request is None:
            self._progress, self._done = None, True
        elif isinstance(request, Block):
            self._progress = _BlockProgress(request, Statistics.of(observation))
        elif isinstance(request, StoppingRule):
            self._progress, self._done = _StoppingProgress(request, Statistics.of(observation)), True
        else:
            self._progress = _RuleProgress(request, Statistics.of(observation))

    def _running(self, episodes: int) -> npt.NDArray[np.bool_]:
        """Return the episodes in which the agent wants another pull."""
        if self._progress is None:
            return np.zeros(episodes, dtype=bool)
        if isinstance(self._progress, _StoppingProgress):
            return self._progress.rule.running
        return np.ones(episodes, dtype=bool)

    def _recommendation(self, observation: Observation) -> IntArray:
        pulls = observation["pulls"]
        return self._moves.task.check(self._agent.recommend(observation), *pulls.shape)

    def _take_in(self, arms: IntArray, before: Statistics, now: Statistics) -> None:
        episodes = np.arange(arms.size)
        one_more = now.pulls[episodes, arms] == before.pulls[episodes, arms] + 1
        if not (one_more & (now.pulls.sum(axis=-1) == before.pulls.sum(axis=-1) + 1)).all():
            raise AgentError("the observation does not follow from the agent's last action: was the agent reset?")
        self._pulled = None
        if self._stopped is not None and self.idle is not None:
            self.idle[episodes[self._stopped], arms[self._stopped]] += 1
        if self._progress is not None:
            self._steps_left -= 1
            self._progress.take_in(arms, before, now)
            if self._steps_left == 0:
                self._progress.finish(now)


class _Progress(Protocol):
    """A request of which some pulls have been made."""

    def choose(self) -> IntArray:
        """Return the ``(N,)`` arms to pull next."""

    def take_in(self, arms: IntArray, before: Statistics, now: Statistics) -> None:
        """Take in what the pull has changed."""

    def finish(self, now: Statistics) -> None:
        """Tell the request its outcome."""


class _BlockProgress:
    def __init__(self, block: Block, start: Statistics) -> None:
        self._block = block
        self._start = start.copy()
        self._left = block.counts.copy()
        self._slots = np.zeros(len(self._left), np.int64)

    def choose(self) -> IntArray:
        self._slots = self._block.next_slots(self._left)
        return _named(self._slots, self._block.arms)

    def take_in(self, arms: IntArray, before: Statistics, now: Statistics) -> None:
        self._left[np.arange(arms.size), self._slots] -= 1

    def finish(self, now: Statistics) -> None:
        self._block.settle(self._start, now)


class _RuleProgress:
    def __init__(self, rule: SamplingRule, start: Statistics) -> None:
        self._rule = rule
        self._window = rule.first_window(lambda: start)
        rule.start(self._window)
        self._flat = np.zeros(0, np.int64)

    def choose(self) -> IntArray:
        self._flat = self._rule.choose()
        return _named(self._flat // self._flat.size, self._rule.arms)

    def take_in(self, arms: IntArray, before: Statistics, now: Statistics) -> None:
        episodes = np.arange(arms.size)
        old, new, pulls = before.means[episodes, arms], now.means[episodes, arms], now.pulls[episodes, arms]
        rewards = exact_means(old + (new - old) * pulls, 1, pulls * np.maximum(np.abs(old), np.abs(new)))
        self._rule.update(self._flat, *self._window.add(self._flat, rewards))

    def finish(self, now: Statistics) -> None:
        self._rule.answer = self._window.unwindow()


class _StoppingProgress(_RuleProgress):
    """What is taken in for episodes that have stopped has no effect, see :class:`StoppingRule`."""

    def __init__(self, rule: StoppingRule, start: Statistics) -> None:
        super().__init__(rule, start)
        self.rule = rule


def _named(slots: IntArray, arms: IntArray | None) -> IntArray:
    """Return the arms in the given columns of ``(N, k)`` candidates."""
    return slots if arms is None else np.take_along_axis(arms, slots[:, None], -1)[:, 0]
