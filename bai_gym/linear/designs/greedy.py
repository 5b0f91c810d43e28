"""Allocations one pull at a time: the pull that leaves the least variance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import BudgetError, ParameterError
from bai_gym.linear.designs.inputs import budgets, instances
from bai_gym.linear.designs.span import Span, cross_variances, span
from bai_gym.linear.designs.start import basis
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import choice

__all__ = ["greedy_allocation"]

TIE = 1e-10  # scores that differ by less, relatively, are equal
RIDGE = 1e-6  # fraction of a pull, where there are too few for a basis
REFRESH = 50  # pulls after which V^-1 is recomputed
WATCHED = 8  # arms of largest variance that are tried first
BLOCK = 2**18  # entries of the matrices x^T V^-1 x' that are held at a time: they should fit into the cache


def greedy_allocation(
    features: ArrayLike,
    budget: ArrayLike,
    *,
    start: str = "basis",
) -> IntArray:
    """Return pulls that are chosen in turn, each to make the largest variance of all arms least: G-allocation.

    Pulls the arm x for which max over x' of x'^T (V + x x^T)^-1 x' is least. What GSE-Lin-Greedy does in the paper's
    experiments. There is no rounding, and no guarantee: no single pull helps where several arms attain the maximum, and
    the allocation stays away from the optimum. With 64 Gaussian arms in 10 dimensions and 300 pulls its largest
    variance is 70 % above that of the optimal design, where :func:`bai_gym.linear.designs.g_optimal` with
    :func:`bai_gym.linear.designs.round_design` is 2 % above. A pull costs K^2 operations for each instance.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        budget: Pulls, ``(...)`` or one number, at least 1.
        start: ``"basis"``: the first pulls go to the arms of :func:`bai_gym.linear.designs.basis_design`, one for each.
            ``"ridge"``: V starts as if every arm had been pulled one millionth of a time. (The code of the paper's
            authors starts from V = I, whose meaning depends on the units of the features.)

    Returns:
        ``(..., K)`` numbers of pulls, int64, with the budget as their sum. Of equal scores, but for rounding, the arm
        of largest variance wins (on an orthonormal basis all scores are equal most of the time, and a fixed order would
        pull one arm only), then the one that comes first: shuffle the arms where that could favour the best one. All
        pulls go to the longest arm where the rank is 1, and equally many, but for 1, to all arms where it is 0.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        BudgetError: If a budget is not an integer, or below the rank with ``start="basis"``.
        ParameterError: If another argument is malformed.

    Source: Soare, Lazaric and Munos (2014), section 3, G-allocation.
    """
    x, outer = instances(features)
    pulls = budgets(budget)
    try:
        pulls = np.broadcast_to(pulls, outer).reshape(-1)
    except ValueError:
        raise ParameterError(f"budget has shape {pulls.shape}: give one number, or one for each of {outer}") from None
    from_basis = choice(start, ("basis", "ridge"), "start") == "basis"
    space = span(x)
    short = pulls < space.rank
    if from_basis and short.any():
        raise BudgetError(
            f"a budget of {pulls[short][0]} does not estimate features of rank {space.rank[short][0]}: "
            "give at least one pull for each dimension, or start='ridge'"
        )
    counts = np.zeros(x.shape[:2], np.int64)
    nothing = np.flatnonzero(space.rank == 0)
    counts[nothing] = _equally(x.shape[1], pulls[nothing])
    line = np.flatnonzero(space.rank == 1)
    lengths = np.abs(space.coordinates[line, :, 0])
    counts[line, _first(lengths, lengths.max(axis=-1))] = pulls[line]
    rest = np.flatnonzero(space.rank >= 2)
    step = max(1, BLOCK // x.shape[1] ** 2)
    for begin in range(0, len(rest), step):
        some = rest[begin : begin + step]
        part = Span(space.coordinates[some], space.rank[some])
        first = basis(part).astype(np.int64) if from_basis else counts[some]
        counts[some] = _climb(part, pulls[some], 0.0 if from_basis else RIDGE, first)
    return counts.reshape(*outer, x.shape[1])


def _climb(arms: Span, pulls: IntArray, prior: float, first: IntArray) -> IntArray:
    """Return counts, starting from those of ``first``; V counts ``prior`` more pulls of each arm."""
    x, counts = arms.coordinates, first.copy()
    out = counts.copy()
    at = np.arange(len(x))  # the instances that still pull
    rank, goal = arms.rank, pulls
    cross = cross_variances(Span(x, rank), counts + prior)
    age = 0
    while True:
        left = counts.sum(axis=-1) < goal
        if not left.all():
            out[at[~left]] = counts[~left]
            x, rank, goal, counts, cross, at = (array[left] for array in (x, rank, goal, counts, cross, at))
        if not len(x):
            return out
        if age >= REFRESH:
            cross, age = cross_variances(Span(x, rank), counts + prior), 0
        own = np.einsum("nkk->nk", cross)
        score = _largest_after(cross, own)
        own = np.where(score <= (score.min(axis=-1) * (1.0 + TIE))[:, None], own, -np.inf)
        arm = _first(own, own.max(axis=-1))
        rows = np.arange(len(x))
        counts[rows, arm] += 1
        column = cross[rows, arm]
        cross -= column[:, :, None] * (column / (1.0 + column[rows, arm])[:, None])[:, None, :]
        age += 1


def _largest_after(cross: FloatArray, own: FloatArray) -> FloatArray:
    """Return the largest variance that a further pull of each arm leaves, ``(n, K)``.

    No variance grows. So where pulls leave at least the variance of all arms but a few, the largest is among these few.
    """
    watched = min(WATCHED, own.shape[-1])
    order = np.argpartition(-own, watched - 1, axis=-1)
    few, rest = order[:, :watched], order[:, watched:]
    largest = _after(np.take_along_axis(cross, few[:, :, None], axis=1), np.take_along_axis(own, few, axis=-1), own)
    if rest.size:
        limit = np.take_along_axis(own, rest, axis=-1).max(axis=-1)
        open_ = np.flatnonzero(largest.min(axis=-1) < limit)
        largest[open_] = _after(cross[open_], own[open_], own[open_])
    return largest


def _after(cross: FloatArray, estimated: FloatArray, own: FloatArray) -> FloatArray:
    """Return the largest of some variances, ``(n, m)``, after a pull of each arm, ``(n, K)``."""
    return np.asarray((estimated[:, :, None] - cross**2 / (1.0 + own)[:, None, :]).max(axis=1))


def _first(values: FloatArray, largest: FloatArray) -> IntArray:
    """Return the first arm whose value is the largest, which is positive, but for rounding."""
    return np.asarray((values >= (largest * (1.0 - TIE))[:, None]).argmax(axis=-1))


def _equally(arms: int, pulls: IntArray) -> IntArray:
    """Return equally many pulls of all arms, the first ones one more where need be."""
    each, more = np.divmod(pulls, arms)
    return np.asarray(each[:, None] + (np.arange(arms) < more[:, None]))
