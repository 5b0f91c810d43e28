"""Columns of CSV files, by hand; and every way in which such a file can be wrong."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from bai_gym.data.csv_file import read_columns, read_text
from bai_gym.errors import DataError

COLUMNS = ("b_2", "a")
NAMED = "a,b_2,c\n1,2.5,x\n-3,4e1,y\n"
BARE = "1,2.5,x\n-3,4e1,y\n"


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "rows.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def zipped(*members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for member in members:
            file.writestr(member, NAMED)
    return packed.getvalue()


@pytest.mark.each(
    "content",
    [
        NAMED,
        NAMED.replace("\n", "\r\n"),
        NAMED.rstrip("\n"),
        "\ufeff" + NAMED,
        "\n" + NAMED + "\n\n",
        BARE,
        BARE.replace("\n", "\r\n"),
        '"A","B-2","C"\n"1"," 2.5",""\n-3,40.0,"x, y"\n',
        "extra,c,b_2,a\nx,?,2.5,1\ny,nan,40,-3\n",
        gzip.compress(NAMED.encode(), mtime=0),
        zipped("rows.csv"),
        zipped("read me", "folder/rows.data"),
    ],
)
def test_the_usual_shapes_of_a_file_give_the_same_numbers(tmp_path: Path, content: str | bytes) -> None:
    values = read_columns(write(tmp_path, content), COLUMNS, all_columns=("a", "b_2", "c"))
    assert values.tolist() == [[2.5, 1.0], [40.0, -3.0]]
    assert values.dtype == np.float64 and values.flags.c_contiguous


@pytest.mark.each("gone", ["?", "", "NA", "NaN", "nan", '"?"', '""'])
def test_a_value_may_be_missing_in_one_column(tmp_path: Path, gone: str) -> None:
    path = write(tmp_path, f"a,b_2\n1,{gone}\n2,3\n")
    np.testing.assert_array_equal(read_columns(path, COLUMNS, may_miss="b_2"), [[np.nan, 1.0], [3.0, 2.0]])
    with pytest.raises(
        DataError, match=r"column 'b_2' of .*rows\.csv, row 1, is missing; .* \(1 of 2 rows have none\)"
    ):
        read_columns(path, COLUMNS, may_miss="a")
    with pytest.raises(DataError, match="column 'b_2' of .*, row 1, is inf"):
        read_columns(write(tmp_path, "a,b_2\n1,inf\n"), COLUMNS, may_miss="b_2")


@pytest.mark.each(
    ("content", "complaint"),
    [
        ("", "is empty"),
        (" \n\r\n", "is empty"),
        ("a,b_2\n", "has no rows"),
        ("a,c\n1,2\n", "has no column 'b_2'. It has 'a', 'c'"),
        ("a,b_2,B-2\n1,2,3\n", "has 2 columns named 'b_2'"),
        (",".join([*map(str, range(99)), "a"]) + "\n", r"'11' and 88 more$"),
        ("a,b_2\n1,2\n3\n", "is malformed: .*Row #3: Expected 2 columns, got 1"),
        ("a,b_2\n1,2,3\n", "is malformed: .*Expected 2 columns, got 3"),
        ("a,b_2\n1,2\n3,wide\n", "column 'b_2' of .*rows.csv, row 2, is 'wide'; every value must be a finite number"),
        ("c,a,b_2\nx,1,2\ny,1 2,2\n", "column 'a' of .*rows.csv, row 2, is '1 2'"),
        ("a,b_2\n1,inf\n2,-inf\n", r"column 'b_2' of .*rows.csv, row 1, is inf; .* \(2 of 2 rows have none\)"),
        ('a,b_2\n1,"2\n', "rows.csv"),
        (b"a,b_2\n\xff\xfe,2\n", "column 'a' of .*rows.csv"),
        (gzip.compress(NAMED.encode(), mtime=0)[:-12], "cannot be read, or is damaged|is malformed"),
        (b"\x1f\x8b not gzip at all", "cannot be read, or is damaged"),
        (b"PK\x03\x04 not a zip archive", "cannot be read, or is damaged"),
        (zipped("read me"), r"must have exactly one member \.csv or \.data, but has 0"),
        (zipped("a.csv", "b.csv"), "but has 2"),
    ],
)
def test_a_malformed_file_is_named_with_what_was_expected(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=complaint) as caught:
        read_columns(path, COLUMNS)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_rows_in_errors_count_from_one_without_a_header_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 'a' of .*rows.csv, row 2, is 'x'"):
        read_columns(write(tmp_path, "1,2\nx,4\n"), COLUMNS, all_columns=("a", "b_2"))


@pytest.mark.each("separator", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, separator: str) -> None:
    content = NAMED.replace(",", separator).replace("x", '"x, y, z, w"')
    path = write(tmp_path, content)
    assert read_columns(path, COLUMNS).tolist() == [[2.5, 1.0], [40.0, -3.0]]
    assert read_text(path, None, None).column_names == ["a", "b_2", "c"]
    assert read_text(path, ["b_2"], separator).to_pydict() == {"b_2": ["2.5", "4e1"]}
