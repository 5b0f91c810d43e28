"""A user's logged rewards, from a CSV or Parquet file or a data frame, as samples of each arm.

:func:`read_table` reads a log: one row per observation, one column naming the arm, one with the reward
(``BAI-Table-v0``). :func:`read_scores` reads a matrix: one column per arm (``BAI-LLMSelection-v0``). Every error names
the file, the column or row, and what was expected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bai_gym.data.csv_file import first_line, listing, read_text, require_columns
from bai_gym.errors import DataError, MissingDataError, ParameterError
from bai_gym.rewards import OTHER_KIND, REAL, Rewards
from bai_gym.statistics import AnyArray, FloatArray, IntArray
from bai_gym.validation import LARGEST, REWARD, AnyPath, choice, file_path, integer

__all__ = ["ArmSamples", "read_names", "read_scores", "read_table"]

_ONE, _ZERO = ("true", "yes"), ("false", "no")  # words for the rewards 1 and 0
_MISSING = ("", "na", "n/a", "nan", "none", "null")  # words for a reward that is missing
_DROP = "; missing='drop' leaves out rows without a value"

Source = AnyPath | Mapping[str, Iterable[Any]]
"""A file of a table, or the table itself, by column."""


@dataclass(frozen=True, eq=False)
class ArmSamples:
    """Observed rewards of K arms, one arm after the other.

    Attributes:
        names: Name of each arm, K of them.
        rewards: All rewards, ``(R,)`` float64, those of one arm contiguous, in the order of the file.
        offsets: Arm k has ``rewards[offsets[k]:offsets[k + 1]]``, ``(K + 1,)`` int64.
        dropped: Rewards that were left out because they, or their arm, are missing.
        items: ``(R,)`` number of the item of each reward, from 0 in order of appearance; None where items have no
            names.
        rows: ``(R,)`` the row of each reward in the log, from 0; None for other tables.
        others: ``(R, D)`` numbers of other columns in the row of each reward; None for other tables.
    """

    names: tuple[str, ...]
    rewards: FloatArray
    offsets: IntArray
    dropped: int = 0
    items: IntArray | None = None
    rows: IntArray | None = None
    others: Any = None

    @property
    def num_arms(self) -> int:
        """The number of arms, K."""
        return len(self.names)

    @property
    def counts(self) -> IntArray:
        """Observations of each arm, ``(K,)``, each at least 1."""
        return np.diff(self.offsets)

    @property
    def means(self) -> FloatArray:
        """Mean reward of each arm, ``(K,)``."""
        return np.add.reduceat(self.rewards, self.offsets[:-1]) / self.counts

    @property
    def variances(self) -> FloatArray:
        """Variance of the rewards of each arm, ``(K,)``, ddof 0: that of a reward drawn from the arm's rows."""
        residuals = self.rewards - np.repeat(self.means, self.counts)
        return np.add.reduceat(residuals**2, self.offsets[:-1]) / self.counts


