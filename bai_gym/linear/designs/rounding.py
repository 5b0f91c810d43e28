"""Rounding: integer numbers of pulls whose sum is the budget, near the shares of a design.

What is lost has one form for all methods. If every arm with weight w has at least a share c of its n w pulls, then V
of the pulls is at least c n times V of the design, and no variance is more than 1 / c times that of the design with n
pulls that need not be integers. :func:`round_design` gives a bound on this factor for each method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import BudgetError, ParameterError
from bai_gym.linear.designs.inputs import budgets, designs
from bai_gym.statistics import ROUNDING, AnyArray, FloatArray, IntArray
from bai_gym.validation import array, choice

__all__ = ["ROUNDINGS", "ceil_allocation", "round_design"]


def round_design(
    weights: ArrayLike,
    budget: ArrayLike,
    method: str = "efficient",
    *,
    rng: np.random.Generator | None = None,
    allow_small_budget: bool = False,
) -> IntArray:
    """Return numbers of pulls whose sum is exactly the budget.

    With n pulls, weights w and s arms that have one, the methods and the factors by which variances can be larger than
    those of n w pulls:

    - ``"efficient"``: n_i is v w_i, rounded up, with the v that gives the sum n. The best of all: no other allocation
      has a larger least n_i / w_i. As n < v + s, the factor is below n / (n - s) where n > s.
    - ``"largest-remainder"``: n w_i, rounded down; the pulls that are left go to the largest remainders. Each arm is
      less than one pull from n w_i, which no other method here promises, but an arm may get none. The factor is below
      n w / (n w - 1) for the least positive weight w, where n w > 1, and can be infinite otherwise.

    Algorithm 2 of Azizi et al. (2022) names the rounding of Allen-Zhu et al. (2017), whose guarantee does not depend on
    s; it is not here. With s <= r (r + 1) / 2 arms (see :func:`bai_gym.linear.designs.reduce_support`) and budgets well
    above that, the factors above are near 1 as well.

    Args:
        weights: ``(..., K)`` design: at least 0, with sum 1.
        budget: n, ``(...)`` or one number, at least 1. The shapes of weights and budgets are broadcast.
        method: One of the two names above.
        rng: Breaks ties (equal weights, equal remainders) at random; None: in favour of the arm that comes first.
        allow_small_budget: With a budget below s, where the method needs s, pull the n arms of largest weight once
            each, instead of an error. Nothing is guaranteed then.

    Returns:
        ``(..., K)`` numbers of pulls, int64: 0 for weights of 0.

    Raises:
        BudgetError: If a budget is not an integer, or is below s with ``"efficient"``.
        ParameterError: If another argument is malformed.

    Source: ``"efficient"``: Pukelsheim and Rieder (1992), and Pukelsheim (1993), chapter 12; in elections it is the
    method of Adams, and ``"largest-remainder"`` that of Hamilton.
    """
    choice(method, ROUNDINGS, "method")
    shares, pulls, outer = _cases(weights, budget)
    order = np.broadcast_to(np.arange(shares.shape[-1]), shares.shape)
    if rng is not None:
        order = np.argsort(rng.random(shares.shape), axis=-1)
        shares = np.take_along_axis(shares, order, axis=-1)
    arms = (shares > 0).sum(axis=-1)
    small = (pulls < arms) & (method != "largest-remainder")
    if small.any() and not allow_small_budget:
        raise BudgetError(
            f"a budget of {pulls[small][0]} is less than one pull for each of {arms[small][0]} arms with weight: "
            "give more, reduce_support, method='largest-remainder' or allow_small_budget=True"
        )
    counts = np.empty(shares.shape, np.int64)
    counts[small] = _leading(shares[small], pulls[small])
    counts[~small] = _METHODS[method](shares[~small], pulls[~small])
    out = np.empty_like(counts)
    np.put_along_axis(out, order, counts, axis=-1)
    return out.reshape(outer)


def ceil_allocation(weights: ArrayLike, mass: ArrayLike) -> IntArray:
    """Return mass x weight, rounded up: at least the mass in all, and less than s more for s arms with weight.

    The allocation of OD-LinBAI, whose m (a real number) leaves room for what rounding up adds. Every arm has at least
    its share, so the variances are at most those of a design with m pulls that need not be whole.

    Args:
        weights: ``(..., K)`` design: at least 0, with sum 1.
        mass: m, ``(...)`` or one number, at least 0. The shapes of weights and masses are broadcast.

    Returns:
        ``(..., K)`` numbers of pulls, int64. A product that is above an integer by a rounding error only is taken
        for it: 0.1 x 3 x 10 is 3.0000000000000004, and 3 pulls.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Yang and Tan (2022), Algorithm 1.
    """
    masses = array(mass, "mass", least=0)
    shares, masses, outer = _alike(designs(weights), masses, "mass")
    return _up(shares, masses).reshape(outer)


def _cases(weights: ArrayLike, budget: ArrayLike) -> tuple[FloatArray, IntArray, tuple[int, ...]]:
    """Return weights ``(N, K)``, budgets ``(N,)``, and the shape of the result."""
    shares, amounts, outer = _alike(designs(weights), budgets(budget), "budget")
    return shares, amounts.astype(np.int64), outer


def _alike(shares: FloatArray, amounts: AnyArray, name: str) -> tuple[FloatArray, AnyArray, tuple[int, ...]]:
    """Return weights ``(N, K)`` and amounts ``(N,)`` of one broadcast shape, and that shape with the arm axis."""
    size = shares.shape[-1]
    try:
        outer = np.broadcast_shapes(shares.shape[:-1], amounts.shape)
    except ValueError:
        raise ParameterError(
            f"{name} has shape {amounts.shape} and weights {shares.shape}: give one number, or one for each design"
        ) from None
    flat = np.broadcast_to(shares, (*outer, size)).reshape(-1, size)
    return flat, np.broadcast_to(amounts, outer).reshape(-1), (*outer, size)


def _efficient(shares: FloatArray, pulls: IntArray) -> IntArray:
    """Return the efficient apportionment: at most s / 2 corrections of a first guess, made in all instances at once."""
    held = shares > 0
    weight = np.where(held, np.maximum(shares, 1e-200), 1.0)  # divisions must not overflow
    counts = _up(shares, np.maximum(pulls - held.sum(axis=-1) / 2.0, 0.0))
    counts = np.maximum(counts, held)
    rows = np.arange(len(counts))
    while True:
        missing = pulls - counts.sum(axis=-1)
        if not missing.any():
            return counts
        more, less = missing > 0, missing < 0
        poorest = np.where(held, counts / weight, np.inf).argmin(axis=-1)
        richest = np.where(held, (counts - 1) / weight, -np.inf).argmax(axis=-1)
        counts[rows[more], poorest[more]] += 1
        counts[rows[less], richest[less]] -= 1


def _largest_remainder(shares: FloatArray, pulls: IntArray) -> IntArray:
    """Return n w, rounded down, and what is left for the largest remainders."""
    wanted = shares * pulls[:, None]
    counts = np.floor(wanted).astype(np.int64)
    return counts + _leading(wanted - counts, pulls - counts.sum(axis=-1))


def _leading(values: FloatArray, count: IntArray) -> IntArray:
    """Return 1 for the ``count`` largest values of each instance, and 0 for the others."""
    order = np.argsort(-values, axis=-1, kind="stable")
    ones = np.empty(values.shape, np.int64)
    np.put_along_axis(ones, order, (np.arange(values.shape[-1]) < count[:, None]).astype(np.int64), axis=-1)
    return ones


def _up(shares: FloatArray, mass: FloatArray) -> IntArray:
    """Return mass x share, rounded up, but not for rounding errors."""
    return np.ceil(shares * mass[:, None] * (1.0 - ROUNDING)).astype(np.int64)


_METHODS = {
    "efficient": _efficient,
    "largest-remainder": _largest_remainder,
}
ROUNDINGS = tuple(_METHODS)
