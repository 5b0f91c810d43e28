"""Looks at whether to stop, at the end of each batch of pulls, for compiled rules."""

from __future__ import annotations

from bai_gym.sampling import Episode, State

__all__ = ["BatchState", "is_look"]


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
