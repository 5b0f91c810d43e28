"""Columns of CSV files of any size: text, for a user's log, or numbers, for the features of arms.

A file is in UTF-8, plain, gzipped, or in a zip archive as its only member that ends in ``.csv`` or ``.data``; line ends
may be those of Unix or of Windows. Every error names the file, the column or row, and what was expected. Rows in errors
count from 1, after a header line.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from bai_gym.errors import DataError
from bai_gym.statistics import FloatArray

__all__ = ["first_line", "listing", "read_columns", "read_text", "require_columns"]

_SEPARATORS = (",", ";", "\t", "|")
_HEAD = 1 << 20  # bytes in which the first line must end
_BLOCK = 1 << 24  # bytes parsed at a time; a row must fit
_SHOWN = 12  # names shown in an error
_MISSING = ["?", "", "NA", "NaN", "nan"]  # markers of missing numbers
_UTF8 = "; the file is not in UTF-8: save it in that encoding"
_CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?.*invalid value '(.*)'", re.DOTALL)


def read_text(path: Path, columns: Sequence[str] | None, separator: str | None) -> pa.Table:
    """Read columns as text.

    Args:
        path: A file with a header line.
        columns: The columns wanted, in this order; None: all.
        separator: One character; None: the one among comma, semicolon, tab and ``|`` that yields all columns wanted, or
            else most columns.

    Raises:
        DataError: The file is empty or damaged, a column is not there, or a row has too many or too few fields.
    """
    names, chosen = _header(path, columns, separator, str)
    wanted = list(names if columns is None else columns)
    require_columns(path, names, *wanted, hint=_UTF8 if any("\ufffd" in name for name in names) else "")
    options = pacsv.ConvertOptions(
        include_columns=wanted, column_types=dict.fromkeys(wanted, pa.string()), strings_can_be_null=False
    )
    return _parsed(path, names, chosen, None, options)


def read_columns(
    path: Path, columns: Sequence[str], *, all_columns: Sequence[str] | None = None, may_miss: str | None = None
) -> FloatArray:
    """Read columns of numbers.

    Columns are found by name, without regard to case, and with ``_`` and ``-`` alike; others may be there in any order.
    A ``?``, an empty field, ``NA`` and ``NaN`` are missing values.

    Args:
        path: A file whose fields are separated by commas, semicolons, tabs or ``|``.
        columns: The columns wanted, C of them.
        all_columns: Names of all columns of the file, in its order, if it may come without a header line.
        may_miss: The column in which values may be missing, NaN in the result; None: there is none.

    Returns:
        ``(R, C)`` float64, in C order, R at least 1.

    Raises:
        DataError: The file is empty or damaged, a column is not there, a row has too many or too few fields, a field is
            not a finite number, or it is missing where it may not.
    """
    header, separator = _header(path, columns, None, _plain)
    bare = all_columns is not None and not {*map(_plain, columns)} & {*map(_plain, header)}
    names = list(all_columns or ()) if bare else header
    matches = [_matching(path, names, column) for column in columns]
    options = pacsv.ConvertOptions(
        include_columns=matches,
        column_types=dict.fromkeys(matches, pa.float64()),
        null_values=_MISSING,
        quoted_strings_can_be_null=True,
    )
    table = _parsed(path, names, separator, names if bare else None, options)
    if not len(table):
        raise DataError(f"{path} has no rows; expected one row per arm that can be drawn")
    values = np.empty((len(table), len(columns)))
    for position, name in enumerate(matches):
        values[:, position] = table.column(name).to_numpy()  # null becomes NaN
    del table
    pa.default_memory_pool().release_unused()  # or twice the size of the values would stay in the process
    for position, name in enumerate(columns):
        numbers = values[:, position]
        bad = np.flatnonzero(~np.isfinite(numbers) if name != may_miss else np.isinf(numbers))
        if len(bad):
            number = numbers[bad[0]]
            raise DataError(
                f"column {name!r} of {path}, row {bad[0] + 1}, is {'missing' if np.isnan(number) else number};"
                f" every value must be a finite number ({len(bad)} of {len(numbers)} rows have none)"
            )
    return values


def _matching(path: Path, names: Sequence[str], column: str) -> str:
    """Return the only name that is the column's, up to case, ``_`` and ``-``."""
    matches = [name for name in names if _plain(name) == _plain(column)]
    require_columns(path, [column] * len(matches) or names, column)
    return matches[0]


def require_columns(path: Path, header: Sequence[str], *columns: str, hint: str = "") -> None:
    """Raise :class:`DataError` unless a header has each of the columns once; the hint suggests a cause."""
    for column in columns:
        if header.count(column) > 1:
            raise DataError(f"{path} has {header.count(column)} columns named {column!r}; expected one")
        if column not in header:
            near = difflib.get_close_matches(column.lower(), [name.lower() for name in header], n=1, cutoff=0.5)
            guess = next((f" Did you mean {name!r}?" for name in header if near and name.lower() == near[0]), "")
            raise DataError(f"{path} has no column {column!r}.{guess} It has {listing(header)}{hint}")


def listing(names: Sequence[str]) -> str:
    """Return the first names as one line."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def first_line(error: BaseException) -> str:
    """Return the message of an error of another library as one short line."""
    return " ".join(str(error).split())[:160]


def _header(
    path: Path, columns: Sequence[str] | None, separator: str | None, key: Callable[[str], str]
) -> tuple[list[str], str]:
    """Return the names in the first line, and the separator; names count as equal where their keys are."""
    with _opened(path) as stream:
        head = bytes(stream.read(_HEAD)).decode("utf-8-sig", "replace")
    if not head.strip():
        raise DataError(f"{path} is empty; expected CSV with a header line")
    keys = {key(column) for column in columns or ()}
    headers: list[tuple[bool, int, list[str], str]] = []
    for candidate in _SEPARATORS if separator is None else (separator,):
        try:
            names = next((row for row in csv.reader(io.StringIO(head), delimiter=candidate) if row), [])
        except csv.Error as error:
            raise DataError(f"{path} has no readable first line ({first_line(error)}); expected CSV") from None
        headers.append((keys <= set(map(key, names)), len(names), names, candidate))
    *_, names, chosen = max(headers, key=lambda one: one[:2])  # the first of several
    return names, chosen


def _parsed(
    path: Path, names: Sequence[str], separator: str, bare: list[str] | None, options: pacsv.ConvertOptions
) -> pa.Table:
    """Parse a file; ``bare`` names the columns of one without a header line."""
    try:
        with _opened(path) as stream:
            return pacsv.read_csv(
                cast(Any, stream),
                # One thread: live threads of pyarrow abort a process that exits immediately, as after an error; also,
                # errors then have a row.
                read_options=pacsv.ReadOptions(column_names=bare, use_threads=False, block_size=_BLOCK),
                parse_options=pacsv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=options,
            )
    except (pa.ArrowException, ValueError) as error:
        match = _CONVERSION.match(str(error))
        if match is None:
            hint = "" if _is_utf8(path) else _UTF8
            raise DataError(f"{path} is malformed: {first_line(error)}{hint}") from None
        column, row, value = match.groups()
        where = f", row {int(row) - (bare is None)}," if row else ""
        raise DataError(
            f"column {names[int(column)]!r} of {path}{where} is {value[:60]!r}; every value must be a finite number"
        ) from None


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
        raise DataError(f"{path} cannot be read, or is damaged: {first_line(error)}") from None


def _is_utf8(path: Path) -> bool:
    with _opened(path) as stream:
        try:
            bytes(stream.read()).decode("utf-8")
        except UnicodeDecodeError:
            return False
    return True


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-")
