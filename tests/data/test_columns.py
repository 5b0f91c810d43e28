"""Tables that are rescaled, by hand, and the files that they are read from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bai_gym.data.columns import FeatureTable, identify
from bai_gym.errors import DataError, MissingDataError


def write(folder: Path, content: str) -> Path:
    path = folder / "rows.csv"
    path.write_text(content)
    return path


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"there is no file .*gone\.csv; path must be a list of cars"):
        identify(tmp_path / "gone.csv", "a list of cars")


def test_a_changed_file_is_another_one(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    before = identify(path, "rows")
    assert identify(str(path), "rows") == before == (path.resolve(), path.stat().st_mtime_ns, 8)
    write(tmp_path, "a,b\n1,2\n3,4\n")
    assert identify(path, "rows") != before


def test_columns_are_rescaled_by_hand() -> None:
    raw = np.array([[1.0, -2.0, 7.0], [3.0, 0.0, 7.0], [5.0, -4.0, 7.0]])
    table = FeatureTable.rescaled(("x", "y", "same"), raw, ["a note"])
    # x: (1, 3, 5) - 1 over 4; y: (-2, 0, -4) + 4 over 4; a column that is the same everywhere is 0.
    assert table.values.tolist() == [[0.0, 0.5, 0.0], [0.5, 1.0, 0.0], [1.0, 0.0, 0.0]]
    assert (table.columns, table.notes, table.num_rows) == (("x", "y", "same"), ("a note",), 3)
    assert table.values is raw  # taken over: a large table is there once
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0


def test_values_whose_range_is_beyond_floats_are_refused() -> None:
    with pytest.raises(DataError, match="column 'y' are too large to be rescaled"):
        FeatureTable.rescaled(("x", "y"), np.array([[0.0, -1e308], [1.0, 1e308]]))
