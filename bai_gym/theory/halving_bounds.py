"""Bounds on the error probability of sequential halving and its variants for unequal variances.

The papers assume K to be a power of two and the budget n to divide into L = log2 K equal stages. Here L is rounded up
and the budget of a stage down, as the agents do; where nothing needs rounding, the formulas are those of the papers.
The proofs carry over: of s arms the best is dropped only if at least ceil(s/2) of the s - 1 others have at least its
sample mean, so Markov's inequality still gives the factor 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.statistics import FloatArray
from bai_gym.theory.complexity import best_arm_h2, gaps
from bai_gym.theory.gap_bounds import exponential_bound
from bai_gym.theory.inputs import arms_and_budgets, confidence, spreads

__all__ = ["sequential_halving_bound", "shadavar_bound", "shvar_bound"]


def sequential_halving_bound(means: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 3 L exp(-n / (8 L H_2)), L = ceil(log2 K), for sequential halving.

    The published proof neglects that pulls are integers. It has a factor of 2 to spare in the exponent
    (Hoeffding's inequality for t pulls of each of two arms gives exp(-t gap^2), it uses exp(-t gap^2 / 2)), which
    covers rounding t = n / (L s) down, as floor(t) >= t / 2 for t >= 1. With the top ceil(s/4) - 1 of s active arms
    (but at least the best) set aside, it holds for every K. Either ``rounding`` of the agent is covered.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1], or sub-Gaussian with variance proxy 1/4.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN below the smallest budget, K L.

    Raises:
        ParameterError: If the means or the budget are malformed.

    Source: Karnin, Koren and Somekh (2013), Theorem 4.1; Lalitha et al. (2023), equation 1.
    """
    mu, n, size = arms_and_budgets(means, budget)
    stages = _stages(size)
    return exponential_bound(3.0 * stages, n / (8.0 * stages * best_arm_h2(mu)), n >= stages * size)


def shvar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 2 L exp(-(n - K L) D^2 / (4 K L max sigma^2)) for SHVar, which knows the variances.

    L = ceil(log2 K), and D is the gap between the best two arms. The "log K" of the theorem is log2 K, as the proof
    shows: n / L pulls of a stage for K arms, less one each. Its n is here the budget that is spent, L floor(n / L).

    Args:
        means: ``(..., K)`` true means of Gaussian rewards (or sub-Gaussian ones).
        variances: ``(..., K)`` true variances (or variance proxies), or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1. NaN below the smallest budget, K L.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Lalitha et al. (2023), Theorem 4.
    """
    mu, n, size = arms_and_budgets(means, budget)
    variance = spreads(variances, mu)
    stages = _stages(size)
    exponent = _ratio((n // stages / size - 1.0) * gaps(mu).min(axis=-1) ** 2, 4.0 * variance.max(axis=-1))
    return exponential_bound(2.0 * stages, np.maximum(exponent, 0.0), n >= stages * size)


def shadavar_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike, delta: ArrayLike = 0.05) -> FloatArray:
    """Return 2 L exp(-alpha (n/L/K - 1) D^2 / (4 max sigma^2)) + 2 K n delta for SHAdaVar.

    Here alpha = (1 - 2 sqrt(q/r)) / (1 + 2 sqrt(q/r) + 2 q/r) with q = log(1/delta) and r = n/L/K - 2, and n/L is
    rounded down. It differs from Theorem 5 as printed, which its proof does not give, in two places:

    - There r = n/K - 2. Lemma 8 has the pulls of a stage over its active arms, so r = n/L/K - 2 in the first stage. The
      printed alpha is larger for K > 2, hence the bound too small.
    - The exponential is proved where all confidence intervals of the variances hold; the probability that one does not
      is missing. There are at most K n of them, with two sides each.

    The theorem's delta is divided by K n for each interval; here delta is the agent's own, of one interval.

    Args:
        means: ``(..., K)`` true means of Gaussian rewards.
        variances: ``(..., K)`` true variances, or one number.
        budget: n, ``(...)`` or one number.
        delta: The parameter of the agent, strictly between 0 and 1.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN where delta >= 1 / (K n), or where r <= 4 q, so that alpha is not
        positive. The delta of 0.05 that the paper's experiments use is outside the domain at any budget.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Lalitha et al. (2023), Theorem 5 and appendix C, corrected.
    """
    mu, n, size = arms_and_budgets(means, budget)
    variance = spreads(variances, mu)
    level = confidence(delta)
    stages = _stages(size)
    pulls = n // stages / size
    log_term = np.log(1.0 / level)
    inside = (level * size * n < 1.0) & (pulls - 2.0 > 4.0 * log_term)
    ratio = log_term / np.where(inside, pulls - 2.0, np.inf)
    alpha = (1.0 - 2.0 * np.sqrt(ratio)) / (1.0 + 2.0 * np.sqrt(ratio) + 2.0 * ratio)
    exponent = _ratio(alpha * (pulls - 1.0) * gaps(mu).min(axis=-1) ** 2, 4.0 * variance.max(axis=-1))
    return np.asarray(exponential_bound(2.0 * stages, np.maximum(exponent, 0.0), inside) + 2.0 * size * n * level)


def _stages(num_arms: int) -> int:
    return (num_arms - 1).bit_length()  # ceil(log2 K)


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return above / below, with 0 / 0 = 0: equal means are indistinguishable even without noise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / below)
