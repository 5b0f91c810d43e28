"""Gaussian arms whose rewards on the same item are correlated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits.draws import Draws
from bai_gym.bandits.gaussian import GaussianBandit
from bai_gym.bandits.streams import address, normal, part_of
from bai_gym.errors import InstanceError
from bai_gym.paired.bandits.base import PairedBandit, key_of
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["PairedGaussianBandit"]

SAME = 1e-9  # eigenvalues of a correlation matrix that are closer than this are equal


class PairedGaussianArms(NamedTuple):
    """``(N, 1 + K)`` state; ``(N, K)`` means and standard deviations; ``(K, r)`` loadings and ``(K,)`` own noise."""

    rows: FloatArray
    means: FloatArray
    deviations: FloatArray
    loadings: FloatArray
    noise: FloatArray


def draw_paired_gaussian(arms: PairedGaussianArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return the reward of an arm of instance n on its next item."""
    row, factors = arms.rows[n], arms.loadings.shape[1]
    h = address(key_of(row, rng), np.uint64(row[1 + arm]))
    row[1 + arm] += 1.0
    reward = arms.noise[arm] * normal(part_of(h, np.uint64(factors + arm)))
    for factor in range(factors):
        reward += arms.loadings[arm, factor] * normal(part_of(h, np.uint64(factor)))
    return arms.means[n, arm] + arms.deviations[n, arm] * reward


