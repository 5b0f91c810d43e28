"""Checks of the requests of agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.budget import PULLS, Budget
from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.sequential import Sequential
from bai_gym.statistics import IntArray
from bai_gym.validation import integer

__all__ = ["Request", "check_request"]

Request = Block | Sequential
"""A block, or pulls that a rule decides sequentially."""


def check_request(
    request: object, batch: int, num_arms: int, remaining: Any, funds: Budget = PULLS, *, unequal: bool = False
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
        unequal: Whether episodes that have ended may have no pulls.

    Raises:
        AgentError: Wrong shape or type, negative counts, more than is left, or, in pulls, unequal totals.
    """
    checked = _check_form(request, batch, num_arms)
    if isinstance(checked, Sequential):
        return checked, funds.check_steps(checked.steps, remaining)
    return checked, funds.check_counts(checked.counts, checked.arms, remaining, unequal=unequal)


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
    _check_candidates(block, batch, num_arms)
    if block.counts.min() < 0:
        raise AgentError("the agent asked for a negative number of pulls")
    return block


def _check_candidates(block: Block, batch: int, num_arms: int) -> None:
    shape = (batch, num_arms) if block.arms is None else block.arms.shape
    if block.counts.shape != shape or shape[0] != batch:
        raise AgentError(f"allocate must return counts of shape {shape}, not {block.counts.shape}")
    _check_arms(block.arms, batch, num_arms)


def _check_arms(arms: IntArray | None, batch: int, num_arms: int) -> None:
    if arms is None:
        return
    if arms.ndim != 2 or len(arms) != batch:
        raise AgentError(f"candidates must be arms of shape ({batch}, k), not {arms.shape}")
    if arms.min() < 0 or arms.max() >= num_arms:
        raise AgentError(f"the agent names an arm that does not exist; arms are numbered 0 to {num_arms - 1}")


def _counts(request: object) -> IntArray:
    counts = _array(request, "allocate must return counts of pulls, a Block, a Sequential or None")
    counts = np.atleast_2d(counts)
    if not np.issubdtype(counts.dtype, np.integer):
        raise AgentError(f"allocate must return integers, not {counts.dtype}")
    return counts.astype(np.int64, copy=False)


def _array(request: object, rule: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(request)
    except ValueError:  # lists of unequal lengths
        raise AgentError(f"{rule}, not {request!r}") from None
