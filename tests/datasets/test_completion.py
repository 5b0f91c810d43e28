import dataclasses
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from bai_gym.datasets import Ratings, complete, completed, completion, factorize
from bai_gym.errors import DataError, ParameterError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory, and a process that remembers nothing."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BAI_GYM_CACHE", str(folder))
    completion._recent.clear()
    return folder


def dense(values: npt.NDArray[np.floating]) -> Ratings:
    """Ratings of every item (column) by every user (row)."""
    users, items = np.indices(values.shape, dtype=np.int32)
    ids = np.arange(1, values.shape[0] + 1), np.arange(1, values.shape[1] + 1)
    return Ratings(users.ravel(), items.ravel(), values.ravel().astype(np.float32), *ids)


def sparse_ratings(seed: int = 3, num_users: int = 60, num_items: int = 30) -> Ratings:
    """Random stars in a third of the cells."""
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((num_users, num_items)) < 0.33)
    stars = rng.integers(1, 6, len(users)).astype(np.float32)
    ids = np.arange(1, num_users + 1), np.arange(1, num_items + 1)
    return Ratings(users.astype(np.int32), items.astype(np.int32), stars, *ids)


def dat_file(folder: Path, ratings: Ratings) -> Path:
    path = folder / "ratings.dat"
    columns = ratings.user_ids[ratings.user_index], ratings.item_ids[ratings.item_index], ratings.values
    path.write_text("".join(f"{u}::{i}::{v:g}\n" for u, i, v in zip(*columns, strict=True)))
    return path


def reload(source: Ratings | Path) -> completion.CompletedRatings:
    """As in a new process."""
    completion._recent.clear()
    return completed(source, sweeps=3, min_ratings=2)


def in_bytes(result: completion.CompletedRatings) -> tuple[bytes, ...]:
    return tuple(array.tobytes() for array in (result.matrix, result.item_ids, result.means, result.variances))


def test_one_ridge_step_worked_by_hand() -> None:
    # one user, rank 1: factors 1 and 2, centred ratings 1 and -1, lambda 0.5 times 2 ratings;
    # (1 + 4 + 1) p = 1 - 2, so p = -1/6; the second user has no rating, so p = 0
    values = sparse.csr_array(np.array([[1.0, -1.0], [0.0, 0.0]]))
    solution, explained, penalty = completion._ridge(
        values, completion._pattern(values), np.array([[1.0], [2.0]]), regularization=0.5
    )
    assert solution.ravel() == pytest.approx([-1 / 6, 0.0])
    assert explained == pytest.approx(1 / 6)
    assert penalty == pytest.approx(1 / 36)


def test_a_rating_that_equals_the_mean_still_counts() -> None:
    # centred it is 0, but the cell was seen: (1 + 4 + 1) p = 1
    cells = np.array([1.0, 0.0]), (np.array([0, 0]), np.array([0, 1]))
    values = sparse.csr_array(cells, shape=(1, 2))
    solution, _, _ = completion._ridge(values, completion._pattern(values), np.array([[1.0], [2.0]]), 0.5)
    assert solution.item() == pytest.approx(1 / 6)


def test_missing_cells_of_a_low_rank_matrix_are_recovered() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    full = dense(truth)
    seen = rng.random(len(full)) < 0.6
    part = Ratings(full.user_index[seen], full.item_index[seen], full.values[seen], full.user_ids, full.item_ids)
    result = complete(part, rank=3, regularization=1e-6, sweeps=300, min_ratings=5)
    assert np.abs(result.matrix - truth.T).max() < 0.05


