"""Looks at whether to stop, at the end of each batch of pulls."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import Episode, State, States
from bai_gym.statistics import BoolArray, IntArray

__all__ = ["BatchState", "are_looks", "is_look"]


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


def are_looks(rows: IntArray, states: States, made: IntArray) -> BoolArray:
    """Return :func:`is_look` of ``(m,)`` episodes that wait, of the states of all, after ``(m,)`` pulls."""
    size, looked = states["batch_size"][rows], states["looked"][rows]
    is_look = (made // size != looked // size) | (made == looked)
    states["looked"][rows] = np.where(is_look, made, looked)
    return np.asarray(is_look)
