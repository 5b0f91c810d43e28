"""Rank-5 completion of a matrix of ratings, and its cache on disk.

The MovieLens problem of "Fixed-Budget Best-Arm Identification with Heterogeneous Reward Variances" (Lalitha et al.,
2023, section 5.2) fills the user-by-movie matrix by alternating least squares; a movie is an arm, a pull draws a
user. The paper gives only the rank, 5. The rest is a choice of this project:

- Centring: the mean of all the ratings kept is subtracted before, and added after. There are no user or movie effects.
- Penalty: ``regularization`` times the number of ratings of the user or movie (weighted lambda, Zhou et al. 2008,
  "Large-scale Parallel Collaborative Filtering for the Netflix Prize", section 3.2), by default 0.1.
- 20 sweeps (users, then movies) from a Gaussian start; movies with fewer than 20 ratings are left out.
- The completed values are not clipped to the range of the ratings.

:func:`complete` computes; :func:`completed` looks into the cache first, and maps the file, so that any number of
worker processes share one copy in memory.
"""

from __future__ import annotations

import hashlib
import json
import warnings
import zlib
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bai_gym.data.files import replace_file
from bai_gym.data.locate import cache_directory
from bai_gym.datasets.ratings import Ratings, read_ratings
from bai_gym.errors import DataError, MissingDataError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import AnyPath, integer, real

__all__ = ["CompletedRatings", "Factors", "complete", "completed", "factorize"]

_FORMAT = 1  # increase it when the same ratings and parameters give other numbers, or the file layout changes
_BLOCK = 256  # movies whose completed values are in float64 at a time
_KEEP = 2  # completed matrices that one process remembers


@dataclass(frozen=True, eq=False)
class CompletedRatings:
    """A completed matrix of ratings: for each movie the rating of every user.

    Attributes:
        matrix: ``(num_items, num_users)`` float32, C-contiguous, so that the rewards of one arm are contiguous; from
            the cache it is a read-only map of a file.
        item_ids: Id of the movie of each row, ``(num_items,)`` int64, increasing.
        means: Mean of each row over the users, ``(num_items,)``, in stars.
        variances: Variance of each row over the users (ddof 0), ``(num_items,)``, in squared stars.
    """

    matrix: npt.NDArray[np.float32]
    item_ids: IntArray
    means: FloatArray
    variances: FloatArray

    @property
    def num_items(self) -> int:
        """How many movies were kept."""
        return len(self.item_ids)

    @property
    def num_users(self) -> int:
        """How many users there are."""
        return int(self.matrix.shape[1])


@dataclass(frozen=True, eq=False)
class Factors:
    """The low-rank model ``rating(u, i) = offset + user_factors[u] @ item_factors[i]``.

    Attributes:
        offset: Mean of all ratings, in stars.
        user_factors: ``(num_users, rank)``.
        item_factors: ``(num_items, rank)``.
        objective: Penalised sum of squared residuals after each sweep, ``(sweeps,)``; it never increases.
    """

    offset: float
    user_factors: FloatArray
    item_factors: FloatArray
    objective: FloatArray


