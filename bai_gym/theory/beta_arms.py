"""Bernoulli arms whose means have one Beta prior: posterior means, and probabilities of being the best arm."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from bai_gym.statistics import FloatArray
from bai_gym.validation import real

__all__ = ["BetaArms", "check_prior", "count_nodes"]

LEAST, MOST = 0.1, 1000.0  # range of prior parameters in which the quadrature is accurate
MOST_DEGREE = 1000  # largest degree of polynomials that are integrated exactly
FARTHEST = 6.0  # where the weights of the double exponential rule are about the smallest floats


def check_prior(alpha: float, beta: float) -> tuple[float, float]:
    """Return the parameters of a Beta prior.

    Raises:
        ParameterError: If one is not a number from 0.1 to 1,000.
    """
    low, high = (real(value, name, least=LEAST, most=MOST) for name, value in (("alpha", alpha), ("beta", beta)))
    return low, high


class BetaArms:
    """Posteriors Beta(alpha + successes, beta + failures) of up to ``budget`` pulls of each of K arms.

    Integrals over [0, 1] are sums over nodes. For whole alpha and beta all integrands are polynomials, and the nodes
    are as many of Gauss and Legendre as make the sums exact, up to rounding (1e-13). For others, and for polynomials of
    a degree above 1,000, they are those of the double exponential rule (Takahasi and Mori 1974), for integrands with
    singular ends, dense enough for an accuracy of 1e-10.

    Args:
        num_arms: K.
        budget: n, total pulls of all arms.
        alpha: Positive parameter of the prior.
        beta: Positive parameter of the prior.
    """

    def __init__(self, num_arms: int, budget: int, alpha: float, beta: float) -> None:
        """Tabulate densities and distribution functions at the nodes."""
        self._alpha, self._beta = alpha, beta
        self._num_arms = num_arms
        nodes, others, self._weights = _quadrature(num_arms, budget, alpha, beta)
        # One table per number of pulls T: (T + 1, nodes), a row for each number of successes.
        self._densities, self._masses = [], []
        for pulls in range(budget + 1):
            successes = np.arange(pulls + 1.0)[:, None]
            a, b = alpha + successes, beta + pulls - successes
            logs = special.xlogy(a - 1, nodes) + special.xlogy(b - 1, others) - special.betaln(a, b)
            self._densities.append(np.exp(logs))
            # Near 1 only the distance from it is precise enough, if the density is infinite there.
            mass = np.where(nodes < 0.5, special.betainc(a, b, nodes), 1.0 - special.betainc(b, a, others))
            self._masses.append(mass)

    def success(self, pulls: int) -> FloatArray:
        """Return the posterior mean of an arm after ``pulls`` pulls, ``(pulls + 1,)`` by the number of successes."""
        return (self._alpha + np.arange(pulls + 1.0)) / (self._alpha + self._beta + pulls)

    @property
    def expected_best(self) -> float:
        """Expectation of the largest of the K means."""
        return float(self._weights @ (1.0 - self._masses[0][0] ** self._num_arms))

    def means(self, parts: Sequence[int]) -> list[FloatArray]:
        """Return the posterior mean of each arm, and of an arm without a pull where there is one.

        Args:
            parts: Pulls T of some of the arms; the others have not been pulled.

        Returns:
            Arrays that broadcast to the box ``(T_1 + 1, ...)`` of successes.
        """
        axes = len(parts)
        shapes = [tuple(-1 if axis == arm else 1 for axis in range(axes)) for arm in range(axes)]
        factors = [self.success(pulls).reshape(shape) for pulls, shape in zip(parts, shapes, strict=True)]
        return factors + [self.success(0).reshape((1,) * axes)] * (axes < self._num_arms)

    def best_probabilities(self, parts: Sequence[int]) -> list[FloatArray]:
        """Return the posterior probability of being the best arm, as :meth:`means` does the mean.

        The probability of arm i is the integral of its density times the distribution functions of all others.

        Returns:
            Arrays with the shape of the box.
        """
        idle = self._num_arms - len(parts)
        weights = self._weights * self._masses[0][0] ** idle
        probabilities = []
        for best in range(len(parts)):
            tables = [(self._densities if arm == best else self._masses)[pulls] for arm, pulls in enumerate(parts)]
            probabilities.append(_integrals(tables, weights))
        if idle:
            weights = self._weights * self._densities[0][0] * self._masses[0][0] ** (idle - 1)
            probabilities.append(_integrals([self._masses[pulls] for pulls in parts], weights))
        return probabilities


def _integrals(tables: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """Return the weighted sums over the nodes of all products of one row of each table, as a box."""
    half = len(tables) // 2
    left, right = _products(tables[:half], weights), _products(tables[half:], np.ones_like(weights))
    return (left @ right.T).reshape([len(table) for table in tables])


def _products(tables: Sequence[FloatArray], start: FloatArray) -> FloatArray:
    def times(one: FloatArray, other: FloatArray) -> FloatArray:
        return (one[:, None] * other).reshape(-1, start.size)

    return functools.reduce(times, tables, start[None])


def count_nodes(num_arms: int, budget: int, alpha: float, beta: float) -> int:
    """Return the number of nodes of the quadrature."""
    if _exact(num_arms, budget, alpha, beta):
        return _degree(num_arms, budget, alpha, beta) // 2 + 1  # m nodes are exact up to degree 2 m - 1
    return 2 * round(FARTHEST / _step(budget, alpha, beta)) + 1


def _degree(num_arms: int, budget: int, alpha: float, beta: float) -> int:
    return budget + num_arms * (int(alpha + beta) - 1)


def _exact(num_arms: int, budget: int, alpha: float, beta: float) -> bool:
    whole = float(alpha).is_integer() and float(beta).is_integer()
    return whole and _degree(num_arms, budget, alpha, beta) <= MOST_DEGREE


def _step(budget: int, alpha: float, beta: float) -> float:
    # A posterior has a width of 1 / (2 sqrt(n + alpha + beta)) or less in [0, 1], and somewhat more in this variable.
    return min(0.05, 0.35 / math.sqrt(budget + alpha + beta))


def _quadrature(num_arms: int, budget: int, alpha: float, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return nodes in (0, 1), their distances from 1, and weights."""
    count = count_nodes(num_arms, budget, alpha, beta)
    if _exact(num_arms, budget, alpha, beta):
        points, weights = np.polynomial.legendre.leggauss(count)
        return (1.0 + points) / 2.0, (1.0 - points) / 2.0, weights / 2.0
    step = _step(budget, alpha, beta)
    places = np.arange(-(count // 2), count // 2 + 1) * step
    exponents = np.pi * np.sinh(places)
    nodes, others = special.expit(exponents), special.expit(-exponents)
    return nodes, others, step * np.pi * np.cosh(places) * nodes * others