def read_table(
    path: Source,
    *,
    arm_column: str,
    reward_column: str,
    separator: str | None = None,
    arms: Sequence[str | int | float] | None = None,
    bins: int | None = None,
    missing: str = "error",
    rewards: Rewards = REAL,
    item_column: str | None = None,
    other_columns: Sequence[str] = (),
) -> ArmSamples:
    """Read logged rewards, one row per observation.

    Arms are sorted by number where all their names are numbers (then ``8`` and ``8.0`` are one arm, under the shorter
    name), else as text. Spaces around a name are ignored. Rows in an error count from 1 after the header.

    Args:
        path: A CSV file with a header line (UTF-8; plain, gzipped or in a zip archive) or a Parquet file, recognised by
            content; or a data frame (of pandas or Polars, an Arrow table, a dict of columns).
        arm_column: Name of the column that names the arm.
        reward_column: Name of the column with the reward: a number in each row, at most 1e50 in magnitude, or in each
            row a word of true, false, yes and no, which count as 1 and 0.
        separator: One character between the fields of a CSV file. None looks for it among comma, semicolon,
            tab and ``|``: the one that yields both columns.
        arms: The arms wanted, in this order; rows of others are left out. None means all arms.
        bins: Cut a numeric arm column into this many arms, at least 2, with about equally many rows (at its
            quantiles; equal values share a bin). Each is named after the smallest and largest value in it, such as
            ``"8.4..9.5"``, or the value where there is only one. None makes each value an arm.
        missing: What happens to rows without an arm or a reward (empty or NaN; a reward also "NA", "N/A", "null" and
            "None", and so does an arm with ``bins``): ``"error"`` (default) rejects the file, ``"drop"`` leaves them
            out. Other text is an error in either case.
        rewards: The kind that all rewards must be of.
        item_column: Name of the column that names the item, such as the question, which several arms were tried on.
        other_columns: Names of D columns with other metrics; their numbers are read, or missing, as rewards are.

    Returns:
        The samples of at least two arms.

    Raises:
        MissingDataError: There is no such file.
        ParameterError: A keyword is not usable with any file, or both columns are the same.
        DataError: The file is unreadable, a column is not there, a reward is no such number or not of the kind, an arm
            has no name or no rows, there are fewer than two arms, or there are too few values for so many bins.
    """
    _check(arm_column, reward_column, separator, arms, bins)
    choice(missing, ("error", "drop"), "missing")
    if item_column is not None and (not isinstance(item_column, str) or item_column in (arm_column, reward_column)):
        raise ParameterError(f"item_column must be the name of a third column, not {item_column!r}")
    if arm_column in other_columns:
        raise ParameterError(f"column {arm_column!r} names the arms, so it is no metric: give another column")
    kinds = {reward_column: rewards, **dict.fromkeys(other_columns, REAL)}
    columns = (arm_column, *kinds, *([] if item_column is None else [item_column]))
    path, table = _read(path, columns, separator, "one row per observation")
    all_rows = table.num_rows
    if missing == "drop":
        no_arm = ("", "nan") if bins is None else _MISSING  # an arm may be called NA
        table = table.filter(_present(table, arm_column, no_arm))
        for name in kinds:
            table = table.filter(_present(table, name, _MISSING))
        if not table.num_rows:
            raise DataError(
                f"no row of {path} has both {' and '.join(map(repr, (arm_column, *kinds)))}; expected some that do"
            )
    values = np.column_stack(
        [_numbers(path, name, table.column(name), "reward", True, kind) for name, kind in kinds.items()]
    )
    column = table.column(arm_column)
    if bins is None:
        names, codes = _labels(path, arm_column, column)
    else:
        names, codes = _binned(path, arm_column, _numbers(path, arm_column, column, "value to be cut into bins"), bins)
    items = None if item_column is None else _appearance(_labels(path, item_column, table.column(item_column))[1])
    if arms is not None:
        names, codes = _selected(path, arm_column, arms, names, codes)
        wanted = codes >= 0
        values, codes, items = values[wanted], codes[wanted], None if items is None else items[wanted]
    counts = np.bincount(codes, minlength=len(names))
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        raise DataError(f"arm {names[empty[0]]!r} of column {arm_column!r} has no rows in {path}; every arm needs one")
    if len(names) < 2:
        raise DataError(f"column {arm_column!r} of {path} has only one arm, {names[0]!r}; expected at least two")
    order = np.argsort(codes, kind="stable")
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    items = None if items is None else items[order]
    return ArmSamples(
        tuple(names),
        values[order, 0],
        offsets,
        all_rows - table.num_rows,
        items,
        order.astype(np.int64),
        values[order, 1:],
    )


