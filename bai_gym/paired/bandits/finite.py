"""A matrix of scores, items times candidates: every arm is played on the same items, in the same random order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import check_candidates
from bai_gym.bandits.draws import Draws
from bai_gym.bandits.empirical import PULLS_AT_ONCE
from bai_gym.bandits.streams import address, part_of, uniform
from bai_gym.errors import InstanceError
from bai_gym.paired.bandits.base import PairedBandit, key_of
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import LARGEST, REWARD

__all__ = ["PairedFiniteBandit"]

EXACT_SCORES = 64.0  # largest magnitude of scores, multiples of 1/1024, whose sums and squares have no rounding errors
PRODUCT = 16  # numbers of a matrix product that take as long as one reward that is looked up


class PairedFiniteArms(NamedTuple):
    """``(N, 1 + K + ...)`` state; ``(N, K)`` candidates; ``(n, M)`` scores; 1 if items are drawn with replacement."""

    rows: FloatArray
    candidates: IntArray
    scores: FloatArray
    replacing: int


def draw_paired_finite(arms: PairedFiniteArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return the score of an arm of instance n on its next item."""
    row, size, candidate = arms.rows[n], arms.scores.shape[0], arms.candidates[n, arm]
    key, item = key_of(row, rng), int(row[1 + arm])
    row[1 + arm] += 1.0
    if arms.replacing == 1:
        return arms.scores[int(uniform(part_of(address(key, np.uint64(item)), np.uint64(0))) * size), candidate]
    turn, place = item // size, item % size
    tag = 1 + arms.candidates.shape[1] + turn % 2
    start = 3 + arms.candidates.shape[1] + turn % 2 * size
    if row[tag] != turn + 1.0:
        shuffle(address(key, np.uint64(turn)), row, start, size)
        row[tag] = turn + 1.0
    return arms.scores[int(row[start + place]), candidate]


def shuffle(h: np.uint64, row: FloatArray, start: int, size: int) -> None:
    """Write the order of a pass through the items, whose address is ``h``."""
    bits = np.empty(size, np.uint64)
    for place in range(size):
        bits[place] = part_of(h, np.uint64(place))
    order = bits.argsort()
    for place in range(size):
        row[start + place] = order[place]


