"""Three ways to keep M = X A^-1 X^T, with A = lam I + sum x x^T over the pulls, where one arm is pulled at a time.

Rows of M are what algorithms on arms read, and a pull of arm a takes M_a M_a^T / (1 + M_aa) from M. Done plainly for K
arms in N episodes that is a pass over N K^2 numbers for each pull, at the speed of main memory. Each form avoids it in
another case; :func:`cheapest_form` knows which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import connected_components

from bai_gym.statistics import FloatArray, IntArray

__all__ = ["FeatureForm", "Form", "GroupForm", "LazyForm", "cheapest_form", "orthogonal_groups"]

LARGEST = 2**28  # numbers in memory for M of all episodes, 2 GB, unless A^-1 would take as many
AT_ONCE = 2**18  # entries of a matrix product that are held at a time, for the cache


class Form(ABC):
    """M of N episodes.

    Args:
        x: ``(N, K, d)`` features, or ``(1, K, d)`` for all episodes.
        lam: Weight of the identity in A, positive.
        batch: N.
    """

    def __init__(self, x: FloatArray, lam: float, batch: int) -> None:
        """Remember the features."""
        self._x = x
        self._lam = lam
        self._batch = batch
        self._rows = np.arange(batch)

    @abstractmethod
    def fit(self, pulls: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute everything afresh from ``(N, K)`` pulls and sums of rewards.

        Returns:
            ``(N, K)`` estimates x^T theta, ``(N, K)`` the diagonal of M, ``(N,)`` log det A - log det lam I.
        """

    @abstractmethod
    def covariances(self, arms: IntArray) -> FloatArray:
        """Return ``(N, K)`` the row of M for one arm of each episode; free to be overwritten."""

    @abstractmethod
    def add(self, arms: IntArray) -> tuple[IntArray | None, FloatArray]:
        """Take in a pull of one arm in each episode.

        Returns:
            ``(N, m)`` the arms whose numbers in M have changed (K for none), or None for all in their order; and
            ``(N, m)`` or ``(N, K)`` the row of M for the pulled arm before the pull, at these arms.
        """