def test_the_objective_is_the_penalised_squared_error_and_never_increases() -> None:
    ratings = sparse_ratings()
    fits = [factorize(ratings, regularization=0.1, sweeps=sweeps) for sweeps in range(1, 9)]
    assert (np.diff(fits[-1].objective) <= 0).all()
    for fit in fits:  # the recursion of the code against the definition
        predicted = np.sum(fit.user_factors[ratings.user_index] * fit.item_factors[ratings.item_index], axis=-1)
        residuals = ratings.values - fit.offset - predicted
        user_counts, item_counts = np.bincount(ratings.user_index), np.bincount(ratings.item_index)
        penalty = 0.1 * (user_counts @ np.sum(fit.user_factors**2, 1) + item_counts @ np.sum(fit.item_factors**2, 1))
        assert fit.objective[-1] == pytest.approx(residuals @ residuals + penalty)


def test_shapes_types_and_moments() -> None:
    ratings = sparse_ratings()
    result = complete(ratings, min_ratings=20)
    counts = np.bincount(ratings.item_index)
    assert result.item_ids.tolist() == ratings.item_ids[counts >= 20].tolist()
    assert 2 < result.num_items < 30
    assert result.matrix.shape == (result.num_items, result.num_users) == (len(result.item_ids), 60)
    assert result.matrix.dtype == np.float32
    assert result.matrix.flags.c_contiguous
    values = result.matrix.astype(np.float64)
    assert result.means == pytest.approx(values.mean(axis=1), rel=1e-12)
    assert result.variances == pytest.approx(values.var(axis=1), rel=1e-12)


def test_left_out_movies_have_no_influence() -> None:
    ratings = sparse_ratings()
    kept = np.bincount(ratings.item_index)[ratings.item_index] >= 20
    few = Ratings(
        ratings.user_index[kept], ratings.item_index[kept], ratings.values[kept], ratings.user_ids, ratings.item_ids
    )
    assert np.array_equal(complete(ratings).matrix, complete(few).matrix)