class PairedGaussianBandit(PairedBandit):
    """Rewards of all arms on an item are jointly normal, N(means, covariance), and independent between items.

    On item j arm i has the reward means_i + s_i (V_i f_j + u_i e_ji), where s_i is its standard deviation, the r
    factors f_j and the noise e_ji are standard normal, and V V' + diag(u^2) is the correlation matrix. Equal
    correlation needs one factor; in general r is K minus the multiplicity of the smallest eigenvalue, or K without
    noise if that multiplicity is 1.

    A block of equally many pulls of arms that no other arm is ahead of is drawn from the distribution of its
    statistics: the sums of the factors are normal, and their scatter is Wishart. All other blocks are drawn item by
    item.

    Args:
        means: ``(K,)`` or ``(N, K)`` means.
        variances: Like ``means``, or one number for all arms; not with ``covariance``.
        correlation: Of every two arms, from -1 / (K - 1) to 1; or a ``(K, K)`` correlation matrix.
        covariance: ``(K, K)`` covariance matrix of the arms of every instance, in place of the other two.

    Raises:
        InstanceError: Invalid means or variances, a matrix that is not symmetric and positive semidefinite, or both
            ``correlation`` and ``covariance``, or neither.
    """

    by_instance = ("_deviations", *PairedBandit.by_instance)

    def __init__(
        self, means: object, variances: object = None, *, correlation: object = None, covariance: object = None
    ) -> None:
        """Find the factors."""
        if (correlation is None) == (covariance is None):
            raise InstanceError("paired Gaussian arms need correlation=, a number or a matrix, or else covariance=")
        if covariance is not None and variances is not None:
            raise InstanceError("variances cannot be given with covariance=, whose diagonal they are: leave them out")
        marginal = GaussianBandit(means, 1.0 if variances is None else variances)
        if covariance is not None:
            matrix = _matrix(covariance, "covariance", marginal.num_arms)
            if matrix.diagonal().min() < 0:
                raise InstanceError("covariance: a variance, on its diagonal, cannot be negative")
            marginal = GaussianBandit(marginal.means, np.tile(matrix.diagonal(), (marginal.batch, 1)))
            scale = np.sqrt(matrix.diagonal())
            scale = np.where(scale > 0, scale, 1.0)
            matrix = matrix / scale / scale[:, None]
            np.fill_diagonal(matrix, 1.0)  # a constant reward is uncorrelated with all others
        elif not isinstance(correlation, Sequence) and np.ndim(correlation) == 0:  # type: ignore[arg-type]
            arms = marginal.num_arms
            rule = f"a number from -1 / (K - 1) = {-1 / (arms - 1):.4g} to 1, or a matrix"
            rho = validation.real(correlation, "correlation", rule=rule, error=InstanceError)
            matrix = np.full((arms, arms), rho)
            np.fill_diagonal(matrix, 1.0)
            if not -1 / (arms - 1) - SAME <= rho <= 1:
                raise InstanceError(f"correlation must be {rule}, not {rho}")
        else:
            matrix = _matrix(correlation, "correlation", marginal.num_arms)
            if np.abs(matrix.diagonal() - 1.0).max() > SAME:
                raise InstanceError("correlation must be a matrix with ones on its diagonal")
        self.means, self.variances = marginal.means, marginal.variances
        self._deviations = np.sqrt(self.variances)
        # V (K, r) and u (K,)
        self._loadings, self._noise = _factors(matrix, "correlation" if covariance is None else "covariance")
        self._lay_out()
        self._segments: list[_Segment] = []
        self._keeps_items = False

    @property
    def correlations(self) -> FloatArray:
        """``(K, K)`` correlations of the rewards of the arms on an item."""
        return np.asarray(self._loadings @ self._loadings.T + np.diag(self._noise**2))

    @override
    def keep_items(self) -> None:
        """Draw every reward as a function of its item, so that :meth:`item_rewards` finds it again."""
        self._keeps_items = True

    @override
    def _rewards(self, rows: IntArray, arms: IntArray, items: IntArray) -> FloatArray:
        factors = self._loadings.shape[1]
        first: IntArray | slice = slice(None)
        which: IntArray | slice = slice(None)
        places = address(self._rows[rows, 0].astype(np.uint64), items.astype(np.uint64))
        if factors == 1:
            parts = np.zeros((rows.size, 2), np.uint64)
            parts[:, 1] = 1 + arms
            draws = normal(part_of(places[:, None], parts))
            shared, noise = draws[:, :1], draws[:, 1]
        else:  # the arms of a row share the factors of an item
            noise = normal(part_of(places, (factors + arms).astype(np.uint64)))
            places, first, which = np.unique(places, return_index=True, return_inverse=True)
            shared = normal(part_of(places[:, None], np.arange(factors, dtype=np.uint64)))
        if self._segments:
            self._put_segments(shared, rows[first], items[first])
        total = self._noise[arms] * noise + (shared[which] * self._loadings[arms]).sum(axis=-1)
        return np.asarray(self.means[rows, arms] + self._deviations[rows, arms] * total)

    @override
    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        factors = self._loadings.shape[1]
        places = address(self._rows[rows, 0].astype(np.uint64), items.astype(np.uint64))
        found = normal(part_of(places[..., None], np.arange(factors + self.num_arms, dtype=np.uint64)))
        shared = found[..., :factors]
        if self._segments:
            self._put_segments(shared, rows, items)
        total = self._noise * found[..., factors:] + shared @ self._loadings.T
        return np.asarray(self.means[rows] + self._deviations[rows] * total)

    def _put_segments(self, found: FloatArray, rows: IntArray, items: IntArray) -> None:
        """Replace the ``(..., r)`` factors of items in blocks that were drawn at once."""
        for segment in self._segments:
            inside = (items >= segment.start) & (items < segment.stop)
            if inside.any():
                found[inside] = segment.factors(self._rows[:, 0].astype(np.uint64), rows[inside], items[inside])

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the statistics of equally many pulls of the foremost arms at once, and other blocks by items."""
        positions, pulls = self._positions, int(counts.max(initial=0))
        start = int(positions.max())
        if self._keeps_items or pulls == 0 or (counts != pulls).any() or (positions.reshape(-1)[flat] != start).any():
            return super().draw_blocks(flat, counts, rng, variances=variances)
        segment = _Segment.draw(start, pulls, self.batch, self._loadings.shape[1], rng, scatter=variances)
        self._segments.append(segment)
        self._ahead.clear()
        rows: IntArray
        arms: IntArray
        if isinstance(flat, slice):
            rows, arms = np.arange(self.batch)[:, None], np.arange(self.num_arms)
        else:
            rows, arms = np.divmod(flat, self.num_arms)
        shape = np.broadcast_shapes(rows.shape, arms.shape)
        positions[rows, arms] += pulls
        noise, deviations = self._noise[arms], self._deviations.reshape(-1)[flat]
        means = self._of_factors(segment.sums)[rows, arms]
        if noise.any():
            means += noise * np.sqrt(pulls) * rng.standard_normal(shape)
        means = means.reshape(-1) * (deviations / pulls) + self.means.reshape(-1)[flat]
        if segment.root is None:
            return Statistics(counts, means, zeros(means.shape))
        # Scatter of V_i f_j + u_i e_ji: the noise has one part along the factors, and the rest is chi-square.
        parts = self._of_factors(segment.root)
        scatter = np.einsum("nqk,nqk->nk", parts, parts)[rows, arms]
        if noise.any():
            scatter = (np.sqrt(scatter) + noise * rng.standard_normal(shape)) ** 2
            if pulls > 2:
                scatter += noise**2 * 2.0 * rng.standard_gamma(0.5 * (pulls - 2), shape)
        scatter = scatter.reshape(-1) * (self.variances.reshape(-1)[flat] / max(pulls - 1, 1) * (pulls > 1))
        return Statistics(counts, means, scatter)

    def _of_factors(self, values: FloatArray) -> FloatArray:
        """Return the ``(..., K)`` combinations of ``(..., r)`` values by the loadings of the arms."""
        found = values.reshape(-1, values.shape[-1]) @ self._loadings.T  # one product, far faster than one per episode
        return found.reshape(*values.shape[:-1], self.num_arms)

    @override
    def scale(self) -> float:
        return float(np.sqrt(self.variances.max()))

    @override
    def draws(self) -> Draws | None:
        """Return how loops draw from the arms; None if an arm is behind a block drawn at once."""
        if any((self._positions < segment.stop).any() for segment in self._segments):
            return None
        loadings = np.ascontiguousarray(self._loadings)
        arms = PairedGaussianArms(self._rows, self.means, self._deviations, loadings, self._noise)
        return Draws(draw_paired_gaussian, arms)

    @override
    def select(self, rows: IntArray) -> Self:
        """Return the given instances with the pulls made so far; copies of one that has been pulled go on equally."""
        chosen = super().select(rows)
        chosen._segments = [segment.select(rows) for segment in self._segments]
        return chosen

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        """Replace the given instances by others with the same correlations.

        Raises:
            InstanceError: If a block has been drawn at once: only single pulls can go on with other instances.
        """
        if self._segments or other._segments:
            raise InstanceError("instances of paired Gaussian arms cannot be replaced after a block of pulls")
        super().replace(rows, other)


@dataclass(frozen=True, eq=False)
class _Segment:
    """Items of which only the sums and the scatter of the factors were drawn.

    If an arm comes to them later, factors with just these sums and this scatter are drawn: from standard normal numbers
    z_j of the items, those whose centred columns are made orthonormal, multiplied by the root of the scatter.

    Attributes:
        start: The first item.
        stop: The item after the last.
        sums: ``(N, r)`` sums of the factors.
        root: ``(N, q, r)`` a root of their scatter, root' root, q = min(r, items - 1); None if it was not drawn.
    """

    start: int
    stop: int
    sums: FloatArray
    root: FloatArray | None

    @classmethod
    def draw(
        cls, start: int, items: int, batch: int, factors: int, rng: np.random.Generator, *, scatter: bool
    ) -> _Segment:
        """Draw the sums, and with ``scatter`` the scatter by the decomposition of Bartlett."""
        sums = np.sqrt(items) * rng.standard_normal((batch, factors))
        if not scatter:
            return cls(start, start + items, sums, None)
        if items - 1 < factors:
            root = rng.standard_normal((batch, items - 1, factors))
        else:
            root = (
                np.triu(rng.standard_normal((batch, factors, factors)), 1) if factors > 1 else np.zeros((batch, 1, 1))
            )
            diagonal = np.arange(factors)
            root[:, diagonal, diagonal] = np.sqrt(rng.chisquare(items - 1 - diagonal, (batch, factors)))
        return cls(start, start + items, sums, root)

    def factors(self, keys: Any, rows: IntArray, items: IntArray) -> FloatArray:
        """Return the ``(P, r)`` factors of some of the items."""
        distinct, which = np.unique(rows, return_inverse=True)
        length, width = self.stop - self.start, self.sums.shape[1] if self.root is None else self.root.shape[1]
        places = address(keys[distinct][:, None], np.arange(self.start, self.stop, dtype=np.uint64))
        centred = normal(part_of(places[..., None], np.arange(width, dtype=np.uint64)))  # (rows, items, q)
        centred -= centred.mean(axis=1, keepdims=True)
        if self.root is not None:
            basis, triangle = np.linalg.qr(centred)
            basis *= np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None, :]
            centred = basis @ self.root[distinct]
        all_factors = centred + (self.sums[distinct] / length)[:, None, :]
        return np.asarray(all_factors[which, items - self.start])

    def select(self, rows: IntArray) -> _Segment:
        """Return those of some instances."""
        return replace(self, sums=self.sums[rows], root=None if self.root is None else self.root[rows])


def _matrix(given: object, name: str, arms: int) -> FloatArray:
    """Return a symmetric matrix.

    Raises:
        InstanceError: If it is none for that many arms.
    """
    matrix = validation.array(given, name, kind="rows of numbers, not {!r}", error=InstanceError)
    if matrix.shape != (arms, arms):
        raise InstanceError(f"{name} must have shape {(arms, arms)}, one row and column per arm, not {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12 * np.abs(matrix).max()):
        raise InstanceError(f"{name} must be symmetric: entry (i, k) is equal to entry (k, i)")
    return np.asarray((matrix + matrix.T) / 2.0)


def _factors(correlations: FloatArray, name: str) -> tuple[FloatArray, FloatArray]:
    """Return V ``(K, r)`` and u ``(K,)`` with V V' + diag(u^2) equal to the correlation matrix.

    Raises:
        InstanceError: If the matrix has a negative eigenvalue.
    """
    values, vectors = np.linalg.eigh(correlations)
    if values[0] < -1e-6:
        raise InstanceError(f"{name} must be positive semidefinite; its smallest eigenvalue is {values[0]:.4g}")
    least = max(float(values[0]), 0.0)
    larger = values > least + SAME
    if 1 < larger.sum() == len(values) - 1:
        least, larger = 0.0, values > SAME  # one more factor is cheaper than noise for every arm
    loadings = vectors[:, larger] * np.sqrt(values[larger] - least)
    if not larger.any():
        loadings = np.zeros((len(correlations), 1))
    return loadings, np.full(len(correlations), np.sqrt(least))
