"""Ridge regressions of many episodes, laid out for :mod:`bai_gym.agents.linear.ridge` and fitted by NumPy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from bai_gym.sampling import States, Values
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Ridge", "coordinates", "orthogonal_groups"]

AT_ONCE = 2**18  # entries of a matrix product that are held at a time, for the cache


class Ridge:
    """The regressions of N episodes: how they are laid out, and how they are fitted.

    Args:
        features: ``(N, K, d)``, or ``(1, K, d)`` for all episodes.
        lam: Weight of the identity, positive.

    Attributes:
        width: d where the inverse of A is kept, 0 where M is.
        order: ``(K,)`` the arm at each place.
        places: ``(K,)`` the place of each arm.
        values: Initial values of :class:`~bai_gym.agents.linear.ridge.RegressionState`, by name.
    """

    def __init__(self, features: FloatArray, lam: float) -> None:
        """Choose the form of which a pull changes and reads fewer numbers."""
        arms, width = features.shape[1:]
        labels = orthogonal_groups(features)
        sizes = np.bincount(labels)
        self._lam = lam
        self.width: int = 0 if sizes.max() ** 2 <= width * (width + arms) else width
        if self.width:
            labels, sizes = np.zeros(arms, np.int64), np.array([arms])
        self.order: IntArray = np.lexsort((labels, sizes[labels]))  # small groups first
        self.places: IntArray = np.argsort(self.order)
        own = sizes[labels[self.order]]
        starts = np.empty(arms, np.int64)
        self._classes: list[tuple[slice, FloatArray]] = []  # the places of groups of one size, and their coordinates
        for size in np.unique(sizes):
            at = np.flatnonzero(own == size)
            starts[at] = at - (at - at[0]) % size
            x = features[:, self.order[at]].reshape(len(features), -1, size, width)
            self._classes.append((slice(at[0], at[-1] + 1), x if self.width else coordinates(x)))
        self.values: Values = {
            "width": self.width,
            "matrix": np.zeros(width * (width + arms + 1) if self.width else int(own.sum())),
            "order": self.order.astype(float),
            "places": self.places.astype(float),
            "starts": starts.astype(float),
            "sizes": own.astype(float),
            "blocks": (np.cumsum(own) - own).astype(float),
        }

    def fit(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Fit the regressions of episodes that wait, see :attr:`bai_gym.sampling.Sequential.supply`."""
        pulls, sums = statistics.pulls[rows], statistics.sums[rows]
        scores, squares = np.empty(pulls.shape), np.empty(pulls.shape)
        log_det = np.zeros(rows.size)
        kept = states["matrix"]
        begin = end = 0
        for places, x, part, half, root, found in self._solve(rows, pulls, sums):
            scores[part, places] = found
            squares[part, places] = np.einsum("ngkd,ngkd->ngk", half, half).reshape(len(half), -1)
            log_det[part] -= 2.0 * np.log(np.einsum("ngdd->ngd", root) * math.sqrt(self._lam)).sum(axis=(1, 2))
            matrix = root @ np.swapaxes(root, -1, -2) if self.width else half @ np.swapaxes(half, -1, -2)
            begin = end if part.start == 0 else begin
            end = begin + matrix[0].size
            kept[rows[part], begin:end] = matrix.reshape(len(matrix), -1)
            if self.width:
                kept[rows[part], end : end + x[0].size] = np.swapaxes(x, -1, -2).reshape(len(x), -1)
        made, magnitude = pulls.sum(axis=1), np.maximum(np.abs(scores), np.abs(statistics.means[rows])).max(axis=1)
        states["scores"][rows], states["squares"][rows] = scores, squares
        states["seen"][rows] = states["fitted"][rows] = made
        states["due"][rows] = np.maximum(2 * made, self.order.size)
        states["largest"][rows] = squares.max(axis=1)
        states["log_det"][rows] = log_det
        states["scale"][rows] = np.maximum(states["scale"][rows], magnitude)

    def scores(self, pulls: IntArray, means: FloatArray) -> FloatArray:
        """Return ``(N, K)`` estimates x^T theta from ``(N, K)`` pulls and means of all episodes."""
        scores = np.empty(means.shape)
        for places, _, part, _, _, found in self._solve(np.arange(len(pulls)), pulls, pulls * means):
            scores[part, self.order[places]] = found
        return scores

    def _solve(self, rows: IntArray, pulls: IntArray, sums: FloatArray) -> Iterator[tuple[Any, ...]]:
        """Yield the parts of a fit: groups of one size, in some episodes at a time.

        Each is the places of the arms, their coordinates X, the slice of the episodes, X R and R with A^-1 = R R^T, and
        the scores; the first axis is 1 where all episodes have the same.
        """
        for places, x in self._classes:
            arms = self.order[places]
            alike = len(x) == 1 and bool((pulls[:, arms] == pulls[:1, arms]).all())
            per_part = max(1, AT_ONCE // (x[0].size if not alike else sums[0].size))
            for first in range(0, rows.size, per_part):
                part = slice(first, first + per_part)
                own = x if len(x) == 1 else x[rows[part]]
                times = pulls[:1] if alike else pulls[part]
                weighted = own * times[:, arms].reshape(len(times), *x.shape[1:3], 1)
                a = np.swapaxes(own, -1, -2) @ weighted + self._lam * np.eye(x.shape[-1])
                root = np.swapaxes(np.linalg.inv(np.linalg.cholesky(a)), -1, -2)
                half = own @ root
                rewards = sums[part][:, arms].reshape(-1, *x.shape[1:3], 1)
                theta = half @ (np.swapaxes(half, -1, -2) @ rewards)
                yield places, own, part, half, root, theta.reshape(len(theta), -1)


def orthogonal_groups(x: FloatArray) -> IntArray:
    """Return ``(K,)`` numbers of groups, such that in all episodes arms of different groups are exactly orthogonal.

    Args:
        x: ``(N, K, d)`` features.
    """
    linked = np.zeros((x.shape[1], x.shape[1]), dtype=bool)
    step = max(1, AT_ONCE // linked.size)
    for begin in range(0, len(x), step):
        part = x[begin : begin + step]
        linked |= (part @ np.swapaxes(part, -1, -2) != 0).any(axis=0)
        if linked.all():
            break
    return np.asarray(connected_components(linked, directed=False)[1], np.int64)


def coordinates(x: FloatArray) -> FloatArray:
    """Return features ``(..., K, d)`` as at most K coordinates for each arm, with the same inner products."""
    if x.shape[-1] <= x.shape[-2]:
        return x
    return np.swapaxes(np.linalg.qr(np.swapaxes(x, -1, -2), mode="r"), -1, -2)