def test_a_user_without_kept_movies_gets_the_overall_mean() -> None:
    ratings = Ratings(
        np.array([0, 0, 1, 1, 2], np.int32),
        np.array([0, 1, 0, 1, 2], np.int32),
        np.array([1, 5, 2, 4, 3], np.float32),
        np.arange(3),
        np.arange(3),
    )
    result = complete(ratings, min_ratings=2)
    assert result.matrix.shape == (2, 3)
    assert result.matrix[:, 2].tolist() == [3.0, 3.0]


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    ratings = sparse_ratings()
    first, again, other = (complete(ratings, sweeps=2, seed=seed).matrix for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


def test_what_cannot_be_completed_is_named() -> None:
    for keyword, value in (
        ("rank", 0),
        ("rank", True),
        ("regularization", 0.0),
        ("regularization", float("nan")),
        ("sweeps", 0),
        ("min_ratings", 0),
        ("seed", -1),
    ):
        with pytest.raises(ParameterError, match=f"^{keyword} must be"):
            complete(sparse_ratings(), **{keyword: value})  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no movie has 61 ratings"):
        complete(sparse_ratings(), min_ratings=61)
    nothing = np.array([], np.int32)
    with pytest.raises(DataError, match="no ratings"):
        factorize(Ratings(nothing, nothing, np.array([], np.float32), np.array([1]), np.array([1])))


def test_the_cache_gives_the_same_bytes_from_a_shared_map(cache: Path) -> None:
    ratings = sparse_ratings()
    built = reload(ratings)
    files = {path: path.stat().st_mtime_ns for path in cache.iterdir()}
    loaded = reload(ratings)
    assert {path: path.stat().st_mtime_ns for path in cache.iterdir()} == files
    assert sorted(path.suffix for path in files) == [".npy", ".npz"]
    direct = complete(ratings, sweeps=3, min_ratings=2)
    for result in (built, loaded):
        assert in_bytes(result) == in_bytes(direct)
        assert isinstance(result.matrix.base, np.memmap)
        assert not result.matrix.flags.writeable


def test_the_cache_knows_parameters_and_ratings_apart(cache: Path) -> None:
    ratings = sparse_ratings()
    base: dict[str, Any] = {"rank": 5, "regularization": 0.1, "sweeps": 2, "min_ratings": 18, "seed": 0}
    completed(ratings, **base)
    changes = [{"rank": 2}, {"regularization": 0.2}, {"sweeps": 3}, {"min_ratings": 3}, {"seed": 1}]
    for change in changes:
        other = completed(ratings, **(base | change))
        assert in_bytes(other) == in_bytes(complete(ratings, **(base | change)))
    columns = ["user_index", "item_index", "values", "user_ids", "item_ids"]
    for column in columns:
        completed(dataclasses.replace(ratings, **{column: getattr(ratings, column)[::-1].copy()}), **base)
    assert len(list(cache.glob("*.npy"))) == 1 + len(changes) + len(columns)


def test_a_warm_cache_does_not_compute_or_parse(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dat_file(tmp_path, sparse_ratings())
    expected = reload(path).matrix.tobytes()
    monkeypatch.setattr(completion, "read_ratings", None)
    monkeypatch.setattr(completion, "complete", None)
    assert reload(path).matrix.tobytes() == expected


def test_within_a_process_a_file_is_read_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dat_file(tmp_path, sparse_ratings())
    first = completed(path, min_ratings=2)
    monkeypatch.setattr(Path, "open", None)
    assert completed(path, min_ratings=2) is first


def test_a_changed_file_is_completed_again(cache: Path, tmp_path: Path) -> None:
    path = dat_file(tmp_path, sparse_ratings(3))
    before = completed(path, min_ratings=2)
    dat_file(tmp_path, sparse_ratings(4))
    assert completed(path, min_ratings=2).matrix.tobytes() != before.matrix.tobytes()


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("damage", ["empty", "half", "flipped", "absent", "text"])
def test_a_damaged_cache_file_is_rebuilt(cache: Path, suffix: str, damage: str) -> None:
    ratings = sparse_ratings()
    expected = in_bytes(reload(ratings))
    completion._recent.clear()
    (path,) = cache.glob(f"*{suffix}")
    content = path.read_bytes()
    path.unlink()
    where = content.rindex(b"NUMPY") + 200  # in the numbers of the (last) array
    damaged = {
        "empty": b"",
        "half": content[: len(content) // 2],
        "flipped": content[:where] + bytes([content[where] ^ 0x55]) + content[where + 1 :],
        "text": b"not an array\n",
    }
    if damage in damaged:
        path.write_bytes(damaged[damage])
    assert in_bytes(reload(ratings)) == expected
    assert path.read_bytes() == content
    assert len(list(cache.iterdir())) == 2


def test_a_cache_that_cannot_be_written_warns_and_still_gives_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file, not a folder"
    blocked.touch()
    monkeypatch.setenv("BAI_GYM_CACHE", str(blocked))
    completion._recent.clear()
    ratings = sparse_ratings()
    with pytest.warns(UserWarning, match=r"cannot be kept in .* set BAI_GYM_CACHE"):
        result = completed(ratings, min_ratings=2)
    assert result.matrix.tobytes() == complete(ratings, min_ratings=2).matrix.tobytes()
    with warnings.catch_warnings():  # once per process is enough
        warnings.simplefilter("error")
        assert completed(ratings, min_ratings=2) is result


def test_a_full_disk_leaves_no_half_file(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UserWarning, match="No space left on device"):
        completed(sparse_ratings(), min_ratings=2)
    assert [path.suffix for path in cache.iterdir()] == [".npy"]  # whole, and not trusted without the other


def test_builders_at_the_same_time_do_not_harm_each_other(cache: Path) -> None:
    ratings = sparse_ratings()
    expected = reload(ratings)
    wrong: list[object] = []

    def build() -> None:
        for _ in range(20):
            completion._store(cache, "k" * 64, expected)
            loaded = completion._load(cache, "k" * 64)
            if loaded is None or loaded.matrix.tobytes() != expected.matrix.tobytes():
                wrong.append(loaded)

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not [path for path in cache.iterdir() if path.name.startswith(".")]
