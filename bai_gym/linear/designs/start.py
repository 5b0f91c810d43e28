"""Starting designs: a few arms that are far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.linear.designs.inputs import instances
from bai_gym.linear.designs.span import Span, span
from bai_gym.statistics import BoolArray, FloatArray

__all__ = ["basis", "basis_design", "basis_weights"]


def basis_design(features: ArrayLike) -> FloatArray:
    """Return equal weights on a basis of the span: arms taken in turn, each the farthest from the span of those before.

    A good start: it has as few arms as can be, and log det V is at most log r! + r log r below the optimum, for any K
    (r is the rank). For, the determinant of such a basis is at least 1/r! of the largest one, D, and by Cauchy-Binet
    det V of any design is at most D^2 / r!. The start of Kumar and Yildirim (2005), which Azizi et al. (2022) name in
    corollary 2, has a bound of the same order, O(r log r), with up to twice as many arms.

    Args:
        features: ``(..., K, d)`` features of the arms.

    Returns:
        ``(..., K)`` weights, 1/r for r arms each; equal weights on all arms where all features are 0. Among
        equally far arms, which only rounding errors distinguish, the choice is arbitrary but repeatable.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.

    Source: QR with column pivoting (Businger and Golub 1965), in the coordinates of
    :func:`bai_gym.linear.designs.project`, so that units do not matter; its determinant: Civril and Magdon-Ismail
    (2009).
    """
    x, outer = instances(features)
    return basis_weights(span(x)).reshape(*outer, x.shape[-2])


def basis_weights(arms: Span) -> FloatArray:
    """Return equal weights ``(N, K)`` on a basis, or on all arms where the rank is 0."""
    chosen = basis(arms) | (arms.rank == 0)[:, None]
    return np.asarray(chosen / chosen.sum(axis=-1, keepdims=True))


def basis(arms: Span) -> BoolArray:
    """Return the mask ``(N, K)`` of a basis, of as many arms as the rank."""
    left = arms.coordinates.copy()
    rows = np.arange(len(left))
    chosen = np.zeros(left.shape[:2], dtype=np.bool_)
    for size in range(int(arms.rank.max(initial=0))):
        norms = np.where(chosen, -1.0, np.einsum("nkm,nkm->nk", left, left))
        farthest = norms.argmax(axis=-1)
        chosen[rows, farthest] |= size < arms.rank
        axis = left[rows, farthest]
        axis = axis / np.maximum(np.sqrt((axis**2).sum(axis=-1, keepdims=True)), np.finfo(np.float64).tiny)
        left -= (left @ axis[..., None]) * axis[:, None, :]
    return chosen
