"""Bounds on the error probability of agents that follow estimated gaps: SR, UCB-E, GapE, GapE-V and UGapE.

All are for independent rewards in [0, 1], or in [0, b] where there is a parameter b. Where the best arm is not unique,
the complexity is infinite and the bound is trivial, at least 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.statistics import AnyArray, BoolArray, FloatArray
from bai_gym.theory.complexity import (
    best_arm_h1,
    best_arm_h2,
    gape_complexity,
    gape_v_complexity,
    log_bar,
    ugape_complexity,
)
from bai_gym.theory.inputs import arms, arms_and_budgets, budgets, confidence, spreads

__all__ = [
    "gape_bound",
    "gape_v_bound",
    "successive_rejects_bound",
    "ucb_e_bound",
    "ugapeb_bound",
    "ugapec_bound",
    "ugapec_sample_complexity",
]


def successive_rejects_bound(means: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return (K (K - 1) / 2) exp(-(n - K) / (logbar(K) H_2)), logbar(K) = 1/2 + 1/2 + 1/3 + ... + 1/K.

    In phase k one of the k worst arms is still active; its sample mean is at least that of the best arm, at n_k pulls
    of each, with probability at most exp(-n_k gap^2). Summing k over the K - 1 phases gives the factor.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n <= K.

    Raises:
        ParameterError: If the means or the budget are malformed.

    Source: Audibert, Bubeck and Munos (2010), Theorem 2.
    """
    mu, n, size = arms_and_budgets(means, budget)
    return exponential_bound(size * (size - 1) / 2.0, (n - size) / (log_bar(size) * best_arm_h2(mu)), n > size)


def ucb_e_bound(means: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 2 n K exp(-2a / 25) for UCB-E, which pulls the largest mean + sqrt(a / T), a = (25/36) (n - K) / H_1.

    Where all estimates are within sqrt(a / T) / 5 of the means, which fails with at most this probability, arm i has at
    most (36/25) a / gap_i^2 + 1 pulls. A larger a is not covered.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Audibert, Bubeck and Munos (2010), Theorem 1.
    """
    mu, n, size = arms_and_budgets(means, budget)
    most = 25.0 / 36.0 * (n - size) / best_arm_h1(mu)
    return exponential_bound(2.0 * size * n, 2.0 / 25.0 * most, n >= size)


def gape_bound(means: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 2 K n exp(-(n - K) / (144 H)) for GapE with the largest exploration that is covered, (4/9) (n - K) / H.

    The agent of this library uses that with ``rescaled=False``; rescaled it is larger, and no bound is known.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 1; for 1/144 also Lalitha et al. (2023).
    """
    mu, n, size = arms_and_budgets(means, budget)
    most = 4.0 / 9.0 * (n - size) / gape_complexity(mu, np.ones(()))
    return exponential_bound(2.0 * size * n, 1.0 / 64.0 * most, n >= size)


def gape_v_bound(means: ArrayLike, variances: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 6 K n exp(-(n - 2 K) / (512 H)) for GapE-V with the largest exploration that is covered.

    That is (8/9) (n - 2 K) / H, with H of :func:`bai_gym.theory.gape_v_complexity`.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        variances: True variances, of the same shape, or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < 2 K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 2; for 1/512 also Lalitha et al. (2023).
    """
    mu, n, size = arms_and_budgets(means, budget)
    most = 8.0 / 9.0 * (n - 2 * size) / gape_v_complexity(mu, spreads(variances, mu), np.ones(()))
    return exponential_bound(6.0 * size * n, 9.0 / 4096.0 * most, n >= 2 * size)


def ugapeb_bound(means: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 2 K n exp(-(n - K) / (2 H_0)) for UGapEb with the largest exploration that is covered, (n - K) / (4 H_0).

    It is for one best arm and epsilon = 0. The theorem is about a simple regret of "at least epsilon", as it then
    always is; its proof assumes "above".

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), Theorem 1.
    """
    mu, n, size = arms_and_budgets(means, budget)
    most = (n - size) / (4.0 * ugape_complexity(mu))
    return exponential_bound(2.0 * size * n, 2.0 * most, n >= size)


def ugapec_sample_complexity(
    means: ArrayLike, delta: ArrayLike, m: int = 1, epsilon: float = 0.0, b: ArrayLike = 1.0
) -> FloatArray:
    """Return N, which UGapEc (c = 1/2) exceeds in pulls, or else errs, with probability at most delta.

    N is the smallest integer n >= K with K + 2 H_epsilon log(4 K (n - 1)^3 / delta) <= n. The left side is
    concave in n and above n at n = K, so beyond N the inequality stays true. (The published proof drops the 4 in its
    last line.)

    Args:
        means: ``(..., K)`` true means of rewards in [0, b].
        delta: Confidence, strictly between 0 and 1, ``(...)`` or one number.
        m: Number of best arms to find, in 1..K-1.
        epsilon: Simple regret that is allowed, at least 0.
        b: ``(...)`` or one number: rewards lie in [0, b].

    Returns:
        ``(...)`` integers as floats; infinite where H_epsilon is.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), Theorem 2 and its proof.
    """
    mu = arms(means)
    size = mu.shape[-1]
    level = confidence(delta)
    complexity = ugape_complexity(mu, m, epsilon, b)
    pulls: FloatArray = np.full(np.broadcast_shapes(complexity.shape, level.shape), float(size))
    while True:
        # From below this never jumps over N, as the right side increases in n, and it ends at N exactly.
        needed = np.ceil(size + 2.0 * complexity * (np.log(4.0 * size / level) + 3.0 * np.log(pulls - 1.0)))
        if (needed <= pulls).all():
            return pulls
        pulls = np.maximum(pulls, needed)


def ugapec_bound(
    means: ArrayLike, cap: ArrayLike, delta: ArrayLike, m: int = 1, epsilon: float = 0.0, b: ArrayLike = 1.0
) -> FloatArray:
    """Return delta for UGapEc (c = 1/2), which bounds its error probability where a cap does not end episodes early.

    Args:
        means: ``(..., K)`` true means of rewards in [0, b], or of (b / 2)-sub-Gaussian rewards.
        cap: Pulls that end an episode, ``(...)`` or one number.
        delta: Confidence, strictly between 0 and 1, ``(...)`` or one number.
        m: Number of best arms to find, in 1..K-1.
        epsilon: Simple regret that is allowed, at least 0.
        b: ``(...)`` or one number.

    Returns:
        ``(...)`` bounds; NaN where the cap is below :func:`ugapec_sample_complexity`.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), Theorem 2.
    """
    enough = ugapec_sample_complexity(means, delta, m, epsilon, b) <= budgets(cap)
    return np.where(enough, confidence(delta), np.nan)


def exponential_bound(factor: AnyArray | float, exponent: FloatArray, enough: BoolArray) -> FloatArray:
    """Return factor x exp(-exponent) where the budget is large enough, else NaN."""
    with np.errstate(under="ignore", over="ignore"):
        return np.where(enough, factor * np.exp(-exponent), np.nan)
