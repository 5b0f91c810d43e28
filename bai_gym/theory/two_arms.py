"""Two Bernoulli arms with fixed shares of the budget: the exact error probability, and its exponent.

Wang, Ariu and Proutiere (2023, arXiv 2308.12000) show that no algorithm for two Bernoulli arms is at least as good as
uniform allocation on all instances and better on some, in terms of exponents. For fixed shares this can be computed.
"""

from __future__ import annotations

import numpy as np

from bai_gym.errors import ParameterError
from bai_gym.validation import integer, probability

__all__ = ["two_arm_error", "two_arm_exponent"]


def two_arm_error(means: tuple[float, float], pulls: tuple[int, int]) -> float:
    """Return the probability that the Bernoulli arm of larger mean does not have the larger sample mean.

    Equal sample means count as the arm with more pulls says, and half where these are equal, too: the recommendation of
    this library's agents.

    Args:
        means: Two different numbers in (0, 1).
        pulls: Of each arm, at least 1.

    Raises:
        ParameterError: If the means are equal, or a number is outside its range.
    """
    from scipy.stats import binom  # noqa: PLC0415 (slow to import)

    p, q = _checked(means)
    n, m = (integer(count, "pulls", least=1) for count in pulls)
    first, second = np.arange(n + 1)[:, None] * m, np.arange(m + 1) * n  # sample means, times n m
    joint = binom.pmf(np.arange(n + 1), n, p)[:, None] * binom.pmf(np.arange(m + 1), m, q)
    tied = 0.5 if n == m else float(n > m)
    of_first = float(joint[first > second].sum() + tied * joint[first == second].sum())
    return 1.0 - of_first if p > q else of_first


def two_arm_exponent(means: tuple[float, float], share: float = 0.5) -> float:
    """Return the limit of -log(error probability) / n for n pulls, of which the first arm has a given share.

    The infimum of w d(x, p) + (1 - w) d(x, q) over x, with the relative entropy d; for equal shares
    -log(sqrt(p q) + sqrt((1 - p) (1 - q))).

    Args:
        means: p and q, two different numbers in (0, 1).
        share: w, in (0, 1).

    Raises:
        ParameterError: If the means are equal, or a number is outside its range.
    """
    p, q = _checked(means)
    w = probability(share, "share")
    # The infimum is at the x whose log-odds are the weighted mean of the arms' log-odds.
    return float(-np.log(p**w * q ** (1 - w) + (1 - p) ** w * (1 - q) ** (1 - w)))


def _checked(means: tuple[float, float]) -> tuple[float, float]:
    p, q = (probability(mean, "a mean") for mean in means)
    if p == q:
        raise ParameterError(f"the two means must differ, and both are {p:g}")
    return p, q
