"""Arms that are finite populations of rewards, sampled without replacement: questions that are asked once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit, check_candidates
from bai_gym.bandits.draws import Draws
from bai_gym.bandits.empirical import SampleTable, centred_moments
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["FiniteBandit", "FinitePopulations", "distinct"]

NUMBERS_AT_ONCE = 1 << 20  # of a block, so that memory does not grow with the number of values
MANY_VALUES = 64


@dataclass(frozen=True, slots=True, eq=False)
class FinitePopulations:
    """The rewards of M candidate arms, as distinct values and how often each of them occurs.

    Attributes:
        samples: All rewards of each candidate, with their moments.
        values: ``(M, V)`` the distinct rewards of each candidate, ascending; V is the largest number of them.
        counts: ``(M, V)`` how often each occurs, integers as floats; 0 where a candidate has fewer than V.
    """

    samples: SampleTable
    values: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, samples: SampleTable) -> FinitePopulations:
        """Count the rewards of each candidate."""
        borders = zip(samples.offsets[:-1], samples.offsets[1:], strict=True)
        pairs = [np.unique(samples.rewards[start:stop], return_counts=True) for start, stop in borders]
        width = max(values.size for values, _ in pairs)
        values, counts = np.zeros((len(pairs), width)), np.zeros((len(pairs), width))
        for row, (distinct, often) in enumerate(pairs):
            values[row, : distinct.size] = distinct
            counts[row, : distinct.size] = often
        return cls(samples, values, counts)


class FiniteArms(NamedTuple):
    """``(N, K)`` candidates; ``(M, V)`` values of each, and how often they occur; ``(N K, V)`` how many are left."""

    candidates: IntArray
    values: FloatArray
    counts: FloatArray
    left: FloatArray


def draw_finite(arms: FiniteArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of an arm of instance n that has not come since the arm last started again."""
    candidate, left = arms.candidates[n, arm], arms.left[n * arms.candidates.shape[1] + arm]
    size = 0.0
    for kind in range(left.size):
        size += left[kind]
    if size == 0.0:
        for kind in range(left.size):
            left[kind] = arms.counts[candidate, kind]
            size += left[kind]
    place, kind = rng.random() * size - left[0], 0
    while place >= 0.0:
        kind += 1
        place -= left[kind]
    left[kind] -= 1.0
    return arms.values[candidate, kind]


