"""Maximum likelihood of generalized linear models, updated after every pull by a few steps of Newton's method."""

from __future__ import annotations

import math

import numpy as np

from bai_gym.linear.regression.newton import BENT, CLOSE, EPSILON, JITTER, SEARCHES
from bai_gym.sampling import Episode, PerArm, State, Values, Vector
from bai_gym.statistics import FloatArray

__all__ = ["LikelihoodState", "farthest", "maximize_likelihood", "start"]

FAR = 28.0  # standard deviations beyond which a tail of the normal distribution is computed by its series


class LikelihoodState(State):
    """The estimate of one episode; a rule that uses :func:`maximize_likelihood` has these among its fields."""

    link: int  # number among the links
    penalty: float  # factor of |theta|^2 / 2, which is subtracted from the log-likelihood
    newton_steps: int  # at most, after each pull
    theta: Vector  # the estimate
    z: PerArm  # x^T theta
    step: Vector  # change of theta
    change: PerArm  # x^T step
    gradient: Vector  # of the penalised log-likelihood
    curvature: Vector  # minus its second derivatives, the lower half row by row; then its Cholesky factor


def start(dimension: int) -> Values:
    """Return the values of the arrays of a :class:`LikelihoodState`, for d features."""
    zeros = np.zeros(dimension)
    return {"theta": zeros, "step": zeros, "gradient": zeros, "curvature": np.zeros(dimension**2)}


def maximize_likelihood(e: Episode, s: LikelihoodState, w: LikelihoodState) -> None:
    """Make steps of Newton's method from theta, until they are short or as many as allowed."""
    theta, step, z, change = w.theta, w.step, w.z, w.change
    for _ in range(s.newton_steps):
        set_scores(e, theta, z)
        differentiate(e, s, w)
        solve(s, w)
        set_scores(e, step, change)
        largest = farthest(change)
        length = 1.0 if largest < CLOSE else step_length(e, s, w)
        for i in range(step.size):
            theta[i] += length * step[i]
        if length == 0.0 or (length == 1.0 and largest < CLOSE * max(1.0, farthest(z))):
            break
    set_scores(e, theta, z)


def set_scores(e: Episode, theta: FloatArray, out: FloatArray) -> None:
    """Set ``(k,)`` ``out`` to x^T theta."""
    for arm in range(out.size):
        total = 0.0
        for i in range(theta.size):
            total += e.features[arm, i] * theta[i]
        out[arm] = total


def differentiate(e: Episode, s: LikelihoodState, w: LikelihoodState) -> None:
    """Compute the gradient of the penalised log-likelihood at theta, and the curvature."""
    d, theta, gradient, z = w.theta.size, w.theta, w.gradient, w.z
    for i in range(d):
        gradient[i] = -s.penalty * theta[i]
        row = w.curvature[i * d : i * d + d]
        for j in range(d):
            row[j] = 0.0
        row[i] = s.penalty
    for arm in range(e.num_arms):
        first, second = slopes(s.link, z[arm], e.mean[arm])
        for i in range(d):
            gradient[i] += e.pulls[arm] * first * e.features[arm, i]
            row, factor = w.curvature[i * d : i * d + d], e.pulls[arm] * second * e.features[arm, i]
            for j in range(i + 1):
                row[j] += factor * e.features[arm, j]


def hazard(z: float) -> float:
    """Return phi(z) / Phi(z), the derivative of log Phi."""
    if z > -FAR:
        return math.exp(-0.5 * z * z) * np.sqrt(2.0 / math.pi) / math.erfc(-z / np.sqrt(2.0))
    part = 1.0 / (z * z)
    return -z / (1.0 - part * (1.0 - part * (3.0 - part * (15.0 - 105.0 * part))))


def bend(z: float, rate: float) -> float:
    """Return minus the second derivative of log Phi, from the first."""
    return 1.0 if z < -1e4 else min(max(rate * (z + rate), 0.0), 1.0)


def slopes(link: int, z: float, mean: float) -> tuple[float, float]:
    """Return the first and minus the second derivative of the likelihood (:mod:`bai_gym.linear.regression.links`)."""
    if link == 0:  # identity
        return mean - z, 1.0
    if link == 1:  # logit
        tail = math.exp(-abs(z))
        small, large = tail / (1.0 + tail), 1.0 / (1.0 + tail)
        p, q = (large, small) if z > 0.0 else (small, large)
        return mean * q - (1.0 - mean) * p, p * q
    if link == 2:  # probit
        up, down = hazard(z), hazard(-z)
        return mean * up - (1.0 - mean) * down, mean * bend(z, up) + (1.0 - mean) * bend(-z, down)
    rate = math.exp(min(z, 700.0))  # log
    return mean - rate, rate


def solve(s: LikelihoodState, w: LikelihoodState) -> None:
    """Set the step to curvature^-1 gradient, by Cholesky's decomposition, in the place of the curvature."""
    d, step, gradient, curvature = w.theta.size, w.step, w.gradient, w.curvature
    for i in range(d):
        row = curvature[i * d : i * d + d]
        row[i] *= 1.0 + EPSILON * max(JITTER, 4 * d)  # a singular matrix remains solvable
        for j in range(i + 1):
            other, total = curvature[j * d : j * d + d], row[j]
            for k in range(j):
                total -= row[k] * other[k]
            row[j] = total / other[j] if j < i else np.sqrt(total) if total > 0.0 else 1.0
        total = gradient[i]
        for k in range(i):
            total -= row[k] * step[k]
        step[i] = total / row[i]
    for i in range(d - 1, -1, -1):
        for k in range(i + 1, d):
            step[i] -= curvature[k * d + i] * step[k]
        step[i] /= curvature[i * d + i]


def slope(e: Episode, s: LikelihoodState, w: LikelihoodState, length: float) -> float:
    """Return the derivative of the penalised log-likelihood along the step, after so much of it."""
    theta, step, z, change, total = w.theta, w.step, w.z, w.change, 0.0
    for arm in range(e.num_arms):
        total += e.pulls[arm] * slopes(s.link, z[arm] + length * change[arm], e.mean[arm])[0] * change[arm]
    for i in range(step.size):
        total -= s.penalty * (theta[i] + length * step[i]) * step[i]
    return total


def step_length(e: Episode, s: LikelihoodState, w: LikelihoodState) -> float:
    """Return the length at which the slope has fallen to a quarter, by doubling and bisection."""
    low, high, length, initial = 0.0, np.inf, 1.0, slope(e, s, w, 0.0)
    for _ in range(SEARCHES):
        now = slope(e, s, w, length)
        if abs(now) <= BENT * initial:
            return length
        low, high = (length, high) if now > 0.0 else (low, length)
        length = 2.0 * length if high == np.inf else 0.5 * (low + high)
    return low


def farthest(values: FloatArray) -> float:
    """Return the largest absolute value."""
    distance = 0.0
    for value in values:
        distance = max(distance, abs(value))
    return distance
