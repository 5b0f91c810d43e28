"""Designs under which the largest of many variances is smallest, with a certificate of how good they are.

For features x_k of arms and directions y_j, a design w minimises f(w) = max_j y_j^T A(w)^-1 y_j with A(w) = sum w_k x_k
x_k^T. The function is convex and not smooth; it is minimised by an interior-point method: Newton's method on t / mu -
sum_j log(t - f_j(w)) - sum_k log w_k, for smaller and smaller mu. Where there are many arms or directions, only those
that matter take part: others are added while they would improve the value, or exceed it.

The certificate needs no knowledge of the method: for shares p_j of the directions, phi(w) = sum_j p_j f_j(w) is convex
and at most f. Its derivative by w_k is -g_k with g_k = sum_j p_j (x_k^T A^-1 y_j)^2, and sum_k w_k g_k = phi(w), so no
design has a value below 2 phi(w) - max_k g_k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import ParameterError
from bai_gym.linear.designs.inputs import instances
from bai_gym.linear.designs.span import RANK_TOLERANCE
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import real

__all__ = ["MinimaxDesign", "minimax_design", "pair_design"]

FIRST_ARMS = 64  # up to as many arms all take part from the start, and all pairs of as many candidates
FIRST_DIRECTIONS = FIRST_ARMS * (FIRST_ARMS - 1) // 2
ADDED = 8  # directions or arms that are added at a time
ROUNDS = 200  # of additions
NEWTON_STEPS = 200
SHRINK = 0.15  # of mu
NEAREST = 0.1  # a step leaves this share of the distance to every constraint
TRACE = 0.1  # times the tolerance: weights that the method leaves on arms of no use
SHORTEST = 1e-12  # share of a Newton step
FEW = 512  # up to as many points all pairs are looked at
CLUSTERS = 64  # of more points

Search = Callable[[FloatArray, int], FloatArray]
"""Returns ``(m, r)`` directions of largest y^T A^-1 y, the largest first, given a root R of A^-1 = R R^T, and m."""


@dataclass(frozen=True, slots=True)
class MinimaxDesign:
    """A design for several directions.

    Attributes:
        weights: ``(K,)`` shares of the pulls: at least 0, with sum 1.
        value: Largest variance y^T A^-1 y of a direction; infinite where arms do not span all directions.
        lower: No design has a smaller value than this: the certificate.
    """

    weights: FloatArray
    value: float
    lower: float


def minimax_design(features: ArrayLike, directions: ArrayLike, *, tolerance: float = 1e-6) -> MinimaxDesign:
    """Return the design under which the largest variance of the given directions is smallest.

    Args:
        features: ``(K, d)`` features of the arms, of any rank.
        directions: ``(m, d)`` directions y.
        tolerance: Relative distance of the value to the lower bound that is good enough, positive.

    Returns:
        The design; with equal weights where all directions are 0, or one is outside the span of the arms.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.
    """
    x, to_span = _coordinates(features)
    y = np.asarray(directions, np.float64)
    if y.ndim != 2 or y.shape[1] != to_span.shape[0] or not np.isfinite(y).all():
        raise ParameterError(f"directions must be finite numbers of shape (m, {to_span.shape[0]}), not {y.shape}")
    inside = y @ to_span
    back = inside @ np.linalg.pinv(to_span) if to_span.size else np.zeros_like(y)
    if (np.abs(back - y).max(axis=1, initial=0.0) > 1e-8 * np.abs(y).max(axis=1, initial=0.0)).any():
        return MinimaxDesign(np.full(len(x), 1.0 / len(x)), np.inf, np.inf)

    def search(root: FloatArray, number: int) -> FloatArray:
        values = ((inside @ root) ** 2).sum(axis=1)
        return np.asarray(inside[np.argsort(-values, kind="stable")[:number]])

    return _solve(x, search, real(tolerance, "tolerance", above=0))


def pair_design(features: ArrayLike, candidates: ArrayLike, *, tolerance: float = 1e-2) -> MinimaxDesign:
    """Return the design under which the largest variance of a difference of two candidates is smallest: an XY-design.

    Unlike :func:`bai_gym.linear.designs.xy_optimal` it is for one instance, and takes candidates that are no arms; and
    it looks for the pairs that matter, so that there may be tens of thousands of arms.

    Args:
        features: ``(K, d)`` features of the arms, all of which may be pulled.
        candidates: ``(m, d)`` features of what is compared.
        tolerance: Relative distance of the value to the lower bound that is good enough, positive.

    Returns:
        The design, as of :func:`minimax_design`.

    Raises:
        InstanceError: If features are NaN or infinite, or have the wrong shape.
        ParameterError: If another argument is malformed.
    """
    x, to_span = _coordinates(features)
    z = np.asarray(candidates, np.float64) @ to_span
    if len(z) <= FIRST_ARMS:
        one, other = np.triu_indices(len(z), min(1, len(z) - 1))
        return minimax_design(
            features, np.asarray(candidates, np.float64)[one] - np.asarray(candidates)[other], tolerance=tolerance
        )

    def search(root: FloatArray, number: int) -> FloatArray:
        first, second = farthest_pairs(z @ root, number)
        return np.asarray(z[first] - z[second])

    return _solve(x, search, real(tolerance, "tolerance", above=0))


def farthest_pairs(points: FloatArray, number: int) -> tuple[IntArray, IntArray]:
    """Return pairs of the points ``(n, r)``: first two of largest distance, then others that are far from each other.

    Many points are first divided into clusters. Points of two clusters are at most as far from each other as their
    centres and both radii together, so that few pairs of clusters have to be looked at.

    Args:
        points: ``(n, r)``, at least one.
        number: Pairs to return, at most.
    """
    if len(points) <= FEW:
        distances = _distances(points, points)
        farthest = distances.argmax(axis=1)
        first = np.argsort(-distances[np.arange(len(points)), farthest], kind="stable")[:number]
        return first, farthest[first]
    centres, labels, gaps = _clusters(points)
    radius = np.zeros(centres.size)
    np.maximum.at(radius, labels, gaps)
    between = _distances(points[centres], points[centres])
    least = float(between.max())
    bounds = between + radius[:, None] + radius
    one, other = np.triu_indices(centres.size)
    order = np.argsort(-bounds[one, other], kind="stable")
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels, minlength=centres.size))[:-1])
    candidates: list[tuple[float, int, int]] = []
    for c, b in zip(one[order].tolist(), other[order].tolist(), strict=True):
        if bounds[c, b] < least:
            break
        distances = _distances(points[members[c]], points[members[b]])
        i, j = np.unravel_index(int(distances.argmax()), distances.shape)
        candidates.append((float(distances[i, j]), int(members[c][i]), int(members[b][j])))
        least = max(least, candidates[-1][0])
    candidates.sort(key=lambda pair: -pair[0])
    pairs = np.array([pair[1:] for pair in candidates[:number]])
    return pairs[:, 0], pairs[:, 1]


def _clusters(points: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return ``(c,)`` centres, ``(n,)`` labels, and ``(n,)`` distances to the centres: the farthest point is the next.

    Source: Gonzalez (1985), "Clustering to minimize the maximum intercluster distance".
    """
    centres, labels = [0], np.zeros(len(points), np.int64)
    gaps = np.linalg.norm(points - points[0], axis=1)
    while len(centres) < CLUSTERS and gaps.max() > 0.0:
        farthest = int(gaps.argmax())
        away = np.linalg.norm(points - points[farthest], axis=1)
        nearer = away < gaps
        labels[nearer], gaps[nearer] = len(centres), away[nearer]
        centres.append(farthest)
    return np.array(centres), labels, gaps


