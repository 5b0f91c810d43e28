"""Ridge regression on the features of arms, updated after every pull: for the plain rules of linear bandit algorithms.

A = lam I + sum x x^T and c = sum y x over the pulls, theta = A^-1 c. The inverse is kept, and updated by the formula of
Sherman and Morrison. The fast form is :mod:`bai_gym.agents.linear.ridge`.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.sampling import Episode, PerArm, State, Values, Vector
from bai_gym.statistics import FloatArray

__all__ = ["RidgeState", "product", "start", "update_regression"]


class RidgeState(State):
    """The regression of one episode; a rule that uses :func:`update_regression` has these among its fields."""

    seen: int  # pulls that A and c contain
    log_det: float  # log det A - log det lam I
    scale: float  # the largest absolute reward, or mean of the pulls before the first choice
    inverse: Vector  # A^-1, row by row; I / lam at the start
    c: Vector
    theta: Vector
    scores: PerArm  # x^T theta
    solved: Vector  # A^-1 x of the arm pulled last


def update_regression(e: Episode, s: RidgeState, w: RidgeState) -> None:
    """Add the pulls that are new: before the first choice those of all arms, then the last one."""
    if s.seen == 0:
        for arm in range(e.num_arms):
            add_pulls(s, w, e.features[arm], e.pulls[arm], e.mean[arm])
    elif s.seen < e.made:
        add_pulls(s, w, e.features[e.pulled], 1.0, e.reward)
    s.seen = e.made
    d = w.c.size
    for i in range(d):
        w.theta[i] = 0.0
        for j in range(d):
            w.theta[i] += w.inverse[i * d + j] * w.c[j]
    for arm in range(e.num_arms):
        w.scores[arm] = 0.0
        for i in range(d):
            w.scores[arm] += e.features[arm, i] * w.theta[i]


def add_pulls(s: RidgeState, w: RidgeState, x: FloatArray, pulls: float, mean: float) -> None:
    """Add pulls of an arm with features x: pulls x x^T to A, and pulls mean x to c."""
    d = x.size
    square = 0.0
    for i in range(d):
        w.solved[i] = 0.0
        for j in range(d):
            w.solved[i] += w.inverse[i * d + j] * x[j]
        square += x[i] * w.solved[i]
    for i in range(d):
        for j in range(d):
            w.inverse[i * d + j] -= pulls * w.solved[i] * w.solved[j] / (1.0 + pulls * square)
        w.c[i] += pulls * mean * x[i]
    s.log_det += math.log1p(pulls * square)
    s.scale = max(s.scale, abs(mean)) if pulls > 0.0 else s.scale


def product(s: RidgeState, w: RidgeState, x: FloatArray, y: FloatArray) -> float:
    """Return x^T A^-1 y."""
    total = 0.0
    for i in range(x.size):
        for j in range(x.size):
            total += x[i] * w.inverse[i * x.size + j] * y[j]
    return total


def start(dimension: int, lam: float) -> Values:
    """Return the values of a :class:`RidgeState` before any pull.

    Args:
        dimension: d.
        lam: Weight of the identity in A, positive.
    """
    zeros = np.zeros(dimension)
    return {"inverse": (np.eye(dimension) / lam).ravel(), "c": zeros, "theta": zeros, "solved": zeros}
