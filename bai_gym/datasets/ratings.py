"""Movie ratings as three flat columns, read from any file in a MovieLens format.

The formats are those of GroupLens: ``UserID::MovieID::Rating[::Timestamp]`` (1M, 10M), tab-separated ``u.data``
(100K), and ``ratings.csv`` with the header ``userId,movieId,rating[,timestamp]`` (20M, 25M, latest). Each may be
compressed with gzip or lie in the publisher's zip archive. The content of a file decides its format, not its name.

Nothing of the data ships with this package; ``bai_gym.data.registry`` has the terms and the citation.
"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from bai_gym.errors import DataError, MissingDataError
from bai_gym.statistics import IntArray
from bai_gym.validation import AnyPath

__all__ = ["Ratings", "read_ratings"]

_MEMBERS = ("ratings.dat", "ratings.csv", "u.data")
_COLUMNS = ("userId", "movieId", "rating")
_EXPECTED = "expected lines UserID::MovieID::Rating[::Timestamp], a tab-separated u.data, or ratings.csv with a header"


@dataclass(frozen=True, eq=False)
class Ratings:
    """R ratings of items (movies) by users; users and items are numbered densely from 0, in the order of their ids.

    Items without ratings do not appear: MovieLens 1M, "6040 x 3952" in the papers, has 3,706 rated movies.

    Attributes:
        user_index: Which user rated, ``(R,)`` int32 in ``0..num_users - 1``.
        item_index: Which item was rated, ``(R,)`` int32 in ``0..num_items - 1``.
        values: The ratings, ``(R,)`` float32, finite, in the unit of the file (stars).
        user_ids: Id of each user in the file, ``(num_users,)`` int64, increasing.
        item_ids: Id of each item in the file, ``(num_items,)`` int64, increasing.

    Raises:
        DataError: The columns differ in length, an index is out of range, or a rating is not finite.
    """

    user_index: npt.NDArray[np.int32]
    item_index: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    user_ids: IntArray
    item_ids: IntArray

    def __post_init__(self) -> None:
        if not self.user_index.shape == self.item_index.shape == self.values.shape == (len(self.values),):
            shapes = f"{self.user_index.shape}, {self.item_index.shape} and {self.values.shape}"
            raise DataError(f"user_index, item_index and values must be flat and equally long, not {shapes}")
        for name, index, size in (
            ("user_index", self.user_index, self.num_users),
            ("item_index", self.item_index, self.num_items),
        ):
            if index.size and not (0 <= int(index.min()) and int(index.max()) < size):
                raise DataError(f"{name} must lie in 0..{size - 1}, but reaches from {index.min()} to {index.max()}")
        if not np.isfinite(self.values).all():
            raise DataError("ratings must be finite numbers, but some values are NaN or infinite")

    @property
    def num_users(self) -> int:
        """Number of users."""
        return len(self.user_ids)

    @property
    def num_items(self) -> int:
        """Number of items (movies)."""
        return len(self.item_ids)

    def __len__(self) -> int:
        """Number of ratings."""
        return len(self.values)


def read_ratings(path: AnyPath) -> Ratings:
    """Read a file of ratings in a MovieLens format, in the order of its lines.

    Args:
        path: ``ratings.dat``, ``u.data`` or ``ratings.csv``, plain or gzipped, or a zip archive that has one of them
            as a member, such as the official ``ml-1m.zip``. Timestamps are not read.

    Returns:
        The ratings.

    Raises:
        MissingDataError: There is no such file.
        DataError: The file is empty or damaged, a line has the wrong number of fields, a field is not a number or
            NaN, or a user rated a movie twice.
    """
    path = Path(path)
    content = _content(path)
    users, items, values = _columns(path, content)
    if not len(values):
        raise DataError(f"{path} has no ratings; {_EXPECTED}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(f"{path}: rating {row + 1} is {values[row]}; every rating must be a finite number")
    user_ids, user_index = np.unique(users, return_inverse=True)
    item_ids, item_index = np.unique(items, return_inverse=True)
    cells = np.sort(user_index * np.int64(len(item_ids)) + item_index)
    repeated = np.flatnonzero(cells[1:] == cells[:-1])
    if len(repeated):
        user, item = divmod(int(cells[repeated[0]]), len(item_ids))
        raise DataError(
            f"{path}: user {user_ids[user]} rated movie {item_ids[item]} more than once;"
            " expected at most one rating per user and movie"
        )
    return Ratings(user_index.astype(np.int32), item_index.astype(np.int32), values, user_ids, item_ids)


def _content(path: Path) -> bytes:
    """The bytes of the ratings file itself, unpacked from gzip or zip where ``path`` is one."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise MissingDataError(f"there is no ratings file {path}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read as a file of ratings: {error.strerror}") from None
    try:
        if raw.startswith(b"\x1f\x8b"):
            return gzip.decompress(raw)
        if raw.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                members = [name for name in archive.namelist() if name.rpartition("/")[2] in _MEMBERS]
                if len(members) != 1:
                    raise DataError(
                        f"{path} must have exactly one member named {', '.join(_MEMBERS[:-1])} or {_MEMBERS[-1]},"
                        f" but has {len(members)}"
                    )
                return archive.read(members[0])
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is damaged or not complete and cannot be unpacked ({_line(error)})") from None
    return raw


