"""Requests of agents: checks, and the parts and single pulls of which they consist."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bai_gym.common.budget import PULLS, Budget
from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import STOP
from bai_gym.sampling.sequential import Outcome, Sequential
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics
from bai_gym.validation import integer

__all__ = ["Part", "Request", "check_request", "checked", "engine_of", "parts_of", "singly"]

Request = Block | Sequential
"""A block, or pulls that a rule decides sequentially."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a request that has been checked, for sources that can make it in parts; by default all of it.

    Attributes:
        whole: The request.
        end: What the request has taken of the budget of each episode after the part, see :func:`check_request`.
        first: Whether the request begins with it.
        last: Whether the request ends with it.
        pulls: Where the request is a block, ``(N, k)`` counts of the part; None: all.
    """

    whole: Request
    end: Any
    first: bool = True
    last: bool = True
    pulls: IntArray | None = None


def engine_of(request: Sequential, seen: Observation) -> Engine:
    """Return the rule of a request at its start.

    Args:
        request: The request.
        seen: The observation then, of episodes with equally many pulls.
    """
    window = request.window
    if window is None:
        window = Statistics.of(seen) if request.arms is None else Statistics.of(seen).take(request.arms)
    made = int(seen["pulls"][0].sum())
    return Engine(request, window, made, seen.get("features"), variances="variances" in seen)


def singly(request: Request, seen: Observation) -> Generator[IntArray, FloatArray, Statistics | Outcome]:
    """Yield the pulls of a request one at a time, for adapters that decide about each, and return its outcome.

    What it yields are ``(N,)`` arms, ``STOP`` where a rule has ended the episode. It is sent their ``(N,)`` rewards,
    NaN for one that never arrives: a rule then chooses again.

    Args:
        request: The request.
        seen: The observation before it.
    """
    rows = np.arange(len(seen["pulls"]))

    def named(slots: IntArray) -> IntArray:
        return slots if request.arms is None else np.where(slots < 0, slots, request.arms[rows, slots])

    if isinstance(request, Block):
        made, left = Statistics.zeros(request.counts.shape), request.counts.copy()
        while left.any():
            slots = request.next_slots(left)
            left[rows, slots] -= 1
            rewards = yield named(slots)
            there = np.flatnonzero(~np.isnan(rewards))
            made.add(there * left.shape[1] + slots[there], rewards[there])
        return made
    engine = engine_of(request, seen)
    for _ in range(request.steps):
        before, slots = engine.state(), engine.choose()
        if (slots < 0).all():
            break
        rewards = yield named(slots)
        lost = (slots >= 0) & np.isnan(rewards)
        engine.update(np.where(lost, STOP, slots), rewards)
        engine.restore(before, lost)
    return engine.outcome


def parts_of(whole: Part, ends: Sequence[int]) -> Iterator[Part]:
    """Yield the parts of a request, each but the last of which ends after a given number of pulls."""
    request = whole.whole
    if not ends:
        yield whole
        return
    blocks = request.parts(ends) if isinstance(request, Block) else [None] * (len(ends) + 1)
    for number, (end, block) in enumerate(zip([*ends, whole.end], blocks, strict=True)):
        yield Part(request, end, number == 0, number == len(ends), block)


def checked(asked: object, batch: int, num_arms: int, remaining: Any, funds: Budget = PULLS) -> Part:
    """Return a request as its only part, see :func:`check_request`; what is a part already has been checked."""
    return asked if isinstance(asked, Part) else Part(*check_request(asked, batch, num_arms, remaining, funds))


def check_request(
    request: object, batch: int, num_arms: int, remaining: Any, funds: Budget = PULLS
) -> tuple[Request, Any]:
    """Return a request as a :class:`Block` or a :class:`Sequential`, and what it takes from the budget.

    That is the pulls of an episode (of a rule at most); of money what a block costs in each, and for a rule the pulls:
    what they cost is known when they have been made.

    Args:
        request: Counts of shape ``(N, K)`` (or ``(K,)`` for one episode), a block, or a sequential request.
        batch: N.
        num_arms: K.
        remaining: Pulls or money left in every episode.
        funds: The budget.

    Raises:
        AgentError: Wrong shape or type, negative counts, more than is left, or, in pulls, unequal totals.
    """
    made = _check_form(request, batch, num_arms)
    if isinstance(made, Sequential):
        return made, funds.check_steps(made.steps, remaining)
    return made, funds.check_counts(made.counts, made.arms, remaining)


def _check_form(request: object, batch: int, num_arms: int) -> Request:
    """Return a request of the right shapes and types."""
    if isinstance(request, Sequential):
        integer(request.steps, "steps", least=0, error=AgentError)
        _check_arms(request.arms, batch, num_arms)
        shape = (batch, num_arms) if request.arms is None else request.arms.shape
        if request.window is not None and request.window.pulls.shape != shape:
            raise AgentError(f"window must have shape {shape}, not {request.window.pulls.shape}")
        return request
    if isinstance(request, Block):
        counts = _counts(request.counts)
        block = request if counts is request.counts else replace(request, counts=counts)
    else:
        block = Block(_counts(request))
    shape = (batch, num_arms) if block.arms is None else block.arms.shape
    if block.counts.shape != shape or shape[0] != batch:
        raise AgentError(f"allocate must return counts of shape {shape}, not {block.counts.shape}")
    _check_arms(block.arms, batch, num_arms)
    if block.counts.min() < 0:
        raise AgentError("the agent asked for a negative number of pulls")
    return block


def _check_arms(arms: IntArray | None, batch: int, num_arms: int) -> None:
    if arms is None:
        return
    if arms.ndim != 2 or len(arms) != batch:
        raise AgentError(f"a request must name arms of shape ({batch}, k), not {arms.shape}")
    if arms.min() < 0 or arms.max() >= num_arms:
        raise AgentError(f"the agent names an arm that does not exist; arms are numbered 0 to {num_arms - 1}")


def _counts(request: object) -> IntArray:
    try:
        counts = np.atleast_2d(np.asarray(request))
    except ValueError:  # lists of unequal lengths
        rule = "allocate must return counts of pulls, a Block, a Sequential or None"
        raise AgentError(f"{rule}, not {request!r}") from None
    if not np.issubdtype(counts.dtype, np.integer):
        raise AgentError(f"allocate must return integers, not {counts.dtype}")
    return counts.astype(np.int64, copy=False)
