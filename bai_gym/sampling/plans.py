"""A plan: an algorithm written top to bottom, as a generator that yields requests and is sent their outcomes.

Two loops execute plans: :func:`run`, where outcomes are computed at once, and :func:`execute`, a generator, where they
need something from outside. Where rewards come from is the business of the ``play`` that they receive: exact blocks
(:mod:`bai_gym.benchmark.blocks`), one pull per step (:mod:`bai_gym.sampling.stepper`) or several pulls outstanding at a
time, in a real experiment.

A generator ``play`` that yields requests itself makes another plan of a plan, an *adapter*: :mod:`bai_gym.adapters` has
those of rewards that arrive late and of checkpoints. An adapter takes a :data:`Start` and returns one, so that adapters
compose.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Generic, TypeVar

from typing_extensions import override

from bai_gym.statistics import AnyArray, Observation

__all__ = ["Current", "Plan", "Start", "allocations", "execute", "run", "start"]

Plan = Generator[Any, Any, Any]
"""Yields requests, is sent outcomes (:class:`~bai_gym.statistics.Statistics` of a block's pulls, or
:class:`~bai_gym.sampling.sequential.Outcome`), and returns the recommendation."""

Start = Callable[[Observation], Plan]
"""Returns a plan, given the observation that the code that executes it keeps up to date."""


Seen = TypeVar("Seen", bound=Observation)


class Current(Mapping[str, AnyArray], Generic[Seen]):
    """The current observation, which the code that executes a plan exchanges: what a plan receives at its start."""

    def __init__(self, now: Seen) -> None:
        self.now = now

    @override
    def __getitem__(self, key: str) -> AnyArray:
        return self.now[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.now)

    @override
    def __len__(self) -> int:
        return len(self.now)


def execute(plan: Plan, play: Callable[[Any], Generator[Any, Any, Any]]) -> Generator[Any, Any, Any]:
    """Execute a plan: send it the outcome of each of its requests, and return its recommendation.

    Args:
        plan: The plan.
        play: Returns the outcome of a request; a generator, which may yield whatever it needs from outside first, such
            as the next pull to be made.
    """
    outcome = None
    while True:
        try:
            request = plan.send(outcome)
        except StopIteration as end:
            return end.value
        outcome = yield from play(request)


def run(plan: Plan, play: Callable[[Any], Any]) -> Any:
    """Execute a plan whose outcomes need nothing from outside, as :func:`execute` does, and return its recommendation.

    Args:
        plan: The plan.
        play: Returns the outcome of a request.
    """
    outcome = None
    while True:
        try:
            request = plan.send(outcome)
        except StopIteration as end:
            return end.value
        outcome = play(request)


def start(agent: Any, seen: Observation) -> Plan:
    """Return the plan of an agent that has been reset.

    Args:
        agent: Has ``start(seen)``, as the library's agents do, or ``allocate(observation)`` and
            ``recommend(observation)``.
        seen: The observation, kept up to date by the code that executes the plan.
    """
    plan: Plan = agent.start(seen) if callable(getattr(agent, "start", None)) else allocations(agent, seen)
    return plan


def allocations(agent: Any, seen: Observation) -> Plan:
    """Yield what ``allocate`` returns until it returns None or the budget is spent; then recommend."""
    left = seen["remaining"].sum()
    while left > 0:
        request = agent.allocate(seen)
        if request is None:
            break
        yield request
        before, left = left, seen["remaining"].sum()
        if left == before:  # a request without pulls
            break
    return agent.recommend(seen)
