"""Designs for the difference of two arms: which arms to pull to know by how much one is better than the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.designs.inputs import BoolArray, instances
from bai_gym.designs.span import span
from bai_gym.errors import ParameterError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["contrast_weights", "solve_contrasts"]

ZERO = 1e-9  # weights and entries of the tableau up to this are 0; arms have coordinates of at most 1
SPREAD = 1e-7  # relative differences between the costs of arms
PIVOTS = 20  # per arm and dimension; what takes more has got lost by rounding errors
AT_ONCE = 2**17  # entries of the tableaus that are held at a time, for the cache


def contrast_weights(
    features: ArrayLike, first: ArrayLike, second: ArrayLike, *, rng: np.random.Generator | None = None
) -> FloatArray:
    """Return w with sum w_k x_k = x_i - x_j for two arms i and j, with the least sum of absolute values.

    |w| / sum |w| is the design that estimates the difference of the two means with the least variance: pulled in these
    proportions n times, the arms leave a variance of sigma^2 (sum |w|)^2 / n. Most often w is 1 for arm i and -1 for
    arm j; other arms help where the two are close to each other.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        first: ``(...)`` the arms i.
        second: ``(...)`` the arms j.
        rng: Chooses among several w by costs of the arms that differ by random amounts, up to 1e-7. None: such costs
            grow with the arm's number.

    Returns:
        ``(..., K)`` w, with at most as many entries other than 0 as the rank of the features; its sum of absolute
        values is the least possible one up to a factor of 1 + 1e-7.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If an arm does not exist, or rounding errors keep the method from an end.

    Source: the theorem of Elfving (1952), as linear program (the paper of LinGapE, Xu, Honda and Sugiyama 2018, equation
    15). Solved by the simplex method with bounded variables on the dual, max (x_i - x_j)^T z with |x_k^T z| <= 1 for all
    k, for all instances at once.
    """
    x, mask, outer = instances(features, None)
    arms = [_arms(given, mask.shape[-1]) for given in (first, second)]
    try:
        outer = np.broadcast_shapes(outer, arms[0].shape, arms[1].shape)
    except ValueError:
        raise ParameterError(
            f"first and second have shapes {arms[0].shape} and {arms[1].shape}: give one arm each for {outer}"
        ) from None
    i, j = (np.broadcast_to(given, outer).reshape(-1) for given in arms)
    found = span(x, mask).coordinates
    rows = np.broadcast_to(np.arange(len(x)).reshape(np.asarray(features).shape[:-2]), outer).reshape(-1)
    weights, solved = solve_contrasts(found, rows, i, j, rng)
    if not solved.all():
        raise ParameterError("rounding errors keep contrast_weights from an end: the features are close to dependent")
    return weights.reshape(*outer, mask.shape[-1])


def _arms(given: ArrayLike, number: int) -> IntArray:
    arms = np.asarray(given)
    if arms.dtype.kind not in "iu" or ((arms < 0) | (arms >= number)).any():
        raise ParameterError(f"arms are whole numbers from 0 to {number - 1}, not {given!r}")
    return arms.astype(np.int64)


def solve_contrasts(
    coordinates: FloatArray, rows: IntArray, first: IntArray, second: IntArray, rng: np.random.Generator | None
) -> tuple[FloatArray, BoolArray]:
    """Return the weights of n pairs of arms, each of one of N instances.

    Args:
        coordinates: ``(N, K, m)`` coordinates of the arms, see :func:`bai_gym.designs.project`.
        rows: ``(n,)`` the instance of each pair.
        first: ``(n,)`` arms i.
        second: ``(n,)`` arms j.
        rng: See :func:`contrast_weights`.

    Returns:
        ``(n, K)`` weights, and ``(n,)`` whether they have been found: rounding errors may prevent it.
    """
    arms = coordinates.shape[1]
    weights = np.zeros((rows.size, arms))
    solved = np.zeros(rows.size, dtype=bool)
    together = max(1, AT_ONCE // coordinates[0].size)
    for begin in range(0, rows.size, together):
        part = slice(begin, begin + together)
        tableau = np.swapaxes(coordinates[rows[part]], 1, 2).copy()
        keys = np.arange(1, arms + 1) / arms if rng is None else rng.random((len(tableau), arms))
        costs = np.broadcast_to(1.0 + SPREAD * keys, (len(tableau), arms)).copy()
        _Simplex(tableau, first[part].copy(), second[part].copy(), costs).run(weights[part], solved[part])
    return weights, solved


@dataclass
class _Simplex:
    """The walk over the polytope |s_k| <= cost_k, where s_k = x_k^T z, that makes s_i - s_j largest, for n problems.

    All s are linear in r of them, the nonbasic ones (or in coordinates of z, which have no bounds, as long as those
    have not been replaced). A step moves one of these as far as the bounds allow. Where the bound of another s is
    met, that one takes the place of the moved one. At the end s_i - s_j = sum w_k s_k over the nonbasic ones, each at
    the bound where w_k has its sign; that is the dual of what is wanted, and w is the solution. Costs that differ keep
    the method from standing still.

    Attributes:
        tableau: ``(n, r, K)`` every s in terms of the nonbasic variables.
        first: ``(n,)`` i.
        second: ``(n,)`` j.
        costs: ``(n, K)`` bounds.
    """

    tableau: FloatArray
    first: IntArray
    second: IntArray
    costs: FloatArray

    def run(self, weights: FloatArray, solved: BoolArray) -> None:
        """Write the solutions into ``(n, K)`` weights, and which have been found into ``(n,)``."""
        size, columns, arms = self.tableau.shape
        self._values = np.zeros((size, arms))
        self._nonbasic = np.full((size, columns), arms)  # K: a coordinate of z
        left = np.arange(size)
        for arm in (self.first, self.second):
            self._bring_in(arm)
        for _ in range(PIVOTS * (arms + columns)):
            slopes, column, done = self._choose()
            if done.any():
                which = np.flatnonzero(done)
                found = np.zeros((which.size, arms + 1))
                np.put_along_axis(found, self._nonbasic[which], slopes[which], -1)
                found[np.abs(found) <= ZERO] = 0.0
                weights[left[which]] = found[:, :arms]
                solved[left[which]] = True
                kept = np.flatnonzero(~done)
                if kept.size == 0:
                    return
                left, slopes, column = left[kept], slopes[kept], column[kept]
                self._keep(kept)
            self._move(slopes, column)

    def _keep(self, kept: IntArray) -> None:
        self.tableau, self.costs, self._values = self.tableau[kept], self.costs[kept], self._values[kept]
        self.first, self.second, self._nonbasic = self.first[kept], self.second[kept], self._nonbasic[kept]

    def _bring_in(self, arm: IntArray) -> None:
        """Put the value of one arm in the place of a coordinate of z, where it depends on one."""
        rows = np.arange(arm.size)
        size = np.abs(self.tableau[rows, :, arm])
        size[self._nonbasic < self._values.shape[1]] = 0.0
        column = size.argmax(axis=1)
        which = np.flatnonzero(size[rows, column] > ZERO)
        if which.size == arm.size:
            self._pivot(arm, column)
        elif which.size:
            part = _Simplex(self.tableau[which], arm[which], arm[which], self.costs[which])
            part._nonbasic = self._nonbasic[which]
            part._pivot(arm[which], column[which])
            self.tableau[which], self._nonbasic[which] = part.tableau, part._nonbasic

    def _choose(self) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return the slopes ``(n, r)``, the column of the steepest that a bound does not stop, and where there is none."""
        rows = np.arange(self.first.size)
        slopes = self.tableau[rows, :, self.first] - self.tableau[rows, :, self.second]
        bounded = self._nonbasic < self._values.shape[1]
        at = rows[:, None], np.where(bounded, self._nonbasic, 0)
        stopped = self._values[at] * np.sign(slopes) >= self.costs[at]
        stopped &= bounded
        steep = np.abs(slopes)
        steep[stopped] = 0.0
        column = steep.argmax(axis=1)
        return slopes, column, steep[rows, column] <= ZERO

    def _move(self, slopes: FloatArray, column: IntArray) -> None:
        """Move one nonbasic variable of each problem as far as it goes."""
        rows = np.arange(column.size)
        rates = self.tableau[rows, column]
        rates *= np.sign(slopes[rows, column])[:, None]
        ways = np.sign(rates)
        speeds = np.abs(rates)
        far = self.costs - ways * self._values
        far[speeds <= 0.1 * ZERO] = np.inf
        far /= np.maximum(speeds, 0.1 * ZERO)
        stop = far.argmin(axis=1)
        rates *= far[rows, stop][:, None]
        self._values += rates
        self._values[rows, stop] = ways[rows, stop] * self.costs[rows, stop]
        self._pivot(stop, column)

    def _pivot(self, arm: IntArray, column: IntArray) -> None:
        """Let the value of one arm in each problem take the place of the variable in a column.

        Nothing changes where that variable is the value of the arm itself.
        """
        rows = np.arange(arm.size)
        tableau = self.tableau
        seen = tableau[rows, :, arm]
        ratio = tableau[rows, column] / seen[rows, column][:, None]
        seen[rows, column] -= 1.0
        tableau -= seen[:, :, None] * ratio[:, None, :]
        tableau[rows, :, arm] = 0.0
        tableau[rows, column, arm] = 1.0
        self._nonbasic[rows, column] = arm