class FeatureForm(Form):
    """Keeps A^-1, which is small where there are few features: a row is X (A^-1 x)."""

    def fit(self, pulls: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute everything afresh."""
        features = self._x.shape[-1]
        self._inverse = np.empty((self._batch, features, features))
        scores, variances, log_det = np.empty(pulls.shape), np.empty(pulls.shape), np.empty(self._batch)
        for part, x, root, log_det[part] in _roots(self._x, pulls, self._lam):
            self._inverse[part] = root @ np.swapaxes(root, -1, -2)
            half = x @ root
            variances[part] = np.einsum("nkd,nkd->nk", half, half)
            scores[part] = (half @ (np.swapaxes(half, -1, -2) @ sums[part, :, None]))[..., 0]
        return scores, variances, log_det

    def _solved(self, arms: IntArray) -> FloatArray:
        """Return ``(N, d, 1)`` A^-1 x."""
        x = self._x[0, arms] if len(self._x) == 1 else self._x[self._rows, arms]
        return np.asarray(self._inverse @ x[..., None])

    def _seen(self, solved: FloatArray) -> FloatArray:
        if len(self._x) == 1:
            return np.asarray(solved[..., 0] @ self._x[0].T)
        return np.asarray((self._x @ solved)[..., 0])

    def covariances(self, arms: IntArray) -> FloatArray:
        """Return rows of M."""
        return self._seen(self._solved(arms))

    def add(self, arms: IntArray) -> tuple[IntArray | None, FloatArray]:
        """Take in a pull."""
        solved = self._solved(arms)
        row = self._seen(solved)
        share = 1.0 / (1.0 + row[self._rows, arms])
        taken = (solved * share[:, None, None])[:, None, :, 0]
        for part in _parts(self._batch, self._inverse[0].size):
            self._inverse[part] -= solved[part] * taken[part]
        return None, row


class LazyForm(Form):
    """Keeps M as it was some pulls ago, and what each pull since takes from it: the vector u with u u^T.

    A row is that of the old M less the sum of u_a u. So a pull reads and writes a few rows; when ``pending`` vectors
    have come together, one product of matrices renews M, a pass over it for many pulls.
    """

    pending = 16

    def __init__(self, x: FloatArray, lam: float, batch: int) -> None:
        """Reduce the features to K coordinates, where they have more."""
        super().__init__(coordinates(x), lam, batch)
        arms = x.shape[-2]
        self._old = np.empty((batch, arms, arms))
        self._taken = np.empty((batch, self.pending, arms))

    def fit(self, pulls: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute everything afresh."""
        self._size = 0
        log_det = np.empty(self._batch)
        for part, x, root, log_det[part] in _roots(self._x, pulls, self._lam):
            half = x @ root
            self._old[part] = half @ np.swapaxes(half, -1, -2)
        scores = (self._old @ sums[..., None])[..., 0]
        return scores, np.einsum("nkk->nk", self._old).copy(), log_det

    def covariances(self, arms: IntArray) -> FloatArray:
        """Return rows of M."""
        row: FloatArray = self._old[self._rows, arms]
        if self._size:
            taken = self._taken[:, : self._size]
            weights = taken[self._rows, :, arms]
            row -= (weights[:, None, :] @ taken)[:, 0]
        return row

    def add(self, arms: IntArray) -> tuple[IntArray | None, FloatArray]:
        """Take in a pull."""
        row = self.covariances(arms)
        share = 1.0 / np.sqrt(1.0 + row[self._rows, arms])
        np.multiply(row, share[:, None], out=self._taken[:, self._size])
        self._size += 1
        if self._size == self.pending:
            for part in _parts(self._batch, row.shape[-1] ** 2):
                taken = self._taken[part]
                # Of one array with itself NumPy computes a triangle and copies it, which takes twice as long.
                self._old[part] += np.swapaxes(-taken, -1, -2) @ taken
            self._size = 0
        return None, row


class GroupForm(Form):
    """Keeps M of each group of arms that are orthogonal to all others: M is 0 elsewhere, and stays so.

    Args:
        x: As above.
        lam: As above.
        batch: N.
        groups: ``(K,)`` number of each arm's group, from 0.
    """

    def __init__(self, x: FloatArray, lam: float, batch: int, groups: IntArray) -> None:
        """Sort the arms into groups; shorter ones are filled up with an arm that does not exist, number K."""
        arms = x.shape[-2]
        sizes = np.bincount(groups)
        order = np.argsort(groups, kind="stable")
        self._group = groups
        self._slot = np.empty(arms, np.int64)
        self._slot[order] = np.arange(arms) - (np.cumsum(sizes) - sizes)[groups[order]]
        self._members = np.full((sizes.size, int(sizes.max())), arms)
        self._members[groups, self._slot] = np.arange(arms)
        with_none = np.concatenate([x, np.zeros((len(x), 1, x.shape[-1]))], axis=1)
        super().__init__(coordinates(with_none[:, self._members]), lam, batch)
        self._whole = sizes.size == 1

    def _grouped(self, values: FloatArray) -> FloatArray:
        """Return ``(N, K)`` values as ``(N, groups, size)``, with 0 where there is no arm."""
        return np.concatenate([values, np.zeros((len(values), 1))], axis=1)[:, self._members]

    def fit(self, pulls: FloatArray, sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute everything afresh."""
        number, size = self._members.shape
        matrices = np.empty((self._batch, number, size, size))
        log_det = np.empty((self._batch, number))
        for part, x, root, log_det[part] in _roots(self._x, self._grouped(pulls), self._lam):
            half = x @ root
            matrices[part] = half @ np.swapaxes(half, -1, -2)
        scores = (matrices @ self._grouped(sums)[..., None])[..., 0]
        self._matrices = matrices.reshape(-1, size, size)
        variances = np.einsum("ngkk->ngk", matrices)
        seen = self._group, self._slot
        return scores[:, *seen], variances[:, *seen], log_det.sum(axis=-1)

    def _spread(self, part: FloatArray, groups: IntArray) -> FloatArray:
        """Return ``(N, K)`` rows that are 0 outside the groups."""
        if self._whole:
            return part
        row = np.zeros((self._batch, self._slot.size + 1))
        row[self._rows[:, None], self._members[groups]] = part
        return row[:, :-1]

    def covariances(self, arms: IntArray) -> FloatArray:
        """Return rows of M."""
        groups = self._group[arms]
        part = self._matrices[self._rows * len(self._members) + groups, self._slot[arms]]
        return self._spread(part, groups)

    def add(self, arms: IntArray) -> tuple[IntArray | None, FloatArray]:
        """Take in a pull."""
        groups, slots = self._group[arms], self._slot[arms]
        at = self._rows * len(self._members) + groups
        part: FloatArray = self._matrices[at, slots]
        share = 1.0 / (1.0 + part[self._rows, slots])
        taken = part[:, :, None] * (part * share[:, None])[:, None, :]
        if self._whole:
            self._matrices -= taken
            return None, part
        self._matrices[at] -= taken
        return self._members[groups], part


def cheapest_form(x: FloatArray, lam: float, batch: int, groups: IntArray | None = None) -> Form:
    """Return the form that takes the least time for a pull, by a rough count of nanoseconds, fitted to measurements.

    Args:
        x: ``(N, K, d)`` features, or ``(1, K, d)`` for all episodes.
        lam: Weight of the identity in A, positive.
        batch: N.
        groups: ``(K,)`` number of each arm's group; None: the groups of arms that are orthogonal.
    """
    arms, features = x.shape[-2:]
    labels = orthogonal_groups(x) if groups is None else groups
    size = int(np.bincount(labels).max())
    by_groups = 60.0 + 2.0 * size**2
    by_features = 100.0 + 0.25 * arms * features + 2.0 * features**2
    lazily = 50.0 + 3.5 * arms + 0.1 * arms**2
    if batch * arms**2 > LARGEST and features < arms:
        lazily = np.inf
    if groups is not None or by_groups <= min(by_features, lazily):
        return GroupForm(x, lam, batch, labels)
    return FeatureForm(x, lam, batch) if by_features <= lazily else LazyForm(x, lam, batch)


def orthogonal_groups(x: FloatArray) -> IntArray:
    """Return ``(K,)`` numbers of groups, such that in all episodes arms of different groups are exactly orthogonal.

    Args:
        x: ``(N, K, d)`` features.
    """
    labels = np.zeros(x.shape[-2], np.int64)
    linked = np.zeros((x.shape[-2], x.shape[-2]), dtype=bool)
    done = 0
    while done < len(x):  # one episode first: its arms are in one group, mostly, and then those of all are
        part = x[done : done + (max(1, AT_ONCE // linked.size) if done else 1)]
        linked |= (part @ np.swapaxes(part, -1, -2) != 0).any(axis=0)
        done += len(part)
        number, labels = connected_components(linked, directed=False)
        if number == 1:
            break
    return labels.astype(np.int64)


def coordinates(x: FloatArray) -> FloatArray:
    """Return features ``(..., K, d)`` as at most K coordinates for each arm, with the same inner products."""
    if x.shape[-1] <= x.shape[-2]:
        return x
    return np.swapaxes(np.linalg.qr(np.swapaxes(x, -1, -2), mode="r"), -1, -2)


def _roots(x: FloatArray, pulls: FloatArray, lam: float) -> Iterator[tuple[slice, FloatArray, FloatArray, FloatArray]]:
    """Yield A^-1 = R R^T of some episodes after the others: a slice of them, their features, R and log det A / lam."""
    if len(x) == 1 and (pulls == pulls[:1]).all():
        yield slice(None), x, *_root(x, pulls[:1], lam)
        return
    for part in _parts(len(pulls), x[0].size):
        chosen = x if len(x) == 1 else x[part]
        yield part, chosen, *_root(chosen, pulls[part], lam)


def _root(x: FloatArray, pulls: FloatArray, lam: float) -> tuple[FloatArray, FloatArray]:
    a = (np.swapaxes(x, -1, -2) * pulls[..., None, :]) @ x
    diagonal = np.arange(a.shape[-1])
    a[..., diagonal, diagonal] += lam
    lower = np.linalg.cholesky(a)
    log_det = 2.0 * np.log(lower[..., diagonal, diagonal]).sum(axis=-1) - diagonal.size * np.log(lam)
    return np.swapaxes(np.linalg.inv(lower), -1, -2), log_det


def _parts(batch: int, entries: int) -> Iterator[slice]:
    """Yield slices of episodes, as many at a time as have ``AT_ONCE`` entries together."""
    together = max(1, AT_ONCE // entries)
    for first in range(0, batch, together):
        yield slice(first, first + together)
