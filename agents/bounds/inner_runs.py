"""Runs of an agent within another one's budget, each of which sees its own pulls only."""

from __future__ import annotations

from collections.abc import Generator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Request, Sequential, execute
from bai_gym.statistics import BoolArray, IntArray, Statistics

__all__ = ["inner_run"]


def inner_run(
    agent: Agent, info: ProblemInfo, cap: int, rng: np.random.Generator
) -> Generator[Request, Any, tuple[IntArray, BoolArray]]:
    """Play an agent that may stop by itself, as a part of another agent's plan.

    Args:
        agent: A new agent.
        info: What it is granted.
        cap: Its pulls, at most.
        rng: Its source of randomness.

    Returns:
        ``(N,)`` its recommendations, and whether it stopped by itself.
    """
    own = Statistics.zeros((info.batch, info.num_arms))
    info = copy(info)
    info.budget, info.checkpoints = cap, ()
    agent.reset(info, rng)
    left = np.full((info.batch, 1), cap, np.int64)
    seen = {"pulls": own.pulls, "means": own.means, "variances": own.variances, "remaining": left}
    stopped: BoolArray = np.zeros(info.batch, bool)

    def play(request: Request) -> Generator[Request, Any, Any]:
        nonlocal left, stopped
        if isinstance(request, Sequential):
            window = own.copy() if request.arms is None else own.take(request.arms)
            outcome = yield replace(request, window=window if request.window is None else request.window)
            stopped = outcome.stopped
            _set(own, request.arms, outcome.statistics)
            left -= request.steps
        else:
            outcome = yield request
            left -= outcome.pulls[0].sum()
            _merge(own, request.arms, outcome)
        return outcome

    recommended = yield from execute(agent.start(seen), play)
    return recommended, stopped


def _set(own: Statistics, arms: IntArray | None, now: Statistics) -> None:
    """Replace the statistics of the candidate arms, in place."""
    for name in ("pulls", "means", "variances"):
        if arms is None:
            getattr(own, name)[...] = getattr(now, name)
        else:
            np.put_along_axis(getattr(own, name), arms, getattr(now, name), 1)


def _merge(own: Statistics, arms: IntArray | None, block: Statistics) -> None:
    """Add the pulls of a block, in place."""
    made, part = block.flat()
    first = np.arange(len(own.pulls))[:, None] * own.pulls.shape[1]
    own.merge(made if arms is None else (first + arms).take(made), part)
