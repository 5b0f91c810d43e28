"""Ranking and selection with an indifference zone: how many pulls of every arm are enough.

The best mean is assumed to exceed all others by at least the width of the zone. Then the arm of largest sample mean is
the best one with the probability asked for, whatever the means are.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv, ndtr, roots_hermitenorm

from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer, probability, real

__all__ = ["bechhofer_constant", "bechhofer_pulls", "rinott_constant"]

NODES = 200  # of the quadratures, whose errors are below 1e-8 then
LARGEST = 1e100  # in any unit; its square is a float, and so is that of its inverse
MOST_ROOT = 1e9  # its square is the largest number of pulls


def bechhofer_constant(num_arms: int, confidence: float) -> float:
    """Return h with P(the best of K means is the largest, h standard errors above the others) = confidence.

    It solves E[Phi(X + h)^(K - 1)] = confidence, X standard normal.

    Args:
        num_arms: K, at least 2.
        confidence: Probability of a correct selection, between 1/K and 1.

    Raises:
        ParameterError: If an argument is out of range.

    Source: Bechhofer (1954), "A Single-Sample Multiple Decision Procedure for Ranking Means of Normal Populations with
    Known Variances". Tables of h / sqrt(2) are as common.
    """
    integer(num_arms, "num_arms", least=2)
    _check_confidence(confidence, num_arms)
    points, weights = roots_hermitenorm(NODES)
    weights = weights / math.sqrt(2.0 * math.pi)

    def excess(h: float) -> float:
        return float(weights @ ndtr(points + h) ** (num_arms - 1)) - confidence

    return float(brentq(excess, 0.0, 40.0, xtol=1e-10))


def bechhofer_pulls(num_arms: int, confidence: float, zone: float, deviation: float) -> int:
    """Return the pulls of every arm by Bechhofer's procedure, ceil((h sigma / delta)^2).

    Args:
        num_arms: K, at least 2.
        confidence: Probability of a correct selection, between 1/K and 1.
        zone: delta, by which the best mean exceeds all others at least; 1e-100 to 1e100, in the unit of the reward.
        deviation: Common standard deviation sigma of the rewards; 1e-100 to 1e100.

    Raises:
        ParameterError: If an argument is out of range, or more than 1e18 pulls of every arm would be needed.
    """
    zone = real(zone, "zone", least=1 / LARGEST, most=LARGEST)
    deviation = real(deviation, "deviation", least=1 / LARGEST, most=LARGEST)
    root = bechhofer_constant(num_arms, confidence) * deviation / zone
    if root > MOST_ROOT:
        raise ParameterError(
            f"zone {zone:g} is so small beside a deviation of {deviation:g} that every arm would need more than "
            f"{MOST_ROOT**2:.0e} pulls; give a larger zone"
        )
    return max(math.ceil(root**2), 1)


@cache
def rinott_constant(num_arms: int, confidence: float, first_pulls: int) -> float:
    """Return the h of Rinott's two-stage procedure.

    With nu = n_0 - 1 and X, Y independent chi-square variables of nu degrees of freedom, it solves
    E_Y[E_X[Phi(h / sqrt(nu (1/X + 1/Y)))]^(K - 1)] = confidence.

    Args:
        num_arms: K, at least 2.
        confidence: Probability of a correct selection, between 1/K and 1.
        first_pulls: n_0 of every arm in the first stage, at least 2.

    Raises:
        ParameterError: If an argument is out of range.

    Source: Rinott (1978), "On two-stage selection procedures and related probability-inequalities".
    """
    integer(num_arms, "num_arms", least=2)
    _check_confidence(confidence, num_arms)
    freedom = integer(first_pulls, "first_pulls", least=2) - 1
    chances, weights = _crowded_nodes()
    inverse: FloatArray = 0.5 / gammaincinv(freedom / 2, chances)  # of chi-squared quantiles
    spread = np.sqrt(freedom * (inverse[:, None] + inverse))

    def excess(h: float) -> float:
        inner = ndtr(h / spread) @ weights
        return float(weights @ inner ** (num_arms - 1)) - confidence

    return float(brentq(excess, 0.0, 1e4, xtol=1e-10))


def _crowded_nodes() -> tuple[FloatArray, FloatArray]:
    """Return chances between 0 and 1, and their weights, of a mean over a distribution with these quantiles.

    The nodes crowd at both ends, where the distribution has its tails.
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    u = 0.5 * (nodes + 1.0)
    chances, slopes = u**3 * (10.0 - 15.0 * u + 6.0 * u**2), 30.0 * (u * (1.0 - u)) ** 2
    return chances, 0.5 * weights * slopes


def _check_confidence(confidence: float, num_arms: int) -> None:
    probability(confidence, "confidence")
    if confidence <= 1.0 / num_arms:
        raise ParameterError(f"confidence must be above 1/K = {1.0 / num_arms:g}, that of a guess, not {confidence}")
