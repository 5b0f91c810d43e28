"""Confidence intervals: all that a table, a figure, the page or the terminal shows are from here.

An error probability is a proportion, often a small one, so it gets an interval for proportions: Wilson's
score interval (short, right on average) or Clopper and Pearson's exact one (never below its level). Neither leaves [0,
1], and both are informative without any error. The difference of two error probabilities on common instances gets
Tango's. Means of many runs get normal intervals, or Student's; bootstrap samples, their percentiles.

References:
    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22(158), 209-212.
    C. J. Clopper and E. S. Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of
    the binomial", Biometrika 26(4), 404-413.
    L. D. Brown, T. T. Cai and A. DasGupta (2001), "Interval estimation for a binomial proportion", Statistical
    Science 16(2), 101-133, compares the two.
    T. Tango (1998), "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 17(8), 891-908.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, betainccinv, betaincinv, ndtri, stdtrit
from typing_extensions import override

from bai_gym.errors import ParameterError
from bai_gym.statistics import AnyArray, FloatArray
from bai_gym.validation import integer

__all__ = [
    "Estimate",
    "are_binary",
    "check_level",
    "clopper_pearson",
    "describe_test",
    "mean_intervals",
    "normal",
    "percentile",
    "quantile_interval",
    "student",
    "tango",
    "wilson",
    "z_score",
]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: The estimate.
        lower: Lower end of the interval; NaN where it cannot be estimated, such as from a single run.
        upper: Upper end.
    """

    value: float
    lower: float
    upper: float

    @override
    def __str__(self) -> str:
        """The number, and its interval in brackets."""
        return f"{self.value:.4f} [{self.lower:.4f}, {self.upper:.4f}]"


def describe_test(what: str, test: Any, method: str, form: str = "+.3g") -> str:
    """Return a sentence on a paired test: the difference, its interval, the p-value and the number of runs.

    Args:
        what: What the difference is of.
        test: With ``difference``, ``interval``, ``level``, ``p_value`` and ``runs``.
        method: How the p-value is computed.
        form: Format of the numbers.
    """
    lower, upper = test.interval
    ends = "unknown" if math.isnan(lower) else f"{lower:{form}} to {upper:{form}}"
    p_value = "< 0.0001" if test.p_value < 1e-4 else f"= {test.p_value:.2g}"
    interval = f"{100 * test.level:g} % interval {ends}"
    return f"{what}: {test.difference:{form}}, {interval}, p {p_value} ({method}; {test.runs:,} runs)"


