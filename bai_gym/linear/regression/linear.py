"""Least squares, plain and penalised, by singular values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import InstanceError
from bai_gym.linear.designs.span import RANK_TOLERANCE
from bai_gym.linear.regression.inputs import Data, exponents, grouped
from bai_gym.statistics import BoolArray, FloatArray

__all__ = ["Axes", "least_squares", "ridge", "scores", "unscaled"]


def least_squares(features: ArrayLike, pulls: ArrayLike, means: ArrayLike) -> FloatArray:
    """Return the least-squares estimate of theta, where mean rewards are x^T theta: V^+ sum over pulls of x y.

    V is the sum of x x^T over all pulls. Where it is singular, the estimate is the shortest least-squares solution: it
    has no component beyond the span of the arms that were pulled. The rank is decided as in
    :func:`bai_gym.linear.designs.project`, for features times the root of pulls, whose condition number is the root of
    V's: singular values up to 1e-10 x (the largest one) x max(arms with pulls, d) count as 0.

    Args:
        features: ``(..., K, d)`` features x of the arms, of any rank.
        pulls: ``(..., K)`` pulls of each arm, at least 0; any weights are allowed.
        means: ``(..., K)`` sample means; those of arms without a pull are not read.

    Returns:
        ``(..., d)`` estimates; 0 where nothing was pulled.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape; if theta is beyond floats.
        ParameterError: If pulls or means are malformed.

    Source: Azizi, Kveton and Ghavamzadeh (2022), equation 1; Penrose (1956) for V that are singular.
    """
    data = grouped(features, pulls, means)
    return unscaled(ridge(data, 0.0), data)


def scores(features: ArrayLike, theta: ArrayLike) -> FloatArray:
    """Return ``(..., K)`` x^T theta of each arm; arms with equal features have equal ones, bit for bit.

    Args:
        features: ``(..., K, d)``.
        theta: ``(..., d)``.
    """
    # Summed in one order for all rows, unlike a matrix product.
    return np.asarray((np.asarray(features) * np.asarray(theta)[..., None, :]).sum(axis=-1))


@dataclass(frozen=True, slots=True)
class Axes:
    """Singular values and vectors of the features, each row times the root of its weight.

    Attributes:
        left: ``(N, K, m)`` left vectors, m = min(K, d).
        values: ``(N, m)`` singular values; 1 where they count as 0.
        right: ``(N, m, d)`` right vectors.
        kept: ``(N, m)`` which values do not count as 0.
    """

    left: FloatArray
    values: FloatArray
    right: FloatArray
    kept: BoolArray

    @classmethod
    def of(cls, data: Data) -> Axes:
        """Decompose the features."""
        left, values, right = np.linalg.svd(np.sqrt(data.weights)[..., None] * data.features, full_matrices=False)
        side = np.maximum((data.weights > 0).sum(axis=-1), data.features.shape[-1])
        nonzero = values > RANK_TOLERANCE * side[:, None] * values[:, :1]
        return cls(left, np.where(nonzero, values, 1.0), right, nonzero)


def ridge(data: Data, penalty: float) -> FloatArray:
    """Return ``(N, d)`` the theta of least sum of T (m - x^T theta)^2 + penalty |theta|^2, in the units of the data."""
    axes = Axes.of(data)
    unit = exponents(data.means)
    targets = np.sqrt(data.weights) * np.ldexp(data.means, -unit[:, None])
    with np.errstate(over="ignore", under="ignore"):
        relative = np.ldexp(penalty / data.most, -2 * data.unit)[:, None]
        shares = np.where(axes.kept, axes.values / (axes.values**2 + relative), 0.0)
        along = shares * (targets[:, None, :] @ axes.left)[:, 0]
        return np.asarray(np.ldexp((along[:, None, :] @ axes.right)[:, 0], unit[:, None]))


def unscaled(theta: FloatArray, data: Data) -> FloatArray:
    """Return estimates ``(..., d)`` in the units of the user.

    Raises:
        InstanceError: If they are beyond floats.
    """
    with np.errstate(over="ignore", under="ignore"):
        plain = np.ldexp(theta, -data.unit[:, None])
    if not np.isfinite(plain).all():
        raise InstanceError("theta is larger than 1.8e308: features or means are in units that are too far apart")
    return plain.reshape(*data.outer, theta.shape[-1])
