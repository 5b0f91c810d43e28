"""Tests by ranks of rewards on common items: Friedman's, with Conover's comparisons, and Wilcoxon's signed ranks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, ndtr, stdtrit

from bai_gym.statistics import FloatArray

__all__ = ["friedman_worse", "signed_rank"]

BITS = 36  # of precision, with which values are compared
MOST_EXACT = 50  # items


def friedman_worse(rewards: FloatArray, level: float) -> npt.NDArray[np.bool_]:
    """Return the arms that are worse than the best one, if Friedman's test finds any difference between arms.

    Args:
        rewards: ``(G, t, k)`` rewards of k > 2 arms on t > 1 items, of G episodes.
        level: Confidence of the test, and of each comparison.

    Returns:
        ``(G, k)``.

    Source: Conover, "Practical Nonparametric Statistics", as in the code of race and irace.
    """
    _, t, k = rewards.shape
    ranks = mid_ranks(tied(rewards))
    sums = ranks.sum(axis=1)
    squares = (ranks**2).sum(axis=(1, 2))  # A
    # The divisor with ties, t k (k + 1) - sum of (u^3 - u) / (k - 1) over ties of u arms, in terms of A.
    divisor = (12.0 * squares - 3.0 * t * k * (k + 1) ** 2) / (k - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = 12.0 * ((sums - t * (k + 1) / 2.0) ** 2).sum(axis=1) / divisor
    differs = chdtrc(k - 1.0, np.nan_to_num(statistic)) < 1.0 - level
    freedom = (t - 1) * (k - 1)
    error = np.sqrt(np.maximum(2.0 * (t * squares - (sums**2).sum(axis=1)) / freedom, 0.0))
    width = -stdtrit(freedom, (1.0 - level) / 2.0) * error
    return np.asarray(differs[:, None] & (sums.max(axis=1, keepdims=True) - sums > width[:, None]))


def signed_rank(differences: FloatArray, *, exact: bool = False, split_zeros: bool = False) -> FloatArray:
    """Return the p-values of Wilcoxon's test against positive differences.

    Args:
        differences: ``(G, t)`` paired differences.
        exact: Whether they are exact where t is at most 50 and no two differences have the same size, and none is 0;
            otherwise they are those of the normal approximation, without a correction for continuity.
        split_zeros: Whether zeros have ranks, half of each counting as positive; otherwise they are left out.

    Returns:
        ``(G,)`` one-sided p-values, small where differences are positive; 1/2 where all are 0.
    """
    d = tied(differences)
    signed = np.sort((2.0 * np.abs(d) + (d > 0.0)).astype(np.int64), axis=1)  # by size; the last bit is the sign
    size, above = signed >> 1, signed & 1
    zeros = (size == 0).sum(axis=1)
    ranks = ascending_ranks(size)
    if not split_zeros:
        ranks = np.where(size > 0, ranks - zeros[:, None], 0.0)
    positive = (ranks * (above + 0.5 * (size == 0))).sum(axis=1)
    spread = np.sqrt((ranks**2).sum(axis=1)) / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (positive - ranks.sum(axis=1) / 2.0) / spread
    p = ndtr(-np.where(spread > 0.0, z, 0.0))
    if exact and d.shape[1] <= MOST_EXACT:
        whole = (ranks == np.arange(1, d.shape[1] + 1)).all(axis=1) & (zeros == 0)
        p[whole] = _tail(d.shape[1])[positive[whole].astype(np.int64)]
    return np.asarray(p)


@cache
def _tail(t: int) -> FloatArray:
    """Return P(W >= w) for w = 0, 1, ..., t (t + 1) / 2, W the sum of each of the ranks 1, ..., t with chance 1/2."""
    chances = np.ones(1)
    for rank in range(1, t + 1):
        chances = (np.append(chances, np.zeros(rank)) + np.append(np.zeros(rank), chances)) / 2.0
    return np.asarray(chances[::-1].cumsum()[::-1])


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return the ranks of values along the last axis, from 1 for the smallest; equal ones share the mean of theirs."""
    twice = np.ones(values.shape)
    for place in range(values.shape[-1]):  # for few values faster than sorting
        other = values[..., place, None]
        twice += values > other
        twice += values >= other
    return twice / 2.0


def ascending_ranks(values: npt.NDArray[Any]) -> FloatArray:
    """Return :func:`mid_ranks` of values in ascending order."""
    place = np.arange(values.shape[-1])
    new = np.ones(values.shape, bool)  # whether the value differs from the one before it
    np.not_equal(values[..., 1:], values[..., :-1], out=new[..., 1:])
    if new.all():
        return np.broadcast_to(place + 1.0, values.shape)
    first = np.maximum.accumulate(np.where(new, place, 0), axis=-1)
    ends = np.ones(values.shape, bool)
    ends[..., :-1] = new[..., 1:]
    last = np.minimum.accumulate(np.where(ends, place, place.size)[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(1.0 + (first + last) / 2.0)


def tied(values: FloatArray) -> FloatArray:
    """Return values as whole multiples of 2^-36 times the largest one of an episode, a power of 2 above it.

    So values that differ by the rounding of a difference, or of a running mean, are equal.

    Args:
        values: ``(G, ...)`` values of G episodes.
    """
    _, exponent = np.frexp(np.abs(values).max(axis=tuple(range(1, values.ndim)), keepdims=True))
    return np.rint(np.ldexp(values, BITS - exponent))
