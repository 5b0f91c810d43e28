"""Designs for comparing arms: small variances of differences of means, not of the means themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.designs.inputs import BoolArray, instances
from bai_gym.designs.span import Span, cross_variances, span
from bai_gym.designs.start import basis, uniform
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import integer

__all__ = ["DifferenceDesign", "xy_optimal"]

REFRESH = 50  # steps after which V^-1 is recomputed
TRACE = 1e-3  # weights up to this are dropped where variances grow by no more than this share
RIDGE = 1e-9  # makes variances huge, not infinite, if all weight in some direction was dropped
BLOCK = 2**17  # entries of the matrices x^T V^-1 x' that are held at a time


@dataclass(frozen=True, slots=True)
class DifferenceDesign:
    """A design for comparing arms.

    Attributes:
        weights: ``(..., K)`` shares of the pulls: at least 0, with sum 1.
        max_variance: ``(...)`` largest variance (x - x')^T V^-1 (x - x') of two candidates; 0 where there is one alone.
        iterations: ``(...)`` steps that were made.
    """

    weights: FloatArray
    max_variance: FloatArray
    iterations: IntArray


def xy_optimal(
    features: ArrayLike,
    candidates: ArrayLike | None = None,
    *,
    target: ArrayLike | None = None,
    max_iterations: int = 200,
) -> DifferenceDesign:
    """Return a design under which differences of the candidates have small variances: an XY-design.

    All arms may be pulled, candidates or not: a third arm may separate two of them. Frank-Wolfe on the
    largest variance of a difference, with steps 2/3, 2/4, 2/5, ... to the arm that lowers it the most; the result is
    the best of the visited designs, without traces of weight that the start has left on arms of no use. Where several
    pairs attain the maximum, the objective has a kink, and a step for one pair alone does not lead to the optimum
    itself: with random arms on the sphere the largest variance stays 2 to 4 % above it (8 to 20 arms, 200 steps). A
    step costs K^2 operations for each instance.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        candidates: ``(..., K)`` mask of the arms to be compared, at least one; None: all.
        target: ``(...)`` or one number: an instance is done once its largest variance is that or less. None: never.
        max_iterations: Most steps, at least 0.

    Returns:
        The design. On a basis of the span, with equal weights, where there is nothing to compare.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.

    Source: Soare, Lazaric and Munos (2014), section 3, XY-allocation; the steps: Fiez, Jain, Jamieson and Ratliff
    (2019), "Sequential Experimental Design for Transductive Linear Bandits", appendix F.
    """
    x, _, shape = instances(features, None)
    _, mask, outer = instances(features, candidates)
    x = np.broadcast_to(x.reshape(*shape, *x.shape[-2:]), (*outer, *x.shape[-2:])).reshape(-1, *x.shape[-2:])
    integer(max_iterations, "max_iterations", least=0)
    try:
        goals = np.broadcast_to(np.asarray(-np.inf if target is None else target, dtype=np.float64), outer).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"target must be one number, or one for each of {outer}, not {target!r}") from None
    found = span(x, np.ones(mask.shape, np.bool_))
    weights = np.empty(mask.shape)
    variance, steps = np.empty(len(x)), np.empty(len(x), np.int64)
    per_part = max(1, BLOCK // mask.shape[-1] ** 2)
    for first in range(0, len(x), per_part):
        part = slice(first, first + per_part)
        arms = Span(found.coordinates[part], found.rank[part])
        weights[part], variance[part], steps[part] = _descend(arms, mask[part], goals[part], max_iterations)
    return DifferenceDesign(weights.reshape(*outer, mask.shape[-1]), variance.reshape(outer), steps.reshape(outer))


def _descend(
    arms: Span, candidates: BoolArray, goals: FloatArray, max_iterations: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return weights, largest variances and numbers of steps."""
    size, num_arms = candidates.shape
    start = np.where((arms.rank == 0)[:, None], uniform(np.ones_like(candidates)), basis(arms))
    weights = start / start.sum(axis=-1, keepdims=True)
    best, least, steps = weights.copy(), np.full(size, np.inf), np.full(size, max_iterations)
    pairs = _pairs(candidates)
    at, rank, x = np.arange(size), arms.rank, arms.coordinates
    cross = cross_variances(Span(x, rank), weights)
    for step in range(max_iterations + 1):
        own = np.einsum("nkk->nk", cross)
        spread = own[:, :, None] + own[:, None, :]
        spread -= cross
        spread -= cross
        pair = np.where(pairs, spread, 0.0).reshape(len(at), -1).argmax(axis=-1)
        rows = np.arange(len(at))
        one, other = pair // num_arms, pair % num_arms
        largest = np.maximum(spread[rows, one, other], 0.0)
        better = largest < least[at]
        least[at[better]], best[at[better]] = largest[better], weights[better]
        going = (least[at] > goals[at]) & (one != other)
        if not going.all():
            steps[at[~going]] = step
            at, rank, x, weights, cross, pairs, one, other = (
                array[going] for array in (at, rank, x, weights, cross, pairs, one, other)
            )
            rows = np.arange(len(at))
        if not len(at) or step == max_iterations:
            break
        arm = ((cross[rows, one] - cross[rows, other]) ** 2).argmax(axis=-1)
        length = 2.0 / (step + 3.0)
        weights *= 1.0 - length
        weights[rows, arm] += length
        if step % REFRESH == REFRESH - 1:
            cross = cross_variances(Span(x, rank), weights)
        else:
            column = cross[rows, arm]
            share = length / (1.0 - length + length * column[rows, arm])
            cross -= column[:, :, None] * (share[:, None] * column)[:, None, :]
            cross /= 1.0 - length
    return *_without_traces(arms, candidates, best, least), steps


def _without_traces(
    arms: Span, candidates: BoolArray, weights: FloatArray, largest: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Drop small weights where that makes no variance noticeably larger; when rounded, each would cost a pull."""
    fewer = np.where(weights < TRACE, 0.0, weights)
    fewer /= fewer.sum(axis=-1, keepdims=True)
    cross = cross_variances(arms, fewer, ridge=RIDGE)
    own = np.einsum("nkk->nk", cross)
    spread = np.where(_pairs(candidates), own[:, :, None] + own[:, None, :] - 2.0 * cross, 0.0).max(axis=(1, 2))
    fine = spread <= largest * (1.0 + TRACE)
    return np.where(fine[:, None], fewer, weights), np.where(fine, spread, largest)


def _pairs(candidates: BoolArray) -> BoolArray:
    return np.asarray(candidates[:, :, None] & candidates[:, None, :])
