"""Designs for the difference of two means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["solve_contrasts"]

ZERO = 1e-9  # weights, slopes and rates up to this are 0; arms have coordinates of at most 1
SPREAD = 1e-8  # relative differences between the costs of arms
CLOSE = 1e-6  # a value within this of its bound has reached it, when all costs are 1
LARGEST_ERROR = 1e-7  # of sum w_k x_k, in coordinates of the span
PIVOTS = 20  # per arm and dimension; more means failure by rounding errors
AT_ONCE = 2**17  # entries of the tableaus that are held at a time, for the cache


def solve_contrasts(
    coordinates: FloatArray, rows: IntArray, first: IntArray, second: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Return w with sum w_k x_k = x_i - x_j for n pairs of arms i and j, with the least sum of absolute values.

    |w| / sum |w| is the design that estimates the difference of the two means with the least variance: n pulls in these
    proportions leave a variance of sigma^2 (sum |w|)^2 / n. Most often w is 1 for arm i and -1 for arm j; other arms
    help where the two are close to each other. Where there are several w, as with arms of equal features, the one with
    the least sum of squares, so that the order of the arms does not matter. The sum of absolute values is the least one
    up to a factor of 1 + 1e-6.

    Args:
        coordinates: ``(N, K, m)`` coordinates of the arms of N instances, see :func:`bai_gym.linear.designs.project`.
        rows: ``(n,)`` the instance of each pair.
        first: ``(n,)`` arms i.
        second: ``(n,)`` arms j.

    Returns:
        ``(n, K)`` weights, and ``(n,)`` whether they have been found: rounding errors may prevent it.

    Source: the theorem of Elfving (1952), "Optimum allocation in linear regression theory", as a linear program, as in
    LinGapE (Xu, Honda and Sugiyama 2018). Solved by the simplex method with bounded variables on its dual, for all
    instances at once: a hundred times faster on small ones than one call of a solver for each.
    """
    arms = coordinates.shape[1]
    weights = np.zeros((rows.size, arms))
    solved = np.zeros(rows.size, dtype=bool)
    per_part = max(1, AT_ONCE // coordinates[0].size)
    for begin in range(0, rows.size, per_part):
        part = slice(begin, begin + per_part)
        x, i, j = coordinates[rows[part]], first[part], second[part]
        simplex = _Simplex(np.swapaxes(x, 1, 2).copy(), i, j)
        simplex.run()
        solution = simplex.weights
        each = np.arange(len(x))
        differences = x[each, i] - x[each, j]
        for row in np.flatnonzero(simplex.several):
            solution[row] = _most_even(x[row], differences[row], simplex.sides[row], solution[row])
        error = np.abs((solution[:, None, :] @ x)[:, 0] - differences).max(axis=1)
        solved[part] = simplex.solved & (error <= LARGEST_ERROR)
        weights[part] = np.where(solved[part, None], solution, 0.0)
    return weights, solved


def _most_even(x: FloatArray, wanted: FloatArray, sides: FloatArray, vertex: FloatArray) -> FloatArray:
    """Return the solution of least sum of squares among those on a face, of which one vertex is known.

    Args:
        x: ``(K, m)`` coordinates.
        wanted: ``(m,)`` x_i - x_j.
        sides: ``(K,)`` the sign that the weight of each arm has on the face; 0: it is 0.
        vertex: ``(K,)`` weights.
    """
    arms = np.flatnonzero(sides)
    signed = (x[arms] * sides[arms, None]).T
    _, values, axes = np.linalg.svd(signed)
    rank = np.count_nonzero(values > ZERO)
    sizes = np.linalg.lstsq(signed, wanted, rcond=ZERO)[0]
    if sizes.min() < -ZERO:
        # All solutions are sizes + free v. The shortest v for which they are not negative is a problem of least
        # distance (Lawson and Hanson 1974, chapter 23). Without the margin rounding would make it unsolvable.
        free = axes[rank:].T
        system, target = np.vstack([free.T, -sizes - ZERO]), np.append(np.zeros(free.shape[1]), 1.0)
        try:
            residual = system @ nnls(system, target)[0] - target
        except RuntimeError:  # more iterations than it allows itself
            return vertex
        sizes = sizes - free @ (residual[:-1] / residual[-1])
        large = sizes > CLOSE * sizes.max()
        sizes[~large] = 0.0
        sizes[large] = np.linalg.lstsq(signed[:, large], wanted, rcond=ZERO)[0]
    sizes[sizes <= ZERO] = 0.0
    weights = np.zeros(len(x))
    weights[arms] = sides[arms] * sizes
    return weights


@dataclass
class _Simplex:
    """The walk over the polytope |s_k| <= cost_k, where s_k = x_k^T z, that makes s_i - s_j largest, for n problems.

    All s are linear in r of them, the nonbasic ones (or in coordinates of z, which have no bounds, as long as those
    have not been replaced). A step moves one of these as far as the bounds allow. Where the bound of another s is
    met, that one takes the place of the moved one. At the end s_i - s_j = sum w_k s_k over the nonbasic ones, each at
    the bound where w_k has its sign: w solves the dual, which is what is wanted.

    Costs are nearly 1, and differ a little, which keeps the method from standing still. When it has come to its end,
    values are computed once more with costs of 1. All solutions are 0 for arms whose value is not at a bound then.

    Attributes:
        tableau: ``(n, r, K)`` every s in terms of the nonbasic variables; overwritten.
        first: ``(n,)`` i.
        second: ``(n,)`` j.
        weights: ``(n, K)`` solutions, each a vertex.
        solved: ``(n,)`` whether the end has been reached.
        sides: ``(n, K)`` 1 and -1 for arms with a value at a bound, else 0.
        several: ``(n,)`` whether there may be other solutions.
    """

    tableau: FloatArray
    first: IntArray
    second: IntArray

    def run(self) -> None:
        """Find the solutions."""
        size, columns, arms = self.tableau.shape
        self.weights = np.zeros((size, arms))
        self.solved: BoolArray = np.zeros(size, dtype=bool)
        self.sides = np.zeros((size, arms))
        self.several: BoolArray = np.zeros(size, dtype=bool)
        self._costs = 1.0 + SPREAD * np.modf(np.arange(1, arms + 1) * 0.6180339887498949)[0]
        self._values = np.zeros((size, arms))
        self._nonbasic = np.full((size, columns), arms)  # K: a coordinate of z
        self._left = np.arange(size)
        for arm in (self.first, self.second):
            self._bring_in(arm)
        for _ in range(PIVOTS * (arms + columns)):
            slopes, column, done = self._choose()
            if done.any():
                self._finish(np.flatnonzero(done), slopes)
                active = np.flatnonzero(~done)
                if active.size == 0:
                    return
                slopes, column = slopes[active], column[active]
                self.tableau, self._values, self._nonbasic = (
                    self.tableau[active],
                    self._values[active],
                    self._nonbasic[active],
                )
                self.first, self.second, self._left = self.first[active], self.second[active], self._left[active]
            self._move(slopes, column)

    def _bring_in(self, arm: IntArray) -> None:
        """Put the value of one arm in the place of a coordinate of z, where it depends on one."""
        size = np.abs(self.tableau[np.arange(arm.size), :, arm])
        size[self._nonbasic < self._costs.size] = 0.0
        self._pivot(arm, size.argmax(axis=1))

    def _choose(self) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return the slopes ``(n, r)``, the steepest column that no bound stops, and where there is none."""
        rows = np.arange(self.first.size)
        slopes = self.tableau[rows, :, self.first] - self.tableau[rows, :, self.second]
        bounded = self._nonbasic < self._costs.size
        at = np.where(bounded, self._nonbasic, 0)
        stopped = self._values[rows[:, None], at] * np.sign(slopes) >= self._costs[at]
        stopped &= bounded
        steep = np.abs(slopes)
        steep[stopped] = 0.0
        column = steep.argmax(axis=1)
        return slopes, column, steep[rows, column] <= ZERO

    def _finish(self, which: IntArray, slopes: FloatArray) -> None:
        """Write down the solutions of some problems."""
        rows = np.arange(which.size)[:, None]
        nonbasic, arms, left = self._nonbasic[which], self._costs.size, self._left[which]
        table = np.zeros((which.size, arms + 1))
        table[rows, nonbasic] = slopes[which]
        table[np.abs(table) <= ZERO] = 0.0
        self.weights[left] = table[:, :arms]
        self.solved[left] = True
        table[:, :arms] = self._values[which] / self._costs
        table[:, arms] = 0.0
        values = (table[rows, nonbasic][:, None, :] @ self.tableau[which])[:, 0]
        sides = np.where(np.abs(values) >= 1.0 - CLOSE, np.sign(values), 0.0)
        self.sides[left] = sides
        table[:, :arms] = sides
        table[rows, nonbasic] = 0.0
        self.several[left] = table[:, :arms].any(axis=1)

    def _move(self, slopes: FloatArray, column: IntArray) -> None:
        """Move one nonbasic variable of each problem as far as it goes."""
        rows = np.arange(column.size)
        rates = self.tableau[rows, column]
        rates *= np.sign(slopes[rows, column])[:, None]
        ways = np.sign(rates)
        speeds = np.abs(rates)
        far = self._costs - ways * self._values
        far[speeds <= 0.5 * ZERO] = np.inf
        far /= np.maximum(speeds, 0.5 * ZERO)
        stop = far.argmin(axis=1)
        rates *= far[rows, stop][:, None]
        self._values += rates
        self._values[rows, stop] = ways[rows, stop] * self._costs[stop]
        self._pivot(stop, column)

    def _pivot(self, arm: IntArray, column: IntArray) -> None:
        """Let the value of one arm in each problem take the place of the variable in a column, if it depends on that.

        Nothing changes where that variable is the value of the arm itself.
        """
        rows = np.arange(arm.size)
        tableau = self.tableau
        entries = tableau[rows, :, arm]
        pivots = entries[rows, column]
        works = np.abs(pivots) > 0.5 * ZERO
        ratio = tableau[rows, column] / np.where(works, pivots, np.inf)[:, None]
        entries[rows, column] -= 1.0
        tableau -= entries[:, :, None] * ratio[:, None, :]
        which = np.flatnonzero(works)
        arm, column = arm[which], column[which]
        tableau[which, :, arm] = 0.0
        tableau[which, column, arm] = 1.0
        self._nonbasic[which, column] = arm
