"""Looks at whether to stop, at the end of each batch of pulls, for compiled rules."""

from __future__ import annotations

from bai_gym.sampling import Episode, State

__all__ = ["BatchState", "is_look"]


class BatchState(State):
    """What :func:`is_look` uses."""

    batch_size: int = 1  # pulls between two looks at whether to stop
    batches: int = 0  # number of batches that had ended at the last look


def is_look(e: Episode, s: BatchState) -> bool:
    """Return whether a batch has ended since the last look, and so it is time for another; call it once for a pull."""
    ended = e.made // s.batch_size
    if ended == s.batches:
        return False
    s.batches = ended
    return True
