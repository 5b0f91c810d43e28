"""Optimal designs by Frank-Wolfe: weight moves to one arm, or away from one, along exact line searches.

All instances of a batch step in parallel until they are done. V^-1 and the variances are updated at rank one
and recomputed regularly, and before a design counts as done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.linear.designs.inputs import instances
from bai_gym.linear.designs.span import Span, inverse_information, span, spread
from bai_gym.linear.designs.start import basis_weights
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.validation import integer, real

__all__ = ["Design", "frank_wolfe", "g_optimal", "wynn"]

REFRESH = 50  # steps after which V^-1 is recomputed
BISECTIONS = 32  # halvings of [0, 1] in the line search on the largest variance
STALL = 1e-9  # a step of this length or less is none


@dataclass(frozen=True, slots=True)
class Design:
    """A design: weights of arms, and their quality.

    Attributes:
        weights: ``(..., K)`` shares of the pulls: at least 0, with sum 1. With
            rank 1 all is on the longest arm, with rank 0 they are equal.
        max_variance: ``(...)`` largest variance x^T V^-1 x of an arm; at least the rank, and equal to it at the
            optimum. 0 where all features are 0.
        rank: ``(...)`` dimensions of the span of the arms.
        iterations: ``(...)`` steps that were made.
    """

    weights: FloatArray
    max_variance: FloatArray
    rank: IntArray
    iterations: IntArray

    @property
    def excess(self) -> FloatArray:
        """``(...)`` how far above the optimum the largest variance is, as a share of it: max_variance / rank - 1."""
        return np.asarray(self.max_variance / np.maximum(self.rank, 1) - (self.rank > 0))

    @property
    def support(self) -> IntArray:
        """``(...)`` numbers of arms with a positive weight."""
        return np.asarray((self.weights > 0).sum(axis=-1, dtype=np.int64))


def g_optimal(
    features: ArrayLike,
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
) -> Design:
    """Return a design whose largest variance is within ``tolerance`` of the optimum, which is the rank.

    By the equivalence theorem of Kiefer and Wolfowitz the designs with the least largest variance (G-optimal) are those
    with the largest determinant of V (D-optimal). So this climbs log det V, which is smooth. A step either moves
    weight to the arm of largest variance, or takes weight away from the arm of least variance that has some, whichever
    is farther from the rank; its length maximises log det V exactly. Without the steps away, thousands of steps pass
    near the optimum, and arms that do not belong to it keep weights (see :func:`wynn`). The paper's experiments use
    :func:`frank_wolfe` and :func:`wynn`; this is for everything else, such as OD-LinBAI.

    Ends when variances are at most (1 + tolerance) rank, and those of arms with weight at least (1 - tolerance) rank.

    The optimal V is unique, weights need not be: of duplicates, an arbitrary one has the weight. The support can have
    more arms than the r (r + 1) / 2 that suffice, see :func:`bai_gym.linear.designs.reduce_support`.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        tolerance: Relative excess of the largest variance over the optimum that is allowed; positive.
        max_iterations: Most steps, at least 0. Where they do not suffice, ``excess`` of the result says so.

    Returns:
        The design.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.

    Source: Kiefer and Wolfowitz (1960); the step: Fedorov (1972); steps away: Wolfe (1970) and Atwood (1973), with
    linear convergence by Ahipasaoglu, Sun and Todd (2008), see also Todd (2016); the start:
    :func:`bai_gym.linear.designs.basis_design`.
    """

    def step(batch: _Batch) -> tuple[IntArray, FloatArray]:
        least, low = batch.least()
        largest, high = batch.largest()
        away = 1.0 - low / batch.rank > high / batch.rank - 1.0
        arm, variance = np.where(away, least, largest), np.where(away, low, high)
        weight = batch.weights[np.arange(len(arm)), arm]
        length = _fedorov(variance, batch.rank)
        # All of the weight may go, and does where log det V grows all the way.
        drop = np.where(away, -weight / np.where(away, 1.0 - weight, 1.0), -np.inf)
        return arm, np.asarray(np.where(away & (variance <= 1.0), drop, np.maximum(length, drop)))

    return _solve(features, "basis", step, tolerance, max_iterations, balanced=True)


def wynn(
    features: ArrayLike,
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 10_000,
) -> Design:
    """Return the design of plain Frank-Wolfe on log det V: weight moves to the arm of largest variance, in each step.

    All arms have equal weights at the start, and the lengths of steps maximise log det V. The D-optimal variant: its
    gradient is the variances (appendix C of Azizi et al. 2022), and it is what GSE-Lin-Wynn uses in their experiments.
    It is slow near the optimum, and never sets a weight to 0: with 64 Gaussian arms in 10 dimensions it takes 750 steps
    to 1 % and 7,400 to 0.1 %, where :func:`g_optimal` takes 60 and 120.

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        tolerance: Ends when the largest variance is at most (1 + tolerance) rank; positive.
        max_iterations: Most steps, at least 0. Where they do not suffice, ``excess`` of the result says so.

    Returns:
        The design.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.

    Source: Wynn (1970); Fedorov (1972).
    """

    def forward(batch: _Batch) -> tuple[IntArray, FloatArray]:
        arm, variance = batch.largest()
        return arm, _fedorov(variance, batch.rank)

    return _solve(features, "uniform", forward, tolerance, max_iterations)


def frank_wolfe(
    features: ArrayLike,
    *,
    tolerance: float = 1e-3,
    max_iterations: int = 100,
) -> Design:
    """Return the design of Frank-Wolfe on the largest variance itself: FWG, the algorithm of the paper on GSE.

    The derivative of the largest variance, x^T V^-1 x, with respect to the weight of arm j is -(x_j^T V^-1 x)^2, which
    by Cauchy and Schwarz is least at x itself. So the direction is that of :func:`wynn`, and only the length differs:
    it minimises the largest variance, which is convex in it. Where several arms attain the maximum, that length can be
    0 short of the optimum, because the objective has a kink there; then, and only then, the step of :func:`wynn` is
    taken. The result is the best of the visited designs.

    From equal weights N = 100 steps do not come near the optimum: with 64 Gaussian arms in 10 dimensions the largest
    variance is then 12 % above it on average, 30 % with the grid of lengths of the code of the paper's authors. In
    about as many steps :func:`g_optimal` comes to 0.1 %. (By the paper's corollary 1, N = O(d log log(K + d)) steps
    reach the optimum itself; that can hold up to a constant factor only.)

    Args:
        features: ``(..., K, d)`` features of the arms, of any rank.
        tolerance: Ends when the largest variance is at most (1 + tolerance) rank; positive.
        max_iterations: N, the most steps, at least 0. Where they do not suffice, ``excess`` of the result says so.

    Returns:
        The design.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.

    Source: Azizi, Kveton and Ghavamzadeh (2022), Algorithm 2; its rounding:
    :func:`bai_gym.linear.designs.round_design`.
    """

    def line(batch: _Batch) -> tuple[IntArray, FloatArray]:
        arm, variance = batch.largest()
        squares = batch.covariances(arm) ** 2
        length = _bisect(batch.variances, squares, variance)
        return arm, np.asarray(np.where(length > STALL, length, _fedorov(variance, batch.rank)))

    return _solve(features, "uniform", line, tolerance, max_iterations, keep_best=True)


@dataclass(slots=True)
class _Batch:
    """Designs of instances that are not done yet, all of rank 2 or more."""

    rows: IntArray  # (n,) positions in the full batch
    arms: FloatArray  # (n, K, m) coordinates
    rank: IntArray  # (n,)
    weights: FloatArray  # (n, K)
    inverse: FloatArray  # (n, m, m) V^-1; the identity in coordinates beyond the rank
    variances: FloatArray  # (n, K)
    steps: IntArray  # (n,) steps made
    age: IntArray  # (n,) steps since the inverse was recomputed

    @classmethod
    def of(cls, rows: IntArray, found: Span, weights: FloatArray) -> _Batch:
        arms = found.coordinates[rows]
        size, width = len(rows), arms.shape[-1]
        steps, age = np.zeros(size, np.int64), np.ones(size, np.int64)
        empty = np.empty((size, width, width))
        batch = cls(rows, arms, found.rank[rows], weights[rows], empty, np.empty(arms.shape[:2]), steps, age)
        batch.refresh(np.ones(size, np.bool_))
        return batch

    def take(self, kept: IntArray) -> _Batch:
        return _Batch(
            self.rows[kept],
            self.arms[kept],
            self.rank[kept],
            self.weights[kept],
            self.inverse[kept],
            self.variances[kept],
            self.steps[kept],
            self.age[kept],
        )

    def refresh(self, which: BoolArray) -> None:
        """Compute V^-1 and the variances of some of the instances from their weights."""
        at = np.flatnonzero(which)
        arms, weights = self.arms[at], self.weights[at]
        weights = weights / weights.sum(axis=-1, keepdims=True)
        inverse = inverse_information(Span(arms, self.rank[at]), weights)
        self.weights[at], self.inverse[at], self.age[at] = weights, inverse, 0
        self.variances[at] = np.einsum("nkm,nkm->nk", arms @ inverse, arms)

    def largest(self) -> tuple[IntArray, FloatArray]:
        """Return the arm of largest variance, and that variance."""
        arm = self.variances.argmax(axis=-1)
        return arm, self.variances[np.arange(len(arm)), arm]

    def least(self) -> tuple[IntArray, FloatArray]:
        """Return the arm of least variance among those with weight, and that variance."""
        held = np.where(self.weights > 0, self.variances, np.inf)
        arm = held.argmin(axis=-1)
        return arm, held[np.arange(len(arm)), arm]

    def covariances(self, arm: IntArray) -> FloatArray:
        """Return x^T V^-1 x_arm for all x, shape ``(n, K)``."""
        point = self.arms[np.arange(len(arm)), arm][..., None]
        return np.asarray((self.arms @ (self.inverse @ point))[..., 0])

    def move(self, arm: IntArray, length: FloatArray) -> None:
        """Go from weights w to (1 - length) w + length (all weight on the arm)."""
        at = (np.arange(len(arm)), arm)
        point = self.inverse @ self.arms[at][..., None]
        along = (self.arms @ point)[..., 0]
        rest = 1.0 - length
        share = length / (rest + length * along[at])
        self.inverse -= share[:, None, None] * (point * np.swapaxes(point, -1, -2))
        self.inverse /= rest[:, None, None]
        self.variances -= share[:, None] * along**2
        self.variances /= rest[:, None]
        moved = self.weights[at] * rest + length
        self.weights *= rest[:, None]
        self.weights[at] = np.where(moved > 1e-15, moved, 0.0)
        self.steps += 1
        self.age += 1


def _solve(
    features: ArrayLike,
    start: str,
    rule: Callable[[_Batch], tuple[IntArray, FloatArray]],
    tolerance: float,
    max_iterations: int,
    *,
    balanced: bool = False,
    keep_best: bool = False,
) -> Design:
    """Make steps until all instances are done.

    Args:
        features: ``(..., K, d)``.
        start: ``"basis"`` or ``"uniform"``.
        rule: Returns the arm and the length of the next step of each instance.
        tolerance: Of the largest variance, relative to the rank.
        max_iterations: Most steps.
        balanced: Whether the least variance of an arm with weight must be near the rank, too.
        keep_best: Whether to return the best design that was met, instead of the last one.
    """
    x, outer = instances(features)
    real(tolerance, "tolerance", above=0)
    integer(max_iterations, "max_iterations", least=0)
    space = span(x)
    weights = basis_weights(space) if start == "basis" else np.full(x.shape[:2], 1.0 / x.shape[1])
    line = np.flatnonzero(space.rank == 1)
    weights[line] = 0.0
    weights[line, np.abs(space.coordinates[line]).sum(axis=-1).argmax(axis=-1)] = 1.0
    iterations = np.zeros(len(x), np.int64)
    batch = _Batch.of(np.flatnonzero(space.rank >= 2), space, weights)
    best = np.full(len(x), np.inf)
    while len(batch.rows):
        high = batch.largest()[1]
        if keep_best:
            better = high < best[batch.rows]
            weights[batch.rows[better]] = batch.weights[better]
            best[batch.rows[better]] = high[better]
        done = high <= (1.0 + tolerance) * batch.rank
        if balanced:
            done &= batch.least()[1] >= (1.0 - tolerance) * batch.rank
        done |= batch.steps >= max_iterations
        stale = (done & (batch.age > 0)) | (batch.age >= REFRESH)
        if stale.any():  # then look again, without the rounding errors of many updates
            batch.refresh(stale)
            continue
        if done.any():
            if not keep_best:
                weights[batch.rows[done]] = batch.weights[done]
            iterations[batch.rows[done]] = batch.steps[done]
            batch = batch.take(np.flatnonzero(~done))
        if len(batch.rows):
            batch.move(*rule(batch))
    weights /= weights.sum(axis=-1, keepdims=True)
    variance = spread(space.coordinates, weights).max(axis=-1)
    return Design(
        weights.reshape(*outer, x.shape[1]),
        np.asarray(variance.reshape(outer)),
        np.asarray(space.rank.reshape(outer)),
        np.asarray(iterations.reshape(outer)),
    )


def _fedorov(variance: FloatArray, rank: IntArray) -> FloatArray:
    """Return the step length that maximises log det V; negative below the rank, meaningless up to a variance of 1."""
    below = np.where(variance > 1.0, variance - 1.0, 1.0)
    return np.asarray((variance / rank - 1.0) / below)


def _bisect(variances: FloatArray, squares: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the step length that minimises the largest variance, which is convex in it."""
    low, high = np.zeros(len(variance)), np.ones(len(variance))
    rows = np.arange(len(variance))
    more = (variance - 1.0)[:, None]
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        length = middle[:, None]
        scale = 1.0 + length * more
        arm = (variances - squares * (length / scale)).argmax(axis=-1)
        # The sign of the derivative of that arm's variance, (variance - length x square / scale) / (1 - length).
        slope = variances[rows, arm] - squares[rows, arm] * ((1.0 + length**2 * more) / scale**2)[:, 0]
        falling = slope < 0
        low, high = np.where(falling, middle, low), np.where(falling, high, middle)
    return low