def complete(
    ratings: Ratings,
    *,
    rank: int = 5,
    regularization: float = 0.1,
    sweeps: int = 20,
    min_ratings: int = 20,
    seed: int = 0,
) -> CompletedRatings:
    """Complete the matrix of ratings by alternating least squares, as in the module's docstring.

    A user none of whose movies is kept gets the overall mean for every movie.

    Args:
        ratings: The observed ratings.
        rank: Number of factors, at least 1.
        regularization: Penalty per rating, lambda, above 0.
        sweeps: Rounds of solving for all users, then for all movies, at least 1.
        min_ratings: A movie with fewer ratings is left out, at least 1.
        seed: Of the random start. The same seed gives the same numbers.

    Returns:
        The completed matrix with one row per movie kept, and its moments. The caller must check that there are enough
        rows.

    Raises:
        ParameterError: A keyword is outside its range.
        DataError: No movie has ``min_ratings`` ratings, or the least-squares systems are numerically singular.
    """
    _check(rank=rank, regularization=regularization, sweeps=sweeps, min_ratings=min_ratings, seed=seed)
    counts = np.bincount(ratings.item_index, minlength=ratings.num_items)
    items = np.flatnonzero(counts >= min_ratings)
    if not len(items):
        raise DataError(
            f"no movie has {min_ratings} ratings (the most rated has {counts.max(initial=0)}); give a larger file"
        )
    factors = factorize(_only(ratings, items), rank=rank, regularization=regularization, sweeps=sweeps, seed=seed)
    matrix = np.empty((len(items), ratings.num_users), dtype=np.float32)
    means, variances = np.empty(len(items)), np.empty(len(items))
    users = np.ascontiguousarray(factors.user_factors.T)  # (rank, num_users)
    for start in range(0, len(items), _BLOCK):  # a few rows at a time, so that float64 copies stay small
        rows = slice(start, start + _BLOCK)
        # einsum, not BLAS: the bytes must not depend on the number of threads
        matrix[rows] = factors.offset + np.einsum("ir,ru->iu", factors.item_factors[rows], users)
        values = matrix[rows].astype(np.float64)
        means[rows] = values.mean(axis=-1)
        variances[rows] = values.var(axis=-1)
    if not np.isfinite(variances).all():
        raise DataError("the completed ratings are not finite; raise regularization, or check the ratings")
    return CompletedRatings(matrix, ratings.item_ids[items], means, variances)


def factorize(
    ratings: Ratings, *, rank: int = 5, regularization: float = 0.1, sweeps: int = 20, seed: int = 0
) -> Factors:
    """Fit the low-rank model to the observed ratings by alternating ridge regressions.

    Minimises ``sum (r - offset - p_u @ q_i)^2 + regularization * (sum_u n_u |p_u|^2 + sum_i n_i |q_i|^2)`` with the
    counts n of ratings; with the other side held, each p_u and q_i is a separate ridge regression, and all of them are
    solved in one pass.

    Args:
        ratings: The observed ratings, at least one.
        rank: Number of factors, at least 1.
        regularization: Penalty per rating, above 0.
        sweeps: Rounds of users, then items, at least 1.
        seed: Of the Gaussian start of the items (variance 1 / rank).

    Returns:
        The factors and the course of the objective.

    Raises:
        ParameterError: A keyword is outside its range.
        DataError: There are no ratings, or the systems are numerically singular.
    """
    _check(rank=rank, regularization=regularization, sweeps=sweeps, seed=seed)
    if not len(ratings):
        raise DataError("there are no ratings to complete a matrix from")
    offset = float(ratings.values.mean(dtype=np.float64))
    centred = ratings.values.astype(np.float64) - offset
    cells = (ratings.user_index, ratings.item_index)
    by_user = sparse.csr_array((centred, cells), shape=(ratings.num_users, ratings.num_items))
    by_item = by_user.T.tocsr()
    seen_by_user, seen_by_item = _pattern(by_user), _pattern(by_item)
    total = float(centred @ centred)
    items = np.random.default_rng(seed).normal(scale=rank**-0.5, size=(ratings.num_items, rank))
    users = np.empty((ratings.num_users, rank))
    objective = np.empty(sweeps)
    for sweep in range(sweeps):
        users, _, penalty = _ridge(by_user, seen_by_user, items, regularization)
        items, explained, _ = _ridge(by_item, seen_by_item, users, regularization)
        # at the minimum of a ridge regression, |r - X q|^2 + l |q|^2 = |r|^2 - (X^T r) @ q
        objective[sweep] = total - explained + penalty
    return Factors(offset, users, items, objective)


