"""Matrices time x sensors from files of every kind, and the synthetic field."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bai_gym.correlated import read_signals, traffic_like
from bai_gym.correlated.data.signals import MEAN_SPEED, SIGNAL_VARIANCE
from bai_gym.errors import DataError, MissingDataError, ParameterError

VALUES = np.array([[61.5, 60.0, 3.0], [62.0, 59.25, 2.0], [60.0, 1.0, 1.0]])
ROWS = "61.5,60,3\n62,59.25,2\n60,1,1\n"


def written(folder: Path, kind: str) -> Path:
    path = folder / "signals.bin"  # the content says what it is
    timed = [f"2012-03-0{day} 00:00,{row}" for day, row in enumerate(ROWS.splitlines(), 1)]
    texts = {
        "csv": "a,b,c\n" + ROWS,
        "csv without names": ROWS,
        "csv with times": "\n".join(["time,a,b,c", *timed]),
    }
    if kind in texts:
        path.write_text(texts[kind])
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(texts["csv"].replace("\n", "\r\n").encode()))
    elif kind == "parquet":
        times = [datetime.datetime(2012, 3, day) for day in (1, 2, 3)]
        pq.write_table(pa.table({"time": times, **dict(zip("abc", VALUES.T.astype(np.float32), strict=True))}), path)
    else:
        with path.open("wb") as file:
            if kind == "npy":
                np.save(file, VALUES)
            else:
                np.savez(file, signals=VALUES, places=np.ones(3))
    return path


@pytest.mark.each("kind", ["csv", "csv.gz", "csv without names", "csv with times", "parquet", "npy", "npz"])
def test_files_of_every_kind(tmp_path: Path, kind: str) -> None:
    signals = read_signals(written(tmp_path, kind))
    np.testing.assert_array_equal(signals.values, VALUES)
    assert signals.names == (("0", "1", "2") if "without" in kind or "np" in kind else ("a", "b", "c"))
    assert (signals.values.dtype, signals.values.flags.c_contiguous) == (np.float64, True)
    with pytest.raises(ValueError, match="read-only"):
        signals.values[0] = 0.0


def test_numbers_of_sensors_are_names_and_measurements_are_not(tmp_path: Path) -> None:
    path = tmp_path / "speeds.csv"
    path.write_text("773869,767541,717816\n" + ROWS)
    assert read_signals(path).names == ("773869", "767541", "717816")
    assert len(read_signals(path, header=False).values) == 4
    path.write_text("60,60,3\n62,59,2\n")  # two equal ones: a row of whole measurements
    assert len(read_signals(path).values) == 2
    assert len(read_signals(path, header=True).values) == 1


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "speeds.csv"
    path.write_text(ROWS)
    assert read_signals(path) is read_signals(path)
    path.write_text(ROWS + ROWS)
    assert len(read_signals(path).values) == 6


BAD: list[tuple[Any, str]] = [
    (b"", "is empty; expected a matrix time x sensors"),
    (b" \n", "is empty"),
    (b"a,b\n", "has 0 rows of 2 sensors"),
    (b"a\n1\n", "has 1 rows of 1 sensors; at least two"),
    (b"a,b\n1,2\n3\n", "cannot be read as"),
    (b"a,b\n1,2\n,3\n", r"sensor 'a' of .*, row 2, is missing; .*\(1 of 4 are not\): fill the gaps"),
    (b"a,b\n1,2\n1,inf\n", "sensor 'b' of .*, row 2, is inf"),
    (b"a,b,c\n1,2,x\n2,3,4\n", "column 'c' of .* has something else than numbers, such as 'x'"),
    (b"\x1f\x8bbroken", "cannot be read as"),
    (b"PK\x03\x04broken", "cannot be read as"),
    (b"PAR1broken", "cannot be read as"),
    (b"\x93NUMPYbroken", "cannot be read as"),
    (np.ones((2, 3, 4)), r"shape \(2, 3, 4\).*expected numbers, time x sensors"),
    (np.array([["a", "b"]]), "expected numbers"),
    (np.array([[1.0, np.nan]]), "is missing"),
    ({"one": np.ones((2, 2)), "two": np.ones((2, 2))}, "has the arrays one, two: call the matrix"),
]


@pytest.mark.each(("content", "message"), BAD)
def test_what_is_no_such_matrix_is_refused_in_one_line(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "speeds"
    with path.open("wb") as file:
        if isinstance(content, bytes):
            file.write(content)
        elif isinstance(content, dict):
            np.savez(file, **content)
        else:
            np.save(file, content)
    with pytest.raises(DataError, match=message) as caught:
        read_signals(path)
    assert "\n" not in str(caught.value)


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "speeds.npy"
    np.save(path, np.array([[print, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        read_signals(path)


def test_a_missing_file_and_a_header_that_is_no_switch(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="there is no file"):
        read_signals(tmp_path / "speeds.csv")
    with pytest.raises(ParameterError, match="header must be"):
        read_signals(tmp_path / "speeds.csv", header="no")  # type: ignore[arg-type]


def test_the_synthetic_field_has_the_size_and_the_law_that_it_promises() -> None:
    signals = traffic_like()
    assert signals.values.shape == (2520, 357)
    assert signals is traffic_like(0)
    assert not np.array_equal(signals.values, traffic_like(1).values)
    assert "synthetic" in signals.notes[0]
    places = np.array(signals.names, float)
    assert (np.diff(places) >= 0).all()
    standard = (signals.values - MEAN_SPEED) / np.sqrt(SIGNAL_VARIANCE)
    correlations = standard.T @ standard / len(standard)
    # A correlation of 2,520 signals has a standard deviation of at most sqrt(2 / 2520) = 0.028; that of the average
    # over many pairs is less. 0.7 exp(-r / 0.1), and 0.3 u'v, which averages to 0 over pairs of random directions.
    distances = np.abs(places[:, None] - places)
    for low, high in ((0.0, 0.02), (0.1, 0.12), (0.3, 0.32)):
        pairs = (distances >= low) & (distances < high) & ~np.eye(357, dtype=bool)
        expected = 0.7 * np.exp(-distances[pairs] / 0.1).mean()
        assert abs(correlations[pairs].mean() - expected) < 5 * 0.028
    assert abs(np.diag(correlations).mean() - 1.0) < 5 * 0.028
    far = (distances > 0.6) & ~np.eye(357, dtype=bool)
    assert correlations[far].std() > 3 * 0.028  # some far sensors are alike, more than chance makes them
    assert np.linalg.matrix_rank(correlations) == 357
