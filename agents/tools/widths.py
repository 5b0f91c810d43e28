"""Confidence widths, in a form that compiled rules can use: of single arms (GapE, UGapE), and of linear models."""

import math

import numpy as np

from bai_gym.agents.tools.mixtures import gaussian_rate, student_width
from bai_gym.agents.tools.variances import average_variance, floored
from bai_gym.sampling import Episode, State


class WidthState(State):
    """What the width of an arm's interval depends on."""

    a: float  # exploration; where H is estimated, it may be times H
    b: float  # bound of the rewards
    aware: bool  # whether widths depend on the variances


class IntervalState(State):
    """What the width of an interval depends on that holds at all times."""

    b: float  # length of an interval that contains the rewards
    unknown: bool  # whether the rewards are Gaussian of unknown variances instead
    level: float  # the interval of an arm ever misses its mean with probability exp(-level) at most
    pooled: float  # average sample variance, from which an arm of equal rewards has a part


class EllipsoidState(State):
    """What the radius of a confidence ellipsoid for theta depends on."""

    delta: float  # allowed error probability
    sigma: float  # standard deviation of the noise
    lam: float  # weight of the identity in A
    theta_bound: float  # bound on the length of theta
    is_authors: bool  # which radius it is
    dimension: int  # d
    length: float  # of the longest arm
    log_det: float  # log det A - log det lam I


def width(s: WidthState, a: float, pulls: float, variance: float) -> float:
    """Return the width of the interval of an arm, with an exploration `a`: empirical Bernstein's or Hoeffding's."""
    return bernstein(a, s.b, pulls, variance) if s.aware else hoeffding(a, s.b, pulls)


def hoeffding(a: float, b: float, pulls: float) -> float:
    """Return the width `b sqrt(a / T)` of an arm with `T` pulls, for rewards in an interval of length `b`."""
    return b * np.sqrt(a / pulls)


def mixed(level: float, b: float, pulls: float) -> float:
    """Return the width of an interval that holds at all times with probability 1 - exp(-level).

    It is for rewards in an interval of length b, or (b / 2)-sub-Gaussian ones.
    """
    return hoeffding(gaussian_rate(pulls, level), b, 2.0 * pulls)


def interval_width(e: Episode, s: IntervalState, arm: int) -> float:
    """Return the width of an arm's interval that holds at all times; for unknown variances it may be infinite."""
    n = e.pulls[arm]
    if not s.unknown:
        return mixed(s.level, s.b, n)
    return student_width(n, sample_variance(e, s, arm), s.level) if n > 1.0 else np.inf


def pool_unknown(e: Episode, s: IntervalState) -> None:
    """Compute the average sample variance for :func:`interval_width`; call it before each choice."""
    if s.unknown:
        s.pooled = average_variance(e)


def optimistic_width(e: Episode, s: IntervalState, arm: int, log_t: float) -> float:
    """Return b sqrt(log t / (2 T)); for unknown variances sqrt(v (t^(2 / T) - 1)), v the biased sample variance."""
    n = e.pulls[arm]
    if not s.unknown:
        return s.b * np.sqrt(log_t / (2.0 * n))
    return np.sqrt(sample_variance(e, s, arm) * np.expm1(2.0 * log_t / n)) if n > 1.0 else np.inf


def sample_variance(e: Episode, s: IntervalState, arm: int) -> float:
    """Return the biased sample variance of an arm, or a part of the average one if all its rewards are equal."""
    variance = max(e.variance[arm], 0.0)  # rounding errors of denormal numbers may be negative
    return floored(e.pulls[arm], variance, s.pooled) * (1.0 - 1.0 / e.pulls[arm])


def bernstein(a: float, b: float, pulls: float, variance: float) -> float:
    """Return the empirical Bernstein width `sqrt(2 a v / T) + 7 a b / (3 (T - 1))` with the sample variance `v`."""
    return np.sqrt(2.0 * a * variance / pulls) + 7.0 * a * b / (3.0 * (pulls - 1.0))


def ellipsoid_radius(e: Episode, s: EllipsoidState) -> float:
    """Return C_t: |y^T (theta - estimate)| <= C_t sqrt(y^T A^-1 y) for all pairs y of arms (Xu et al., 2018).

    With the determinant of A, as in the paper, or a bound of it, as in the code of its authors.
    """
    k = e.num_arms
    if s.is_authors:
        level = s.dimension * max(math.log(k**2 * (1.0 + e.made * s.length**2) / (s.lam * s.delta)), 0.0)
    else:
        level = 2.0 * math.log(k**2 / s.delta) + s.log_det
    return s.sigma * np.sqrt(level) + np.sqrt(s.lam) * s.theta_bound
