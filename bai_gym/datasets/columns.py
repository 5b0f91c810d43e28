"""Columns of numbers from CSV files of any size, and tables of them that are rescaled to [0, 1].

Several data-backed environments need only some columns of a data set, as features of the arms and as their mean
rewards. Every error about a file names it, the column and the row.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from bai_gym.errors import DataError, MissingDataError
from bai_gym.statistics import FloatArray

__all__ = ["FeatureTable", "identify", "read_columns"]

_MISSING = ["?", "", "NA", "NaN", "nan"]  # markers of missing values
_HEAD = 1 << 16  # bytes in which the first line must end
_SHOWN = 15  # names shown in an error
_KINDS = {",": "comma-separated", ";": "semicolon-separated"}
_CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """R rows of C columns, each column rescaled to [0, 1] by its minimum and maximum over all rows.

    Attributes:
        columns: Names of the columns, C of them.
        values: ``(R, C)`` float64, in C order, so that the values of a row are contiguous; read-only.
        notes: Sentences that every report about these rows must show.
    """

    columns: tuple[str, ...]
    values: FloatArray
    notes: tuple[str, ...] = ()

    @classmethod
    def rescaled(cls, columns: Sequence[str], values: FloatArray, notes: Sequence[str] = ()) -> Self:
        """Return the table of some columns, rescaled in place: ``values`` is taken over.

        A column that is the same in every row becomes 0.

        Args:
            columns: C names.
            values: ``(R, C)`` finite numbers, at least one row, in any unit.
            notes: See the attribute.

        Raises:
            DataError: The values of a column are too large to be subtracted from each other.
        """
        with np.errstate(over="ignore"):
            smallest = values.min(axis=0)
            spread = values.max(axis=0) - smallest
        if not np.isfinite(spread).all():
            name = columns[int(np.flatnonzero(~np.isfinite(spread))[0])]
            raise DataError(f"the values of column {name!r} are too large to be rescaled; check its unit")
        values -= smallest
        values /= np.where(spread > 0, spread, 1.0)
        values.setflags(write=False)
        return cls(tuple(columns), values, tuple(notes))

    @property
    def num_rows(self) -> int:
        """The number of rows, R."""
        return len(self.values)


def identify(path: str | os.PathLike[str], what: str) -> tuple[Path, int, int]:
    """Return the full path of a file, its time of change and its size: the key under which its content is remembered.

    Args:
        path: The file.
        what: What it should be, for messages, such as ``"the file imports-85.data of UCI Automobile"``.

    Raises:
        MissingDataError: There is no such file.
        DataError: It cannot be accessed.
    """
    path = Path(path)
    try:
        facts = path.stat()
    except FileNotFoundError:
        raise MissingDataError(
            f"there is no file {path.absolute()}; path must be {what}, or be left out to look in the data directory"
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read as {what}: {error.strerror}") from None
    return path.resolve(), facts.st_mtime_ns, facts.st_size


def read_columns(
    path: Path,
    columns: Sequence[str],
    *,
    all_columns: Sequence[str] | None = None,
    may_miss: str | None = None,
    separator: str = ",",
) -> FloatArray:
    """Read columns of numbers from a file of rows whose fields are separated by commas, or by semicolons.

    Columns are found by name, without regard to case, and with ``_`` and ``-`` alike; others may be there in any order.
    Line ends may be those of Unix or of Windows. A ``?``, an empty field, ``NA`` and ``NaN`` are missing values. Rows
    in errors count from 1, after a header line.

    Args:
        path: The file, plain, gzipped, or in a zip archive, as its only member that ends in ``.csv`` or ``.data``.
        columns: The columns wanted, C of them.
        all_columns: Names of all columns of the file, in its order, if it may come without a header line.
        may_miss: The column in which values may be missing, NaN in the result; None: there is none.
        separator: ``","`` or ``";"``.

    Returns:
        ``(R, C)`` float64, in C order, R at least 1.

    Raises:
        DataError: The file is empty, damaged or separated otherwise, a column is not there, a row has too many or too
            few fields, a field is not a finite number, or it is missing where it may not.
    """
    with _opened(path) as stream:
        header = _header(path, bytes(stream.read(_HEAD)), columns, all_columns, separator)
    names = list(all_columns or ()) if header is None else header
    plain = [_plain(name) for name in names]
    wanted = [names[plain.index(_plain(column))] for column in columns]
    with _opened(path) as stream:
        try:
            table = pacsv.read_csv(
                cast(Any, stream),
                # One thread: live threads of pyarrow abort a process that exits immediately, as after an error; also,
                # errors then have a row.
                read_options=pacsv.ReadOptions(
                    column_names=names if header is None else None, use_threads=False, block_size=1 << 22
                ),
                parse_options=pacsv.ParseOptions(delimiter=separator),
                convert_options=pacsv.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, pa.float64()),
                    null_values=_MISSING,
                    quoted_strings_can_be_null=True,
                ),
            )
        except (pa.ArrowException, ValueError) as error:
            raise DataError(
                _malformed(path, error, names, first=0 if header is None else 1, separator=separator)
            ) from None
    if not len(table):
        raise DataError(f"{path} has no rows; expected one row per arm that can be drawn")
    values = np.empty((len(table), len(columns)))
    for position, name in enumerate(wanted):
        values[:, position] = table.column(name).to_numpy()  # null becomes NaN
    del table
    pa.default_memory_pool().release_unused()  # or twice the size of the values would stay in the process
    for position, name in enumerate(columns):
        column = values[:, position]
        bad = np.flatnonzero(~np.isfinite(column) if name != may_miss else np.isinf(column))
        if len(bad):
            found = column[bad[0]]
            raise DataError(
                f"column {name!r} of {path}, row {bad[0] + 1}, is {'missing' if np.isnan(found) else found};"
                f" every value must be a finite number ({len(bad)} of {len(column)} rows have none)"
            )
    return values


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | pa.NativeFile]:
    """The bytes of a file, unpacked on the way; any failure is a :class:`DataError`."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start.startswith(b"PK\x03\x04"):
            with zipfile.ZipFile(path) as archive:
                members = [name for name in archive.namelist() if name.lower().endswith((".csv", ".data"))]
                if len(members) != 1:
                    raise DataError(f"{path} must have exactly one member .csv or .data, but has {len(members)}")
                with archive.open(members[0]) as member:
                    yield member
        else:
            packing = "gzip" if start.startswith(b"\x1f\x8b") else None
            with pa.input_stream(str(path), compression=packing) as stream:
                yield stream
    except (OSError, EOFError, RuntimeError, NotImplementedError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read, or is damaged: {_line(error)}") from None


def _header(
    path: Path, head: bytes, columns: Sequence[str], all_columns: Sequence[str] | None, separator: str
) -> list[str] | None:
    """The names in the first line, or None where it is a row of a file that needs no header line."""
    lines = head.decode("utf-8-sig", "replace").split("\n")
    first = next((line.rstrip("\r") for line in lines if line.strip()), None)
    if first is None:
        raise DataError(f"{path} is empty; expected {_KINDS[separator]} rows")
    try:
        names = next(csv.reader([first], delimiter=separator))
    except csv.Error as error:
        raise DataError(
            f"{path} has no readable first line ({_line(error)}); expected {_KINDS[separator]} rows"
        ) from None
    plain = [_plain(name) for name in names]
    if all_columns is not None and not any(_plain(column) in plain for column in columns):
        return None
    for column in columns:
        count = plain.count(_plain(column))
        if count != 1:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            listing = ", ".join(map(repr, names[:_SHOWN])) + more
            problem = f"no column {column!r}" if count == 0 else f"{count} columns named {column!r}"
            raise DataError(f"{path} has {problem}; expected one among the {len(names)} that it has: {listing}")
    return names


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")


def _malformed(path: Path, error: Exception, names: Sequence[str], first: int, separator: str) -> str:
    """Describe the problem of a file that pyarrow rejects; ``first`` lines come before the first row."""
    found = _CONVERSION.match(str(error))
    if found is None:
        return f"{path} is malformed: {_line(error)}; expected {len(names)} {_KINDS[separator]} fields in every row"
    column, row, value = found.groups()
    where = f", row {int(row) - first}," if row else ""
    return f"column {names[int(column)]!r} of {path}{where} is {value[:60]!r}; every value must be a finite number"


def _line(error: BaseException) -> str:
    """The message of an error of another library as one short line."""
    return " ".join(str(error).split())[:160]
