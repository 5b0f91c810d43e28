"""Checks of the arguments of regressions; each returns arrays, or raises an error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym import validation
from bai_gym.errors import ParameterError
from bai_gym.linear.designs.inputs import feature_array
from bai_gym.linear.regression.links import LINKS, Link
from bai_gym.statistics import ROUNDING, FloatArray, IntArray

__all__ = ["Data", "exponents", "find_link", "grouped"]

NUMBERS = "an array of numbers"


@dataclass(frozen=True, slots=True)
class Data:
    """Checked data of N instances, in units in which nothing overflows.

    Attributes:
        features: ``(N, K, d)``, in units of 2^unit: the largest entry of an instance lies in [0.5, 1), or is 0.
        unit: ``(N,)`` exponents of the unit of the features.
        pulls: ``(N, K)`` as they were given.
        weights: ``(N, K)`` pulls over ``most``: at most 1.
        most: ``(N,)`` the largest number of pulls of an arm; 1 where there are none.
        means: ``(N, K)``; 0 for arms without a pull.
        outer: The axes before those of the arms.
    """

    features: FloatArray
    unit: IntArray
    pulls: FloatArray
    weights: FloatArray
    most: FloatArray
    means: FloatArray
    outer: tuple[int, ...]

    def select(self, rows: IntArray) -> Data:
        """Return the data of some instances; its outer axes are meaningless."""
        return Data(
            self.features[rows],
            self.unit[rows],
            self.pulls[rows],
            self.weights[rows],
            self.most[rows],
            self.means[rows],
            (len(rows),),
        )


def grouped(features: ArrayLike, pulls: ArrayLike, means: ArrayLike) -> Data:
    """Return data grouped by arm, broadcast."""
    x = feature_array(features)
    times = validation.array(pulls, "pulls", least=0)
    averages = validation.array(means, "means", finite=False, kind=NUMBERS)
    num_arms = x.shape[-2]
    for name, array in (("pulls", times), ("means", averages)):
        if array.ndim == 0 or array.shape[-1] != num_arms:
            raise ParameterError(f"{name} have shape {array.shape}: there are {num_arms} arms, give a number for each")
    try:
        outer = np.broadcast_shapes(x.shape[:-2], times.shape[:-1], averages.shape[:-1])
    except ValueError:
        shapes = f"features {x.shape}, pulls {times.shape}, means {averages.shape}"
        raise ParameterError(f"{shapes}: the leading axes must broadcast") from None
    size = math.prod(outer)
    times, averages = (
        np.broadcast_to(array, (*outer, num_arms)).reshape(size, num_arms) for array in (times, averages)
    )
    averages = np.where(times > 0, averages, 0.0)
    if not np.isfinite(averages).all():
        wrong = averages[~np.isfinite(averages)][0]
        raise ParameterError(f"means must be finite numbers, not {wrong}; those of arms without a pull are not read")
    x = np.broadcast_to(x, (*outer, *x.shape[-2:])).reshape(size, *x.shape[-2:])
    unit = exponents(x.reshape(size, x.shape[-2] * x.shape[-1]))
    largest = times.max(axis=-1, initial=0.0)
    most = np.where(largest > 0, largest, 1.0)
    return Data(np.ldexp(x, -unit[:, None, None]), unit, times, times / most[:, None], most, averages, outer)


def exponents(values: FloatArray) -> IntArray:
    """Return ``(N,)`` the exponents e for which the largest of ``(N, k)`` values over 2^e lies in [0.5, 1)."""
    return np.asarray(np.frexp(np.abs(values).max(axis=-1, initial=0.0))[1])


def find_link(name: str, data: Data) -> Link:
    """Return the link of that name, and check that it allows the means."""
    link, means = LINKS[validation.choice(name, LINKS, "link")], data.means
    allowed = link.allows(means, ROUNDING)
    if not allowed.all():
        raise ParameterError(
            f"means must lie in {link.range} for the link {name!r}, and one is {means[~allowed][0]:g}: "
            "use link='identity' for other rewards"
        )
    return link
