"""Two Bernoulli arms with fixed shares of the budget: the exponent of the error probability.

Wang, Ariu and Proutiere (2023, arXiv 2308.12000) show that no algorithm for two Bernoulli arms is at least as good as
uniform allocation on all instances and better on some, in terms of exponents. For fixed shares this can be computed.
"""

from __future__ import annotations

import numpy as np

from bai_gym.errors import ParameterError
from bai_gym.validation import probability

__all__ = ["two_arm_exponent"]


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
    p, q = (probability(mean, "a mean") for mean in means)
    if p == q:
        raise ParameterError(f"the two means must differ, and both are {p:g}")
    w = probability(share, "share")
    # The infimum is at the x whose log-odds are the weighted mean of the arms' log-odds.
    return float(-np.log(p**w * q ** (1 - w) + (1 - p) ** w * (1 - q) ** (1 - w)))
