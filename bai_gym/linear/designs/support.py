"""Reduces the support of a design by a constructive form of Caratheodory's theorem."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.linear.designs.inputs import allocations, designs, instances
from bai_gym.linear.designs.span import span
from bai_gym.statistics import FloatArray

__all__ = ["reduce_support"]

NULL_TOLERANCE = 1e-10  # singular values up to this, times the largest one, are 0


def reduce_support(features: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Return a design on at most r (r + 1) / 2 of the arms of a design, with no larger variance of any arm.

    While there are more arms, their matrices x x^T are linearly dependent. So weights can move along a combination of
    them that leaves V as it is, until one of them is 0; of the two directions, the one that does not add to the sum of
    the weights. Dividing by the sum then makes V larger, if anything. The count of pulls of OD-LinBAI needs it.

    Args:
        features: ``(..., K, d)`` features of the arms.
        weights: ``(..., K)`` design, at least 0 with sum 1.

    Returns:
        ``(..., K)`` weights, positive for at most max(1, r (r + 1) / 2) arms, r being the rank, and for none that had
        weight 0; designs that are sparse enough may still change where their arms are dependent.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If the weights are malformed.

    Source: Caratheodory's theorem, as in Pukelsheim (1993), section 8.2.
    """
    x, outer = instances(features)
    start = allocations(designs(weights), x.shape[-2], outer)
    # Arms with weight come first; the others of an instance are cut off, or stay with weight 0.
    order = np.argsort(start <= 0, axis=-1, kind="stable")
    order = order[:, : int((start > 0).sum(axis=-1).max(initial=1))]
    shares = np.take_along_axis(start, order, axis=-1)
    arms = np.take_along_axis(span(x).coordinates, order[..., None], axis=1)
    first, second = np.triu_indices(arms.shape[-1])
    matrices = np.swapaxes(arms[..., first] * arms[..., second] * np.where(first == second, 1.0, np.sqrt(2.0)), 1, 2)
    # All matrices x x^T get the norm 1, so that no arm counts as dependent for being short.
    norms = np.sqrt((matrices**2).sum(axis=1))
    norms[norms == 0] = 1.0
    _, values, axes = np.linalg.svd(matrices / norms[:, None, :])
    size = shares.shape[-1]
    support = np.zeros(shares.shape, np.bool_)
    support[:, : values.shape[-1]] = values > NULL_TOLERANCE * values[:, :1]
    null = np.where(support[:, None, :], 0.0, np.swapaxes(axes, 1, 2))  # (N, size, size), columns: the null vectors
    masses = shares * norms
    rows = np.arange(len(masses))
    for column in range(size - 1, -1, -1):  # null vectors are the last columns
        live = ~support[:, column]
        if not live.any():
            break
        way = null[:, :, column]
        way = way * np.where((way / norms).sum(axis=-1) < 0, -1.0, 1.0)[:, None]
        falls = way > 0
        limit = np.where(falls, masses / np.where(falls, way, 1.0), np.inf)
        gone = limit.argmin(axis=-1)
        length = np.where(live, limit[rows, gone], 0.0)
        masses = np.maximum(masses - length[:, None] * way, 0.0)
        masses[rows[live], gone[live]] = 0.0
        # A reflection of the null vectors puts what they say of that arm into this column, which is used up.
        mirror = null[rows, gone]
        size_of = np.sqrt((mirror**2).sum(axis=-1))
        mirror[:, column] += np.where(mirror[:, column] < 0, -size_of, size_of)
        square = (mirror**2).sum(axis=-1)
        mirror = mirror / np.sqrt(np.where(square > 0, square, 1.0))[:, None]
        null -= 2.0 * (null @ mirror[..., None]) * mirror[:, None, :]
        null[:, :, column] = 0.0
        null[rows[live], gone[live]] = 0.0
    out = np.zeros_like(start)
    np.put_along_axis(out, order, masses / norms, axis=-1)
    empty = np.flatnonzero(out.sum(axis=-1) == 0)  # all arms with weight had features 0: one is as good as many
    out[empty, start[empty].argmax(axis=-1)] = 1.0
    return np.asarray(out / out.sum(axis=-1, keepdims=True)).reshape(*outer, x.shape[-2])
