"""Bounds on the error probability of thresholding agents: some arm is on the wrong side, for rewards in [0, 1].

They are those of Table 1 of Mukherjee et al. (2017). All are far above 1 on the experiments of that paper.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.statistics import FloatArray
from bai_gym.theory.gap_bounds import exponential_bound
from bai_gym.theory.inputs import arms_and_budgets
from bai_gym.theory.thresholding import threshold_h1, threshold_h2, threshold_sigma_h1, threshold_sigma_h2

__all__ = ["apt_bound", "augucb_bound", "csar_bound", "ucbev_bound"]


def augucb_bound(means: ArrayLike, variances: ArrayLike, threshold: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 4 K n exp(-n / (4096 log(K log K) H_sigma,2)) for AugUCB with rho = 1/3.

    Theorem 3.1 prints 2 K n; its proof ends with 4 K n, which is taken here.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        variances: ``(..., K)`` true variances, or one number.
        threshold: ``(...)`` or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for K < 4 or n < K. (The proof also supposes that no gap is
        below sqrt(K log(K) / n), which the theorem does not state.)

    Raises:
        ParameterError: If an argument is malformed.

    Source: Mukherjee et al. (2017), Theorem 3.1 and its proof.
    """
    mu, n, size = arms_and_budgets(means, budget)
    complexity = threshold_sigma_h2(mu, variances, threshold)
    # For K < 4 the outer logarithm may be negative; the result is not used.
    scale = 4096.0 * np.log(max(size, 4) * np.log(max(size, 4)))
    return exponential_bound(4.0 * size * n, n / (scale * complexity), (n >= size) & (size >= 4))


def ucbev_bound(means: ArrayLike, variances: ArrayLike, threshold: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return 6 K n exp(-(n - 2K) / (512 H_sigma,1)) for UCBEV-T.

    The form is that of GapE-V (Gabillon et al. 2011, Theorem 2) with |mean - threshold| for the gaps. Mukherjee et al.
    print it with an H_sigma,1 whose numerators are not squared, and for an index without variances; no proof is given.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        variances: ``(..., K)`` true variances, or one number.
        threshold: ``(...)`` or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < 2K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Mukherjee et al. (2017), Table 1.
    """
    mu, n, size = arms_and_budgets(means, budget)
    complexity = threshold_sigma_h1(mu, variances, threshold)
    return exponential_bound(6.0 * size * n, (n - 2 * size) / (512.0 * complexity), n >= 2 * size)


def apt_bound(means: ArrayLike, threshold: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return (K (log n + 1))^2 exp(-n / (64 H_1)) for APT with an epsilon of 0, as Mukherjee et al. print it.

    That is for rewards that are 1-sub-Gaussian; those in [0, 1] are 1/2-sub-Gaussian.

    Args:
        means: ``(..., K)`` true means of 1-sub-Gaussian rewards.
        threshold: ``(...)`` or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n < 2K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Locatelli, Gutzeit and Carpentier (2016), Theorem 2.
    """
    mu, n, size = arms_and_budgets(means, budget)
    factor = (size * (np.log(n) + 1.0)) ** 2
    return exponential_bound(factor, n / (64.0 * threshold_h1(mu, threshold)), n >= 2 * size)


def csar_bound(means: ArrayLike, threshold: ArrayLike, budget: ArrayLike) -> FloatArray:
    """Return K^2 exp(-(n - K) / (72 log(K) H_CSAR,2)) for CSAR.

    It is implied by the sharper K^2 exp(-(n - K) / (2 (1 + 1/2 + ... + 1/K) H_CSAR,2)): if arm i is deactivated in
    phase k on the wrong side, then i or an active arm of gap at least gap_(K+1-k) is off by half of that gap, at T_k
    pulls or more.

    Args:
        means: ``(..., K)`` true means of rewards in [0, 1].
        threshold: ``(...)`` or one number.
        budget: n, ``(...)`` or one number.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n <= K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Chen et al. (2014), as in Mukherjee et al. (2017), Table 1.
    """
    mu, n, size = arms_and_budgets(means, budget)
    exponent = (n - size) / (72.0 * np.log(size) * threshold_h2(mu, threshold))
    return exponential_bound(size**2, exponent, n > size)
