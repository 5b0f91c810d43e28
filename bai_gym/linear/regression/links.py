"""Links of generalized linear models: the mean reward as a function of the score z = x^T theta, with its likelihood."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, ndtri
from typing_extensions import override

from bai_gym.statistics import BoolArray, FloatArray

__all__ = ["LINKS", "LINK_NAMES", "Link"]

FAR = -1e4  # scores below which the curvature of log Phi is 1 up to 1e-8, and its formula loses digits


class Link(ABC):
    """The log-likelihood of one pull with score z, as a function of its reward, or of the mean of several.

    It is concave in z for each of them.

    Attributes:
        smallest, largest: Bounds of rewards, and so of means.
        range: The same as text.
    """

    smallest: ClassVar[float] = 0.0
    largest: ClassVar[float] = 1.0
    range: ClassVar[str] = "[0, 1]"

    def allows(self, rewards: FloatArray, slack: FloatArray | float = 0.0) -> BoolArray:
        """Return which rewards, or means of rewards, lie within the bounds."""
        return np.asarray((rewards >= self.smallest - slack) & (rewards <= self.largest + slack))

    @abstractmethod
    def log_likelihood(self, z: FloatArray, means: FloatArray) -> FloatArray:
        """Return the log-likelihood, up to a constant; -inf or NaN where z is beyond floats."""

    @abstractmethod
    def slopes(self, z: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the first derivative, and minus the second one, which is at least 0."""

    @abstractmethod
    def guess(self, means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the score that an arm's own rewards suggest, half a reward added, and its weight per pull."""


class Identity(Link):
    """Any rewards, mean z: Gaussian with variance 1."""

    smallest, largest, range = -math.inf, math.inf, "(-infinity, infinity)"

    @override
    def log_likelihood(self, z: FloatArray, means: FloatArray) -> FloatArray:
        """Return -(m - z)^2 / 2."""
        return np.asarray(-0.5 * (means - z) ** 2)

    @override
    def slopes(self, z: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return m - z and 1."""
        return means - z, np.ones_like(z)

    @override
    def guess(self, means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
        return means, np.ones_like(means)


class Logit(Link):
    """Rewards 0 and 1, mean 1 / (1 + exp(-z)): logistic regression."""

    @override
    def log_likelihood(self, z: FloatArray, means: FloatArray) -> FloatArray:
        """Return m log p + (1 - m) log(1 - p), without cancellation in either tail."""
        return np.asarray(-np.log1p(np.exp(-np.abs(z))) - np.abs(z) * np.where(z > 0, 1.0 - means, means))

    @override
    def slopes(self, z: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return m - p and p (1 - p)."""
        p, q = expit(z), expit(-z)
        return means * q - (1.0 - means) * p, p * q

    @override
    def guess(self, means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return empirical logits."""
        p, q = _shrunk(means, pulls)
        return np.log(p / q), p * q


class Probit(Link):
    """Rewards 0 and 1, mean Phi(z), the normal distribution function."""

    @override
    def log_likelihood(self, z: FloatArray, means: FloatArray) -> FloatArray:
        """Return m log p + (1 - m) log(1 - p)."""
        return np.asarray(means * log_ndtr(z) + (1.0 - means) * log_ndtr(-z))

    @override
    def slopes(self, z: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives, from phi / Phi in both tails."""
        up, down = _hazard(z), _hazard(-z)
        return means * up - (1.0 - means) * down, means * _bend(z, up) + (1.0 - means) * _bend(-z, down)

    @override
    def guess(self, means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return empirical probits, with the weights of Fisher's information."""
        p, q = _shrunk(means, pulls)
        z = np.where(p < q, ndtri(p), -ndtri(q))
        return z, np.exp(-z * z) / (2.0 * math.pi * p * q)


class Log(Link):
    """Rewards 0, 1, 2, ..., mean exp(z): Poisson regression."""

    largest, range = math.inf, "[0, infinity)"

    @override
    def log_likelihood(self, z: FloatArray, means: FloatArray) -> FloatArray:
        """Return m z - exp(z), less its maximum: a sum of such terms, none of which is positive, has few errors."""
        some = means > 0
        with np.errstate(over="ignore", invalid="ignore"):
            above = z - np.log(np.where(some, means, 1.0))
            return np.asarray(np.where(some, means * (above - np.expm1(above)), -np.exp(z)))

    @override
    def slopes(self, z: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return m - exp(z) and exp(z)."""
        with np.errstate(over="ignore"):
            rate = np.exp(z)
        return means - rate, rate

    @override
    def guess(self, means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of means."""
        rate = (means * pulls + 0.5) / (pulls + 1.0)
        return np.log(rate), rate


def _shrunk(means: FloatArray, pulls: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (S + 1/2) / (T + 1) and what it lacks of 1, S being successes."""
    return (means * pulls + 0.5) / (pulls + 1.0), ((1.0 - means) * pulls + 0.5) / (pulls + 1.0)


def _hazard(z: FloatArray) -> FloatArray:
    """Return phi(z) / Phi(z), the derivative of log Phi, exact in both tails."""
    return np.asarray(math.sqrt(2.0 / math.pi) / erfcx(-z / math.sqrt(2.0)))


def _bend(z: FloatArray, hazard: FloatArray) -> FloatArray:
    """Return minus the second derivative of log Phi, which lies in (0, 1)."""
    return np.asarray(np.where(z < FAR, 1.0, np.clip(hazard * (z + hazard), 0.0, 1.0)))


LINKS = {"identity": Identity(), "logit": Logit(), "probit": Probit(), "log": Log()}

LINK_NAMES = tuple(LINKS)
"""The links of :func:`bai_gym.linear.regression.generalized_linear`."""
