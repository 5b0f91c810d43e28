"""Measurements of a motor: columns by name, and every way in which the file can be wrong."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from bai_gym.datasets import MOTOR_TARGETS, read_motor
from bai_gym.errors import DataError

NAMES = "u_q,coolant,stator_winding,u_d,stator_tooth,motor_speed,i_d,i_q,pm,stator_yoke,ambient,torque,profile_id"
ROWS = [
    [-0.45, 18.8, 19.1, -0.35, 18.3, 0.002, 0.004, 0.0003, 24.5, 18.3, 19.8, 0.187, 17],
    [-0.32, 18.8, 19.1, -0.30, 18.3, 0.001, 0.002, 0.0001, 24.6, 18.4, 19.9, 0.245, 17],
    [-0.25, 18.8, 19.0, -0.25, 18.2, 0.003, 0.003, 0.0005, 24.9, 18.6, 19.9, 0.177, 18],
]


def text(names: str = NAMES, rows: list[list[float]] = ROWS) -> str:
    return names + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)


def write(folder: Path, content: str | bytes, name: str = "measures_v2.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_measurement_is_rescaled_and_the_session_left_out(tmp_path: Path) -> None:
    table = read_motor(write(tmp_path, text()))
    assert ",".join((*table.columns, "profile_id")) == NAMES
    assert table.values.shape == (3, 12) and table.notes == ()
    assert not table.values[:, 1].any()  # the coolant never changes
    assert table.values[:, 8].tolist() == [0.0, pytest.approx(0.25), 1.0]  # 24.5, 24.6 and 24.9 degrees
    assert MOTOR_TARGETS[0] == "pm" and set(MOTOR_TARGETS) <= set(table.columns)


def test_columns_go_by_name(tmp_path: Path) -> None:
    table = read_motor(write(tmp_path, text()))
    names = NAMES.split(",")
    order = [12, *range(11, -1, -1)]
    turned = text(",".join(f'"{names[i]}"' for i in order), [[row[i] for i in order] for row in ROWS])
    packed = write(tmp_path, gzip.compress(turned.replace("\n", "\r\n").encode(), mtime=0), "measures.csv.gz")
    np.testing.assert_array_equal(read_motor(packed).values, table.values)


@pytest.mark.each(
    ("content", "complaint"),
    [
        (text(NAMES.replace(",torque", ""), [row[:-1] for row in ROWS]), "has no column 'torque'"),
        (text().replace("18.4", ""), "column 'stator_yoke' of .*, row 2, is missing"),
    ],
)
def test_mistakes_in_a_file(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        read_motor(write(tmp_path, content))
