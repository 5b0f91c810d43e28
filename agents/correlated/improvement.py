"""Expected improvements of normal variables, as logarithms."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, ndtr

from bai_gym.statistics import FloatArray

__all__ = ["log_improvement"]

FAR = -1e4  # below it, what is left out of the series is less than rounding
LOG_ROOT = 0.5 * math.log(2.0 * math.pi)


def log_improvement(excess: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return log E max(X, 0) for normal X.

    With z = excess / deviation that is log deviation + log(phi(z) + z Phi(z)). For z below -1 the two terms cancel, and
    phi(z) (1 - |z| Phi(z) / phi(z)) is computed with the scaled complementary error function; far out with the first
    term of its series, 1 / z^2. (Ament et al. 2023, "Unexpected improvements to expected improvement".)

    Args:
        excess: Means, of any shape.
        deviation: Standard deviations, at least 0, of the same shape.

    Returns:
        Logarithms; -inf where X cannot be above 0.
    """
    certain = deviation <= 0
    with np.errstate(divide="ignore", over="ignore"):
        z = excess / np.where(certain, 1.0, deviation)
        result = np.empty_like(z)
        near = z > -1.0
        result[near] = np.log(_density(z[near]) + z[near] * ndtr(z[near]))
        far = z[~near]
        clipped = np.maximum(far, FAR)
        ratio = math.sqrt(0.5 * math.pi) * erfcx(clipped / -math.sqrt(2.0))
        rest = np.where(far < FAR, far**-2.0, 1.0 + clipped * ratio)
        result[~near] = np.log(rest) - 0.5 * far * far - LOG_ROOT
        result += np.log(np.where(certain, 1.0, deviation))
        return np.where(certain, np.log(np.maximum(excess, 0.0)), result)


def _density(z: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
