"""How the loops of sequential agents draw single rewards from a bandit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

from bai_gym.errors import BaiGymError, InstanceError
from bai_gym.statistics import IntArray

__all__ = ["Draws", "draws_of", "naming"]


class Draws(NamedTuple):
    """A plain function that draws a reward, and the arrays that it draws from; it is compiled into the loop.

    Attributes:
        draw: ``draw(arms, n, arm, rng)``: a reward of an arm of instance ``n``, as a float. A function of module level
            that uses numbers, arrays, ``math`` and other such functions.
        arms: What it draws from: a named tuple of contiguous arrays and of integers. It may change the arrays, where
            pulls change the arms.
        order: ``(N, K)`` the arm to draw from for each arm that is pulled; None: the same.
    """

    draw: Callable[[Any, int, int, np.random.Generator], float]
    arms: Any
    order: IntArray | None = None


def draws_of(bandit: Any) -> Draws | None:
    """Return how loops draw from a bandit.

    Raises:
        InstanceError: If its ``draws`` raises, or returns something else.
    """
    name = f"{type(bandit).__name__}.draws()"
    try:
        draws: Any = bandit.draws()
    except BaiGymError:
        raise
    except Exception as error:
        raise InstanceError(f"{name} raised {type(error).__name__}: {error}") from error
    if draws is None or (isinstance(draws, Draws) and hasattr(draws.arms, "_fields")):
        return draws
    raise InstanceError(f"{name} must return Draws(draw, arms), whose arms are a named tuple, or None, not {draws!r}")


@contextmanager
def naming(draws: Draws) -> Iterator[None]:
    """Let an error of the function that draws a reward name it."""
    try:
        yield
    except Exception as error:
        code = getattr(draws.draw, "__code__", None)
        if isinstance(error, BaiGymError) or all(frame.f_code is not code for frame, _ in walk_tb(error.__traceback__)):
            raise
        name = getattr(draws.draw, "__qualname__", repr(draws.draw))
        raise InstanceError(f"{name}, which draws rewards, raised {type(error).__name__}: {error}") from error
