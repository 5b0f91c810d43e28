"""Least squares of rewards on coordinates of the arms, updated after every pull, and tests of which arm is better.

V = sum x x^T over the pulls, theta = V^-1 sum y x. Arms have coordinates x in the span of their features, with sum x
x^T = (K / r) I over the arms, r the dimension of the span: no unit and no linear map of the features makes a
difference, V is (K / r) I after one pull of every arm, and no other regularisation is needed.

That arm i is better than arm j is decided by y = x_i - x_j. With S = sum of the noise times x, for every rho > 0,

    |S|^2 in the norm of (V + rho I)^-1  <=  2 sigma^2 L,    L = log(1 / delta) + log det(I + V / rho) / 2,

at all times at once with probability 1 - delta, for any sampling rule (the method of mixtures, Abbasi-Yadkori, Pal and
Szepesvari 2011, Theorem 1). As y^T (estimate - theta) = y^T V^-1 S, it follows by Cauchy and Schwarz that

    (y^T (estimate - theta))^2  <=  2 sigma^2 L (y^T V^-1 y + rho y^T V^-2 y).

Unlike with the ridge estimate, nothing need be known about the length of theta.

With probability 1 - delta no arm is ever proved better than the best one. So arms may be dropped for good once the best
estimate is proved better, and the agent stops when all others are dropped: never later than by the tests of one look.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.linear.plain_ridge import RidgeState, add_pulls
from bai_gym.agents.tools.batches import BatchState, is_look
from bai_gym.agents.tools.choosing import SLACK
from bai_gym.agents.tools.scanning import largest
from bai_gym.linear.designs import project
from bai_gym.sampling import Episode, PerArm, Values, Vector
from bai_gym.statistics import FloatArray, IntArray

__all__ = [
    "THRESHOLDS",
    "LeastSquaresState",
    "arm_of",
    "evidence",
    "is_same",
    "is_separated",
    "log_det",
    "multiply",
    "set_difference",
    "span_coordinates",
    "start",
    "threshold",
    "update",
]

THRESHOLDS = ("self-normalized", "heuristic", "heuristic+")
SELF_NORMALIZED, HEURISTIC, HEURISTIC_PLUS = range(3)
SAME = 1e-18  # |x_i - x_j|^2 up to this, where the mean |x|^2 is 1, is 0 but for rounding


class LeastSquaresState(RidgeState, BatchState):
    """The regression of one episode, and what tests of two arms use."""

    x: Vector  # coordinates, arm by arm
    noise: float  # sigma^2
    level: float  # log(1 / delta)
    threshold: int  # its place among THRESHOLDS
    rho: float  # of the mixture
    offset: float  # log det V_0 / rho, V_0 after one pull of every arm
    first: int  # arm that ties are broken in favour of, and then those that follow it
    best: int  # the arm of largest estimate
    rival: int  # arm from which the best one was not separated last
    y: Vector  # a difference of two arms
    turned: Vector  # V^-1 y
    work: Vector  # a matrix
    eliminates: bool  # whether arms are dropped
    dropped: PerArm  # 1 for arms that the best estimate was once proved better than


def update(e: Episode, s: LeastSquaresState, w: LeastSquaresState) -> None:
    """Add the pulls that are new, and set the estimates and the best arm; V begins with one pull of every arm."""
    r = w.c.size
    if s.seen == 0:
        for arm in range(e.num_arms):
            for i in range(r):
                w.c[i] += e.mean[arm] * w.x[arm * r + i]
            add_pulls(s, w, arm_of(s, w, arm), e.pulls[arm] - 1.0, e.mean[arm])
    elif s.seen < e.made:
        add_pulls(s, w, arm_of(s, w, e.pulled), 1.0, e.reward)
    s.seen = e.made
    multiply(w.inverse, w.c, w.theta)
    for arm in range(e.num_arms):
        w.scores[arm] = 0.0
        for i in range(r):
            w.scores[arm] += w.x[arm * r + i] * w.theta[i]
    top = largest(w.scores)
    least, s.best = top - SLACK * (s.scale + abs(top)), -1
    for place in range(e.num_arms):
        arm = (s.first + place) % e.num_arms
        s.best = arm if s.best < 0 and w.scores[arm] >= least else s.best


def is_separated(e: Episode, s: LeastSquaresState, w: LeastSquaresState) -> bool:
    """Add the last pull, and return whether the best arm is proved better than all others with other features."""
    update(e, s, w)
    if not is_look(e, s):
        return False
    if s.eliminates:
        return is_last(e, s, w)
    if not is_better(e, s, w, s.best, s.rival):
        return False
    for arm in range(e.num_arms):
        if not is_better(e, s, w, s.best, arm):
            s.rival = arm
            return False
    return True


def is_last(e: Episode, s: LeastSquaresState, w: LeastSquaresState) -> bool:
    """Drop the arms that the best one is proved better than; return whether no arm with other features is left."""
    last = True
    for arm in range(e.num_arms):
        if w.dropped[arm] == 0.0 and not is_same(s, w, s.best, arm):
            w.dropped[arm] = 1.0 if is_better(e, s, w, s.best, arm) else 0.0
            last = last and w.dropped[arm] > 0.0
    return last


def is_better(e: Episode, s: LeastSquaresState, w: LeastSquaresState, i: int, j: int) -> bool:
    """Return whether the evidence that arm i is better than arm j exceeds the threshold; True if they are the same."""
    if is_same(s, w, i, j):
        return True
    value = evidence(s, w, w.scores[i] - w.scores[j])
    return value > threshold(e, s, w, False) and value > threshold(e, s, w, True)


def evidence(s: LeastSquaresState, w: LeastSquaresState, gap: float) -> float:
    """Return gap^2 / (2 sigma^2 (y^T V^-1 y + rho y^T V^-2 y)), 0 for gaps below 0; rho counts where it is proved."""
    multiply(w.inverse, w.y, w.turned)
    square = longer = 0.0
    for i in range(w.y.size):
        square += w.y[i] * w.turned[i]
        longer += w.turned[i] * w.turned[i]
    if s.threshold == SELF_NORMALIZED:
        square += s.rho * longer
    return 0.5 * gap * gap / (s.noise * square) if gap > 0.0 else 0.0


def threshold(e: Episode, s: LeastSquaresState, w: LeastSquaresState, exact: bool) -> float:
    """Return the threshold; unless ``exact``, a bound from below, with log det(V / rho) for log det(I + V / rho)."""
    if s.threshold == HEURISTIC:
        return s.level + math.log(1.0 + math.log(float(e.made)))
    if s.threshold == HEURISTIC_PLUS:
        return s.level + math.log(1.0 + e.made)
    return s.level + 0.5 * (s.log_det + s.offset + (log_det(w.inverse, s.rho, w.work) if exact else 0.0))


def log_det(matrix: FloatArray, factor: float, work: FloatArray) -> float:
    """Return log det(I + factor M) of a symmetric matrix by Cholesky's method; -inf where it is not positive definite.

    Args:
        matrix: ``(r r,)`` M, row by row.
        factor: Any number.
        work: ``(r r,)``, overwritten.
    """
    r, total = int(math.sqrt(float(matrix.size)) + 0.5), 0.0
    for i in range(r):
        for j in range(i + 1):
            value = factor * matrix[i * r + j] + (1.0 if i == j else 0.0)
            for k in range(j):
                value -= work[i * r + k] * work[j * r + k]
            if i > j:
                work[i * r + j] = value / work[j * r + j]
            elif value <= 0.0:
                return -math.inf
            else:
                work[i * r + i] = math.sqrt(value)
                total += math.log(value)
    return total


def multiply(matrix: FloatArray, vector: FloatArray, out: FloatArray) -> None:
    """Set ``(r,)`` ``out`` to the product of an ``(r r,)`` matrix and an ``(r,)`` vector."""
    for i in range(vector.size):
        out[i] = 0.0
        for j in range(vector.size):
            out[i] += matrix[i * vector.size + j] * vector[j]


def arm_of(s: LeastSquaresState, w: LeastSquaresState, arm: int) -> FloatArray:
    """Return the coordinates of an arm."""
    return w.x[arm * w.c.size : arm * w.c.size + w.c.size]


def set_difference(s: LeastSquaresState, w: LeastSquaresState, i: int, j: int) -> None:
    """Set y to x_i - x_j."""
    r = w.y.size
    for place in range(r):
        w.y[place] = w.x[i * r + place] - w.x[j * r + place]


def is_same(s: LeastSquaresState, w: LeastSquaresState, i: int, j: int) -> bool:
    """Set y to x_i - x_j, and return whether it is 0 but for rounding."""
    set_difference(s, w, i, j)
    length = 0.0
    for place in range(w.y.size):
        length += w.y[place] * w.y[place]
    return length <= SAME


def span_coordinates(features: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return coordinates ``(n, K, r)`` with sum x x^T = K / r_n I in the span of each instance, and its ``(n,)`` r_n.

    Args:
        features: ``(n, K, d)``.
    """
    space = project(features)
    ranks = np.maximum(space.rank, 1)
    scale = np.sqrt(features.shape[1] / ranks)[:, None, None]
    return space.coordinates[:, :, : int(ranks.max())] * scale, ranks


def start(features: FloatArray, rho: float) -> Values:
    """Return the values of a :class:`LeastSquaresState` after one pull of every arm, but for the rewards.

    Args:
        features: ``(n, K, d)``, n = 1 for all episodes.
        rho: Of the mixture.
    """
    x, ranks = span_coordinates(features)
    n, num_arms, r = x.shape
    inside = np.arange(r) < ranks[:, None]
    inverse = np.zeros((n, r, r))
    inverse[:, np.arange(r), np.arange(r)] = inside * (ranks / num_arms)[:, None]
    rows = {
        "x": x.reshape(n, -1),
        "inverse": inverse.reshape(n, -1),
        "offset": ranks * np.log(num_arms / (ranks * rho)),
    }
    zeros = np.zeros(r)
    own = {name: value[0] if n == 1 else value for name, value in rows.items()}
    vectors = {name: zeros for name in ("c", "theta", "solved", "y", "turned")}
    return {**own, **vectors, "work": np.zeros(r * r), "rho": rho}