def read_scores(
    path: Source,
    *,
    question_column: str | None = None,
    separator: str | None = None,
    arms: Sequence[str] | None = None,
    missing: str = "error",
    rewards: Rewards = REAL,
) -> ArmSamples:
    """Read a matrix of scores, one column per arm and one row per question.

    Args:
        path: As for :func:`read_table`.
        question_column: Name of a column that is no arm, such as the names of the questions.
        separator: As for :func:`read_table`; None looks for the one that yields most columns.
        arms: Names of the columns wanted, in this order. None: all but ``question_column``, in the order of the file.
        missing: What happens to empty cells (and NaN, "NA", "N/A", "null" and "None"): ``"error"`` (default) rejects
            the file, ``"drop"`` leaves them out, so that arms may have different numbers of scores.
        rewards: The kind that all scores must be of.

    Returns:
        The samples of at least two arms: in each column numbers, at most 1e50 in magnitude, or words of true, false,
        yes and no, which count as 1 and 0.

    Raises:
        MissingDataError: There is no such file.
        ParameterError: A keyword is not usable with any file.
        DataError: The file is unreadable, a column is not there, a score is no such number or not of the kind, an arm
            has none, or there are fewer than two arms.
    """
    _check_separator(separator)
    _check_wanted(arms)
    choice(missing, ("error", "drop"), "missing")
    if question_column is not None and not isinstance(question_column, str):
        raise ParameterError(f"question_column must be the name of a column, as text, not {question_column!r}")
    columns = None if arms is None else tuple(map(str, arms))
    for name in columns or ():
        if (columns or ()).count(name) > 1:
            raise ParameterError(f"arms names arm {name!r} twice; each arm may be listed once")
    path, table = _read(path, columns, separator, "one row per question")
    if columns is None and question_column is not None:
        require_columns(path, table.column_names, question_column)
    names = tuple(name for name in table.column_names if columns is not None or name != question_column)
    if len(names) < 2:
        raise DataError(f"{path} has only {len(names)} column(s) of scores; expected one for each of at least two arms")
    require_columns(path, table.column_names, *names)
    parts, items = [], []
    for name in names:
        column, rows = table.select([name]), np.arange(table.num_rows)
        if missing == "drop":
            present = _present(column, name, _MISSING)
            column, rows = column.filter(present), rows[np.asarray(present.to_numpy(), np.bool_)]
        items.append(rows)
        if not column.num_rows:
            raise DataError(f"column {name!r} of {path} has no scores; every arm needs one")
        try:
            parts.append(_numbers(path, name, column.column(name), "score", words=True, kind=rewards))
        except DataError as error:
            hint = "" if question_column or arms or parts else f"; question_column={name!r} leaves the column out"
            raise DataError(f"{error}{hint}") from None
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    dropped = len(names) * table.num_rows - int(offsets[-1])
    return ArmSamples(names, np.concatenate(parts), offsets, dropped, np.concatenate(items))


def read_names(path: Source, columns: Sequence[str]) -> AnyArray:
    """Read columns of names, ``(R, C)``; a row without a name is an error.

    Args:
        path: As for :func:`read_table`.
        columns: Names of the columns.

    Raises:
        BaiGymError: As :func:`read_table`.
    """
    path, table = _read(path, tuple(columns), None, "one row per observation")
    labels = (_labels(path, name, table.column(name)) for name in columns)
    return np.stack([np.array(names, object)[codes] for names, codes in labels], axis=1)


def _read(
    source: Source,
    columns: tuple[str, ...] | None,
    separator: str | None,
    rows: str,
) -> tuple[Path, pa.Table]:
    """The name of a file or a data frame for messages, and the given columns of it (None: all); at least one row."""
    if isinstance(source, str | os.PathLike):
        path = file_path(source, "path")
        table = _parquet(path, columns) if _is_parquet(path) else read_text(path, columns, separator)
    else:
        path = Path("the data frame")
        table = _frame(source, path, columns)
    if not table.num_rows:
        raise DataError(f"{path} has a header but no rows; expected {rows}")
    return path, table


def _check(
    arm_column: str,
    reward_column: str,
    separator: str | None,
    arms: Sequence[str | int | float] | None,
    bins: int | None,
) -> None:
    """Raise :class:`ParameterError` for keywords that are invalid for any file."""
    for keyword, column in (("arm_column", arm_column), ("reward_column", reward_column)):
        if not isinstance(column, str):
            raise ParameterError(f"{keyword} must be the name of a column, as text, not {column!r}")
    if arm_column == reward_column:
        raise ParameterError(f"arm_column and reward_column are both {arm_column!r}; they must be two columns")
    _check_separator(separator)
    if bins is not None:
        integer(bins, "bins", least=2)
    if arms is not None and bins is not None:
        raise ParameterError("arms and bins exclude each other: bins makes arms of its own; leave one of them out")
    _check_wanted(arms)