def _columns(path: Path, content: bytes) -> tuple[IntArray, IntArray, npt.NDArray[np.float32]]:
    """Users, items and ratings, each ``(R,)``, of a file in one of the three formats."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    first = content[:4000].lstrip().split(b"\n", 1)[0].rstrip(b"\r").decode("ascii", "replace")
    if not first:
        raise DataError(f"{path} is empty; {_EXPECTED}")
    names: list[str] | None = None
    if "::" in first:
        if b"\t" in content:
            raise DataError(f"{path} separates fields by both '::' and tabs; {_EXPECTED}")
        content, separator = content.replace(b"::", b"\t"), "\t"
        names = [*_COLUMNS, "timestamp"][: first.count("::") + 1]
    elif "\t" in first:
        separator, names = "\t", [*_COLUMNS, "timestamp"][: first.count("\t") + 1]
    else:
        separator = ","
        header = [name.strip('"') for name in first.split(",")]
        if any(header.count(name) != 1 for name in _COLUMNS):
            raise DataError(f"{path} starts with {first[:60]!r}; {_EXPECTED}")
    if names is not None and len(names) < len(_COLUMNS):
        raise DataError(f"{path} starts with {first[:60]!r}; {_EXPECTED}")
    try:
        table = _parse(content, separator, names, threads=True)
    except pa.ArrowException:
        try:
            table = _parse(content, separator, names, threads=False)  # one thread, so that the error has the line
        except pa.ArrowException as error:
            raise DataError(f"{path} is malformed ({_line(error)}); {_EXPECTED}") from None
    users, items, values = (table.column(name).to_numpy() for name in _COLUMNS)
    return users, items, values


def _parse(content: bytes, separator: str, names: list[str] | None, *, threads: bool) -> pa.Table:
    return csv.read_csv(
        pa.BufferReader(content),
        read_options=csv.ReadOptions(column_names=names, use_threads=threads, block_size=1 << 22),
        parse_options=csv.ParseOptions(delimiter=separator, quote_char='"' if names is None else False),
        convert_options=csv.ConvertOptions(
            include_columns=list(_COLUMNS),
            column_types=dict(zip(_COLUMNS, (pa.int64(), pa.int64(), pa.float32()), strict=True)),
            null_values=[],  # an empty field is an error here, not a missing value
        ),
    )


def _line(error: BaseException) -> str:
    """The message of an error of another library as one short line."""
    return " ".join(str(error).split())[:160]
