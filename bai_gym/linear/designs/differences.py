"""Designs for comparing arms: small variances of differences of means, not of the means themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import ParameterError
from bai_gym.linear.designs.inputs import instances, masks
from bai_gym.linear.designs.span import Span, inverse_information, span
from bai_gym.linear.designs.start import basis_weights
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.validation import integer, real

__all__ = ["DifferenceDesign", "xy_optimal"]

ROUNDING = 1e-14  # variances of differences up to this share of those of the arms are 0
LEAST = 1e-8  # weight of any arm while the design is sought: without it V may be singular
FIRST_RATE, SLOWER, LAST_RATE = 2.0, 10.0, 0.25  # of the pairs: the first, the steps after which it falls, the least
FOR_TRACES = 0.2  # share of the tolerance that is left for dropping small weights
RIDGE = 1e-9  # makes variances huge, not infinite, if all weight in some direction was dropped
BLOCK = 2**17  # entries of the matrices x^T V^-1 x' that are held at a time


@dataclass(frozen=True, slots=True)
class DifferenceDesign:
    """A design for comparing arms.

    Attributes:
        weights: ``(..., K)`` shares of the pulls: at least 0, with sum 1.
        max_variance: ``(...)`` largest variance (x - x')^T V^-1 (x - x') of two candidates; 0 where there is one alone.
        excess: ``(...)`` the certificate: no design has a largest variance below ``max_variance / (1 + excess)``.
        iterations: ``(...)`` steps that were made.
    """

    weights: FloatArray
    max_variance: FloatArray
    excess: FloatArray
    iterations: IntArray


def xy_optimal(
    features: ArrayLike,
    candidates: ArrayLike | None = None,
    *,
    target: ArrayLike | None = None,
    tolerance: float = 1e-2,
    max_iterations: int = 1000,
) -> DifferenceDesign:
    """Return a design under which differences of the candidates have small variances: an XY-design.

    All arms may be pulled, candidates or not: a third arm may separate two of them. The largest variance is the value
    of a game: shares p of the pairs are raised where variances are large (Hedge, with the change of the last step
    counted twice), weights of arms are multiplied by the root of what the arm does for the average variance under p. At
    the optimum several pairs attain the maximum, and a step that looks at one of them alone would leave the others.
    The certificate holds for any p: with A = sum p_ij y_ij y_ij^T and phi = trace(V^-1 A), which is convex in the
    weights, no design has a largest variance below 2 phi - max_k x_k^T V^-1 A V^-1 x_k. The result is the best of the
    visited designs, without small weights that it does not need. A step costs K^2 d operations for each instance; with
    8 to 128 random arms on the sphere there were 70 to 400 on average, at most 873, and the largest variance was 0.3 to
    0.5 % above the optimum in the median, 0.9 % at most.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        candidates: ``(..., K)`` mask of the arms to be compared, at least one; None: all.
        target: ``(...)`` or one number: an instance is also done once its largest variance is that or less, or that of
            every design is proved to exceed it by more than the tolerance. None: never.
        tolerance: An instance is done once its largest variance is proved to exceed the least one by no more than this
            share; positive.
        max_iterations: Most steps, at least 0.

    Returns:
        The design. On a basis of the span, with equal weights, where there is nothing to compare.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.

    Source: Soare, Lazaric and Munos (2014), section 3, XY-allocation; the steps of the weights: Silvey, Titterington
    and Torsney (1978), "An algorithm for optimal designs on a design space"; those of the pairs: Rakhlin and Sridharan
    (2013), "Optimization, Learning, and Games with Predictable Sequences".
    """
    x, shape = instances(features)
    arms = x.shape[-2]
    mask = np.ones((*shape, arms), np.bool_) if candidates is None else masks(candidates, arms)
    try:
        outer = np.broadcast_shapes(shape, mask.shape[:-1])
    except ValueError:
        raise ParameterError(
            f"candidates have shape {mask.shape}, features {(*shape, *x.shape[-2:])}: the leading axes must broadcast"
        ) from None
    mask = np.broadcast_to(mask, (*outer, arms)).reshape(-1, arms)
    x = np.broadcast_to(x.reshape(*shape, *x.shape[-2:]), (*outer, *x.shape[-2:])).reshape(-1, *x.shape[-2:])
    real(tolerance, "tolerance", above=0)
    integer(max_iterations, "max_iterations", least=0)
    try:
        goals = np.broadcast_to(np.asarray(np.nan if target is None else target, dtype=np.float64), outer).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"target must be one number, or one for each of {outer}, not {target!r}") from None
    space = span(x)
    weights = np.empty(mask.shape)
    variance, excess, steps = np.empty(len(x)), np.empty(len(x)), np.empty(len(x), np.int64)
    per_part = max(1, BLOCK // arms**2)
    for first in range(0, len(x), per_part):
        part = slice(first, first + per_part)
        some = Span(space.coordinates[part], space.rank[part])
        weights[part], variance[part], excess[part], steps[part] = _descend(
            some, mask[part], goals[part], tolerance, max_iterations
        )
    return DifferenceDesign(
        weights.reshape(*outer, arms), variance.reshape(outer), excess.reshape(outer), steps.reshape(outer)
    )


def _descend(
    arms: Span, candidates: BoolArray, goals: FloatArray, tolerance: float, max_iterations: int
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return weights, largest variances, what they are proved to exceed the optimum by, and numbers of steps.

    NaN among the goals stands for none.
    """
    size, num_arms = candidates.shape
    weights = np.full((size, num_arms), 1.0 / num_arms)
    best, least, lower = weights.copy(), np.full(size, np.inf), np.zeros(size)
    steps = np.full(size, max_iterations)
    at, rank, x, pairs = np.arange(size), arms.rank, arms.coordinates, _pairs(candidates)
    levels, before = np.zeros(pairs.shape), None
    for step in range(max_iterations + 1):
        half, spread = _spread(Span(x, rank), weights)
        spread = np.where(pairs, spread, 0.0)
        largest = spread.max(axis=(1, 2))
        largest = np.where(largest > ROUNDING * (half * x).sum(axis=-1).max(axis=-1), largest, 0.0)
        better = largest < least[at]
        least[at[better]], best[at[better]] = largest[better], weights[better]
        spread /= np.where(largest > 0.0, largest, 1.0)[:, None, None]
        shares = _shares(levels, spread, before, pairs, max(LAST_RATE, FIRST_RATE / math.sqrt(1.0 + step / SLOWER)))
        gains = _gains(x, half, shares)
        average = (weights * gains).sum(axis=-1)
        lower[at] = np.maximum(lower[at], 2.0 * average - gains.max(axis=-1))
        near = least[at] <= lower[at] * (1.0 + (1.0 - FOR_TRACES) * tolerance)
        met = (least[at] <= goals[at]) | (lower[at] > goals[at] * (1.0 + tolerance))  # False where it is NaN
        going = (largest > 0.0) & ~near & ~met
        if not going.all():
            steps[at[~going]] = step
            at, rank, pairs = at[going], rank[going], pairs[going]
            x, weights, levels, spread, gains, average = (
                array[going] for array in (x, weights, levels, spread, gains, average)
            )
        if not len(at) or step == max_iterations:
            break
        before = spread
        weights = np.maximum(weights * np.sqrt(np.maximum(gains, 0.0) / average[:, None]), LEAST)
        weights /= weights.sum(axis=-1, keepdims=True)
    best, least = _sparse(arms, candidates, best, least, lower * (1.0 + tolerance))
    excess = np.divide(least, lower, out=np.full(size, np.inf), where=lower > 0.0) - 1.0
    nothing = least == 0.0
    best = np.where(nothing[:, None], basis_weights(arms), best)
    return best, least, np.where(nothing, 0.0, np.maximum(excess, 0.0)), steps


