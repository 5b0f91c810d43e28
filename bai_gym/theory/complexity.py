"""Gaps and complexity measures, on arrays ``(..., K)``."""

from __future__ import annotations

import numpy as np

from bai_gym.errors import BudgetError
from bai_gym.statistics import FloatArray

__all__ = ["gape_complexity", "gape_v_complexity", "gaps", "reward_bound"]


def gaps(means: FloatArray) -> FloatArray:
    """Return each arm's distance to the best of the other arms.

    For a suboptimal arm that is the best mean minus its own; for the best arm the best minus the second best.

    Args:
        means: ``(..., K)`` means, K at least 2.

    Returns:
        ``(..., K)`` gaps, at least 0; 0 exactly for arms tied for the best.
    """
    top_two = np.partition(means, -2, axis=-1)[..., -2:]
    best, second = top_two[..., 1:], top_two[..., :1]
    return np.where(means == best, best - second, best - means)


def gape_complexity(means: FloatArray, bound: FloatArray) -> FloatArray:
    """Return H, the sum over arms of b^2 / gap^2.

    Args:
        means: ``(..., K)`` true means.
        bound: ``(...)`` b: rewards lie in [0, b].

    Returns:
        ``(...)`` complexity; infinite where two arms share the best mean.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 1, for one bandit.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.sum(bound[..., None] ** 2 / gaps(means) ** 2, axis=-1))


def gape_v_complexity(means: FloatArray, variances: FloatArray, bound: FloatArray) -> FloatArray:
    """Return the variance-aware H: the sum of (sigma + sqrt(sigma^2 + (16/3) b gap))^2 / gap^2.

    Args:
        means: ``(..., K)`` true means.
        variances: ``(..., K)`` true variances.
        bound: ``(...)`` b: rewards lie in [0, b].

    Returns:
        ``(...)`` complexity; infinite where two arms share the best mean.

    Source: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), Theorem 2, for one bandit.
    """
    gap = gaps(means)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(variances) + np.sqrt(variances + (16.0 / 3.0) * bound[..., None] * gap)
        terms = np.where(gap > 0, root**2 / gap**2, np.inf)
    return np.asarray(terms.sum(axis=-1))


def reward_bound(means: FloatArray, variances: FloatArray, budget: int) -> FloatArray:
    """Return b, the largest of mean + sigma sqrt(log budget) over the arms.

    With high probability it exceeds all of ``budget`` Gaussian rewards, and stands in for the bound of rewards that
    have none.

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
