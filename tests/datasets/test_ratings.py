import gzip
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bai_gym.data import find
from bai_gym.datasets import Ratings, read_ratings
from bai_gym.errors import DataError, MissingDataError

DAT = "1::10::5::978300760\n1::30::3::978302109\n7::10::1::978301968\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def archive(folder: Path, *members: str) -> Path:
    path = folder / "ml-1m.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for member in members:
            packed.writestr(member, DAT)
    return path


def check(ratings: Ratings) -> None:
    assert ratings.user_index.tolist() == [0, 0, 1]
    assert ratings.item_index.tolist() == [0, 1, 0]
    assert ratings.values.tolist() == [5.0, 3.0, 1.0]
    assert ratings.user_ids.tolist() == [1, 7]
    assert ratings.item_ids.tolist() == [10, 30]
    assert (len(ratings), ratings.num_users, ratings.num_items) == (3, 2, 2)
    assert ratings.user_index.dtype == ratings.item_index.dtype == np.int32
    assert ratings.values.dtype == np.float32
    assert ratings.user_ids.dtype == ratings.item_ids.dtype == np.int64


@pytest.mark.each(
    ("name", "content"),
    [
        ("ratings.dat", DAT),
        ("ratings.dat", "1::10::5\n1::30::3\n7::10::1"),
        ("ratings.dat", DAT.replace("\n", "\r\n")),
        ("ratings.dat.gz", gzip.compress(DAT.encode(), mtime=0)),
        ("a name that says nothing", gzip.compress(DAT.encode(), mtime=0)),
        ("u.data", DAT.replace("::", "\t")),
        ("ratings.csv", "userId,movieId,rating,timestamp\n" + DAT.replace("::", ",")),
        ("ratings.csv", "\ufeffuserId,movieId,rating\n1,10,5.0\n1,30,3.0\n7,10,1.0\n\n"),
        ("ratings.csv", '"rating","movieId","userId"\n5,10,1\n3,30,1\n1,10,7\n'),
    ],
)
def test_every_movielens_format_gives_the_same_ratings(tmp_path: Path, name: str, content: str | bytes) -> None:
    check(read_ratings(write(tmp_path, name, content)))


def test_the_official_archive_is_read_as_it_is(tmp_path: Path) -> None:
    check(read_ratings(archive(tmp_path, "ml-1m/README", "ml-1m/movies.dat", "ml-1m/ratings.dat")))
    for members, complaint in ((["ml-1m/movies.dat"], "has 0"), (["a/ratings.dat", "b/ratings.dat"], "has 2")):
        with pytest.raises(DataError, match=f"exactly one member named .*, but {complaint}"):
            read_ratings(archive(tmp_path, *members))
    with pytest.raises(MissingDataError, match="absent"):
        read_ratings(tmp_path / "absent.dat")
    with pytest.raises(DataError, match="cannot be read"):
        read_ratings(tmp_path)


def test_half_stars_and_the_order_of_lines_are_kept(tmp_path: Path) -> None:
    ratings = read_ratings(write(tmp_path, "ratings.dat", "2::1::0.5::1\n1::1::4.5::1\n"))
    assert ratings.values.tolist() == [0.5, 4.5]
    assert ratings.user_index.tolist() == [1, 0]


@pytest.mark.each(
    ("content", "complaint"),
    [
        ("", "is empty; expected lines UserID::MovieID::Rating"),
        (" \n\n", "is empty"),
        ("userId,movieId,rating\n", "has no ratings"),
        ("1::10::5::1\n1::30::3\n", "is malformed .*Expected 4 columns, got 3"),
        ("1::10::5\n1::30\n", "is malformed .*Expected 3 columns, got 2"),
        ("1::10\n", "starts with '1::10'; expected"),
        ("1::10::five\n", "is malformed .*'five'"),
        ("1::ten::5\n", "is malformed .*'ten'"),
        ("1::10::\n", "is malformed"),
        ("1::10::5\n2::10::nan\n", "rating 2 is nan; every rating must be a finite number"),
        ("1::10::inf\n", "rating 1 is inf"),
        ("1::10::5\n2::10::4\n1::10::3\n", "user 1 rated movie 10 more than once"),
        ("1::10\t::5\n", "both '::' and tabs"),
        ("user,movie,stars\n1,10,5\n", "starts with 'user,movie,stars'; expected"),
        (gzip.compress(DAT.encode(), mtime=0)[:-9], "is damaged or not complete"),
        (b"\x1f\x8b not gzip at all", "is damaged or not complete"),
        (b"PK\x03\x04 not a zip archive", "is damaged or not complete"),
    ],
)
def test_a_malformed_file_is_named_with_what_was_expected(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    path = write(tmp_path, "odd.dat", content)
    with pytest.raises(DataError, match=complaint) as caught:
        read_ratings(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.each(
    ("users", "items", "values", "complaint"),
    [
        ([0, 1], [0], [1.0, 2.0], "equally long"),
        ([0, 2], [0, 0], [1.0, 2.0], r"user_index must lie in 0\.\.1"),
        ([0, 1], [0, -1], [1.0, 2.0], r"item_index must lie in 0\.\.0"),
        ([0, 1], [0, 0], [1.0, np.nan], "must be finite"),
    ],
)
def test_ratings_in_memory_are_checked(users: list[int], items: list[int], values: list[float], complaint: str) -> None:
    columns = np.array(users, np.int32), np.array(items, np.int32), np.array(values, np.float32)
    with pytest.raises(DataError, match=complaint):
        Ratings(*columns, user_ids=np.array([1, 2]), item_ids=np.array([1]))


@pytest.mark.skipif(
    not os.environ.get("BAI_GYM_DATA") or find("movielens-1m") is None,
    reason="needs MovieLens 1M: set BAI_GYM_DATA to a folder that has ml-1m/ratings.dat",
)
def test_movielens_1m_has_the_published_counts() -> None:
    path = find("movielens-1m")
    assert path is not None
    ratings = read_ratings(path)
    assert (len(ratings), ratings.num_users, ratings.num_items) == (1_000_209, 6_040, 3_706)
    assert ratings.user_ids[[0, -1]].tolist() == [1, 6040]
    assert ratings.item_ids[[0, -1]].tolist() == [1, 3952]
    assert np.bincount(ratings.values.astype(int)).tolist() == [0, 56_174, 107_557, 261_197, 348_971, 226_310]
    counts = np.bincount(ratings.item_index)
    most = np.argsort(-counts)[:3]
    assert dict(zip(ratings.item_ids[most].tolist(), counts[most].tolist(), strict=True)) == {
        2858: 3428,
        260: 2991,
        1196: 2990,
    }
    per_user = np.bincount(ratings.user_index)
    assert (per_user.min(), per_user.max()) == (20, 2314)
