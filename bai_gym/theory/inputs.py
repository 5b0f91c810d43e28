"""Checks of the arguments of complexities and bounds; each returns an array, or raises an error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym import validation
from bai_gym.errors import BudgetError, InstanceError, ParameterError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["arms", "arms_and_budgets", "budgets", "confidence", "spreads", "split"]


def arms(means: ArrayLike, num_bandits: int = 1) -> FloatArray:
    """Return ``(..., K)`` means, finite and of at least two arms in each of ``num_bandits`` bandits."""
    array = validation.array(means, "means", finite=False)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise InstanceError(f"means have shape {array.shape}: the last axis holds the arms, at least 2")
    if not np.isfinite(array).all():
        raise InstanceError("means must be finite numbers")
    split(array, num_bandits)
    return array


def spreads(variances: ArrayLike, means: FloatArray) -> FloatArray:
    """Return variances, finite and at least 0, that go with the means: ``(..., K)``, or one number for all arms."""
    array = validation.array(variances, "variances", least=0, error=InstanceError)
    if array.ndim and array.shape[-1] not in (1, means.shape[-1]):
        raise InstanceError(f"there are {array.shape[-1]} variances and {means.shape[-1]} means: give one for each arm")
    return np.broadcast_to(array, (*array.shape[:-1], means.shape[-1]))


def split(values: FloatArray, num_bandits: int) -> FloatArray:
    """Return arms of M bandits, stored one after another as ``(..., M K)``, in the form ``(..., M, K)``."""
    num_bandits = validation.integer(num_bandits, "num_bandits", least=1)
    size, rest = divmod(values.shape[-1], num_bandits)
    if rest or size < 2:
        raise ParameterError(f"{values.shape[-1]} arms do not make {num_bandits} bandits of equally many, at least 2")
    return values.reshape(*values.shape[:-1], num_bandits, size)


def budgets(budget: ArrayLike) -> IntArray:
    """Return budgets: integers of at least 1, any shape."""
    array = np.asarray(budget)
    if array.dtype.kind not in "iu":
        raise BudgetError(f"budget must be an integer, not of type {array.dtype}")
    if (array < 1).any():
        raise BudgetError(f"budget must be at least 1, not {array.min()}")
    return array.astype(np.int64)


def arms_and_budgets(means: ArrayLike, budget: ArrayLike) -> tuple[FloatArray, IntArray, int]:
    """Return ``(..., K)`` means, budgets of any shape, and K."""
    array = arms(means)
    return array, budgets(budget), array.shape[-1]


def confidence(delta: ArrayLike) -> FloatArray:
    """Return delta, strictly between 0 and 1."""
    array = validation.array(delta, "delta", finite=False)
    if not ((array > 0) & (array < 1)).all():
        raise ParameterError(f"delta must be strictly between 0 and 1, not {delta!r}")
    return array
