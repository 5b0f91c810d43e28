"""The sampling rules of LinGapE: which two arms are to be told apart, and the pull that helps most."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from bai_gym.agents.choosing import largest
from bai_gym.agents.ridge import Ridge
from bai_gym.designs.contrast import solve_contrasts
from bai_gym.designs.span import project
from bai_gym.sampling import SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["GapRule", "GreedyRule", "Radius", "RatioRule"]

SAME = 1e-12  # ||x_i - x_j||^2 up to this, times ||x_i||^2 + ||x_j||^2, is 0 but for rounding


@dataclass(frozen=True, kw_only=True)
class Radius:
    """The factor C_t of the widths, see :class:`bai_gym.agents.lin_gape.LinGapE`.

    Attributes:
        noise: ``(N,)`` standard deviations sigma.
        length: ``(N,)`` or ``(1,)`` length of the longest arm.
        num_arms: K.
        num_features: d.
        delta: Probability of an error.
        lam: Weight of the identity.
        bound: S.
        by_determinant: The paper's form; False: that of the authors' code.
    """

    noise: FloatArray
    length: FloatArray
    num_arms: int
    num_features: int
    delta: float
    lam: float
    bound: float
    by_determinant: bool

    def __call__(self, pulls: float, log_det: FloatArray) -> FloatArray:
        """Return ``(N,)`` C_t after so many pulls, with log_det = log det A - log det lam I."""
        pairs = 2.0 * math.log(self.num_arms)
        if self.by_determinant:
            level = 2.0 * (pairs - math.log(self.delta)) + log_det
        else:
            ratio = pairs + np.log1p(pulls * self.length**2) - math.log(self.lam) - math.log(self.delta)
            level = self.num_features * np.maximum(ratio, 0.0)
        return np.asarray(self.noise * np.sqrt(level) + math.sqrt(self.lam) * self.bound)


class GapRule(SamplingRule):
    """Finds the arms i and j in each episode; a subclass says what to pull."""

    def __init__(
        self,
        steps: int,
        features: FloatArray,
        ridge: Ridge,
        radius: Radius,
        tie: TieRule,
        rng: np.random.Generator,
    ) -> None:
        """Remember ``(N, K, d)`` or ``(1, K, d)`` features, the regression, the widths and the tie rule."""
        self.steps = steps
        self._features = features
        self._ridge = ridge
        self._radius = radius
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Take in the first pulls."""
        self._window = window
        self._pulls = window.pulls.T
        self._made = float(window.pulls[:, 0].sum())
        self._ridge.start(window)
        self._rows = np.arange(len(self._pulls))
        self._exact = np.zeros(len(self._pulls))  # the scale of values that are no sums

    def choose(self) -> IntArray:
        """Return the arms to pull."""
        ridge, rows = self._ridge, self._rows
        first = self._largest(ridge.scores, ridge.scale)
        seen = ridge.covariances(first)
        own = ridge.variances[rows, first]
        both = ridge.variances + own[:, None]
        squares = both - 2.0 * seen
        squares[squares <= SAME * both] = 0.0
        upper = np.sqrt(squares)
        upper *= self._radius(self._made, ridge.log_det)[:, None]
        upper += ridge.scores
        upper[rows, first] = -np.inf
        second = self._largest(upper, ridge.scale)
        arms = self.pull(first, second, seen)
        equal = np.flatnonzero(squares[rows, second] == 0.0)
        if equal.size:
            pair = np.sort(np.stack([first[equal], second[equal]], axis=1), axis=1)
            pulls = self._pulls[equal[:, None], pair]
            less = largest(-1.0 * pulls, self._exact[equal], pulls, self._tie, self._rng)
            arms[equal] = pair[np.arange(equal.size), less]
        return np.asarray(arms * rows.size + rows)

    def _largest(self, values: FloatArray, scale: FloatArray) -> IntArray:
        return largest(values, scale, self._pulls, self._tie, self._rng)

    @abstractmethod
    def pull(self, first: IntArray, second: IntArray, seen: FloatArray) -> IntArray:
        """Return the ``(N,)`` arms to pull.

        Args:
            first: ``(N,)`` arms i.
            second: ``(N,)`` arms j.
            seen: ``(N, K)`` x_i^T A^-1 x_k, free to be overwritten.
        """

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Take in the rewards."""
        self._made += 1
        self._ridge.add(flat, pulls, means)

    def greedy(self, second: IntArray, seen: FloatArray) -> IntArray:
        """Return the ``(N,)`` arms after whose pull the width of x_i - x_j is least; arguments as in :meth:`pull`."""
        seen -= self._ridge.covariances(second)
        seen *= seen
        seen /= 1.0 + self._ridge.variances
        return self._largest(seen, self._exact)


class GreedyRule(GapRule):
    """Pulls the arm that makes the width of the difference least."""

    def pull(self, first: IntArray, second: IntArray, seen: FloatArray) -> IntArray:
        """Return the arms to pull."""
        return self.greedy(second, seen)


class RatioRule(GapRule):
    """Pulls the arm that lags behind most in the design for the difference.

    A design is computed when a pair of arms first comes up in an episode (or in any, where all have the same features),
    for all such episodes at once, and kept.
    """

    def start(self, window: Statistics) -> None:
        """Take in the first pulls, and forget all designs."""
        super().start(window)
        self._designs = _Designs(self._features)
        self._pair = np.full(self._rows.size, -1)
        self._design = np.zeros(self._rows.size, np.int64)

    def pull(self, first: IntArray, second: IntArray, seen: FloatArray) -> IntArray:
        """Return the arms to pull."""
        pair = np.minimum(first, second) * len(self._window.pulls) + np.maximum(first, second)
        new = np.flatnonzero(pair != self._pair)
        self._pair = pair
        if new.size:
            self._design[new] = self._designs.look_up(new, pair[new])
        support, shares = self._designs.support[self._design], self._designs.shares[self._design]
        pulls = self._pulls[self._rows[:, None], support]
        behind = np.full(pulls.shape, -np.inf)
        np.divide(pulls, -shares, out=behind, where=shares > 0)
        lost = np.flatnonzero(shares[:, 0] == 0)
        behind[lost, 0] = 0.0
        chosen = largest(behind, self._exact, pulls, self._tie, self._rng)
        arms: IntArray = support[self._rows, chosen].astype(np.int64)
        if lost.size:
            arms[lost] = self.greedy(second, seen)[lost]
        return arms


class _Designs:
    """Designs for pairs of arms, computed when they are first asked for.

    Attributes:
        support: ``(designs, size)`` the arms of each design, first to last.
        shares: ``(designs, size)`` their shares of the pulls, at the end of a row 0; only 0 for a design that rounding
            errors have kept from being found, or of two arms with the same features.
    """

    def __init__(self, features: FloatArray) -> None:
        self._coordinates = project(features).coordinates
        self._known: dict[int, int] = {}
        self.support = np.zeros((64, 2), np.min_scalar_type(features.shape[1]))
        self.shares = np.zeros((64, 2))

    def look_up(self, runs: IntArray, pairs: IntArray) -> IntArray:
        """Return ``(n,)`` numbers of the designs for pairs of arms i K + j in some runs."""
        arms = self._coordinates.shape[1]
        rows = runs % len(self._coordinates)
        keys = rows * arms**2 + pairs
        found = np.fromiter(map(self._known.get, keys.tolist(), repeat(-1)), np.int64, keys.size)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            wanted, which, back = np.unique(keys[missing], return_index=True, return_inverse=True)
            at = missing[which]
            begin = len(self._known)
            self._add(solve_contrasts(self._coordinates, rows[at], pairs[at] // arms, pairs[at] % arms)[0])
            self._known.update(zip(wanted.tolist(), range(begin, begin + wanted.size), strict=True))
            found[missing] = begin + back
        return found

    def _add(self, weights: FloatArray) -> None:
        """Keep the designs of ``(n, K)`` weights."""
        begin, end = len(self._known), len(self._known) + len(weights)
        is_in = weights != 0
        size = int(np.count_nonzero(is_in, axis=1).max())
        height, width = self.shares.shape
        if end > height or size > width:
            room = (max(end, 2 * height) if end > height else height, max(size, width))
            for name in ("support", "shares"):
                old = getattr(self, name)
                new = np.zeros(room, old.dtype)
                new[:begin, :width] = old[:begin]
                setattr(self, name, new)
        order = np.argsort(~is_in, axis=1, kind="stable")[:, :size]
        sizes = np.abs(np.take_along_axis(weights, order, axis=1))
        self.support[begin:end, :size] = order
        self.shares[begin:end, :size] = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
