"""Checks of the arguments of complexities and bounds; each returns an array, or raises an error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.designs.inputs import floats
from bai_gym.errors import BudgetError, InstanceError, ParameterError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["arms", "at_least_zero", "budgets", "confidence", "positive", "spreads", "split", "whole"]


def arms(means: ArrayLike, num_bandits: int = 1) -> FloatArray:
    """Return ``(..., K)`` means, finite and of at least two arms in each of ``num_bandits`` bandits."""
    array = floats("means", means)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise InstanceError(f"means have shape {array.shape}: the last axis holds the arms, at least 2")
    if not np.isfinite(array).all():
        raise InstanceError("means must be finite numbers")
    split(array, num_bandits)
    return array


def spreads(variances: ArrayLike, means: FloatArray) -> FloatArray:
    """Return variances, finite and at least 0, of the shape of the means: ``(..., K)``, or one number for all arms."""
    array = floats("variances", variances)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise InstanceError("variances must be finite numbers of at least 0")
    if array.ndim and array.shape[-1] not in (1, means.shape[-1]):
        raise InstanceError(f"there are {array.shape[-1]} variances and {means.shape[-1]} means: give one for each arm")
    return np.broadcast_to(array, (*array.shape[:-1], means.shape[-1]))


def split(values: FloatArray, num_bandits: int) -> FloatArray:
    """Return arms of M bandits, stored one after another as ``(..., M K)``, in the form ``(..., M, K)``."""
    if not isinstance(num_bandits, int | np.integer) or num_bandits < 1:
        raise ParameterError(f"num_bandits must be a whole number of at least 1, not {num_bandits!r}")
    size, rest = divmod(values.shape[-1], num_bandits)
    if rest or size < 2:
        raise ParameterError(f"{values.shape[-1]} arms do not make {num_bandits} bandits of equally many, at least 2")
    return values.reshape(*values.shape[:-1], num_bandits, size)


def budgets(budget: ArrayLike) -> IntArray:
    """Return budgets: whole numbers of at least 1, any shape."""
    array = np.asarray(budget)
    if array.dtype.kind not in "iu":
        raise BudgetError(f"budget must be a whole number (an integer), not of type {array.dtype}")
    if (array < 1).any():
        raise BudgetError(f"budget must be at least 1, not {array.min()}")
    return array.astype(np.int64)


def confidence(delta: ArrayLike) -> FloatArray:
    """Return delta, strictly between 0 and 1."""
    array = floats("delta", delta)
    if not ((array > 0) & (array < 1)).all():
        raise ParameterError(f"delta must be strictly between 0 and 1, not {delta!r}")
    return array


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Return a positive finite number, or an array of them."""
    array = floats(name, value)
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise ParameterError(f"{name} must be a positive number, not {value!r}")
    return array


def at_least_zero(name: str, value: ArrayLike) -> FloatArray:
    """Return a finite number of at least 0, or an array of them."""
    array = floats(name, value)
    if not (np.isfinite(array).all() and (array >= 0).all()):
        raise ParameterError(f"{name} must be a number of at least 0, not {value!r}")
    return array


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Return a whole number in ``least``..``most``."""
    if not isinstance(value, int | np.integer) or value < least or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"in {least}..{most}"
        raise ParameterError(f"{name} must be a whole number {allowed}, not {value!r}")
    return int(value)
