"""What ``allocate`` may return, checked once at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.errors import AgentError
from bai_gym.sampling.block import Block
from bai_gym.sampling.rule import SamplingRule
from bai_gym.statistics import IntArray

__all__ = ["Request", "check_request"]

Request = Block | SamplingRule | None
"""A block, a sampling rule, or None for an agent that needs no more pulls."""


def check_request(answer: object, batch: int, num_arms: int, remaining: int) -> tuple[Request, int]:
    """Return the request as a :class:`Block` or a :class:`SamplingRule`, and its pulls per episode.

    Args:
        answer: What ``allocate`` returned: counts of shape ``(N, K)`` (or ``(K,)`` for one episode), a block, a rule,
            or None.
        batch: N.
        num_arms: K.
        remaining: Pulls left in every episode.

    Raises:
        AgentError: Wrong shape or type, negative counts, unequal totals, or more pulls than are left.
    """
    if answer is None:
        return None, 0
    if isinstance(answer, SamplingRule):
        total = answer.steps
    else:
        if isinstance(answer, Block):
            answer.counts = _counts(answer.counts)
        else:
            answer = Block(_counts(answer))
        counts = answer.counts
        _check_candidates(answer, batch, num_arms)
        if counts.min() < 0:
            raise AgentError("allocate returned a negative number of pulls")
        totals = counts.sum(axis=-1)
        total = int(totals[0])
        if (totals != total).any():
            raise AgentError("allocate must ask for equally many pulls in every episode of a batch")
    if total > remaining:
        raise AgentError(f"allocate asked for {total} pulls with {remaining} left of the budget")
    return (answer, total) if total > 0 else (None, 0)


def _check_candidates(block: Block, batch: int, num_arms: int) -> None:
    shape = (batch, num_arms) if block.arms is None else block.arms.shape
    if block.counts.shape != shape or shape[0] != batch:
        raise AgentError(f"allocate must return counts of shape {shape}, not {block.counts.shape}")
    if block.arms is not None and (block.arms.min() < 0 or block.arms.max() >= num_arms):
        raise AgentError(f"allocate names an arm that does not exist; arms are numbered 0 to {num_arms - 1}")


def _counts(answer: object) -> IntArray:
    counts = _array(answer, "allocate must return counts of pulls, or a Block, a SamplingRule or None")
    counts = np.atleast_2d(counts)
    if not np.issubdtype(counts.dtype, np.integer):
        raise AgentError(f"allocate must return whole numbers of pulls, not {counts.dtype}")
    return counts.astype(np.int64, copy=False)


def _array(answer: object, rule: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(answer)
    except ValueError:  # lists of unequal lengths
        raise AgentError(f"{rule}, not {answer!r}") from None
