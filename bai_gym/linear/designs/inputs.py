"""Checks of the arguments of designs and roundings; each returns arrays, or raises an error."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from bai_gym import validation
from bai_gym.errors import BudgetError, InstanceError, ParameterError
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.theory import inputs

__all__ = [
    "allocations",
    "budgets",
    "designs",
    "feature_array",
    "instances",
    "masks",
]

LARGEST_BUDGET = 10**12  # weight x budget is known to better than one pull
SUM_TOLERANCE = 1e-6  # how far from 1 the weights of a design may add up


def instances(features: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """Return features ``(N, K, d)`` and the outer shape, that of the axes before K."""
    x = feature_array(features)
    outer = x.shape[:-2]
    return x.reshape(math.prod(outer), *x.shape[-2:]), outer


def feature_array(features: ArrayLike) -> FloatArray:
    """Return features ``(..., K, d)``, of at least one arm and dimension."""
    x = validation.array(
        features, "features", finite=False, kind="an array of numbers: one row for each arm", error=InstanceError
    )
    if x.ndim < 2 or 0 in x.shape[-2:]:
        raise InstanceError(f"features have shape {x.shape}: give (..., arms, dimension), with at least one of each")
    if not np.isfinite(x).all():
        raise InstanceError(f"features must be finite numbers, not {x[~np.isfinite(x)][0]}: repair them")
    return x


def masks(candidates: ArrayLike, arms: int) -> BoolArray:
    """Return a mask ``(..., K)`` that leaves at least one arm."""
    mask = np.asarray(candidates)
    if mask.dtype != np.bool_:
        raise ParameterError(f"candidates must be a mask of True and False, not of type {mask.dtype}")
    if mask.ndim == 0 or mask.shape[-1] != arms:
        raise ParameterError(f"candidates have shape {mask.shape}: there are {arms} arms, give one value for each")
    if not mask.any(axis=-1).all():
        raise ParameterError("candidates leave an instance without an arm: give each at least one")
    return mask


def allocations(weights: ArrayLike, arms: int, outer: tuple[int, ...]) -> FloatArray:
    """Return weights or counts of pulls as ``(N, K)``, at least 0."""
    array = _weights(weights)
    if array.shape[-1] != arms:
        raise ParameterError(f"weights have shape {array.shape}: there are {arms} arms, give one weight for each")
    try:
        return np.broadcast_to(array, (*outer, arms)).reshape(math.prod(outer), arms)
    except ValueError:
        raise ParameterError(f"weights have shape {array.shape}: give {(*outer, arms)}, as the features say") from None


def designs(weights: ArrayLike) -> FloatArray:
    """Return ``(..., K)`` weights, at least 0, divided by their sum, which must be 1 but for rounding."""
    array = _weights(weights)
    total = array.sum(axis=-1, keepdims=True)
    if (np.abs(total - 1.0) > SUM_TOLERANCE).any():
        wrong = float(total.flat[np.abs(total - 1.0).argmax()])
        raise ParameterError(f"the weights of a design must add up to 1, not {wrong:g}: divide them by their sum")
    return np.asarray(array / total)


def budgets(budget: ArrayLike) -> IntArray:
    """Return budgets: integers of at least 1, any shape."""
    array = inputs.budgets(budget)
    if (array > LARGEST_BUDGET).any():
        raise BudgetError(f"budget must be at most {LARGEST_BUDGET}, not {array.max()}")
    return array


def _weights(weights: ArrayLike) -> FloatArray:
    array = validation.array(weights, "weights", least=0)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ParameterError(f"weights have shape {array.shape}: the last axis holds the arms, at least one")
    return array
