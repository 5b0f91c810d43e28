"""Gaps and complexity measures of finding the best arm or the m best, on arrays ``(..., K)``.

A complexity is the number of pulls that an instance takes, up to constants and logarithms. It is infinite where the
correct recommendation is not unique, and does not depend on the order of the arms. Several bandits, each with its own
best arm, are given as one array ``(..., M K)`` with ``num_bandits=M``: the K arms of the first bandit, then those of
the second, and so on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import BudgetError
from bai_gym.statistics import FloatArray
from bai_gym.theory.inputs import arms, split, spreads
from bai_gym.validation import array, integer

__all__ = [
    "best_arm_h1",
    "best_arm_h2",
    "gape_complexity",
    "gape_v_complexity",
    "gaps",
    "hardness",
    "log_bar",
    "ranked_maximum",
    "reward_bound",
    "top_gaps",
    "ugape_complexity",
    "ugape_v_complexity",
]


def gaps(means: FloatArray, num_bandits: int = 1) -> FloatArray:
    """Return each arm's distance to the best of the other arms.

    For a suboptimal arm that is the best mean minus its own; for the best arm the best minus the second best.

    Args:
        means: ``(..., K)`` means, K at least 2; ``(..., M K)`` for M bandits.
        num_bandits: M; the other arms are those of the same bandit.

    Returns:
        ``(..., K)`` gaps, at least 0; 0 exactly for arms tied for the best.

    Raises:
        ParameterError: If the arms do not make that many bandits.
    """
    if num_bandits != 1:
        return gaps(split(means, num_bandits)).reshape(means.shape)
    top_two = np.partition(means, -2, axis=-1)[..., -2:]
    best, second = top_two[..., 1:], top_two[..., :1]
    return np.where(means == best, best - second, best - means)


def top_gaps(means: ArrayLike, m: int = 1, num_bandits: int = 1) -> FloatArray:
    """Return each arm's distance to the border between the m best arms and the rest.

    mu_i - mu_(m+1) for the m best arms, mu_(m) - mu_i for the others; with m = 1 the :func:`gaps`.

    Args:
        means: ``(..., K)`` means, or ``(..., M K)`` for M bandits.
        m: Number of best arms, in 1..K-1.
        num_bandits: M.

    Returns:
        Gaps of the shape of the means, at least 0; 0 exactly for arms tied at the border.

    Raises:
        ParameterError: If m is not in 1..K-1, or the arms do not make that many bandits.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), section 2.
    """
    flat = arms(means, num_bandits)
    bandits = split(flat, num_bandits)
    size = bandits.shape[-1]
    integer(m, "m", least=1, most=size - 1)
    border = np.partition(bandits, (size - m - 1, size - m), axis=-1)
    last_in, first_out = border[..., size - m, None], border[..., size - m - 1, None]
    return np.where(bandits >= last_in, bandits - first_out, last_in - bandits).reshape(flat.shape)


def hardness(distances: FloatArray) -> FloatArray:
    """Return 1 / distance^2, elementwise; infinite at 0."""
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        return np.asarray(1.0 / distances**2)


def ranked_maximum(terms: FloatArray) -> FloatArray:
    """Return the largest of i x the i-th largest term, along the last axis.

    At least the largest term; at most the sum, which in turn is at most 1 + 1/2 + ... + 1/K times this.
    """
    return np.asarray(np.max(np.sort(terms, axis=-1)[..., ::-1] * np.arange(1, terms.shape[-1] + 1), axis=-1))


def log_bar(num_arms: int) -> float:
    """Return 1/2 + 1/2 + 1/3 + ... + 1/K, by which H_1 is at most larger than H_2; at most log(2K)."""
    return 0.5 + float(np.sum(1.0 / np.arange(2, num_arms + 1)))


def best_arm_h1(means: ArrayLike) -> FloatArray:
    """Return H_1, the sum of 1 / gap^2 over all arms, the best arm with its gap to the second.

    Args:
        means: ``(..., K)`` true means.

    Returns:
        ``(...)`` complexity; infinite where two arms share the best mean.

    Source: Audibert, Bubeck and Munos (2010), section 2.
    """
    return np.asarray(hardness(gaps(arms(means))).sum(axis=-1))


def best_arm_h2(means: ArrayLike) -> FloatArray:
    """Return H_2, the maximum over i of i / gap_(i)^2, the gaps in ascending order.

    The best arm and the second have the same gap, so i = 1 is never the maximum, and H_2 <= H_1 <= log(2K) H_2.

    Args:
        means: ``(..., K)`` true means.

    Returns:
        ``(...)`` complexity; infinite where two arms share the best mean.

    Source: Audibert, Bubeck and Munos (2010), section 2; Lalitha et al. (2023), equation 2.
    """
    return ranked_maximum(hardness(gaps(arms(means))))


def gape_complexity(means: FloatArray, bound: FloatArray, num_bandits: int = 1) -> FloatArray:
    """Return H, the sum over arms of b^2 / gap^2.

    Args:
        means: ``(..., K)`` true means, or ``(..., M K)`` for M bandits.
        bound: ``(...)`` b: rewards lie in [0, b].
        num_bandits: M.

    Returns:
        ``(...)`` complexity; infinite where two arms of a bandit share the best mean.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 1.
    """
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(np.sum(bound[..., None] ** 2 / gaps(means, num_bandits) ** 2, axis=-1))


def gape_v_complexity(means: FloatArray, variances: FloatArray, bound: FloatArray, num_bandits: int = 1) -> FloatArray:
    """Return the variance-aware H: the sum of (sigma + sqrt(sigma^2 + (16/3) b gap))^2 / gap^2.

    Args:
        means: ``(..., K)`` true means, or ``(..., M K)`` for M bandits.
        variances: True variances, of the same shape.
        bound: ``(...)`` b: rewards lie in [0, b].
        num_bandits: M.

    Returns:
        ``(...)`` complexity; infinite where two arms of a bandit share the best mean.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 2.
    """
    gap = gaps(means, num_bandits)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(variances) + np.sqrt(variances + (16.0 / 3.0) * bound[..., None] * gap)
        terms = np.where(gap > 0, root**2 / gap**2, np.inf)
    return np.asarray(terms.sum(axis=-1))


def ugape_complexity(
    means: ArrayLike, m: int = 1, epsilon: float = 0.0, b: ArrayLike = 1.0, num_bandits: int = 1
) -> FloatArray:
    """Return H_epsilon, the sum over arms of b^2 / max((gap + epsilon) / 2, epsilon)^2.

    At m = 1 and epsilon = 0 it is 4 b^2 H_1. BayesGap uses it with m = 1 and b = 1 (Hoffman et al. 2014, section 4).

    Args:
        means: ``(..., K)`` true means, or ``(..., M K)`` for M bandits, of which the complexities are added up.
        m: Number of best arms to find, in 1..K-1.
        epsilon: Accuracy: how much worse than the m-th best a correct arm may be, at least 0; in the unit of rewards.
        b: ``(...)`` or one number: rewards lie in [0, b].
        num_bandits: M.

    Returns:
        ``(...)`` complexity; infinite where epsilon is 0 and the m best arms are not unique.

    Raises:
        ParameterError: If a parameter is out of range.

    Source: Gabillon, Ghavamzadeh and Lazaric (2012), equation 6.
    """
    terms = hardness(_aims(top_gaps(means, m, num_bandits), epsilon))
    return np.asarray((array(b, "b", above=0)[..., None] ** 2 * terms).sum(axis=-1))


def ugape_v_complexity(
    means: ArrayLike,
    variances: ArrayLike,
    m: int = 1,
    epsilon: float = 0.0,
    b: ArrayLike = 1.0,
    num_bandits: int = 1,
) -> FloatArray:
    """Return the variance-aware H_epsilon: the sum of (sigma + sqrt(sigma^2 + (7/3) b g))^2 / g^2.

    Here g = max((gap + epsilon) / 2, epsilon). An arm whose width sqrt(2 a sigma^2 / T) + (7/3) a b / T is half of g
    has T = 2 a (sigma + sqrt(sigma^2 + (7/3) b g))^2 / g^2 pulls: solve the quadratic equation in sqrt(T). So a = (n -
    2K) / (2 H) spends a budget n. The report on UGapE has constants of its own, which could not be checked.

    Args:
        means: ``(..., K)`` true means, or ``(..., M K)`` for M bandits, of which the complexities are added up.
        variances: True variances, of the same shape, or one number.
        m: Number of best arms to find, in 1..K-1.
        epsilon: Accuracy: how much worse than the m-th best a correct arm may be, at least 0.
        b: ``(...)`` or one number: rewards lie in [0, b].
        num_bandits: M.

    Returns:
        ``(...)`` complexity; infinite where epsilon is 0 and the m best arms are not unique.

    Raises:
        ParameterError: If a parameter is out of range.

    Source: derived here, for the Bernstein widths of Gabillon, Ghavamzadeh and Lazaric (2012), appendix B.
    """
    aims = _aims(top_gaps(means, m, num_bandits), epsilon)
    variance = spreads(variances, aims)
    root = np.sqrt(variance) + np.sqrt(variance + (7.0 / 3.0) * array(b, "b", above=0)[..., None] * aims)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        terms = np.where(aims > 0, (root / aims) ** 2, np.inf)
    return np.asarray(terms.sum(axis=-1))


def reward_bound(means: FloatArray, variances: FloatArray, budget: int) -> FloatArray:
    """Return b, the largest of mean + sigma sqrt(log budget) over the arms.

    With high probability it exceeds all of ``budget`` Gaussian rewards, and serves as the bound of unbounded rewards.

    Args:
        means: ``(..., K)`` true means.
        variances: ``(..., K)`` true variances.
        budget: Total pulls over all arms, at least 1.

    Returns:
        ``(...)`` bounds.

    Raises:
        BudgetError: If the budget is below 1.

    Source: Lalitha et al. (2023), section 5.
    """
    if budget < 1:
        raise BudgetError(f"budget must be at least 1, not {budget}")
    return np.asarray(np.max(means + np.sqrt(variances * np.log(budget)), axis=-1))


def _aims(gap: FloatArray, epsilon: float) -> FloatArray:
    """Return max((gap + epsilon) / 2, epsilon), to which the width of an arm must shrink."""
    tolerance = array(epsilon, "epsilon", least=0)
    return np.maximum((gap + tolerance) / 2.0, tolerance)
