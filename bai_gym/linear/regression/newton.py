"""Newton's method on penalised log-likelihoods of a batch of instances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bai_gym.linear.regression.links import Link
from bai_gym.statistics import BoolArray, FloatArray, IntArray

__all__ = ["Likelihood", "Path"]

CLOSE = 1e-8  # a full step that changes all scores by less is the last one
NEAR = 1e-3  # one that changes a score by more is not near the end, even if the gradient seems to be 0
BENT = 0.25  # a step is as long as it should be where the slope has fallen to this share of what it was, or less
SEARCHES = 64  # lengths that are tried
SLACK = 1e-12  # by which an objective may fall, as a share of it: rounding of sums of terms of one sign
JITTER = 64  # roundings, on a diagonal of ones: keeps a singular matrix solvable
FLAT = 1e-12  # curvature that is taken for 0, as a share of that along coordinates
PATIENCE = 6  # steps after which it is asked whether the gradient is nothing but rounding
EPSILON = 2.0**-52


@dataclass(frozen=True, slots=True)
class Path:
    """The result of Newton's method.

    Attributes:
        theta: ``(n, m)`` estimates.
        curvature: ``(n, K)`` minus the second derivatives of the arms' log-likelihoods, times their weights.
        iterations: ``(n,)`` steps made.
        converged: ``(n,)`` whether the last step was full and short, or the gradient is 0 up to rounding.
        stuck: ``(n,)`` whether there was no step that would not lower the objective.
    """

    theta: FloatArray
    curvature: FloatArray
    iterations: IntArray
    converged: BoolArray
    stuck: BoolArray


@dataclass(frozen=True, slots=True)
class _Point:
    """Estimates ``(n, m)`` with scores, objective, and derivatives of each arm's log-likelihood by its score."""

    theta: FloatArray
    scores: FloatArray
    value: FloatArray
    first: FloatArray
    second: FloatArray

    def select(self, rows: BoolArray | IntArray) -> _Point:
        return _Point(self.theta[rows], self.scores[rows], self.value[rows], self.first[rows], self.second[rows])

    def put(self, rows: IntArray, other: _Point) -> None:
        self.theta[rows], self.scores[rows], self.value[rows] = other.theta, other.scores, other.value
        self.first[rows], self.second[rows] = other.first, other.second


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Sum of weight x log-likelihood over the arms, minus penalty x |theta|^2 / 2: the objective of n instances.

    Attributes:
        link: The model.
        arms: ``(n, K, m)`` coordinates; 0 for arms of weight 0.
        weights: ``(n, K)``.
        means: ``(n, K)``.
        penalty: ``(n,)``.
    """

    link: Link
    arms: FloatArray
    weights: FloatArray
    means: FloatArray
    penalty: FloatArray

    def guess(self, pulls: FloatArray) -> FloatArray:
        """Return ``(n, m)`` the least-squares fit to the empirical scores of the arms."""
        z, information = self.link.guess(self.means, pulls)
        weights = self.weights * information
        return self._solve(self._curvature(weights), self._combine(weights * z))

    def maximise(self, start: FloatArray, steps: int) -> Path:
        """Climb from ``(n, m)``, or from 0 where that is higher, in a limited number of steps."""
        size = len(start)
        point = self._at(np.zeros_like(start), np.zeros_like(self.means))
        origin = self._at(start, self._scores(start))
        high = np.flatnonzero(origin.value > point.value)
        point.put(high, origin.select(high))
        none = np.zeros(size, np.bool_)
        curvature = np.empty_like(self.means)
        path = Path(np.empty_like(start), curvature, np.zeros(size, np.int64), none, none.copy())
        rows, here = np.arange(size), self
        for made in range(steps):
            gradient = here._gradient(point)
            step = here._solve(here._curvature(here.weights * point.second), gradient)
            shift = here._scores(step)
            point, full, moved = here._climb(point, gradient, step, shift)
            change = (np.abs(shift) / np.maximum(1.0, np.abs(point.scores))).max(axis=-1)
            done = full & (change < CLOSE)
            if made >= PATIENCE:
                done |= (change < NEAR) & here._is_level(point)
            path.theta[rows], path.curvature[rows] = point.theta, here.weights * point.second
            path.iterations[rows] += moved
            path.converged[rows], path.stuck[rows] = done, ~moved & ~done
            going = moved & ~done
            if not going.all():
                rows, point, here = rows[going], point.select(going), here.select(going)
            if not rows.size:
                break
        return path

    def is_flat(self, path: Path) -> BoolArray:
        """Return where the objective is flat in some direction, up to rounding.

        Where an estimate does not exist, Newton's steps change scores by 1 forever (for probit by 1 / z), and seem to
        become short only where the curvature is lost in rounding. If it is not, a short step proves that there is one.
        """
        matrix, _ = _without_units(self._curvature(path.curvature))
        matrix[~np.isfinite(matrix).all(axis=(-1, -2))] = 0.0
        np.einsum("nii->ni", matrix)[...] += ~self.arms.any(axis=-2)  # coordinates beyond the rank
        return np.asarray(np.linalg.eigvalsh(matrix)[:, 0] < FLAT)

    def select(self, rows: BoolArray | IntArray) -> Likelihood:
        """Return the objective of some instances."""
        return Likelihood(self.link, self.arms[rows], self.weights[rows], self.means[rows], self.penalty[rows])

    def _scores(self, theta: FloatArray) -> FloatArray:
        return np.asarray((self.arms @ theta[..., None])[..., 0])

    def _combine(self, values: FloatArray) -> FloatArray:
        return np.asarray((values[:, None, :] @ self.arms)[:, 0])

    def _curvature(self, weights: FloatArray) -> FloatArray:
        matrix = np.swapaxes(self.arms, -1, -2) @ (weights[..., None] * self.arms)
        np.einsum("nii->ni", matrix)[...] += self.penalty[:, None]
        return np.asarray(matrix)

    def _gradient(self, point: _Point) -> FloatArray:
        return self._combine(self.weights * point.first) - self.penalty[:, None] * point.theta

    def _at(self, theta: FloatArray, z: FloatArray) -> _Point:
        """Return a point; its objective is NaN or -inf where something is beyond floats."""
        with np.errstate(over="ignore", invalid="ignore"):
            fit = (self.weights * self.link.log_likelihood(z, self.means)).sum(axis=-1)
            value = fit - 0.5 * self.penalty * (theta * theta).sum(axis=-1)
            return _Point(theta, z, value, *self.link.slopes(z, self.means))

    def _solve(self, matrix: FloatArray, right: FloatArray) -> FloatArray:
        """Solve with positive semidefinite matrices, freed from units; NaN where there are entries beyond floats."""
        matrix, scale = _without_units(matrix)
        np.einsum("nii->ni", matrix)[...] += EPSILON * max(JITTER, 4 * matrix.shape[-1])
        right = scale * right
        finite = np.isfinite(matrix).all(axis=(-1, -2)) & np.isfinite(right).all(axis=-1)
        if not finite.all():
            matrix[~finite], right[~finite] = np.eye(matrix.shape[-1]), np.nan
        return np.asarray(scale * np.linalg.solve(matrix, right[..., None])[..., 0])

    def _climb(
        self, point: _Point, gradient: FloatArray, step: FloatArray, shift: FloatArray
    ) -> tuple[_Point, BoolArray, BoolArray]:
        """Return the points after a step, where it was of length 1, and where there was any."""
        slope = (gradient * step).sum(axis=-1)
        after = self._at(point.theta + step, point.scores + shift)
        bent = self._slope(after.first, shift, after.theta, step)
        full = (np.abs(bent) <= BENT * slope) & (after.value >= _least(point))
        full |= (np.abs(shift) < CLOSE).all(axis=-1)
        moved = full.copy()
        if full.all():
            return after, full, moved
        rows = np.flatnonzero(~full)
        part, before = self.select(rows), point.select(rows)
        length = part._length(before, step[rows], shift[rows], slope[rows])
        moved[rows] = length > 0
        step, shift = (np.where(length[:, None] > 0, length[:, None] * array[rows], 0.0) for array in (step, shift))
        after.put(rows, part._at(before.theta + step, before.scores + shift))
        return after, full, moved

    def _slope(self, first: FloatArray, shift: FloatArray, theta: FloatArray, step: FloatArray) -> FloatArray:
        """Return the derivative of the objective along a step."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((self.weights * first * shift).sum(axis=-1) - self.penalty * (theta * step).sum(axis=-1))

    def _length(self, point: _Point, step: FloatArray, shift: FloatArray, slope: FloatArray) -> FloatArray:
        """Return step lengths by doubling and bisection; 0 where none is found."""
        low, high = np.zeros(len(step)), np.full(len(step), np.inf)
        length = np.ones(len(step))
        least = _least(point)
        for _ in range(SEARCHES):
            tried = self._at(point.theta + length[:, None] * step, point.scores + length[:, None] * shift)
            now = self._slope(tried.first, shift, tried.theta, step)
            short = (now > BENT * slope) & (tried.value >= least)
            fits = (np.abs(now) <= BENT * slope) & (tried.value >= least)
            low = np.where(short | fits, length, low)
            high = np.where(short, high, length)
            if fits.all():
                break
            length = np.where(fits, length, np.where(np.isinf(high), 2.0 * length, 0.5 * (low + high)))
        return low

    def _is_level(self, point: _Point) -> BoolArray:
        """Return where the gradient is 0 up to rounding, in the units in which steps are computed."""
        arms, size = np.abs(self.arms), np.abs(point.theta)
        unsure = np.abs(point.first) + point.second * (arms @ size[..., None])[..., 0]
        noise = ((self.weights * unsure)[:, None, :] @ arms)[:, 0] + self.penalty[:, None] * size
        diagonal = ((self.weights * point.second)[:, None, :] @ arms**2)[:, 0] + self.penalty[:, None]
        scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        left = np.abs(self._gradient(point)) * scale
        return np.asarray(left.max(axis=-1) <= 64.0 * EPSILON * (noise * scale).max(axis=-1))


def _least(point: _Point) -> FloatArray:
    """Return the lower limit of the objective."""
    return np.asarray(point.value - SLACK * np.abs(point.value))


def _without_units(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return matrices with ones on the diagonal, or zeros, and the scale of rows and columns."""
    diagonal = np.einsum("nii->ni", matrix)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrix = matrix * scale[:, :, None]
    matrix *= scale[:, None, :]
    return matrix, scale