def _check_separator(separator: str | None) -> None:
    character = isinstance(separator, str) and len(separator) == 1 and separator.isascii() and separator not in '"\r\n'
    if separator is not None and not character:
        raise ParameterError(f"separator must be one ASCII character, such as ',' or ';', not {separator!r}")


def _check_wanted(arms: Sequence[str | int | float] | None) -> None:
    if arms is not None and (isinstance(arms, str) or not isinstance(arms, Sized) or len(arms) < 2):
        raise ParameterError(f"arms must list at least two arms, not {arms!r}")


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except FileNotFoundError:
        raise MissingDataError(
            f"there is no data file {path.absolute()}; give the path of your CSV or Parquet file"
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _parquet(path: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Some columns, or all, as they are typed in the file."""
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        require_columns(path, names, *(columns or ()))
        return file.read(columns=list(columns or names), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a readable Parquet file ({first_line(error)})") from None


def _frame(frame: Any, name: Path, columns: tuple[str, ...] | None) -> pa.Table:
    """Some columns, or all, of a data frame in memory."""
    if isinstance(frame, pa.Table):
        header: Iterable[Any] = frame.column_names
    elif isinstance(frame, Mapping):
        header = frame
    elif hasattr(frame, "columns"):
        header = frame.columns
    else:
        raise ParameterError(f"data must be the path of a file or a data frame, not {frame!r}"[:200])
    header = [str(column) for column in header]
    columns = columns or tuple(header)
    require_columns(name, header, *columns)
    if isinstance(frame, pa.Table):
        return frame.select(list(columns))
    try:
        return pa.table({column: pa.array(list(frame[column])) for column in columns})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(f"{name} has columns that cannot be read: {first_line(error)}") from None


def _plain_text(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, bool]:
    """Return a column without categories and spaces around its text, and whether it is text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return (pc.utf8_trim_whitespace(column) if text else column), text


def _among(column: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    """Whether each entry of a column of text is one of some words, in any case."""
    return pc.is_in(pc.utf8_lower(column), value_set=pa.array(words, column.type))


def _present(table: pa.Table, name: str, words: Sequence[str]) -> pa.ChunkedArray:
    """Whether each row has a value in a column; the words stand for none."""
    column, text = _plain_text(table.column(name))
    absent = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    return pc.invert(pc.or_(absent, _among(column, words)) if text else absent)


def _numbers(
    path: Path, name: str, column: pa.ChunkedArray, what: str, words: bool = False, kind: Rewards = REAL
) -> FloatArray:
    """A column as finite float64 ``(R,)``; the error names the first row that has no number, or one not allowed.

    With ``words``, a column of true, false, yes and no is one of numbers.
    """
    column, text = _plain_text(column)
    if words and text and pc.all(_among(column, (*_ONE, *_ZERO))).as_py():
        column = _among(column, _ONE)
    try:
        values = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)  # null becomes NaN
    except pa.ArrowException:
        if not text:
            raise DataError(
                f"column {name!r} of {path} has type {column.type}; every {what} must be a number"
            ) from None
        # slow, but only for the few forms that Arrow rejects (+1.5), and to find the first bad row
        numbers = (None if text is None else _number(text) for text in column.to_pylist())
        values = np.array([np.nan if number is None else float(number) for number in numbers])
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST))  # NaN is bad, too
    if len(bad):
        row = int(bad[0])
        value = column[row].as_py()
        example = "empty" if value is None or value == "" else f"{value!r}"[:60]
        hint = _DROP if str(value).lower() in _MISSING else ""
        if words and str(value).lower() in (*_ONE, *_ZERO):
            hint = "; true, false, yes and no are rewards where all rows have one of them"
        raise DataError(
            f"column {name!r} of {path}, row {row + 1}, is {example}; every {what} must be {REWARD}"
            f" ({len(bad)} of {len(values)} rows are not){hint}"
        )
    bad = np.flatnonzero(~kind.contains(values))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"column {name!r} of {path}, row {row + 1}, is {values[row]:.15g}, which is not {kind} "
            f"({len(bad)} of {len(values)} rows are not); {OTHER_KIND}"
        )
    return values


