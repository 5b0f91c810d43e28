"""Ridge regression on the features of arms, updated after every pull: the model of the linear bandit algorithms.

theta = A^-1 sum y x with A = lam I + sum x x^T over the pulls. Algorithms read the scores x^T theta and rows of the
matrix M = X A^-1 X^T, from which a pull of arm a takes M_a M_a^T / (1 + M_aa). Where there are few features, the
inverse of A is kept, and a row is X (A^-1 x); otherwise M itself, in one block for each group of arms that are
orthogonal to all others: M is 0 elsewhere, and stays so.

An episode keeps all this in its memory, with the arms in an order in which groups are contiguous: a *place* is a
position in that order. Rounding errors are watched; where they could be seen, and at the start, the rule waits for
NumPy to fit the regression to the statistics (:meth:`Ridge.fit`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from bai_gym.agents.tools.choosing import SLACK
from bai_gym.agents.tools.scanning import largest
from bai_gym.bandits.linear import check_features
from bai_gym.errors import InstanceError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, columns, noinline, section
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Regression", "Ridge", "fewer_pulls", "is_current", "largest_place", "longest", "noise_deviation"]
__all__ += ["orthogonal_groups", "read_row", "regression", "shared_features"]

LARGEST_RATIO = 1e12  # of n L^2 to lam: beyond it, rounding errors would be seen
DRIFT = 1e-12  # relative errors of M beyond which everything is recomputed
EPSILON = 2.0**-52
AT_ONCE = 2**18  # entries of a matrix product that are held at a time, for the cache

SEEN, DUE, FITTED, LARGEST, LOG_DET, SCALE = range(6)  # of the numbers of a regression
HEAD = 6  # as many
SETTINGS = 3  # parameters before the tables: tie rule "first", d (0 where M is kept), length of all this in the memory


class Regression(NamedTuple):
    """The regression of one episode; vectors are in the order of places.

    Attributes:
        numbers: Pulls that are taken in; pulls at which errors are looked at; pulls when it was fitted, and the largest
            square then; log det A - log det lam I; magnitude of rewards and scores.
        scores: ``(k,)`` x^T theta.
        squares: ``(k,)`` x^T A^-1 x.
        row, other, values: ``(k,)`` room for work.
        matrix: A^-1, X^T, and A^-1 x; or the blocks of M.
        order: ``(k,)`` the arm at each place.
        places: ``(k,)`` the place of each arm.
        starts: ``(k,)`` where the group of each place starts.
        sizes: ``(k,)`` its size.
        blocks: ``(k,)`` where the row of M is, in the matrix.
        given: The agent's own parameters.
        own: The agent's own memory.
    """

    numbers: FloatArray
    scores: FloatArray
    squares: FloatArray
    row: FloatArray
    other: FloatArray
    values: FloatArray
    matrix: FloatArray
    order: FloatArray
    places: FloatArray
    starts: FloatArray
    sizes: FloatArray
    blocks: FloatArray
    given: FloatArray
    own: FloatArray


def regression(e: Episode) -> Regression:
    """Name the parameters and the memory of an episode."""
    k, m, p = e.pulls.size, e.memory, e.parameters
    end = int(e.parameters[2])
    return Regression(
        section(m, 0, HEAD),
        section(m, HEAD, k),
        section(m, HEAD + k, k),
        section(m, HEAD + 2 * k, k),
        section(m, HEAD + 3 * k, k),
        section(m, HEAD + 4 * k, k),
        section(m, HEAD + 5 * k, end - HEAD - 5 * k),
        section(p, SETTINGS, k),
        section(p, SETTINGS + k, k),
        section(p, SETTINGS + 2 * k, k),
        section(p, SETTINGS + 3 * k, k),
        section(p, SETTINGS + 4 * k, k),
        section(p, SETTINGS + 5 * k, p.size - SETTINGS - 5 * k),
        section(m, end, m.size - end),
    )


def read_row(e: Episode, place: int, out: FloatArray) -> None:
    """Set ``(k,)`` ``out`` to the row of M for the arm at a place."""
    r, arms, d = regression(e), e.pulls.size, int(e.parameters[1])
    if d == 0:
        size, start, at = int(r.sizes[place]), int(r.starts[place]), int(r.blocks[place])
        if size < arms:
            for k in range(arms):
                out[k] = 0.0
        part, block = section(out, start, size), section(r.matrix, at, size)
        for k in range(size):
            part[k] = block[k]
        return
    turned, solved = section(r.matrix, d * d, d * arms), section(r.matrix, d * (d + arms), d)
    for i in range(d):
        solved[i] = 0.0
    for j in range(d):
        entry, inverse = turned[j * arms + place], section(r.matrix, j * d, d)
        for i in range(d):
            solved[i] += entry * inverse[i]
    for k in range(arms):
        out[k] = 0.0
    for j in range(d):
        entry, column = solved[j], section(turned, j * arms, arms)
        for k in range(arms):
            out[k] += entry * column[k]


def is_current(e: Episode) -> bool:
    """Take in the last pull, and return True; False where the regression has to be fitted first."""
    r = regression(e)
    numbers = r.numbers
    if e.made >= numbers[DUE]:
        error = EPSILON * math.sqrt(e.made - numbers[FITTED]) * numbers[LARGEST]
        if numbers[DUE] == 0.0 or error > DRIFT * largest(r.squares):
            numbers[DUE] = 0.0
            return False
        numbers[DUE] = 2 * e.made
    if numbers[SEEN] < e.made:
        add(e)
        numbers[SEEN] = e.made
    return True


def add(e: Episode) -> None:
    """Take in the last pull."""
    r, arms, d = regression(e), e.pulls.size, int(e.parameters[1])
    place = int(r.places[e.pulled])
    read_row(e, place, r.row)
    square = r.row[place]
    share = 1.0 / (1.0 + square)
    step = (e.reward - r.scores[place]) * share
    start, side = int(r.starts[place]), int(r.sizes[place])
    row, scores, squares = section(r.row, start, side), section(r.scores, start, side), section(r.squares, start, side)
    for k in range(side):
        scores[k] += step * row[k]
    for k in range(side):
        left = squares[k] - share * row[k] * row[k]
        squares[k] = left if left > 0.0 else 0.0
    at, taken = int(r.blocks[start]), row
    if d > 0:
        at, side, taken = 0, d, section(r.matrix, d * (d + arms), d)
    for i in range(side):
        part, factor = section(r.matrix, at + i * side, side), share * taken[i]
        for j in range(side):
            part[j] -= factor * taken[j]
    r.numbers[LOG_DET] += math.log1p(square)
    r.numbers[SCALE] = max(r.numbers[SCALE], abs(e.reward))


def largest_place(e: Episode, values: FloatArray, scale: float, rng: np.random.Generator) -> int:
    """Return the place of the largest of ``(k,)`` values, with ties as :func:`.choosing.largest` breaks them."""
    top = largest(values)
    least = top - SLACK * (scale + abs(top))
    tied, places = 0, 0
    for place in range(values.size):
        tied += 1 if values[place] >= least else 0
        places += place if values[place] >= least else 0
    return places if tied == 1 else tied_place(e, values, least, tied, rng)


@noinline
def tied_place(e: Episode, values: FloatArray, least: float, tied: int, rng: np.random.Generator) -> int:
    """Return one of the places whose values are not below ``least``, by the tie rule."""
    lowest, order, chosen = e.parameters[0] == 1.0, regression(e).order, -1
    number = 0 if lowest else int(rng.random() * tied)
    for place in range(values.size):
        if values[place] >= least:
            if not lowest:
                chosen = place if number == 0 else chosen
                number -= 1
            elif chosen < 0 or fewer_pulls(e, int(order[place]), int(order[chosen])):
                chosen = place
    return chosen


def fewer_pulls(e: Episode, arm: int, other: int) -> bool:
    """Return whether an arm has fewer pulls than another, or as many and the lower number."""
    return e.pulls[arm] < e.pulls[other] or (e.pulls[arm] == e.pulls[other] and arm < other)


class Ridge:
    """The regressions of N episodes: how they are laid out, and how they are fitted.

    Args:
        features: ``(N, K, d)``, or ``(1, K, d)`` for all episodes, see :func:`shared_features`.
        lam: Weight of the identity, positive.
        separate: Whether each arm has a regression of its own, as if all arms were orthogonal.

    Attributes:
        size: Numbers that an episode keeps.
        order: ``(K,)`` the arm at each place.
    """

    def __init__(self, features: FloatArray, lam: float, *, separate: bool = False) -> None:
        """Choose the form of which a pull changes and reads fewer numbers."""
        arms, width = features.shape[1:]
        labels = np.arange(arms) if separate else orthogonal_groups(features)
        sizes = np.bincount(labels)
        self._lam = lam
        self._inverted = 0 if separate or sizes.max() ** 2 <= width * (width + arms) else width
        if self._inverted:
            labels, sizes = np.zeros(arms, np.int64), np.array([arms])
        self.order: IntArray = np.lexsort((labels, sizes[labels]))  # small groups first
        own = sizes[labels[self.order]]
        starts = np.empty(arms, np.int64)
        self._classes: list[tuple[slice, FloatArray]] = []  # the places of groups of one size, and their coordinates
        for size in np.unique(sizes):
            at = np.flatnonzero(own == size)
            starts[at] = at - (at - at[0]) % size
            x = features[:, self.order[at]].reshape(len(features), -1, size, width)
            self._classes.append((slice(at[0], at[-1] + 1), x if self._inverted else coordinates(x)))
        begin = HEAD + 5 * arms
        self.size = begin + (width * (width + arms + 1) if self._inverted else int(own.sum()))
        tables = (self.order, np.argsort(self.order), starts, own, np.cumsum(own) - own)
        self._tables = np.concatenate(tables).astype(float)

    def columns(self, batch: int, tie: str, *given: FloatArray | float) -> FloatArray:
        """Return the parameters of a rule that reads the regression, the agent's own at their end."""
        return columns(batch, float(tie == "first"), self._inverted, self.size, *self._tables, *given)

    def fit(self, rows: IntArray, memory: FloatArray, statistics: Statistics) -> None:
        """Fit the regressions of episodes that wait, see :attr:`bai_gym.sampling.Sequential.supply`."""
        arms = self.order.size
        pulls, sums = statistics.pulls[rows], statistics.sums[rows]
        scores, squares = np.empty(pulls.shape), np.empty(pulls.shape)
        log_det = np.zeros(rows.size)
        begin = end = HEAD + 5 * arms
        for places, x, part, half, root, found in self._solve(rows, pulls, sums):
            scores[part, places] = found
            squares[part, places] = np.einsum("ngkd,ngkd->ngk", half, half).reshape(len(half), -1)
            log_det[part] -= 2.0 * np.log(np.einsum("ngdd->ngd", root) * math.sqrt(self._lam)).sum(axis=(1, 2))
            matrix = root @ np.swapaxes(root, -1, -2) if self._inverted else half @ np.swapaxes(half, -1, -2)
            begin = end if part.start == 0 else begin
            end = begin + matrix[0].size
            memory[rows[part], begin:end] = matrix.reshape(len(matrix), -1)
            if self._inverted:
                memory[rows[part], end : end + x[0].size] = np.swapaxes(x, -1, -2).reshape(len(x), -1)
        memory[rows, HEAD : HEAD + 2 * arms] = np.concatenate([scores, squares], axis=1)
        made, scale = pulls.sum(axis=1), np.maximum(np.abs(scores), np.abs(statistics.means[rows])).max(axis=1)
        numbers = (
            made,
            np.maximum(2 * made, arms),
            made,
            squares.max(axis=1),
            log_det,
            np.maximum(memory[rows, SCALE], scale),
        )
        memory[rows, :HEAD] = np.stack(numbers, axis=1)

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
                paid = sums[part][:, arms].reshape(-1, *x.shape[1:3], 1)
                found = half @ (np.swapaxes(half, -1, -2) @ paid)
                yield places, own, part, half, root, found.reshape(len(found), -1)


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


