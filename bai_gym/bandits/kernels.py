"""Kernels: how much the means of two arms have in common, by the distance of their features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.errors import ParameterError, unknown_name
from bai_gym.statistics import FloatArray
from bai_gym.validation import real

__all__ = ["KERNELS", "SMOOTHNESS", "check_kernel", "kernel_matrix"]

SMOOTHNESS = (0.5, 1.5, 2.5)
"""The nu of Matern kernels."""

ENTRIES_AT_ONCE = 2_000_000  # of matrices that are worked on at a time


def _squared_exponential(squares: FloatArray, length: float, nu: float) -> FloatArray:
    return np.exp(squares / (-2.0 * length * length))


def _exponential(squares: FloatArray, length: float, nu: float) -> FloatArray:
    return np.exp(squares / -length)


def _matern(squares: FloatArray, length: float, nu: float) -> FloatArray:
    scaled = np.sqrt(2.0 * nu * squares) / length
    factor = {0.5: 1.0, 1.5: 1.0 + scaled, 2.5: 1.0 + scaled + scaled * scaled / 3.0}[nu]
    return np.asarray(factor * np.exp(-scaled))


_BY_DISTANCE = {
    "squared-exponential": _squared_exponential,
    "exponential": _exponential,
    "matern": _matern,
}

KERNELS = ("linear", *_BY_DISTANCE)
"""The names."""


def check_kernel(kernel: str, length: float, nu: float) -> None:
    """Check a kernel's name and parameters.

    Raises:
        UnknownNameError: If there is no kernel of that name.
        ParameterError: If a parameter is outside its range.
    """
    if kernel not in KERNELS:
        raise unknown_name("kernel", kernel, KERNELS, f"known: {', '.join(KERNELS)}")
    real(length, "length of a kernel", above=0)
    if nu not in SMOOTHNESS:
        raise ParameterError(f"nu of the Matern kernel must be {', '.join(map(str, SMOOTHNESS))}, not {nu!r}")


def kernel_matrix(
    features: FloatArray, kernel: str | Callable[[FloatArray], Any], length: float = 1.0, nu: float = 1.5
) -> FloatArray:
    """Return the kernel of each two arms.

    =================== ==========================================================================
    kernel              k(x, x')
    =================== ==========================================================================
    linear              x^T x'
    squared-exponential exp(-||x - x'||^2 / (2 length^2))
    exponential         exp(-||x - x'||^2 / length), as the bandit papers write the one above
    matern              of smoothness nu, for nu = 1.5: (1 + s) exp(-s), s = sqrt(3) ||x - x'|| / length
    =================== ==========================================================================

    The names are those of Hoffman, Shahriari and de Freitas (2014), section 4, and of Azizi, Kveton and Ghavamzadeh
    (2022). What is elsewhere called the exponential kernel, exp(-||x - x'|| / length), is ``"matern"`` with nu = 0.5.

    Args:
        features: ``(K, d)`` or ``(N, K, d)``, finite.
        kernel: A name, or a function that takes ``(K, d)`` features and returns ``(K, K)``, such as any kernel of
            ``sklearn.gaussian_process.kernels``.
        length: Above 0, in the unit of the features; for ``"exponential"`` in its square.
        nu: 0.5, 1.5 or 2.5.

    Returns:
        ``(K, K)`` or ``(N, K, K)``.

    Raises:
        UnknownNameError: If there is no kernel of that name.
        ParameterError: If a parameter is outside its range, or the function returns something else.
    """
    if not isinstance(kernel, str):
        return _called(kernel, features)
    check_kernel(kernel, length, nu)
    if kernel == "linear":
        return np.asarray(features @ np.swapaxes(features, -1, -2))
    if features.ndim == 2:
        return _BY_DISTANCE[kernel](_squared_distances(features), float(length), float(nu))
    arms = features.shape[1]
    result = np.empty((len(features), arms, arms))
    per_part = max(1, ENTRIES_AT_ONCE // arms**2)
    for at in range(0, len(features), per_part):
        part = slice(at, at + per_part)
        result[part] = _BY_DISTANCE[kernel](_squared_distances(features[part]), float(length), float(nu))
    return result


def _squared_distances(features: FloatArray) -> FloatArray:
    centred = features - features.mean(axis=-2, keepdims=True)  # or what is far from 0 would cost digits
    norms = np.einsum("...kd,...kd->...k", centred, centred)
    squares = norms[..., :, None] + norms[..., None, :] - 2.0 * (centred @ np.swapaxes(centred, -1, -2))
    np.maximum(squares, 0.0, out=squares)
    squares += np.swapaxes(squares, -1, -2).copy()
    squares *= 0.5
    arms = np.arange(features.shape[-2])
    squares[..., arms, arms] = 0.0
    return np.asarray(squares)


def _called(kernel: Callable[[FloatArray], Any], features: FloatArray) -> FloatArray:
    if not callable(kernel):
        raise ParameterError(
            f"kernel must be {', '.join(map(repr, KERNELS))}, or a function of features, not {kernel!r}"
        )
    rows = features if features.ndim == 3 else features[None]
    arms = rows.shape[1]
    calls = []
    for row in rows:
        try:
            matrix = np.asarray(kernel(row), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"the kernel function cannot be called with features {row.shape}: {error}") from None
        if matrix.shape != (arms, arms):
            raise ParameterError(
                f"the kernel function returned shape {matrix.shape} for {arms} arms; it must be {(arms, arms)}"
            )
        calls.append(matrix)
    return np.stack(calls) if features.ndim == 3 else calls[0]