class FiniteBandit(Bandit):
    """Each pull of an arm returns one of its rewards that no earlier pull has returned, all of them equally likely.

    After its last reward an arm starts again with all of them, in a new order. So the mean is exact after as many pulls
    as the arm has rewards, and after any multiple of that. Arms are independent of each other. The number of times that
    a value is among the first n rewards is hypergeometric, and blocks are drawn from that distribution: their cost
    grows with the number of distinct values, not with the number of pulls.

    Args:
        populations: The rewards of M candidate arms.
        candidates: ``(N, K)`` which candidates are the arms of each instance.

    Attributes:
        variances: ``(N, K)`` variances of a single reward (divisor: size of the population).

    Raises:
        InstanceError: Fewer than two arms, or a candidate that does not exist.
    """

    by_instance = ("candidates", "_counts")

    def __init__(self, populations: FinitePopulations, candidates: IntArray) -> None:
        """Look up the moments of the chosen candidates; all their rewards are left."""
        table = populations.samples
        candidates = check_candidates(candidates, table.means.size)
        self.populations = populations
        self.candidates = candidates
        self.means = table.means[candidates]
        self.variances = table.variances[candidates]
        self.state_size = populations.values.shape[1]
        # (N, K, V) how many rewards of each value are left of each arm
        self._counts = populations.counts[candidates].astype(np.float64)

    @property
    def _left(self) -> FloatArray:
        """``(N K, V)`` the rewards that are left, of arms one after another; a view."""
        return self._counts.reshape(-1, self.state_size)

    @property
    @override
    def rewards(self) -> Rewards:
        return self.populations.samples.kind

    @property
    @override
    def num_items(self) -> int | None:
        """Number of rewards of an arm; None where arms have different numbers of them."""
        sizes = self.populations.counts[self.candidates].sum(axis=-1)
        return int(sizes.flat[0]) if (sizes == sizes.flat[0]).all() else None

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        rewards = np.empty(len(flat))
        for part in distinct(flat):
            rewards[part] = self._pull_distinct(flat[part], rng)
        return rewards

    def _pull_distinct(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        """Pull arms, none of them twice."""
        candidates = self.candidates.reshape(-1)[flat]
        left = self._left[flat]  # (R, V)
        used_up = ~left.any(axis=1)
        left[used_up] = self.populations.counts[candidates[used_up]]
        upto = left.cumsum(axis=1)
        kind = (upto <= (rng.random(flat.size) * upto[:, -1])[:, None]).sum(axis=1)
        left[np.arange(flat.size), kind] -= 1
        self._left[flat] = left
        return np.asarray(self.populations.values[candidates, kind])

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw how often each value comes, one value after the other, and keep the moments."""
        if isinstance(flat, slice):
            flat = np.arange(self.means.size)[flat]
        means, spread = np.empty(flat.size), np.zeros(flat.size)
        rows = max(1, NUMBERS_AT_ONCE // self.state_size)
        for start in range(0, flat.size, rows):
            part = slice(start, start + rows)
            means[part], spread[part] = self._draw_part(flat[part], counts[part], rng)
        return Statistics(counts, means, spread if variances else np.zeros(flat.size))

    def _draw_part(self, flat: IntArray, counts: IntArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return means and variances of some of the blocks."""
        candidates = self.candidates.reshape(-1)[flat]
        values, sizes = self.populations.values[candidates], self.populations.counts[candidates]  # (R, V)
        left = self._left[flat]
        # Past the last reward: all that are left come, then whole passes, then some rewards of another pass.
        beyond = counts - left.sum(axis=1)
        passes, rest = np.divmod(beyond, sizes.sum(axis=1))
        ends = beyond > 0
        drawn = np.where(ends[:, None], left + passes[:, None] * sizes, 0.0)
        pool = np.where(ends[:, None], sizes, left).astype(np.int64)
        came = _hypergeometric(pool, np.where(ends, rest, counts).astype(np.int64), rng)
        self._left[flat] = pool - came
        drawn += came
        centre = self.means.reshape(-1)[flat]
        apart = values - centre[:, None]
        sums, squares = (drawn * apart).sum(axis=1), (drawn * apart * apart).sum(axis=1)
        return centred_moments(centre, counts, sums, squares)

    @override
    def limits(self) -> tuple[float, float]:
        """Return the smallest and the largest reward of all candidates."""
        rewards = self.populations.samples.rewards
        return float(rewards.min()), float(rewards.max())

    @override
    def draws(self) -> Draws:
        values, counts = (np.ascontiguousarray(x) for x in (self.populations.values, self.populations.counts))
        return Draws(draw_finite, FiniteArms(self.candidates, values, counts, self._left))


def _hypergeometric(pool: IntArray, draws: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw how often each value is among some rewards, drawn without replacement.

    Args:
        pool: ``(R, V)`` rewards of each value.
        draws: ``(R,)`` rewards drawn, at most all.
        rng: Source of randomness.

    Returns:
        ``(R, V)``.
    """
    if pool.shape[1] > MANY_VALUES:  # NumPy's function for one row is then faster than a pass through all rows
        rows = zip(pool, draws, strict=True)
        return np.stack([rng.multivariate_hypergeometric(row, count, method="count") for row, count in rows])
    came, rest, others = np.empty_like(pool), draws.copy(), pool.sum(axis=1)
    for value in range(pool.shape[1]):
        others -= pool[:, value]
        came[:, value] = rng.hypergeometric(pool[:, value], others, rest)
        rest -= came[:, value]
    return came


def distinct(flat: IntArray) -> Iterator[slice | IntArray]:
    """Yield parts of the positions, in each of which no position comes twice."""
    if (np.diff(flat) > 0).all():
        yield slice(None)  # the usual case: one arm of each episode
        return
    order = flat.argsort(kind="stable")
    first = np.searchsorted(flat[order], flat[order])
    turn = np.empty(flat.size, np.int64)
    turn[order] = np.arange(flat.size) - first
    for number in range(int(turn.max()) + 1):
        yield np.flatnonzero(turn == number)