def _labels(path: Path, name: str, column: pa.ChunkedArray) -> tuple[list[str], npt.NDArray[np.intp]]:
    """The arms' names in order, K of them, and the arm of each row, ``(R,)`` in ``0..K - 1``."""
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.dictionary_encode()
        except pa.ArrowException:
            raise DataError(f"column {name!r} of {path} has type {column.type}, which cannot name arms") from None
    encoded = column.unify_dictionaries().combine_chunks()
    labels = [_name(label) for label in encoded.dictionary.to_pylist()]  # a category without rows included
    names, place = _arms({label for label in labels if label})
    positions = np.array([*(place.get(label, -1) for label in labels), -1], dtype=np.intp)  # the last is of null
    codes = positions[np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.intp)]
    nameless = np.flatnonzero(codes < 0)
    if len(nameless):
        raise DataError(
            f"column {name!r} of {path} names no arm in row {nameless[0] + 1} ({len(nameless)} of {len(codes)} rows"
            f" name none); every row must name its arm{_DROP}"
        )
    return names, codes


def _appearance(codes: npt.NDArray[np.intp]) -> IntArray:
    """Return codes numbered by their first appearance."""
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(first.argsort().argsort()[which], np.int64)


def _arms(labels: set[str]) -> tuple[list[str], dict[str, int]]:
    """Names of the arms in order, and the arm that each label means; equal numbers are one arm."""
    numbers = {label: number for label in labels if (number := _number(label)) is not None}
    if len(numbers) < len(labels):
        names = sorted(labels)
        return names, {name: position for position, name in enumerate(names)}
    shortest: dict[Decimal, str] = {}  # the shortest name of each number
    for label in sorted(labels, key=lambda text: (len(text), text)):
        shortest.setdefault(numbers[label], label)
    rank = {number: position for position, number in enumerate(sorted(shortest))}
    return [shortest[number] for number in rank], {label: rank[number] for label, number in numbers.items()}


def _binned(path: Path, name: str, values: FloatArray, bins: int) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Names of the quantile bins and the bin of each row, ``(R,)``; a bin ends at an observed value, which it has."""
    ends = np.quantile(values, np.arange(1, bins) / bins, method="inverted_cdf")
    codes = np.searchsorted(ends, values, side="left").astype(np.intp)
    counts = np.bincount(codes, minlength=bins)
    if not counts.all():
        raise DataError(
            f"column {name!r} of {path} cannot be cut into {bins} bins: too many of its values are equal"
            f" ({len(np.unique(values))} are distinct); use fewer bins, or none to make each value an arm"
        )
    ordered, stops = np.sort(values), np.cumsum(counts)
    lows, highs = ordered[stops - counts], ordered[stops - 1]
    return [_name(a) if a == b else f"{_name(a)}..{_name(b)}" for a, b in zip(lows, highs, strict=True)], codes


def _selected(
    path: Path, column: str, arms: Sequence[str | int | float], names: list[str], codes: npt.NDArray[np.intp]
) -> tuple[list[str], npt.NDArray[np.intp]]:
    """The arms that are wanted, and the arm of each row, ``(R,)``, -1 for an arm that is not."""
    by_number = {number: position for position, name in enumerate(names) if (number := _number(name)) is not None}
    by_name = {name: position for position, name in enumerate(names)}
    chosen = []
    for arm in map(_name, arms):
        number = _number(arm)
        position = by_name.get(arm, None if number is None else by_number.get(number))
        if position is None:
            raise DataError(f"arm {arm!r} has no rows: column {column!r} of {path} has the arms {listing(names)}")
        if position in chosen:
            raise ParameterError(f"arms names arm {names[position]!r} twice; each arm may be listed once")
        chosen.append(position)
    positions = np.full(len(names), -1, dtype=np.intp)
    positions[chosen] = np.arange(len(chosen))
    return [names[position] for position in chosen], positions[codes]


def _name(label: object) -> str:
    """An arm's label as text, "" for none; an integer has no decimal point, so 5.0 and 5 are one arm."""
    if isinstance(label, float | np.floating):
        return np.format_float_positional(label, trim="-") if np.isfinite(label) else ""
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    text = "" if label is None else str(label).strip()
    return "" if text.lower() == "nan" else text


def _number(text: str) -> Decimal | None:
    """The finite number that a text is, exactly, or None."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in text else None