def completed(
    source: Ratings | AnyPath,
    *,
    rank: int = 5,
    regularization: float = 0.1,
    sweeps: int = 20,
    min_ratings: int = 20,
    seed: int = 0,
) -> CompletedRatings:
    """Return :func:`complete`, cached on disk under the digest of the ratings and the parameters.

    A file is identified by its bytes, ratings in memory by their columns. Within one process the last few results are
    remembered, and a file whose path, size and time of change are the same is not read again. Files are written
    beside their final name and then renamed, so that readers never see a partial file, and processes can build the same
    matrix in parallel. A damaged file is rebuilt. Where the cache cannot be written, the result is in memory and a
    ``UserWarning`` says so.

    Args:
        source: The ratings, or a file that :func:`~bai_gym.datasets.read_ratings` reads.
        rank: As in :func:`complete`, like the keywords below.
        regularization: Penalty per rating, above 0.
        sweeps: Rounds of users, then movies.
        min_ratings: A movie with fewer ratings is left out.
        seed: Of the random start.

    Returns:
        The completed ratings; ``matrix`` is a read-only map of a file in the cache directory.

    Raises:
        MissingDataError: There is no such file.
        ParameterError: A keyword is outside its range.
        DataError: The file or the ratings cannot be used.
    """
    _check(rank=rank, regularization=regularization, sweeps=sweeps, min_ratings=min_ratings, seed=seed)
    digest = _ratings_digest(source) if isinstance(source, Ratings) else _path_digest(Path(source))
    settings = {
        "format": _FORMAT,
        "ratings": digest,
        "rank": int(rank),
        "regularization": float(regularization),
        "sweeps": int(sweeps),
        "min_ratings": int(min_ratings),
        "seed": int(seed),
    }
    key = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    folder = cache_directory()
    result = _recent.pop((folder, key), None) or _load(folder, key)
    if result is None:
        ratings = source if isinstance(source, Ratings) else read_ratings(source)
        result = complete(
            ratings, rank=rank, regularization=regularization, sweeps=sweeps, min_ratings=min_ratings, seed=seed
        )
        try:
            _store(folder, key, result)
        except OSError as error:
            warnings.warn(
                f"the completed ratings cannot be kept in {folder} ({error.strerror or error}), so every process"
                " computes its own; set BAI_GYM_CACHE to a folder that can be written",
                UserWarning,
                stacklevel=2,
            )
        else:
            result = _load(folder, key) or result
    _recent[folder, key] = result
    while len(_recent) > _KEEP:
        _recent.popitem(last=False)
    return result


_recent: OrderedDict[tuple[Path, str], CompletedRatings] = OrderedDict()


def _ridge(
    values: sparse.csr_array, seen: sparse.csr_array, factors: FloatArray, regularization: float
) -> tuple[FloatArray, float, float]:
    """Solve one ridge regression per row: its observed values on the factors of the columns it observes.

    Args:
        values: ``(A, B)``, the centred ratings.
        seen: ``(A, B)``, ones at the same places.
        factors: ``(B, rank)``, held fixed.
        regularization: Penalty per rating.

    Returns:
        The solutions ``(A, rank)``, the sum of squares they explain, and the penalty of the solutions.
    """
    rank = factors.shape[1]
    upper, lower = np.triu_indices(rank)
    gram = np.empty((values.shape[0], rank, rank))
    gram[:, upper, lower] = seen @ (factors[:, upper] * factors[:, lower])  # (A, B) @ (B, pairs) -> (A, pairs)
    gram[:, lower, upper] = gram[:, upper, lower]
    counts = np.diff(values.indptr)
    # a row without ratings keeps a penalty of one rating, so that its solution is 0 and not undefined
    gram[:, np.arange(rank), np.arange(rank)] += regularization * np.maximum(counts, 1)[:, np.newaxis]
    moments = values @ factors  # (A, B) @ (B, rank) -> (A, rank)
    try:
        solution = np.linalg.solve(gram, moments[..., np.newaxis])[..., 0]
    except np.linalg.LinAlgError:
        raise DataError(
            "the ratings cannot be completed: a least-squares system is singular; raise regularization"
        ) from None
    explained = float(np.sum(moments * solution))
    penalty = regularization * float(counts @ np.sum(solution**2, axis=-1))
    return solution, explained, penalty


