"""The span of the arms, and the variances that an allocation leaves there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.linear.designs.inputs import allocations, instances
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["RANK_TOLERANCE", "Span", "cross_variances", "inverse_information", "project", "span", "variances"]

RANK_TOLERANCE = 1e-10  # singular values up to this, times the largest one and the larger side of the matrix, are 0


@dataclass(frozen=True, slots=True)
class Span:
    """Coordinates of arms in the space that they span.

    Attributes:
        coordinates: ``(..., K, m)`` with m = min(K, d): orthonormal columns, as many as the rank, then columns of
            zeros.
        rank: ``(...)`` dimensions of the span, 0 where all features are 0.
    """

    coordinates: FloatArray
    rank: IntArray


def project(features: ArrayLike) -> Span:
    """Return coordinates of the arms in their span.

    The features are X = U S W^T (singular values); the coordinates are U, so that sum u u^T = I.
    Linear maps of the features that are invertible turn U by a rotation and change no design: units do not matter. In
    these coordinates numbers stay tame, too: V of the optimal design has all eigenvalues in [1 / (r K), 1].

    Singular values up to ``RANK_TOLERANCE`` x (the largest one) x max(K, d) count as 0. So features must not
    be measured in units that are ten orders of magnitude apart.

    Args:
        features: ``(..., K, d)`` features of the arms.

    Returns:
        The coordinates, and the rank.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.

    Source: the projection of Azizi et al. (2022), section 3, and Yang and Tan (2022), equation 3, at each stage; with
    coordinates that are also scaled, which changes no design and no prediction.
    """
    x, outer = instances(features)
    space = span(x)
    return Span(space.coordinates.reshape(*outer, *space.coordinates.shape[1:]), space.rank.reshape(outer))


def span(x: FloatArray) -> Span:
    """Return the coordinates of checked features ``(N, K, d)``."""
    left, values, _ = np.linalg.svd(x, full_matrices=False)
    nonzero = values > RANK_TOLERANCE * max(x.shape[1:]) * values[:, :1]
    some: BoolArray = np.asarray((x != 0).any(axis=-1, keepdims=True))  # features 0 have coordinates of exactly 0
    return Span(left * (nonzero[:, None, :] & some), nonzero.sum(axis=-1, dtype=np.int64))


def cross_variances(arms: Span, mass: AnyArray, ridge: float = 0.0) -> FloatArray:
    """Return x^T V^-1 x' of all pairs of arms, ``(N, K, K)``, for weights ``(N, K)`` whose arms span everything.

    Where they may not, ``ridge`` is added to the diagonal of V, in the coordinates of the span.
    """
    x = arms.coordinates
    return np.asarray(x @ inverse_information(arms, mass, ridge) @ np.swapaxes(x, -1, -2))


def inverse_information(arms: Span, mass: AnyArray, ridge: float = 0.0) -> FloatArray:
    """Return V^-1, ``(N, m, m)``, as in :func:`cross_variances`; the identity in coordinates beyond the rank."""
    x = arms.coordinates
    information: AnyArray = np.swapaxes(x * mass[..., None], -1, -2) @ x
    axis = np.arange(x.shape[-1])
    information[:, axis, axis] += (axis >= arms.rank[:, None]) + ridge
    return np.linalg.inv(information)


def variances(features: ArrayLike, weights: ArrayLike) -> FloatArray:
    """Return x^T V^-1 x of each arm, where V is the sum of weight x x^T: the variance of its estimate by least squares.

    With the weights of a design this is the variance after n pulls, times n / sigma^2; with counts of pulls, that
    variance over sigma^2. No design has a largest variance below the rank of the features (Kiefer and Wolfowitz).

    Args:
        features: ``(..., K, d)`` features of the arms.
        weights: ``(..., K)`` design or counts, at least 0.

    Returns:
        ``(..., K)`` variances: infinite for arms outside the span of those with weight (farther from it than 1e-7 of
        their length, in the coordinates of :func:`project`).

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If the weights are malformed.
    """
    x, outer = instances(features)
    w = allocations(weights, x.shape[-2], outer)
    return spread(span(x).coordinates, w).reshape(*outer, x.shape[-2])


def spread(coordinates: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the variances ``(N, K)`` in coordinates of the span, by singular values of the weighted rows."""
    _, values, axes = np.linalg.svd(np.sqrt(weights)[..., None] * coordinates, full_matrices=False)
    nonzero = values > RANK_TOLERANCE * weights.shape[-1] * values[:, :1]
    turned = coordinates @ np.swapaxes(axes, -1, -2)
    outside = np.where(nonzero[:, None, :], 0.0, turned)
    inside = np.where(nonzero[:, None, :], turned, 0.0) / np.where(nonzero, values, 1.0)[:, None, :]
    lost = (outside**2).sum(axis=-1) > 1e-14 * (coordinates**2).sum(axis=-1)
    return np.where(lost, np.inf, (inside**2).sum(axis=-1))
