"""Gaps and complexity measures of thresholding, on arrays ``(..., K)``.

Each arm is classified separately, so there is no best arm whose gap counts twice: a sum over arms is at most
1 + 1/2 + ... + 1/K times the ranked maximum. Mukherjee et al. (2017), section 3, print three smaller factors, which do
not hold: gaps with gap_(i)^2 = i have H_1 = 1 + 1/2 + ... + 1/K and H_2 = 1, while their log K, and for K <= 4 their
log(2K), and always their 1/2 + 1/2 + 1/3 + ... + 1/K, are less than that sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.statistics import FloatArray
from bai_gym.theory.complexity import hardness, ranked_maximum
from bai_gym.theory.inputs import arms, spreads
from bai_gym.validation import array

__all__ = ["threshold_gaps", "threshold_h1", "threshold_h2", "threshold_sigma_h1", "threshold_sigma_h2"]


def threshold_gaps(means: ArrayLike, threshold: ArrayLike) -> FloatArray:
    """Return |mean - threshold| of each arm.

    Args:
        means: ``(..., K)`` true means.
        threshold: ``(...)`` or one number, in the unit of rewards.

    Returns:
        ``(..., K)`` gaps, at least 0.

    Raises:
        ParameterError: If the threshold is not a finite number.
    """
    border = array(threshold, "threshold")
    return np.abs(arms(means) - border[..., None])


def threshold_h1(means: ArrayLike, threshold: ArrayLike, epsilon: float = 0.0) -> FloatArray:
    """Return H_1, the sum over arms of 1 / (gap + epsilon)^2.

    Args:
        means: ``(..., K)`` true means.
        threshold: ``(...)`` or one number.
        epsilon: Arms within epsilon of the threshold may be misclassified, at least 0; as in APT.

    Returns:
        ``(...)`` complexity; infinite where epsilon is 0 and an arm lies on the threshold.

    Raises:
        ParameterError: If the threshold or epsilon is out of range.

    Source: Locatelli, Gutzeit and Carpentier (2016), equation 2; Mukherjee et al. (2017), section 3.
    """
    return np.asarray(hardness(threshold_gaps(means, threshold) + array(epsilon, "epsilon", least=0)).sum(axis=-1))


def threshold_h2(means: ArrayLike, threshold: ArrayLike) -> FloatArray:
    """Return H_CSAR,2, the maximum over i of i / gap_(i)^2, the gaps in ascending order.

    The H_2 that Mukherjee et al. print beside it, with a minimum, is taken for the same: with the minimum, H_1 exceeds
    H_2 by any factor (let one gap go to 0), against the inequality that they quote.

    Args:
        means: ``(..., K)`` true means.
        threshold: ``(...)`` or one number.

    Returns:
        ``(...)`` complexity; infinite where an arm lies on the threshold.

    Raises:
        ParameterError: If the threshold is not a finite number.

    Source: Chen et al. (2014); Mukherjee et al. (2017), section 3.
    """
    return ranked_maximum(hardness(threshold_gaps(means, threshold)))


def threshold_sigma_h1(
    means: ArrayLike, variances: ArrayLike, threshold: ArrayLike, *, squared: bool = False
) -> FloatArray:
    """Return H_sigma,1, the sum over arms of (sigma + sqrt(sigma^2 + (16/3) gap)) / gap^2.

    Args:
        means: ``(..., K)`` true means.
        variances: ``(..., K)`` true variances, or one number.
        threshold: ``(...)`` or one number.
        squared: False (default): as Mukherjee et al. print it. True: the numerator squared, as in the source they cite,
            Theorem 2 of Gabillon et al. (2011).

    Returns:
        ``(...)`` complexity; infinite where an arm lies on the threshold.

    Raises:
        ParameterError: If a parameter is out of range.

    Source: Mukherjee et al. (2017), section 3.
    """
    return np.asarray(_sigma_terms(means, variances, threshold, squared).sum(axis=-1))


def threshold_sigma_h2(means: ArrayLike, variances: ArrayLike, threshold: ArrayLike) -> FloatArray:
    """Return H_sigma,2, the maximum over i of i / d_(i)^2, where d^2 = gap^2 / (sigma + sqrt(sigma^2 + (16/3) gap)).

    The d are in ascending order.

    H_sigma,2 <= H_sigma,1 <= (1 + 1/2 + ... + 1/K) H_sigma,2, with the unsquared H_sigma,1.

    Args:
        means: ``(..., K)`` true means.
        variances: ``(..., K)`` true variances, or one number.
        threshold: ``(...)`` or one number.

    Returns:
        ``(...)`` complexity; infinite where an arm lies on the threshold.

    Raises:
        ParameterError: If a parameter is out of range.

    Source: Mukherjee et al. (2017), section 3.
    """
    return ranked_maximum(_sigma_terms(means, variances, threshold, False))


def _sigma_terms(means: ArrayLike, variances: ArrayLike, threshold: ArrayLike, squared: bool) -> FloatArray:
    gap = threshold_gaps(means, threshold)
    variance = spreads(variances, gap)
    root = np.sqrt(variance) + np.sqrt(variance + (16.0 / 3.0) * gap)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(gap > 0, (root**2 if squared else root) / gap**2, np.inf)
