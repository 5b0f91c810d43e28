"""Movies as arms and users' ratings as rewards: Lalitha et al. (2023), section 5.2."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from bai_gym.bandits import EmpiricalBandit, SampleTable
from bai_gym.data import require
from bai_gym.datasets import CompletedRatings, completed, movielens_like
from bai_gym.errors import DataError
from bai_gym.problems.base import Problem, arm_count
from bai_gym.problems.heterogeneous import draw_moments
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import choice, flag

__all__ = ["MovieLensProblem", "look_alike_source", "movielens_like_problem", "movielens_problem"]

VARIANCE_RANGE = (0.05, 1.5)  # of the drawn variances: 0.1 * 0.5 up to (0.9 + 0.1) * 1.5
RUNS_AT_ONCE = 64  # matched in one pass: their distances to 3,000 movies, 1.5 MB, stay in the processor's cache
KEPT = 32  # results that are not matched again: those of the last chunks


def movielens_problem(
    num_arms: int = 64, ratings: str | Path | None = None, matching: str = "rescaled", noisy_best: bool = True
) -> MovieLensProblem:
    """Return the problem of MovieLens 1M, its ratings completed by alternating least squares.

    Args:
        num_arms: K, from 2 to the number of movies.
        ratings: A ratings file in a MovieLens format; None: the data set ``movielens-1m`` in the data directory.
        matching: ``"rescaled"`` (default) or ``"raw"``, the printed distance.
        noisy_best: As for the Gaussian problem of section 5.1.

    Raises:
        MissingDataError: If no file is given and MovieLens 1M is not in the data directory.
        DataError: If the file is not a ratings file, or has fewer movies than arms.
    """
    source = completed(Path(ratings) if ratings is not None else require("movielens-1m"))
    return MovieLensProblem(source, num_arms, matching=matching, noisy_best=noisy_best)


def movielens_like_problem(num_arms: int = 64, matching: str = "rescaled", noisy_best: bool = True) -> MovieLensProblem:
    """Return the problem of synthetic ratings of MovieLens 1M's size, always the same ones.

    Args:
        num_arms: K, from 2 to the number of movies.
        matching: ``"rescaled"`` (default) or ``"raw"``, the printed distance.
        noisy_best: As for the Gaussian problem of section 5.1.
    """
    note = "MovieLensLike: synthetic ratings of the size of MovieLens 1M, not the real data"
    return MovieLensProblem(look_alike_source(), num_arms, matching=matching, noisy_best=noisy_best, notes=(note,))


@lru_cache(maxsize=1)
def look_alike_source() -> CompletedRatings:
    """Return the completed matrix of the synthetic ratings of MovieLens 1M's size, always the same one."""
    return completed(movielens_like())


class MovieLensProblem(Problem):
    """K movies whose rating moments are nearest to those of section 5.1; a pull returns a random user's rating.

    For each run and arm, a mean and a variance are drawn as for the Gaussian problem, and the movie with the nearest
    moments is taken, each movie at most once, arms choosing in random order.

    The drawn means lie about [0, 1] while ratings lie in 1..5, so that the printed distance, taken literally, would
    take only the worst movies. By default both moments of the movies are therefore rescaled by minimum and maximum
    over movies: means to [0, 1], variances to [0.05, 1.5]. The rewards stay raw ratings, those of the completed matrix:
    not all of them lie in 1..5, so their kind is real.

    Args:
        source: Completed ratings: one row of (estimated) ratings by all users for each movie.
        num_arms: K, from 2 to the number of movies.
        matching: ``"rescaled"`` (default) or ``"raw"``, the printed distance.
        noisy_best: As for the Gaussian problem of section 5.1.
        notes: Sentences for every report.

    Raises:
        InstanceError: Fewer than two arms.
        DataError: If there are fewer movies than arms.
        ParameterError: If ``matching`` is neither of the two, or ``noisy_best`` neither True nor False.

    Source: Lalitha et al. (2023), section 5.2.
    """

    def __init__(
        self,
        source: CompletedRatings,
        num_arms: int = 64,
        *,
        matching: str = "rescaled",
        noisy_best: bool = True,
        notes: tuple[str, ...] = (),
    ) -> None:
        """Rescale the moments of the movies."""
        self.num_arms = arm_count(num_arms)
        movies, users = source.matrix.shape
        if movies < num_arms:
            raise DataError(
                f"{num_arms} arms asked for, but only {movies} movies have enough ratings; give at most that many"
            )
        self.noisy_best = flag(noisy_best, "noisy_best")
        self.notes = notes
        rewards: Any = np.asarray(source.matrix).reshape(-1)  # float32
        self._table = SampleTable(rewards, np.arange(movies + 1) * users, source.means, source.variances)
        low, high = VARIANCE_RANGE
        rescaled = choice(matching, ("rescaled", "raw"), "matching") == "rescaled"
        self._means = _rescale(source.means, 0.0, 1.0) if rescaled else source.means
        self._variances = _rescale(source.variances, low, high) if rescaled else source.variances
        self._matched: dict[bytes, npt.NDArray[np.int32]] = {}  # the last results

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Leave the last results out of pickles, and of what identifies the problem."""
        return {**vars(self), "_matched": {}}

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> EmpiricalBandit:
        """Return instances of freshly matched movies."""
        means, variances = draw_moments(batch, self.num_arms, rng, noisy_best=self.noisy_best)
        return EmpiricalBandit(self._table, self._match(means, variances, rng))

    def _match(self, means: FloatArray, variances: FloatArray, rng: np.random.Generator) -> IntArray:
        """Return ``(N, K)`` movies: arm by arm in random order, the nearest movie not yet taken."""
        order = rng.random(means.shape).argsort(axis=-1)
        # All agents and budgets of a benchmark play the same instances, and matching takes longer than many agents.
        key = hashlib.sha256(b"".join(array.tobytes() for array in (means, variances, order))).digest()
        movies = self._matched.get(key)
        if movies is None:
            parts = [slice(start, start + RUNS_AT_ONCE) for start in range(0, len(means), RUNS_AT_ONCE)]
            matches = [self._match_in_order(means[part], variances[part], order[part]) for part in parts]
            movies = np.concatenate(matches).astype(np.int32)
            self._matched = dict([*self._matched.items(), (key, movies)][-KEPT:])
        return movies.astype(np.int64)

    def _match_in_order(self, means: FloatArray, variances: FloatArray, order: IntArray) -> IntArray:
        """Match ``(n, K)`` moments; run i serves its arms in the order ``order[i]``."""
        runs = np.arange(len(means))
        movies = np.empty(means.shape, np.int64)
        free = np.tile(self._means, (runs.size, 1))  # (n, M); the mean of a movie already taken becomes infinite
        distance, part = np.empty_like(free), np.empty_like(free)
        for arms in order.T:  # greedy without replacement is sequential in the arms; runs are vectorised
            np.subtract(free, means[runs, arms, None], out=distance)
            distance *= distance
            np.subtract(self._variances, variances[runs, arms, None], out=part)
            part *= part
            distance += part
            chosen = distance.argmin(axis=-1)
            movies[runs, arms] = chosen
            free[runs, chosen] = np.inf
        return movies


def _rescale(values: FloatArray, low: float, high: float) -> FloatArray:
    smallest, largest = values.min(), values.max()
    if smallest == largest:
        return np.full_like(values, low)
    return np.asarray(low + (high - low) * (values - smallest) / (largest - smallest))