class PairedFiniteBandit(PairedBandit):
    """The j-th pull of every arm returns its score on item j of a random order, which all arms share.

    Without replacement, the order is a permutation of the n rows of the matrix, and each n pulls of an arm go through
    another one. With replacement, every item is a row drawn uniformly at random. Each arm alone has the distribution of
    :class:`FiniteBandit` or :class:`EmpiricalBandit`.

    Args:
        matrix: ``(n, M)`` score of M candidates on n items.
        candidates: ``(N, K)`` which candidates are the arms of each instance.
        replace: Whether items are drawn with replacement.
        kind: The kind of the rewards; None: that which the matrix shows, see
        :meth:`bai_gym.rewards.Rewards.read`.

    Attributes:
        variances: ``(N, K)`` variances of a single reward (divisor: n).

    Raises:
        InstanceError: Fewer than two arms, a candidate that does not exist, or scores that are not finite numbers.
    """

    by_instance = ("candidates", *PairedBandit.by_instance)

    def __init__(
        self, matrix: FloatArray, candidates: IntArray, *, replace: bool = False, kind: Rewards | None = None
    ) -> None:
        """Look up the moments of the chosen candidates."""
        self.matrix = np.ascontiguousarray(matrix, np.float64)
        if self.matrix.ndim != 2 or not self.matrix.size:
            raise InstanceError(f"a matrix of scores has shape (items, candidates), not {self.matrix.shape}")
        candidates = check_candidates(candidates, self.matrix.shape[1])
        if not float(np.abs(self.matrix).max()) <= LARGEST:
            raise InstanceError(f"every score must be {REWARD}")
        means = self.matrix.mean(axis=0)
        self.candidates = candidates
        self.replacing = replace
        self._kind = kind or Rewards.read(self.matrix)
        self.means = means[candidates]
        self.variances = ((self.matrix - means) ** 2).mean(axis=0)[candidates]
        scaled = self.matrix * 1024.0
        self._exact = bool((np.abs(self.matrix) <= EXACT_SCORES).all() and (scaled == np.rint(scaled)).all())
        self._binary = bool(np.isin(self.matrix, (0.0, 1.0)).all())
        items = len(self.matrix)
        # Two passes are kept, the last even and the last odd one: their numbers from 1, then their orders.
        self._lay_out(0 if replace else 2 + 2 * items)

    @property
    @override
    def rewards(self) -> Rewards:
        return self._kind

    @property
    @override
    def num_items(self) -> int | None:
        """Number of rows; None where they are drawn with replacement."""
        return None if self.replacing else len(self.matrix)

    def _choice(self, rows: IntArray, items: IntArray) -> IntArray:
        """Return the row of the matrix of each item."""
        size = len(self.matrix)
        if self.replacing:
            h = part_of(address(self._rows[rows, 0].astype(np.uint64), items.astype(np.uint64)), np.uint64(0))
            return np.asarray((uniform(h) * size).astype(np.int64))
        passes, places = np.divmod(items, size)
        first, last = (int(passes[0]),) * 2 if passes.size == 1 else (int(passes.min()), int(passes.max()))
        if first == last:
            return self._order(rows, places, first)
        choice = np.empty(items.shape, np.int64)
        for number in range(first, last + 1):
            here = passes == number
            if here.any():
                choice[here] = self._order(rows[here], places[here], number)
        return choice

    def _order(self, rows: IntArray, places: IntArray, number: int) -> IntArray:
        """Return the rows of the matrix at some places of a pass, which is shuffled if it is not there."""
        state, size, tag = self._rows, len(self.matrix), 1 + self.num_arms + number % 2
        start = 3 + self.num_arms + number % 2 * size
        stale = state[rows, tag] != number + 1
        if stale.any():
            which = np.unique(rows[stale])
            h = address(state[which, :1].astype(np.uint64), np.array([number], np.uint64))
            state[which, start : start + size] = part_of(h, np.arange(size, dtype=np.uint64)).argsort(axis=1)
            state[which, tag] = number + 1
        return np.asarray(state[rows, start + places].astype(np.int64))

    @override
    def _rewards(self, rows: IntArray, arms: IntArray, items: IntArray) -> FloatArray:
        return np.asarray(self.matrix[self._choice(rows, items), self.candidates[rows, arms]])

    @override
    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        return np.asarray(self.matrix[self._choice(rows, items)[..., None], self.candidates[rows]])

    @override
    def _centre(self, flat: IntArray) -> FloatArray:
        """Return 0 for scores whose sums are exact."""
        return np.zeros(flat.size) if self._exact else super()._centre(flat)

    @override
    def _totals(
        self,
        rows: IntArray,
        arms: IntArray,
        first: IntArray,
        counts: IntArray,
        centre: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sums of scores and of squares: where sums are exact, of common items by a product of matrices."""
        size = self.matrix.size
        if not self._exact or size * (rows[-1] - rows[0] + 1) > PRODUCT * counts.sum():
            return super()._totals(rows, arms, first, counts, centre)
        # From the latest first item to the earliest last one, all requested arms of an instance have the same items.
        begins = np.flatnonzero(np.diff(rows, prepend=-1))
        which = np.repeat(np.arange(begins.size), np.diff(begins, append=rows.size))
        low, high = np.maximum.reduceat(first, begins), np.minimum.reduceat(first + counts, begins)
        high = np.maximum(low, high)
        head = np.minimum(counts, low[which] - first)
        sums, squares = super()._totals(rows, arms, first, head, centre)
        tail = np.maximum(first + counts - high[which], 0)
        rest = super()._totals(rows, arms, first + counts - tail, tail, centre)
        sums += rest[0]
        squares += rest[1]
        candidates = self.candidates[rows, arms]
        at_once = max(1, PULLS_AT_ONCE // len(self.matrix))
        for start in range(0, begins.size, at_once):
            part = slice(start, start + at_once)
            length = (high - low)[part]
            offsets = np.cumsum(length) - length
            items = np.arange(int(length.sum())) + np.repeat(low[part] - offsets, length)
            number = np.repeat(np.arange(length.size), length)
            chosen = number * len(self.matrix)
            if items.size:
                chosen += self._choice(np.repeat(rows[begins[part]], length), items)
            often = np.bincount(chosen, minlength=length.size * len(self.matrix)).reshape(length.size, -1)
            here = slice(int(begins[start]), int(begins[start + at_once]) if start + at_once < begins.size else None)
            places = which[here] - start, candidates[here]
            added = (often.astype(np.float64) @ self.matrix)[places]
            sums[here] += added
            squares[here] += added if self._binary else (often.astype(np.float64) @ self.matrix**2)[places]
        return sums, squares

    @override
    def limits(self) -> tuple[float, float]:
        """Return the smallest and the largest score."""
        return float(self.matrix.min()), float(self.matrix.max())

    @override
    def draws(self) -> Draws:
        arms = PairedFiniteArms(self._rows, self.candidates, self.matrix, int(self.replacing))
        return Draws(draw_paired_finite, arms)