def _pattern(values: sparse.csr_array) -> sparse.csr_array:
    """Ones where ``values`` has an entry, a stored zero included."""
    return sparse.csr_array((np.ones_like(values.data), values.indices, values.indptr), shape=values.shape)


def _only(ratings: Ratings, kept: npt.NDArray[np.intp]) -> Ratings:
    """The ratings of the kept items, renumbered; all users stay."""
    position = np.full(ratings.num_items, -1, dtype=np.int32)
    position[kept] = np.arange(len(kept), dtype=np.int32)
    items = position[ratings.item_index]
    chosen = items >= 0
    return Ratings(
        ratings.user_index[chosen], items[chosen], ratings.values[chosen], ratings.user_ids, ratings.item_ids[kept]
    )


def _check(*, regularization: float, **whole: int) -> None:
    """Refuse a keyword that is outside its range."""
    real(regularization, "regularization", above=0)
    for name, value in whole.items():
        integer(value, name, least=0 if name == "seed" else 1)


def _ratings_digest(ratings: Ratings) -> str:
    digest = hashlib.sha256(b"columns")
    for column, kind in (
        (ratings.user_index, "<i4"),
        (ratings.item_index, "<i4"),
        (ratings.values, "<f4"),
        (ratings.user_ids, "<i8"),
        (ratings.item_ids, "<i8"),
    ):
        digest.update(f"{len(column)}".encode())
        digest.update(np.ascontiguousarray(column, dtype=kind).data)
    return digest.hexdigest()


def _path_digest(path: Path) -> str:
    try:
        about = path.stat()
        return _file_digest(path.resolve(), about.st_mtime_ns, about.st_size)
    except FileNotFoundError:
        raise MissingDataError(f"there is no ratings file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read as a file of ratings: {error.strerror}") from None


@lru_cache(maxsize=16)
def _file_digest(path: Path, mtime_ns: int, size: int) -> str:
    """SHA-256 of a file's bytes; time and size detect changes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path, key: str) -> tuple[Path, Path]:
    """The file of the matrix, and the file of everything else with the checksum of the matrix."""
    return folder / f"completed-{key[:32]}.npy", folder / f"completed-{key[:32]}.npz"


def _store(folder: Path, key: str, result: CompletedRatings) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    matrix_file, rest_file = _files(folder, key)
    checksum = zlib.crc32(result.matrix.data)
    replace_file(matrix_file, lambda file: np.save(file, result.matrix, allow_pickle=False))
    replace_file(
        rest_file,
        lambda file: np.savez(
            file,
            key=np.array(key),
            checksum=np.array(checksum, dtype=np.uint32),
            item_ids=result.item_ids,
            means=result.means,
            variances=result.variances,
        ),
    )


def _load(folder: Path, key: str) -> CompletedRatings | None:
    """The result in the cache, or None if it is missing or damaged."""
    matrix_file, rest_file = _files(folder, key)
    try:
        with rest_file.open("rb") as file, np.load(file, allow_pickle=False) as rest:
            stored, checksum = str(rest["key"]), int(rest["checksum"])
            item_ids, means, variances = rest["item_ids"], rest["means"], rest["variances"]
        mapped = np.load(matrix_file, mmap_mode="r", allow_pickle=False)
        matrix = np.asarray(mapped)  # a plain array on the same map: indexing np.memmap itself is slower
        sound = (
            stored == key
            and matrix.dtype == np.float32
            and matrix.ndim == 2
            and matrix.flags.c_contiguous
            and item_ids.shape == means.shape == variances.shape == matrix.shape[:1]
            and zlib.crc32(matrix.data) == checksum
        )
    except Exception:  # numpy and zipfile can raise almost anything for damaged bytes, and the remedy is the same
        return None
    return CompletedRatings(matrix, item_ids, means, variances) if sound else None
