"""Executes a plan one pull per step, so that an agent that requests blocks can play a Gymnasium loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import numpy as np

from bai_gym.common.budget import Budget
from bai_gym.envs.actions import ActionEncoding
from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import STOP
from bai_gym.sampling.plans import Current, Start, execute, start
from bai_gym.sampling.requests import checked, engine_of
from bai_gym.sampling.sequential import Outcome, Sequential
from bai_gym.statistics import AnyArray, FloatArray, IntArray, Observation, Statistics, exact_means

__all__ = ["Stepper", "batched", "pulls_made"]


def batched(observation: Observation) -> Observation:
    """Return the observation of a single episode as that of a batch of one; leave a batch as it is."""
    if observation["pulls"].ndim == 2:
        return observation
    return {name: value[None] for name, value in observation.items()}


def pulls_made(observation: Observation) -> IntArray:
    """Return the ``(..., K)`` pulls made, with those whose rewards are pending, where rewards arrive late."""
    return np.asarray(observation["pulls"] + observation.get("pending", 0))


class Stepper:
    """Unrolls an agent's plan, one pull per step, from observations alone.

    A reward is not part of an observation; if a rule needs it, it is recovered from the change of the pulled arm's mean
    (exactly, if it is 0 or 1 or a rating). With a fixed budget, an agent that stops early keeps pulling the arm that it
    would recommend, because an episode spends its whole budget (in a batch whose other episodes continue: the arm of
    largest mean); those pulls are counted in :attr:`idle`. With fixed confidence it ends the episode, and plays one
    episode at a time: those of a batch would end at different times.

    An agent that decides by the pulls of its phases, without ``stops`` and ``anytime``, does not see pulls that the
    first observation has: they were made before the episode.

    Where arms have costs, an agent that stops early ends the episode, one episode at a time likewise. Where they cost
    the same, the agent sees pulls left and no costs.

    Args:
        agent: The agent, already reset.
        encoding: The action encoding.
        adapter: Adapts the agent's plan to the environment, as :func:`bai_gym.adapters.late` does where rewards arrive
            late; None: the plan is executed as it is.

    Attributes:
        idle: ``(N, K)`` pulls made after the agent's last request, or None if there are none.
        requests: Number of requests that the agent has made.
    """

    def __init__(self, agent: Any, encoding: ActionEncoding, adapter: Callable[[Start], Start] | None = None) -> None:
        """Start an episode."""
        begin: Start = partial(start, agent)
        self._begin = begin if adapter is None else adapter(begin)
        self._encoding = encoding
        self._unrolled: Generator[IntArray, None, Any] | None = None
        self._last: tuple[IntArray, IntArray, IntArray] | None = None  # requested arms, pulled arms, pulls before
        self._recommendation: AnyArray | None = None
        self._arms: IntArray | None = None  # of the request
        self._engine: Engine | None = None
        self._starts_from_earlier = bool(getattr(agent, "stops", False) or getattr(agent, "anytime", False))
        self._earlier: Statistics | None = None  # what the first observation has
        self._funds: Budget | None = None  # that the first observation has
        self.idle: IntArray | None = None
        self.requests = 0

    @property
    def stopped(self) -> bool:
        """Whether the last action, in all episodes, is a pull that the agent did not request."""
        return self._last is not None and bool((self._last[0] < 0).all())

    @property
    def recommendation(self) -> AnyArray:
        """``(N, ...)`` recommendations, returned by the plan.

        Raises:
            AgentError: If it has not ended.
        """
        if self._recommendation is None:
            raise AgentError("the agent has no recommendation yet: its plan has not ended")
        return self._recommendation

    @property
    def active_arms(self) -> tuple[int, ...] | None:
        """The arms that the agent considers in the first episode, ascending; None: all."""
        arms = None if self._arms is None else self._arms[0]
        if self._engine is not None and not (active := self._engine.active[0]).all():
            arms = np.flatnonzero(active) if arms is None else arms[active]
        return None if arms is None else tuple(sorted(arms.tolist()))

    def act(self, observation: Observation) -> Any:
        """Return the next action: an arm to pull, or at the end the recommendation.

        Args:
            observation: Of one episode, arrays ``(K,)``, or of a batch in lock-step, ``(N, K)``.

        Returns:
            An action of the environment (an int, where that is a number), ``(N, ...)`` int64 for a batch; a repeated
            call with one observation returns the same action.

        Raises:
            AgentError: If the observation does not follow from the last action, or the agent asks for something
                impossible.
        """
        action = self._next(self._own(batched(observation)))
        if observation["pulls"].ndim == 2:
            return action
        return int(action[0]) if action.ndim == 1 else action[0]

    def _own(self, observation: Observation) -> Observation:
        """Return the observation as the agent sees it."""
        if self._funds is None:
            self._funds = Budget.observed(observation)
        observation = self._funds.observe(observation)
        if self._starts_from_earlier:
            return observation
        if self._earlier is None:
            self._earlier = Statistics.of(observation).copy()
        if not self._earlier.pulls.any():
            return observation
        own = Statistics.of(observation).since(self._earlier)
        return {**observation, "pulls": own.pulls, "means": own.means, "variances": own.variances}

    def _next(self, observation: Observation) -> AnyArray:
        episodes = len(observation["pulls"])
        remaining = observation["remaining"].flat[0]
        if self._encoding.fixed_confidence and episodes > 1:
            raise AgentError(
                "with fixed confidence or costs the episodes of a batch end at different times: act on one episode at "
                "a time, or let bai_gym.evaluate play them by blocks"
            )
        if (observation["remaining"] != remaining).any():
            raise AgentError("the episodes of a batch must be in lock-step: equally many pulls left in all of them")
        over = self._recommendation is not None and (self._last is None or self._encoding.fixed_confidence)
        if over and self._recommendation is not None:
            if remaining > 0 and not self._encoding.fixed_confidence:
                raise AgentError("the agent has given its recommendation: reset it before the next episode")
            return self._encoding.recommend(self._recommendation)
        pulls = pulls_made(observation)
        if self._last is not None:
            wanted, arms, before = self._last
            if remaining > 0 and (pulls == before).all():
                return self._encoding.pull(arms)  # called twice with the same observation
            self._check_follows(pulls, wanted, arms, before)
        wanted = self._advance(observation)
        if remaining == 0 or (self._encoding.fixed_confidence and self._recommendation is not None):
            if self._recommendation is None:
                raise AgentError(f"the agent asks for more pulls than the budget of {observation['pulls'].sum()}")
            self._last = None
            return self._encoding.recommend(self._recommendation)
        arms = wanted
        if (wanted < 0).any():
            self.idle = np.zeros(observation["pulls"].shape, np.int64) if self.idle is None else self.idle
            if self._recommendation is not None:
                idle = self._encoding.task.first_arm(self._recommendation, self._encoding.num_arms)
            else:
                idle = observation["means"].argmax(axis=-1)
            arms = np.where(wanted < 0, idle, wanted)
        self._last = wanted, arms, pulls
        return self._encoding.pull(arms)

    def _advance(self, observation: Observation) -> IntArray:
        """Return the ``(N,)`` arms that the agent requests, negative where it requests none."""
        nothing = np.full(len(observation["pulls"]), STOP)
        if self._recommendation is not None:
            return nothing
        if self._unrolled is None:
            self._seen = Current(observation)
            self._unrolled = self._unroll()
        self._seen.now = observation
        try:
            return next(self._unrolled)
        except StopIteration as end:
            self._recommendation = self._encoding.task.check(end.value, *observation["pulls"].shape)
            return nothing

    def _check_follows(self, pulls: IntArray, wanted: IntArray, arms: IntArray, before: IntArray) -> None:
        rows = np.arange(arms.size)
        one_more = pulls[rows, arms] == before[rows, arms] + 1
        if not (one_more & (pulls.sum(axis=-1) == before.sum(axis=-1) + 1)).all():
            raise AgentError("the observation does not follow from the agent's last action: was the agent reset?")
        if self.idle is not None:
            rows = np.flatnonzero(wanted < 0)
            self.idle[rows, arms[rows]] += 1

    def _unroll(self) -> Generator[IntArray, None, Any]:
        """Yield the arms to pull, and return the recommendation; ``self._seen`` is updated in between."""
        funds = Budget.observed(self._seen)
        return (yield from execute(self._begin(self._seen), partial(self._play, funds)))

    def _play(self, funds: Budget, wanted: object) -> Generator[IntArray, None, Statistics | Outcome]:
        """Yield the arms to pull for a request, and return its outcome."""
        episodes, arms = self._seen["pulls"].shape
        left = self._seen["remaining"].max().item()  # the same in all episodes
        request = checked(wanted, episodes, arms, left, funds).whole
        self.requests += 1
        self._arms, self._engine = request.arms, None
        if isinstance(request, Block):
            return (yield from self._block(request))
        return (yield from self._sequential(request))

    def _block(self, block: Block) -> Generator[IntArray, None, Statistics]:
        before, left = Statistics.of(self._seen.now).copy(), block.counts.copy()
        rows = np.arange(len(left))
        for _ in range(int(block.counts.sum(axis=1).max())):
            slots = block.next_slots(left)
            ended = left[rows, slots] <= 0  # only where rewards arrive late
            left[rows, slots] -= 1
            yield np.where(ended, STOP, _named(slots, block.arms))
        return block.outcome(before, Statistics.of(self._seen.now))

    def _sequential(self, request: Sequential) -> Generator[IntArray, None, Outcome]:
        self._engine = engine_of(request, self._seen)
        for _ in range(request.steps):
            slots = self._engine.choose()
            if (slots < 0).all():
                break
            arms = np.where(slots < 0, STOP, _named(np.maximum(slots, 0), request.arms))
            before = Statistics.of(self._seen.now).copy()
            yield arms
            self._engine.update(slots, _rewards(np.maximum(arms, 0), before, Statistics.of(self._seen.now)))
        return self._engine.outcome


def _rewards(arms: IntArray, before: Statistics, now: Statistics) -> FloatArray:
    """Return the ``(N,)`` rewards, from the change of the means of the pulled arms."""
    rows = np.arange(arms.size)
    old, new, pulls = before.means[rows, arms], now.means[rows, arms], now.pulls[rows, arms]
    return exact_means(old + (new - old) * pulls, 1, pulls * np.maximum(np.abs(old), np.abs(new)))


def _named(slots: IntArray, arms: IntArray | None) -> IntArray:
    """Return the arms in the given columns of ``(N, k)`` candidates."""
    return slots if arms is None else np.take_along_axis(arms, slots[:, None], -1)[:, 0]
