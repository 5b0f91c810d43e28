"""Confidence intervals for error probabilities, and the standard error of a mean.

An error probability is a proportion, often a small one, so it gets an interval for proportions: Wilson's
score interval (short, right on average) or Clopper and Pearson's exact one (never below its level). Neither leaves [0,
1], and both are informative without any error.

References:
    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22(158), 209-212.
    C. J. Clopper and E. S. Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of
    the binomial", Biometrika 26(4), 404-413.
    L. D. Brown, T. T. Cai and A. DasGupta (2001), "Interval estimation for a binomial proportion", Statistical
    Science 16(2), 101-133, compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri

from bai_gym.errors import ParameterError

__all__ = ["check_level", "clopper_pearson", "mean_and_se", "wilson", "z_score"]

FloatArray: TypeAlias = NDArray[np.float64]
Count: TypeAlias = int | np.integer[Any]
Counts: TypeAlias = NDArray[np.integer[Any]] | Sequence[int]


@overload
def wilson(errors: Count, runs: Count, level: float = ...) -> tuple[float, float]: ...
@overload
def wilson(errors: Counts, runs: Count | Counts, level: float = ...) -> tuple[FloatArray, FloatArray]: ...
def wilson(errors: Any, runs: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Wilson's score interval of an error probability.

    The set of all p that the score test does not reject, ``|errors/runs - p| <= z sqrt(p (1 - p) / runs)``,
    solved for p. Its coverage is near the level on average over p, and can lie somewhat below it at single p.

    Args:
        errors: Number of wrong recommendations, in 0..runs, any shape.
        runs: Number of independent runs, at least 1, broadcast against `errors`.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper bounds in [0, 1]: two floats for two integers, else two arrays of the broadcast shape.

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    x, n = _check_counts(errors, runs)
    z = z_score(level)
    p = x / n
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half_width = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    # At 0 and at `runs` errors the bound is exactly 0 or 1; rounding would leave it slightly off.
    lower = np.where(x == 0, 0.0, np.clip(centre - half_width, 0.0, 1.0))
    upper = np.where(x == n, 1.0, np.clip(centre + half_width, 0.0, 1.0))
    return _as_given(lower, upper)


@overload
def clopper_pearson(errors: Count, runs: Count, level: float = ...) -> tuple[float, float]: ...
@overload
def clopper_pearson(errors: Counts, runs: Count | Counts, level: float = ...) -> tuple[FloatArray, FloatArray]: ...
def clopper_pearson(errors: Any, runs: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Clopper and Pearson's exact interval of an error probability.

    The bounds are the p at which seeing this many errors or more (lower bound), or this many or fewer (upper
    bound), has probability ``(1 - level) / 2``; they are quantiles of Beta distributions. The coverage is at
    least the level at every p, so this interval decides claims.

    Args:
        errors: Number of wrong recommendations, in 0..runs, any shape.
        runs: Number of independent runs, at least 1, broadcast against `errors`.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper bounds in [0, 1]: two floats for two integers, else two arrays of the broadcast shape.

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    x, n = _check_counts(errors, runs)
    tail = (1 - check_level(level)) / 2
    # Beta parameters must be positive: the maxima only touch entries that np.where then replaces.
    lower = np.where(x == 0, 0.0, betaincinv(np.maximum(x, 1.0), n - x + 1, tail))
    upper = np.where(x == n, 1.0, betaincinv(x + 1, np.maximum(n - x, 1.0), 1 - tail))
    return _as_given(lower, upper)


def mean_and_se(values: ArrayLike) -> tuple[float, float]:
    """Mean of independent values and its standard error, s / sqrt(n) with the unbiased sample variance.

    Args:
        values: One value per run, shape (runs,), at least one, for example the simple regrets.

    Returns:
        The mean and its standard error; the standard error of a single value is unknown, so NaN.

    Raises:
        ParameterError: If there is no value, or the array has more than one axis.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ParameterError(f"values have shape {array.shape}; a mean needs one axis with at least one value")
    se = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.nan
    return float(array.mean()), se


def check_level(level: float) -> float:
    """Return a confidence level, or raise where it is not strictly between 0 and 1.

    Args:
        level: Confidence level.

    Returns:
        The same level.

    Raises:
        ParameterError: If it is not strictly between 0 and 1.
    """
    if not isinstance(level, float | np.floating) or not 0.0 < level < 1.0:  # 0 and 1 are the only integers near
        raise ParameterError(f"level {level!r} is not a confidence level; give one between 0 and 1, such as 0.95")
    return level


def z_score(level: float) -> float:
    """Two-sided critical value of the standard normal distribution, 1.96 at level 0.95.

    Args:
        level: Confidence level, strictly between 0 and 1.

    Returns:
        z with ``P(|Z| <= z) = level``.

    Raises:
        ParameterError: If the level is out of range.
    """
    return -float(ndtri((1 - check_level(level)) / 2))


def _check_counts(errors: ArrayLike, runs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both counts as floats of one broadcast shape, or an error that names the impossible one."""
    x, n = np.asarray(errors), np.asarray(runs)
    for name, counts in (("errors", x), ("runs", n)):
        if counts.dtype.kind not in "iu":
            raise ParameterError(f"{name} must be whole numbers (integers), got {counts.dtype} values")
    try:
        x, n = np.broadcast_arrays(x, n)
    except ValueError:
        raise ParameterError(f"errors of shape {x.shape} and runs of shape {n.shape} do not broadcast") from None
    if np.any(n < 1):
        raise ParameterError(f"runs is {n.min()}; an interval needs at least 1 run")
    wrong = (x < 0) | (x > n)
    if np.any(wrong):
        raise ParameterError(f"errors is {x[wrong][0]} of {n[wrong][0]} runs; it must be in 0..runs")
    return x.astype(np.float64), n.astype(np.float64)


def _as_given(lower: FloatArray, upper: FloatArray) -> tuple[Any, Any]:
    """Plain floats for scalar input, arrays otherwise."""
    return (float(lower), float(upper)) if lower.ndim == 0 else (lower, upper)
