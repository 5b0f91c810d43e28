"""Confidence intervals for error probabilities.

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

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bai_gym.errors import ParameterError
from bai_gym.validation import integer

__all__ = ["Estimate", "check_level", "clopper_pearson", "wilson", "z_score"]


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

    def __str__(self) -> str:
        """The number, and its interval in brackets."""
        return f"{self.value:.4f} [{self.lower:.4f}, {self.upper:.4f}]"


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
    return _interval(errors, runs, level, "wilson")


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
    return _interval(errors, runs, level, "exact")


def _interval(errors: int, runs: int, level: float, method: str) -> tuple[float, float]:
    from scipy.stats import binomtest  # takes longer to import than everything else together

    runs = integer(runs, "runs", least=1)
    errors = integer(errors, "errors", least=0, most=runs)
    low, high = binomtest(errors, runs).proportion_ci(check_level(level), method)
    return float(low), float(high)


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
