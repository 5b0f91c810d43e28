"""How the loops of sequential agents draw single rewards from a bandit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bai_gym.statistics import IntArray

__all__ = ["Draws"]


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