def wilson(errors: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of an error probability.

    The set of all p that the score test does not reject, ``|errors/runs - p| <= z sqrt(p (1 - p) / runs)``,
    solved for p. Its coverage is near the level on average over p, and can lie somewhat below it at single p.

    Args:
        errors: Number of wrong recommendations, in 0..runs.
        runs: Number of independent runs, at least 1.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper bounds in [0, 1].

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    _check_counts(errors, runs)
    lower, upper = _wilson(np.array(float(errors)), np.array(float(runs)), z_score(level))
    return float(lower), float(upper)


def clopper_pearson(errors: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's exact interval of an error probability.

    The bounds are the p at which seeing this many errors or more (lower bound), or this many or fewer (upper
    bound), has probability ``(1 - level) / 2``. The coverage is at least the level at every p, so this is the interval
    to decide claims with.

    Args:
        errors: Number of wrong recommendations, in 0..runs.
        runs: Number of independent runs, at least 1.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper bounds in [0, 1].

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    _check_counts(errors, runs)
    tail = (1 - check_level(level)) / 2
    lower = float(betaincinv(errors, runs - errors + 1, tail)) if errors > 0 else 0.0
    upper = float(betainccinv(errors + 1, runs - errors, tail)) if errors < runs else 1.0
    return lower, upper


def tango(only_a_errs: int, only_b_errs: int, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Tango's score interval for the difference of two paired proportions.

    It holds all differences D that the score test does not reject: ``|b - c - n D| <= z sqrt(n (2 q + D (1 - D)))``
    with b and c the two discordant counts, n the runs, and q the estimate of the probability that only B errs,
    constrained to the difference D (Tango 1998). At D = 0 this is McNemar's asymptotic test. It keeps
    its level well in small samples, stays within [-1, 1] and is of positive width even without discordant runs.

    Args:
        only_a_errs: Number of runs in which A erred and B did not, b, at least 0.
        only_b_errs: Number of runs in which B erred and A did not, c, at least 0.
        runs: Number of common runs n, at least 1 and at least b + c.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper bound of the error probability of A minus that of B.

    Raises:
        ParameterError: If a count or the level is out of range.
    """
    check_level(level)
    if runs < 1 or min(only_a_errs, only_b_errs) < 0 or only_a_errs + only_b_errs > runs:
        raise ParameterError(
            f"{only_a_errs} and {only_b_errs} discordant runs out of {runs} are impossible; "
            "both must be at least 0, and their sum at most the number of runs, which is at least 1"
        )
    # The lower bound is the upper bound of the reversed comparison, mirrored.
    return -_tango_upper(only_b_errs, only_a_errs, runs, level), _tango_upper(only_a_errs, only_b_errs, runs, level)


def _tango_upper(b: int, c: int, n: int, level: float) -> float:
    """Upper bound of the difference: the largest D that the score test does not reject, by bisection."""
    z = z_score(level)
    low, high = (b - c) / n, 1.0
    while True:
        middle = (low + high) / 2
        if not low < middle < high:  # neighbouring floats: the bisection ends
            return high
        q = _constrained_estimate(b, c, n, middle)
        variance = n * (2 * q + middle * (1 - middle))
        if b - c - n * middle >= -z * math.sqrt(max(variance, 0.0)):
            low = middle
        else:
            high = middle


def _constrained_estimate(b: int, c: int, n: int, difference: float) -> float:
    """Maximum likelihood estimate of P(only B errs) where P(only A errs) exceeds it by `difference`.

    Setting the derivative of ``b log(q + D) + c log(q) + (n - b - c) log(1 - 2 q - D)`` to 0 leaves
    ``2 n q^2 + B q - c D (1 - D) = 0`` with ``B = (2 n - b + c) D - b - c``; its larger root is the estimate,
    written without cancellation for either sign of B.
    """
    minus_constant = c * difference * (1 - difference)
    linear = (2 * n - b + c) * difference - b - c
    root = math.sqrt(max(linear**2 + 8 * n * minus_constant, 0.0))
    if linear <= 0:
        return (root - linear) / (4 * n)
    return 2 * minus_constant / (root + linear)


def normal(value: Any, standard_error: Any, level: float = 0.95) -> tuple[Any, Any]:
    """Normal interval of an estimate, ``value -+ z standard_error``.

    Args:
        value: Estimate, of any shape.
        standard_error: Its standard error, at least 0; NaN where it is unknown, as are the ends then.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper ends, of the same shape.

    Raises:
        ParameterError: If the level is out of range.
    """
    half = z_score(level) * standard_error
    return value - half, value + half


def student(mean: float, standard_error: float, runs: int, level: float = 0.95) -> tuple[float, float]:
    """Student's interval of a mean.

    Args:
        mean: Mean of the runs.
        standard_error: Its standard error, above 0.
        runs: Number of runs, at least 2.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ParameterError: If the level is out of range.
    """
    half = float(stdtrit(runs - 1, (1 + check_level(level)) / 2)) * standard_error
    return mean - half, mean + half


def percentile(value: FloatArray | float, drawn: FloatArray, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Equal-tailed interval of bootstrap samples, widened where it does not hold the estimate.

    Args:
        value: Estimate, of any shape.
        drawn: ``(B, ...)`` bootstrap samples of it.
        level: Confidence level, strictly between 0 and 1.

    Raises:
        ParameterError: If the level is out of range.
    """
    tail = (1 - check_level(level)) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    return np.minimum(low, value), np.maximum(high, value)


def quantile_interval(ascending: FloatArray, share: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of a quantile of a distribution on numbers that are not negative, from order statistics.

    Args:
        ascending: ``(M,)`` a sample from it.
        share: Level of the quantile, in (0, 1).
        level: Confidence level, strictly between 0 and 1.

    Returns:
        Lower and upper ends; 0 or infinite where an end is open.

    Raises:
        ParameterError: If the level is out of range.
    """
    below = bdtr(np.arange(ascending.size), ascending.size, share)  # P(at most k of the numbers are below the quantile)
    tail = (1 - check_level(level)) / 2
    first, last = int(np.count_nonzero(below <= tail)), int(np.count_nonzero(below < 1.0 - tail))
    lower = float(ascending[first - 1]) if first else 0.0
    return lower, float(ascending[last]) if last < ascending.size else math.inf


def mean_intervals(
    pulls: AnyArray, means: AnyArray, variances: AnyArray, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return intervals of the means of some arms.

    Where all rewards of all arms were 0 or 1, these are Wilson's score intervals; else normal ones, which are undefined
    for an arm whose rewards were all equal: an interval of length 0 would claim certainty.

    Args:
        pulls: ``(K,)`` pulls.
        means: ``(K,)`` sample means; not read without a pull.
        variances: ``(K,)`` unbiased sample variances; not read below two pulls.
        level: Confidence level, strictly between 0 and 1.

    Returns:
        ``(K,)`` lower and upper ends; NaN where nothing can be estimated.

    Raises:
        ParameterError: If the level is out of range.
    """
    n, p, v = _moments(pulls, means, variances)
    if are_binary(pulls, means, variances):
        known = n > 0
        lower, upper = _wilson(np.rint(n * p), n, z_score(level))
    else:
        errors = np.sqrt(np.maximum(v, 0.0) / np.maximum(n, 1.0))
        known = errors > 0.0
        lower, upper = normal(p, errors, level)
    return np.where(known, lower, np.nan), np.where(known, upper, np.nan)


def are_binary(pulls: AnyArray, means: AnyArray, variances: AnyArray) -> bool:
    """Return whether all rewards of all arms were 0 or 1, from their statistics, see :func:`mean_intervals`."""
    n, p, v = _moments(pulls, means, variances)
    squares, ones = (n - 1) * v + n * p**2, np.rint(n * p)
    if (p[ones == 0.0] != 0.0).any():  # rewards in a small unit
        return False
    return np.allclose(squares, n * p, rtol=1e-9, atol=1e-9) and np.allclose(n * p, ones, rtol=0.0, atol=1e-6)


def _moments(pulls: AnyArray, means: AnyArray, variances: AnyArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the statistics with zeros where there are too few pulls."""
    n = np.asarray(pulls, np.float64)
    p = np.where(n > 0, np.nan_to_num(np.asarray(means, np.float64)), 0.0)
    return n, p, np.where(n > 1, np.nan_to_num(np.asarray(variances, np.float64)), 0.0)


def _wilson(ones: FloatArray, n: FloatArray, z: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of Wilson's interval of proportions, whose ends at 0 and 1 are exact."""
    centre = (ones + z**2 / 2) / (n + z**2)
    half = z * np.sqrt(ones * (1 - ones / np.maximum(n, 1)) + z**2 / 4) / (n + z**2)
    return np.where(ones <= 0, 0.0, centre - half), np.where(ones >= n, 1.0, centre + half)


def _check_counts(errors: int, runs: int) -> None:
    integer(errors, "errors", least=0, most=integer(runs, "runs", least=1))


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
