"""Functions in thresholds that hold at all times at once: h^-1, and the C of mixtures of martingales.

Source: Kaufmann and Koolen (2021), "Mixture Martingales Revisited with Applications to Sequential Tests and Confidence
Intervals". With h(u) = u - log u on u >= 1, its inverse is h^-1(x) = -W_-1(-exp(-x)), W_-1 a branch of Lambert's
function.
"""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar
from scipy.special import zeta

__all__ = ["exponential_family_c", "gaussian_c", "inverse_h"]

ZETA_2 = math.pi**2 / 6.0
SWITCH = 1.0 / math.log(1.5) + math.log(math.log(1.5))  # h(1 / log(3/2))


def inverse_h(x: float) -> float:
    """Return the u >= 1 with u - log u = x; 1 for x <= 1. About x + log x.

    A plain function of one number, which sequential agents compile.
    """
    if x <= 1.0:
        return 1.0
    u = x + math.log(x) + min(1.0, math.sqrt(2.0 * (x - 1.0)))  # above the root, from where Newton's method stays there
    for _ in range(50):
        step = (u - math.log(u) - x) * u / (u - 1.0)
        u -= step
        if step <= 1e-14 * u:
            break
    return max(u, 1.0)


def exponential_family_c(x: float) -> float:
    """Return C_exp(x), for exponential families of one parameter.

    C_exp(x) = 2 g((h^-1(1 + x) + log(2 zeta(2))) / 2), where g(y) is exp(1 / h^-1(y)) h^-1(y) from y = h(1 / log(3/2))
    on, and (3/2) (y - log log(3/2)) below.

    Args:
        x: Positive; log(1 / delta) divided by the number of arms compared.
    """
    y = (inverse_h(1.0 + x) + math.log(2.0 * ZETA_2)) / 2.0
    if y < SWITCH:
        return 3.0 * (y - math.log(math.log(1.5)))
    u = inverse_h(y)
    return 2.0 * math.exp(1.0 / u) * u


def gaussian_c(x: float) -> float:
    """Return C_G(x), for Gaussian rewards of known variance: the least (g(l) + x) / l over l in (1/2, 1).

    g(l) = 2 l - 2 l log(4 l) + log zeta(2 l) - (1/2) log(1 - l).

    Args:
        x: Positive; log(1 / delta) divided by the number of arms compared.
    """

    def value(share: float) -> float:
        g = 2 * share - 2 * share * math.log(4 * share) + math.log(zeta(2 * share)) - 0.5 * math.log1p(-share)
        return float((g + x) / share)

    return float(minimize_scalar(value, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-12}).fun)
