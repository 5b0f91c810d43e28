"""Turns an agent that asks for blocks into one that acts pull by pull."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.requests import check_arms, check_request
from bai_gym.sampling.rule import SamplingRule
from bai_gym.statistics import IntArray, Observation, Statistics, snapped

__all__ = ["Allocator", "Stepper", "batched"]


class Allocator(Protocol):
    """An agent that asks for blocks of pulls."""

    def allocate(self, observation: Observation) -> Any:
        """Return the next request, see :func:`bai_gym.sampling.requests.check_request`."""

    def recommend(self, observation: Observation) -> Any:
        """Return ``(N,)`` recommended arms."""


def batched(observation: Observation) -> Observation:
    """Return the observation of a single episode as that of a batch of one; leave a batch as it is."""
    if observation["pulls"].ndim == 2:
        return observation
    return {name: value[None] for name, value in observation.items()}


class Stepper:
    """Unrolls an agent's requests, one pull per step, from observations alone.

    A reward is not part of an observation; where a sampling rule needs it, it is recovered from the change of the
    pulled arm's mean (exactly, if it is 0 or 1 or a rating). An agent that stops before the budget is spent goes on pulling
    what it would recommend, because an episode spends its whole budget; those pulls are counted in :attr:`idle`.

    Attributes:
        idle: ``(N, K)`` pulls made after the agent had asked for its last one, or None before the first step.
    """

    def __init__(self, agent: Allocator) -> None:
        """Start an episode."""
        self._agent = agent
        self._block: Block | None = None
        self._left: IntArray | None = None
        self._rule: SamplingRule | None = None
        self._steps_left = 0
        self._window: Statistics | None = None
        self._flat: IntArray | None = None
        self._arms: IntArray | None = None
        self._before: Statistics | None = None
        self._finished = False
        self._answer: IntArray | None = None
        self.idle: IntArray | None = None

    def act(self, observation: Observation) -> Any:
        """Return the next action: an arm to pull, or at the end the recommended arm.

        Args:
            observation: Of one episode, arrays ``(K,)``, or of a batch in lock-step, ``(N, K)``.

        Returns:
            An int for one episode, ``(N,)`` int64 for a batch; the same as before if asked twice about one observation.

        Raises:
            AgentError: If the observation does not follow from the last action, or the agent asks for something
                impossible.
        """
        batch = batched(observation)
        arms = self._next(batch)
        return int(arms[0]) if observation["pulls"].ndim == 1 else arms

    def _next(self, observation: Observation) -> IntArray:
        episodes, num_arms = observation["pulls"].shape
        remaining = int(observation["remaining"].flat[0])
        if (observation["remaining"] != remaining).any():
            raise AgentError("the episodes of a batch must be in lock-step: equally many pulls left in all of them")
        if self._answer is not None:
            if remaining > 0:
                raise AgentError("the agent has given its recommendation: reset it before the next episode")
            return self._answer
        if self._arms is not None and self._before is not None:
            if (observation["pulls"] == self._before.pulls).all() and remaining > 0:
                return self._arms  # asked twice about the same observation
            self._take_in(observation)
        if remaining == 0:
            self._answer = check_arms(self._agent.recommend(observation), episodes, num_arms, "recommend")
            return self._answer
        if self._steps_left == 0 and not self._finished:
            self._ask(observation, episodes, num_arms, remaining)
        self._arms = self._choose(observation, episodes, num_arms)
        self._before = Statistics.of(observation).copy()
        return self._arms

    def _ask(self, observation: Observation, episodes: int, num_arms: int, remaining: int) -> None:
        answer = self._agent.allocate(observation)
        request, self._steps_left = check_request(answer, episodes, num_arms, remaining)
        self._block = self._rule = None
        if request is None:
            self._finished = True
            self.idle = np.zeros((episodes, num_arms), np.int64)
        elif isinstance(request, Block):
            self._block = request
            self._left = request.counts.copy()
        else:
            self._rule = request
            start = request.window
            if start is None:
                start = Statistics.of(observation)
                start = start if request.arms is None else start.take(request.arms)
            self._window = start.window()
            request.start(self._window)

    def _choose(self, observation: Observation, episodes: int, num_arms: int) -> IntArray:
        if self._finished:
            return check_arms(self._agent.recommend(observation), episodes, num_arms, "recommend")
        if self._block is not None and self._left is not None:
            return self._block.next_arms(self._left)
        if self._rule is None:
            raise AgentError("the agent was asked to act before its first request")
        self._flat = self._rule.choose()
        slots = self._flat // episodes
        if self._rule.arms is None:
            return slots
        return np.take_along_axis(self._rule.arms, slots[:, None], -1)[:, 0]

    def _take_in(self, observation: Observation) -> None:
        arms, before = self._arms, self._before
        if arms is None or before is None:
            return
        episodes = np.arange(arms.size)
        pulls = observation["pulls"][episodes, arms]
        if (observation["pulls"].sum(axis=-1) != before.pulls.sum(axis=-1) + 1).any() or (
            pulls != before.pulls[episodes, arms] + 1
        ).any():
            raise AgentError("the observation does not follow from the agent's last action: was the agent reset?")
        self._arms = self._before = None
        if self._finished and self.idle is not None:
            self.idle[episodes, arms] += 1
            return
        self._steps_left -= 1
        if self._left is not None and self._block is not None:
            self._left[episodes, arms] -= 1
        elif self._rule is not None and self._window is not None and self._flat is not None:
            old = before.means[episodes, arms]
            new = observation["means"][episodes, arms]
            rewards = snapped(old + (new - old) * pulls, pulls * np.maximum(np.abs(old), np.abs(new)))
            self._rule.update(self._flat, *self._window.add(self._flat, rewards))