def _distances(points: FloatArray, others: FloatArray) -> FloatArray:
    squares = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * points @ others.T
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _coordinates(features: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return coordinates ``(K, r)`` of arms in their span, with sum u u^T = K / r I, and the ``(d, r)`` map to them."""
    x, outer = instances(features)
    if outer:
        raise ParameterError(f"features must have the shape (K, d), not {np.shape(features)}")
    left, values, axes = np.linalg.svd(x[0], full_matrices=False)
    nonzero = values > RANK_TOLERANCE * max(x[0].shape) * values[0]
    scale = np.sqrt(len(left) / max(nonzero.sum(), 1))
    return left[:, nonzero] * scale, axes[nonzero].T / values[nonzero] * scale


def _solve(x: FloatArray, search: Search, tolerance: float) -> MinimaxDesign:
    """Return the design for coordinates ``(K, r)`` of the arms and the directions that a search finds."""
    arms = np.arange(len(x)) if len(x) <= FIRST_ARMS else _spread_out(x)
    weights = np.zeros(len(x))
    weights[arms] = 1.0 / arms.size
    y = search(_root(x, weights), FIRST_DIRECTIONS)
    scale = float(((y[0] @ _root(x, weights)) ** 2).sum()) if len(y) else 0.0
    if scale <= 0.0:
        return MinimaxDesign(np.full(len(x), 1.0 / len(x)), 0.0, 0.0)
    value, lower, best = np.inf, 0.0, weights
    for _ in range(ROUNDS):
        own, shares = _newton(x[arms], y / np.sqrt(scale), 0.25 * tolerance)
        weights = np.zeros(len(x))
        weights[arms] = own
        root = _root(x, weights)
        differences = search(root, ADDED)
        largest = float(((differences[0] @ root) ** 2).sum())
        gains = shares @ ((y @ root) @ (x @ root).T) ** 2
        lower = max(lower, 2.0 * float(weights @ gains) - float(gains.max()))
        if largest < value:
            value, best = largest, weights
        if value <= lower * (1.0 + tolerance):
            break
        better = np.argsort(-gains)[:ADDED]
        arms = np.union1d(arms, better[gains[better] > weights @ gains])
        y = np.unique(np.concatenate([y, differences]), axis=0)
    fewer = np.where(best > TRACE * tolerance, best, 0.0)
    fewer /= fewer.sum()
    if np.linalg.matrix_rank(x[fewer > 0]) == x.shape[1]:
        root = _root(x, fewer)
        largest = float(((search(root, 1)[0] @ root) ** 2).sum())
        if largest <= value * (1.0 + tolerance):
            best, value = fewer, largest
    return MinimaxDesign(best, value, min(lower, value))


def _newton(x: FloatArray, y: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Return weights ``(K,)``, and shares ``(m,)`` of the directions that prove how good they are."""
    constraints = len(x) + len(y)
    w = np.full(len(x), 1.0 / len(x))
    products, f = _values(x, y, w)
    t = 1.1 * float(f.max())
    mu = t / constraints
    for _ in range(NEWTON_STEPS):
        step, rise, decrement = _newton_step(x, w, products, t - f, mu)
        now = t / mu - np.log(t - f).sum() - np.log(w).sum()
        length = min(1.0, (1.0 - NEAREST) / max(float((-step / w).max()), 1e-300))
        while length > SHORTEST:
            tried, level = w + length * step, t + length * rise
            seen_there, values = _values(x, y, tried)
            if (level - values > NEAREST * (t - f)).all():
                there = level / mu - np.log(level - values).sum() - np.log(tried).sum()
                if there <= now - 0.1 * length * decrement + 1e-12 * abs(now):
                    w, t, products, f = tried, level, seen_there, values
                    break
            length *= 0.5
        if decrement < 0.1 or length <= SHORTEST:  # near the minimum for this mu, or as near as rounding errors allow
            if mu * constraints <= 0.25 * tolerance * t or length <= SHORTEST:
                break
            mu *= SHRINK
    shares = 1.0 / (t - f)
    return w / w.sum(), shares / shares.sum()


def _newton_step(
    x: FloatArray, w: FloatArray, seen: FloatArray, slack: FloatArray, mu: float
) -> tuple[FloatArray, float, float]:
    """Return the changes of w and t, and the Newton decrement; each variable is measured in its own scale."""
    arms = len(w)
    inverse = 1.0 / slack
    squares = seen**2  # minus the gradients of f
    half = x @ _root(x, w)
    system = np.zeros((arms + 2, arms + 2))
    system[:arms, :arms] = 2.0 * (seen.T * inverse) @ seen * (half @ half.T) + (squares.T * inverse**2) @ squares
    system[np.arange(arms), np.arange(arms)] += w**-2.0
    system[:arms, arms] = system[arms, :arms] = squares.T @ inverse**2
    system[arms, arms] = (inverse**2).sum()
    system[:arms, -1] = system[-1, :arms] = 1.0  # the weights keep their sum
    slope = np.append(-inverse @ squares - 1.0 / w, 1.0 / mu - inverse.sum())
    scale = np.append(w, system[arms, arms] ** -0.5)
    scales = np.append(scale, 1.0)
    step = scale * np.linalg.solve(system * scales * scales[:, None], np.append(-slope * scale, 0.0))[:-1]
    return step[:-1], float(step[-1]), -float(slope @ step)


def _values(x: FloatArray, y: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``(m, K)`` x_k^T A^-1 y_j, and ``(m,)`` y_j^T A^-1 y_j."""
    root = _root(x, w)
    half = y @ root
    return half @ (x @ root).T, (half**2).sum(axis=1)


def _root(x: FloatArray, w: FloatArray) -> FloatArray:
    """Return R with A(w)^-1 = R R^T, from the QR decomposition of the weighted rows."""
    triangle = np.linalg.qr(np.sqrt(w[w > 0])[:, None] * x[w > 0], mode="r")
    return np.asarray(np.linalg.inv(triangle))


def _spread_out(x: FloatArray) -> IntArray:
    """Return a few arms that span the space: those farthest from what earlier ones span, in turn."""
    left, chosen = x.copy(), []
    for _ in range(x.shape[1]):
        arm = int((left**2).sum(axis=1).argmax())
        chosen.append(arm)
        axis = left[arm] / np.linalg.norm(left[arm])
        left -= np.outer(left @ axis, axis)
    return np.array(chosen)
