"""A plan: an algorithm written top to bottom, as a generator that yields requests and is sent their outcomes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from bai_gym.statistics import Observation

__all__ = ["Plan", "allocations", "start"]

Plan = Generator[Any, Any, Any]
"""Yields requests, is sent outcomes (:class:`~bai_gym.statistics.Statistics` of a block's pulls, or
:class:`~bai_gym.sampling.sequential.Outcome`), and returns the recommendation."""


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
