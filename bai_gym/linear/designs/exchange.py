"""Rounding by exchange: moves pulls between arms while the design improves."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import ParameterError
from bai_gym.linear.designs.inputs import allocations, budgets, designs, instances
from bai_gym.linear.designs.rounding import round_design
from bai_gym.linear.designs.span import Span, cross_variances, span
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["exchange_design"]

RIDGE = 1e-9  # makes variances huge, not infinite, in directions without a pull
HUGE = 1e3  # variances above this would cost updates their precision
MOST = 100  # exchanges
GAIN = 1e-3  # an exchange that multiplies det V by less than one plus this ends the search
REFRESH = 10  # exchanges after which V^-1 is recomputed
BLOCK = 2**18  # entries of the matrices x^T V^-1 x' that are held at a time: they should fit into the cache


def exchange_design(
    features: ArrayLike,
    weights: ArrayLike,
    budget: ArrayLike,
) -> IntArray:
    """Return integer numbers of pulls near a design: an efficient rounding, improved by exchanges of pulls.

    A rounding that uses only the weights gives every arm with weight a pull: with few
    pulls, traces of weight on many arms use them up. Here the starting point is
    :func:`bai_gym.linear.designs.round_design`; then the pull of one arm is given to another one, each time the pair
    that makes det V grow most, until the growth is small, at most 100 times. Of the allocations on the way the one of
    least largest variance is returned: never worse than the start, so its factor holds, where there are as many pulls
    as arms with weight.

    It stands in for the rounding of Allen-Zhu, Li, Singh and Wang (2017), whose guarantee does not depend on the number
    of arms with weight, and which also exchanges pulls.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        weights: ``(..., K)`` design: at least 0 with sum 1.
        budget: n, ``(...)`` or one number, at least 1.

    Returns:
        ``(..., K)`` numbers of pulls, int64, with the budget as their sum. Ties go to the arms that come first.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        BudgetError: If a budget is not an integer of at least 1.
        ParameterError: If another argument is malformed.

    Source: Fedorov (1972), "Theory of Optimal Experiments", section 3.2: the exchange algorithm.
    """
    x, outer = instances(features)
    shares = allocations(designs(weights), x.shape[-2], outer)
    pulls = budgets(budget)
    try:
        pulls = np.broadcast_to(pulls, outer).reshape(-1)
    except ValueError:
        raise ParameterError(f"budget must be one number, or one for each of {outer}") from None
    counts = round_design(shares, pulls, allow_small_budget=True)
    space = span(x)
    rest = np.flatnonzero(space.rank >= 1)
    per_part = max(1, BLOCK // x.shape[-2] ** 2)
    for first in range(0, len(rest), per_part):
        some = rest[first : first + per_part]
        arms = Span(space.coordinates[some], space.rank[some])
        counts[some] = _exchange(arms, counts[some])
    return counts.reshape(*outer, x.shape[-2])


def _exchange(arms: Span, counts: IntArray) -> IntArray:
    """Return counts after exchanges."""
    best, least = counts.copy(), np.full(len(counts), np.inf)
    at, x, rank, counts = np.arange(len(counts)), arms.coordinates, arms.rank, counts.copy()
    cross = cross_variances(arms, counts, ridge=RIDGE)
    for step in range(MOST + 1):
        own = np.einsum("nkk->nk", cross)
        largest = own.max(axis=-1)
        better = largest < least[at]
        least[at[better]], best[at[better]] = largest[better], counts[better]
        if step == MOST:
            break
        gain = _gain(cross, own, counts > 0)
        pair = gain.reshape(len(at), -1).argmax(axis=-1)
        going = gain.reshape(len(at), -1)[np.arange(len(at)), pair] > 1.0 + GAIN
        if not going.all():
            at, x, rank, counts, cross, pair = (array[going] for array in (at, x, rank, counts, cross, pair))
        if not len(at):
            break
        rows, (taken, given) = np.arange(len(at)), np.divmod(pair, counts.shape[-1])
        counts[rows, taken] -= 1
        counts[rows, given] += 1
        if step % REFRESH == REFRESH - 1 or largest.max() > HUGE:
            cross = cross_variances(Span(x, rank), counts, ridge=RIDGE)
        else:
            _add(cross, rows, given, 1.0)
            _add(cross, rows, taken, -1.0)
    return best


def _gain(cross: FloatArray, own: FloatArray, held: BoolArray) -> FloatArray:
    """Return by what det V is multiplied where a pull of one arm goes to another, ``(n, from, to)``; 0 for no pull."""
    ratio = cross * cross
    ratio += (1.0 - own)[:, :, None] * (1.0 + own)[:, None, :]
    return np.asarray(np.where(held[:, :, None], ratio, 0.0))


def _add(cross: FloatArray, rows: IntArray, arm: IntArray, pulls: float) -> None:
    """Update variances for one more pull of an arm, or one less."""
    column = cross[rows, arm]
    share = pulls / (1.0 + pulls * column[rows, arm])
    cross -= column[:, :, None] * (share[:, None] * column)[:, None, :]
