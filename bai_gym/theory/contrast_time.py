"""The characteristic time T* of any question that states its contrasts, with a certificate.

The evidence of w pulls for contrast k, f_k(w), is the least sum of w_a d(mu_a, q_a) over means q that overturn it:
those with q_i - q_j = offset, where q_i is the p that minimises w_i d(mu_i, p) + w_j d(mu_j, p - offset). Then

    T* = min of sum_a w_a over w >= 0 with f_k(w) >= 1 for all k,
    1 / T* = max over distributions w of min over k of f_k(w).

Each f_k is concave and homogeneous, so that f_k(w') <= w' grad f_k(w) for all w and w', and any numbers l_k >= 0 prove

    T* >= sum_k l_k / max over a of sum_k l_k d f_k / d w_a.

A primal-dual interior-point method (Boyd and Vandenberghe 2004, "Convex Optimization", section 11.7) closes the gap of
both; the Hessian of f_k has rank one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bai_gym.errors import InstanceError
from bai_gym.statistics import BoolArray, FloatArray
from bai_gym.tasks import Contrasts

__all__ = ["contrast_time"]

TOLERANCE = 1e-10  # relative gap of T* and its lower bound at which the method ends
STEPS = 200
CERTIFIED = 1e-6  # largest one that is accepted
SMALLEST = 1e-16  # Bernoulli mean
ROUNDING = 4e-16  # gaps up to this, relative to the numbers that they are differences of, are none


class Evidence(NamedTuple):
    """The evidence for each contrast, ``(n,)`` arrays; derivatives by the proportions of the first and second arm."""

    value: FloatArray
    by_first: FloatArray
    by_second: FloatArray
    bend_first: FloatArray  # the Hessian is minus the outer product of (bend_first, bend_second) with itself
    bend_second: FloatArray


def contrast_time(means: FloatArray, variances: FloatArray | None, c: Contrasts) -> tuple[float, FloatArray]:
    """Return T* and the proportions w* of one instance.

    Args:
        means: ``(K,)``; of Bernoulli arms above 0 and below 1.
        variances: ``(K,)`` positive variances of Gaussian rewards; None: Bernoulli rewards.
        c: Contrasts of the answer at the means, none of them in a group.

    Returns:
        T*, infinite where a contrast does not hold, 0 where none can be overturned, and ``(K,)`` proportions.

    Raises:
        InstanceError: If contrasts form groups, or rounding leaves a relative gap above 1e-6.
    """
    if len(np.unique(c.group)) < c.group.size:
        raise InstanceError("the characteristic time is unknown where contrasts are overturned together, in groups")
    size, gaps = means.size, c.gaps(means)
    padded = np.append(means, 0.0)
    scale = np.abs(padded[c.first]) + np.abs(padded[c.second]) + np.abs(c.offset)
    tied = gaps <= ROUNDING * scale
    if tied.any():
        named = np.append(c.first[tied], c.second[tied])
        among = np.bincount(named[named >= 0], minlength=size) > 0
        return np.inf, among / among.sum()
    if variances is None:  # no means between 0 and 1 overturn the others
        two = (c.first >= 0) & (c.second >= 0)
        border = np.where(c.first >= 0, c.offset, -c.offset)
        possible = np.where(two, np.abs(border) < 1.0, (0.0 < border) & (border < 1.0))
        c = c.at(possible)
    if not c.first.size:
        return 0.0, np.full(size, 1.0 / size)
    w, lower = _solve(means, variances, c)
    upper = float(w.sum())
    if not upper - lower <= CERTIFIED * upper:
        raise InstanceError(f"T* is between {lower:g} and {upper:g}: rounding hides the gaps of these means")
    return upper, w / upper


def _solve(means: FloatArray, variances: FloatArray | None, c: Contrasts) -> tuple[FloatArray, float]:
    """Return ``(K,)`` proportions that are feasible, of sum T*, and a lower bound on T*."""
    size, arms = means.size + 1, np.unique(np.append(c.first, c.second))
    first, second, arms = c.first % size, c.second % size, arms[arms >= 0]  # the last one is no arm

    def by_arm(values: FloatArray, others: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(first, values, size)[arms] + np.bincount(second, others, size)[arms], np.float64)

    def full(w: FloatArray) -> FloatArray:
        """Return ``(K + 1,)`` values, 0 for arms in no contrast."""
        whole = np.zeros(size)
        whole[arms] = w
        return whole

    def evidence(w: FloatArray) -> Evidence:
        return _evidence(full(w)[:-1], means, variances, c)

    w, lower = np.ones(arms.size), 0.0
    w *= 2.0 / evidence(w).value.min()
    best, at = w, evidence(w)
    slack = at.value - 1.0
    weights = w.sum() / (1.0 / slack).sum() / slack  # of the contrasts
    floors = np.full(w.size, weights @ slack / slack.size) / w  # weights of w >= 0
    for _ in range(STEPS):
        slope = by_arm(weights * at.by_first, weights * at.by_second)
        best, lower = min(best, w / at.value.min(), key=np.sum), max(lower, float(weights.sum() / slope.max()))
        left = float(weights @ slack + floors @ w)
        if best.sum() - lower <= TOLERANCE * lower or left <= ROUNDING * lower:
            break
        # Newton's method for slope + floors = 1, evidence - slack = 1 and weights * slack = floors * w = center.
        center, squares = 0.1 * left / (slack.size + w.size), weights / slack
        mixed = np.zeros((size, size))
        np.add.at(
            mixed, (first, second), squares * at.by_first * at.by_second + weights * at.bend_first * at.bend_second
        )
        own = by_arm(
            squares * at.by_first**2 + weights * at.bend_first**2,
            squares * at.by_second**2 + weights * at.bend_second**2,
        )
        matrix = np.outer(w, w) * (mixed + mixed.T)[np.ix_(arms, arms)] + np.diag(own * w**2 + floors * w)
        amiss = at.value - 1.0 - slack
        pull = center / slack - squares * amiss
        right = w * (by_arm(pull * at.by_first, pull * at.by_second) - 1.0) + center
        move = np.linalg.solve(matrix, right)  # relative to w
        moved = full(w * move)
        loosen = amiss + at.by_first * moved[first] + at.by_second * moved[second]
        turn, lift = center / slack - weights - squares * loosen, center / w - floors - floors * move
        step = 0.99 / max(0.99, *(-float(part.min()) for part in (move, loosen / slack, turn / weights, lift / floors)))
        w, slack, weights, floors = (
            w + step * w * move,
            slack + step * loosen,
            weights + step * turn,
            floors + step * lift,
        )
        at = evidence(w)
    return full(best)[:-1], lower


def _evidence(w: FloatArray, means: FloatArray, variances: FloatArray | None, c: Contrasts) -> Evidence:
    """Return the evidence of ``(K,)`` numbers of pulls for each contrast."""
    has_first, has_second = c.first >= 0, c.second >= 0
    padded, pulls = np.append(means, 0.0), np.append(w, 1.0)
    one, other = pulls[c.first], pulls[c.second]
    if variances is None:
        mean, second_mean = padded[c.first], padded[c.second]
        p = _closest(one, other, mean, second_mean, c.offset)
        p = np.where(has_first & has_second, p, np.where(has_first, c.offset, 0.0))
        d, slope, bend = _divergence(mean, p, has_first)
        d_second, slope_second, bend_second = _divergence(second_mean, p - c.offset, has_second)
    else:
        spread = np.append(variances, 1.0)
        share = one * spread[c.second] / (one * spread[c.second] + other * spread[c.first])  # p is this part of the way
        share = np.where(has_first, np.where(has_second, share, 0.0), 1.0)
        gaps, bend, bend_second = c.gaps(means), 1.0 / spread[c.first], 1.0 / spread[c.second]
        distance, distance_second = (share - 1.0) * gaps, share * gaps
        d, d_second = 0.5 * distance**2 * bend, 0.5 * distance_second**2 * bend_second
        slope, slope_second = distance * bend, distance_second * bend_second
    curvature = np.sqrt(np.where(has_first & has_second, one * bend + other * bend_second, np.inf))
    return Evidence(one * d + other * d_second, d, d_second, slope / curvature, slope_second / curvature)


def _divergence(mean: FloatArray, q: FloatArray, counts: BoolArray) -> tuple[FloatArray, ...]:
    """Return kl(mean, q) and its derivatives by q; 0 where it does not count."""
    mean, q = np.where(counts, mean, 0.5), np.clip(np.where(counts, q, 0.5), SMALLEST, 1.0 - SMALLEST)
    away = q - mean
    d = -mean * np.log1p(away / mean) - (1.0 - mean) * np.log1p(-away / (1.0 - mean))
    return d, away / (q * (1.0 - q)), mean / q**2 + (1.0 - mean) / (1.0 - q) ** 2


def _closest(
    one: FloatArray, other: FloatArray, mean: FloatArray, second: FloatArray, offset: FloatArray
) -> FloatArray:
    """Return the p that minimises one kl(mean, p) + other kl(second, p - offset), for pairs of Bernoulli arms.

    The derivative times p (1 - p) (p - offset) (1 - p + offset) is a cubic polynomial, whose root is found by Newton's
    method; steps that leave the interval are replaced by its middle.
    """
    low, high = np.maximum(second + offset, 0.0), np.minimum(mean, 1.0 + offset)
    ends, p = (low, high), 0.5 * (low + high)
    new = (one * mean + other * (second + offset)) / (one + other)  # the root where the offset is 0
    p = np.where((new > low) & (new < high), new, p)
    for _ in range(100):
        q = p - offset
        by_p, by_q = p * (1.0 - p), q * (1.0 - q)
        value = one * (p - mean) * by_q + other * (q - second) * by_p
        slope = one * (by_q + (p - mean) * (1.0 - 2.0 * q)) + other * (by_p + (q - second) * (1.0 - 2.0 * p))
        low, high = np.where(value < 0.0, p, low), np.where(value < 0.0, high, p)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = p - value / slope
        inside = (new >= low) & (new <= high) & (new > ends[0]) & (new < ends[1])
        new = np.where(inside, new, 0.5 * (low + high))
        if (np.abs(new - p) <= 1e-15 * p).all():
            break
        p = new
    return p
