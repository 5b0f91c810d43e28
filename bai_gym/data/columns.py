"""Tables of numbers, rescaled to [0, 1]: features of the arms, and their mean rewards."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from bai_gym.errors import DataError, MissingDataError
from bai_gym.statistics import FloatArray
from bai_gym.validation import AnyPath, file_path

__all__ = ["FeatureTable", "identify"]


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


def identify(path: AnyPath, what: str) -> tuple[Path, int, int]:
    """Return the full path of a file, its time of change and its size: the key under which its content is remembered.

    Args:
        path: The file.
        what: What it should be, for messages, such as ``"the file imports-85.data of UCI Automobile"``.

    Raises:
        MissingDataError: There is no such file.
        DataError: It cannot be accessed.
    """
    path = file_path(path, "path")
    try:
        facts = path.stat()
    except FileNotFoundError:
        raise MissingDataError(
            f"there is no file {path.absolute()}; path must be {what}, or be left out to look in the data directory"
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read as {what}: {error.strerror}") from None
    if not stat.S_ISREG(facts.st_mode):  # a device or a pipe may have no end
        raise DataError(f"{path} is not a file, but a folder, a device or a pipe; path must be {what}")
    return path.resolve(), facts.st_mtime_ns, facts.st_size