def _spread(arms: Span, weights: FloatArray, ridge: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the rows x^T V^-1 ``(N, K, m)``, and the variances of all differences ``(N, K, K)``."""
    x = arms.coordinates
    half = x @ inverse_information(arms, weights, ridge)
    spread = half @ np.swapaxes(x, -1, -2)
    own = np.einsum("nkk->nk", spread).copy()
    spread *= -2.0
    spread += own[:, :, None]
    spread += own[:, None, :]
    return half, spread


def _shares(
    levels: FloatArray, spread: FloatArray, before: FloatArray | None, pairs: BoolArray, rate: float
) -> FloatArray:
    """Raise the logarithms of the shares of pairs in place; return shares that count the last change twice."""
    levels += rate * spread
    shares = levels if before is None else levels + rate * (spread - before)
    shares = np.exp(shares - shares.max(axis=(1, 2), keepdims=True)) * pairs
    shares /= shares.sum(axis=(1, 2), keepdims=True)
    return np.asarray(shares)


def _gains(x: FloatArray, half: FloatArray, shares: FloatArray) -> FloatArray:
    """Return ``(N, K)`` sum over pairs of p_ij (x_k^T V^-1 (x_i - x_j))^2; pairs of an arm with itself add nothing."""
    columns = np.swapaxes(x, -1, -2)
    average = 2.0 * ((columns * shares.sum(axis=-1)[:, None, :]) @ x - columns @ shares @ x)
    return np.asarray(((half @ average) * half).sum(axis=-1))


def _sparse(
    arms: Span, candidates: BoolArray, weights: FloatArray, largest: FloatArray, enough: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Drop the smallest weights, as many as leave variances small enough; when rounded, each would cost a pull."""
    place, pairs = weights.argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable"), _pairs(candidates)
    weights, largest = weights.copy(), largest.copy()
    dropped, too_many = np.zeros(len(weights), np.int64), np.full(len(weights), weights.shape[-1])
    while (open_ := np.flatnonzero(too_many - dropped > 1)).size:
        middle = (dropped[open_] + too_many[open_]) // 2
        fewer = np.where(place[open_] < middle[:, None], 0.0, weights[open_])
        fewer /= fewer.sum(axis=-1, keepdims=True)
        _, spread = _spread(Span(arms.coordinates[open_], arms.rank[open_]), fewer, ridge=RIDGE)
        most = np.where(pairs[open_], spread, 0.0).max(axis=(1, 2))
        fine = most <= np.maximum(largest[open_], enough[open_])
        dropped[open_], too_many[open_] = (
            np.where(fine, middle, dropped[open_]),
            np.where(fine, too_many[open_], middle),
        )
        weights[open_[fine]], largest[open_[fine]] = fewer[fine], most[fine]
    return weights, largest


def _pairs(candidates: BoolArray) -> BoolArray:
    return np.asarray(candidates[:, :, None] & candidates[:, None, :])
