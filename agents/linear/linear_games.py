"""The game behind linear best-arm identification, for compiled rules: proportions against closest alternatives.

With proportions w and A = sum w_k x_k x_k^T, the parameter nearest to theta under which arm j is as good as arm b is
theta - (gap / y^T A^-1 y) A^-1 y with y = x_b - x_j and gap = y^T theta; it is at a distance of f_j(w) = gap^2 / (2
y^T A^-1 y), in units of sigma^2 per pull. The derivative of f_j by w_k is (x_k^T (theta - alternative))^2 / 2.
"""

from __future__ import annotations

import math

from bai_gym.agents.linear.least_squares import LeastSquaresState, is_same, multiply
from bai_gym.agents.tools.choosing import SLACK
from bai_gym.sampling import Episode, PerArm, Vector
from bai_gym.statistics import FloatArray

__all__ = ["GameState", "distance_of", "has_equal", "invert_design", "set_slopes"]

RIDGE = 1e-9  # of the mean eigenvalue of A, which may be singular


class GameState(LeastSquaresState):
    """What the game uses."""

    design: PerArm  # proportions
    spread: Vector  # A^-1
    slope: PerArm  # derivatives of f_j, doubled
    behind: PerArm  # how far the pulls of an arm lag behind


def invert_design(s: GameState, w: GameState, design: FloatArray, num_arms: int) -> None:
    """Set ``spread`` to A^-1, by the Gauss-Jordan method, with a small ridge."""
    r, a, trace = w.y.size, w.spread, 0.0
    for place in range(r * r):
        a[place] = 0.0
    for arm in range(num_arms):
        for i in range(r):
            entry = design[arm] * w.x[arm * r + i]
            for j in range(i + 1):
                a[i * r + j] += entry * w.x[arm * r + j]
    for i in range(r):
        trace += a[i * r + i]
        for j in range(i):
            a[j * r + i] = a[i * r + j]
    for i in range(r):
        a[i * r + i] += RIDGE * trace / r
    for p in range(r):
        pivot = 1.0 / a[p * r + p]
        a[p * r + p] = 1.0
        for j in range(r):
            a[p * r + j] *= pivot
        for i in range(r):
            factor = a[i * r + p]
            if i != p:
                a[i * r + p] = 0.0
                for j in range(r):
                    a[i * r + j] -= factor * a[p * r + j]


def distance_of(s: GameState, w: GameState, j: int) -> float:
    """Return f_j of the best arm, and set y and ``turned`` = A^-1 y; infinite for an arm of the same features.

    It is infinite for an arm that was dropped, too.
    """
    if w.dropped[j] > 0.0 or is_same(s, w, s.best, j):
        return math.inf
    multiply(w.spread, w.y, w.turned)
    square, gap = 0.0, w.scores[s.best] - w.scores[j]
    for i in range(w.y.size):
        square += w.y[i] * w.turned[i]
    return 0.5 * gap * gap / square


def has_equal(e: Episode, s: GameState, w: GameState) -> bool:
    """Return whether another arm, of other features and not dropped, has the estimate of the best one."""
    least = w.scores[s.best] - SLACK * (s.scale + abs(w.scores[s.best]))
    for arm in range(e.num_arms):
        if w.dropped[arm] == 0.0 and w.scores[arm] >= least and not is_same(s, w, s.best, arm):
            return True
    return False


def set_slopes(e: Episode, s: GameState, w: GameState, rival: int) -> None:
    """Set ``slope`` to the x_k^T (theta - alternative) of the rival whose y and ``turned`` are set."""
    square = 0.0
    for i in range(w.y.size):
        square += w.y[i] * w.turned[i]
    factor = (w.scores[s.best] - w.scores[rival]) / square
    for arm in range(e.num_arms):
        total = 0.0
        for i in range(w.y.size):
            total += w.x[arm * w.y.size + i] * w.turned[i]
        w.slope[arm] = factor * total
