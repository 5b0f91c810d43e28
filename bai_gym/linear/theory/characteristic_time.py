"""The characteristic time T* of linear best-arm identification with fixed confidence, with a certificate.

Every algorithm that errs with probability at most delta takes at least kl(delta, 1 - delta) T* pulls on average, where

    T* = 2 sigma^2 min over w of max over z of ||z* - z||^2 / (theta^T (z* - z))^2, in the norm of A(w)^-1,

w being a distribution over the arms x_k, A(w) = sum w_k x_k x_k^T, z* the best candidate and z every other one. The
candidates are the arms themselves, or others that cannot be pulled (transductive identification).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import InstanceError
from bai_gym.linear.designs import minimax_design
from bai_gym.statistics import FloatArray
from bai_gym.validation import array, real

__all__ = ["LinearTime", "linear_characteristic_time"]


@dataclass(frozen=True, slots=True)
class LinearTime:
    """The characteristic time of a linear instance.

    Attributes:
        time: T*, attained by the weights: at most the relative tolerance above the true one.
        lower: The certificate: the true T* is at least this.
        weights: ``(K,)`` proportions of pulls that attain the time.
    """

    time: float
    lower: float
    weights: FloatArray


def linear_characteristic_time(
    features: ArrayLike,
    theta: ArrayLike,
    noise_variance: float = 1.0,
    *,
    candidates: ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> LinearTime:
    """Return T*, the pulls per unit of kl(delta, 1 - delta) that the best algorithm takes on average for small delta.

    Args:
        features: ``(K, d)`` features of the arms that may be pulled.
        theta: ``(d,)`` true parameter: the arm x has the mean x^T theta.
        noise_variance: sigma^2 of Gaussian rewards, positive.
        candidates: ``(m, d)`` what may be recommended; None: the arms. Equal candidates count as one.
        tolerance: Relative distance of T* to its lower bound, positive.

    Returns:
        The time, infinite where two different candidates share the best mean, or pulls cannot tell two candidates
        apart; 0 where there is one candidate.

    Raises:
        InstanceError: If features, theta or candidates are malformed.
        ParameterError: If a number is outside its range.

    Source: Soare, Lazaric and Munos (2014), "Best-Arm Identification in Linear Bandits", section 2, and Fiez, Jain,
    Jamieson and Ratliff (2019), Theorem 1, whose rho* is T* / (2 sigma^2).
    """
    x = array(features, "features", error=InstanceError)
    z = x if candidates is None else array(candidates, "candidates", error=InstanceError)
    parameter = array(theta, "theta", error=InstanceError)
    if x.ndim != 2 or z.ndim != 2 or parameter.shape != x.shape[1:] or z.shape[1:] != x.shape[1:]:
        raise InstanceError(
            f"features, candidates and theta have shapes {x.shape}, {z.shape} and {parameter.shape}: give (K, d), "
            "(m, d) and (d,)"
        )
    variance = real(noise_variance, "noise_variance", above=0)
    different = np.unique(z, axis=0)
    means = (different * parameter).sum(axis=1)
    best = int(means.argmax())
    others = np.arange(len(different)) != best
    gaps = (means[best] - means)[others]
    if (gaps <= 0.0).any():
        return LinearTime(np.inf, np.inf, np.full(len(x), 1.0 / len(x)))
    directions = (different[best] - different)[others] / gaps[:, None]
    design = minimax_design(x, directions, tolerance=tolerance)
    return LinearTime(2.0 * variance * design.value, 2.0 * variance * design.lower, design.weights)