def shared_features(info: ProblemInfo, lam: float, agent: str) -> FloatArray:
    """Return ``(1, K, d)`` features where all episodes have the same ones, else ``(N, K, d)``, checked.

    Args:
        info: Of arms that have features.
        lam: Weight of the identity in the regression.
        agent: Whose parameter lam is, for errors.

    Raises:
        InstanceError: If features are not finite numbers, or too large.
        ParameterError: If lam is too small for numbers of 16 digits.
    """
    features = info.features
    assert features is not None  # the agent needs them, and says so
    same = features.strides[0] == 0 or bool((features == features[:1]).all())
    found = check_features(features[:1] if same else features)
    length, budget = float(longest(found).max()), info.budget
    if not math.isfinite(budget * length * length):
        raise InstanceError(f"{agent} cannot use features as large as these: divide them by a number")
    least = budget * length**2 / LARGEST_RATIO
    if lam < least:
        raise ParameterError(
            f"lam of {agent} is {lam:g}, too small for {budget} pulls of arms of length {length:g}: "
            f"give at least {1.01 * least:.3g}"
        )
    return found


def longest(features: FloatArray) -> FloatArray:
    """Return ``(N,)`` the length of the longest arm, from ``(N, K, d)`` features."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.einsum("nkd,nkd->nk", features, features).max(axis=1)))


def noise_deviation(sigma: float | None, info: ProblemInfo) -> FloatArray:
    """Return ``(N,)`` standard deviations of the noise: sigma, or the largest from the problem info."""
    if sigma is not None:
        return np.full(info.batch, float(sigma))
    return np.asarray(np.sqrt(info.variances.max(axis=1)))
