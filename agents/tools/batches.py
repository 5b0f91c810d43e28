"""Looks at whether to stop, at the end of each batch of pulls, for compiled rules."""

from __future__ import annotations

from typing import Any

from bai_gym.sampling import Episode, State
from bai_gym.validation import integer

__all__ = ["BatchState", "batch_size_of", "is_look"]


class BatchState(State):
    """What :func:`is_look` uses."""

    batch_size: int = 1  # pulls between two looks at whether to stop
    looked: int = 0  # pulls at the last look


def is_look(e: Episode, s: BatchState) -> bool:
    """Return whether a batch has ended since the last look; call it at every choice, before anything else decides."""
    if e.made // s.batch_size == s.looked // s.batch_size and e.made != s.looked:
        return False
    s.looked = e.made
    return True


def batch_size_of(agent: Any) -> int:
    """Return the agent's ``batch_size``, checked."""
    return integer(agent.batch_size, f"batch_size of {agent.name}", least=1)
