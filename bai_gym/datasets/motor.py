"""Measurements of an electric motor on a test bench, 1.3 million of them.

The data set is the second one of Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in
Structured Bandits", appendix E.2. The paper used an older version of 998 thousand rows, ``pmsm_temperature_data.csv``;
it has the same columns and is read as well.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from bai_gym.data.columns import FeatureTable, identify
from bai_gym.data.csv_file import read_columns
from bai_gym.validation import AnyPath

__all__ = ["MOTOR_TARGETS", "read_motor"]

_COLUMNS = (
    *("u_q", "coolant", "stator_winding", "u_d", "stator_tooth", "motor_speed"),
    *("i_d", "i_q", "pm", "stator_yoke", "ambient", "torque"),
)
MOTOR_TARGETS = ("pm", "stator_winding", "stator_tooth", "stator_yoke", "coolant", "ambient", "motor_speed")
"""Columns that can be the mean reward: the temperatures, that of the rotor's permanent magnets first; and the speed."""


def read_motor(path: AnyPath) -> FeatureTable:
    """Read the twelve measurements of every row, each rescaled to [0, 1]; a file is read once per process.

    Args:
        path: ``measures_v2.csv`` of Electric Motor Temperature, plain, gzipped or in a zip archive of its own. The
            column profile_id is not read.

    Returns:
        The columns in the order of the file as it is published. The published file takes 128 MB.

    Raises:
        MissingDataError: There is no such file.
        DataError: A column is not there, or a value is missing or not a number.
    """
    return _read(*identify(path, "the file measures_v2.csv of Electric Motor Temperature"))


@lru_cache(maxsize=1)
def _read(path: Path, mtime_ns: int, size: int) -> FeatureTable:
    """The table of a file; time and size detect changes."""
    return FeatureTable.rescaled(_COLUMNS, read_columns(path, _COLUMNS))
