"""Measurements of an electric motor on a test bench, 1.3 million of them.

The data set is the second one of Azizi, Kveton and Ghavamzadeh (2022), "Fixed-Budget Best-Arm Identification in
Structured Bandits", appendix E.2. The paper used an older version of 998 thousand rows, ``pmsm_temperature_data.csv``;
it has the same columns and is read as well.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from bai_gym.datasets.columns import FeatureTable, identify
from bai_gym.datasets.csv_file import read_columns
from bai_gym.datasets.registry import DataFile, DataSet

__all__ = ["ELECTRIC_MOTOR", "MOTOR_TARGETS", "read_motor"]

ELECTRIC_MOTOR = DataSet(
    name="electric-motor",
    title="Electric Motor Temperature",
    page="https://www.kaggle.com/datasets/wkirgsn/electric-motor-temperature",
    archive=None,  # Kaggle requires an account
    archive_path="electric-motor-temperature.zip",
    archive_sha256=None,
    files=(
        DataFile(
            name="measures",
            paths=(
                "electric-motor/measures_v2.csv",
                "electric-motor/measures_v2.csv.gz",
                "measures_v2.csv",
                "electric-motor-temperature.zip",
                "electric-motor/pmsm_temperature_data.csv",  # the older version, 998 thousand rows
            ),
            sha256=("78f3d150f0f2ad9c5dc7ff24dd12c00d386ad530f48c1589ad24fcd88867d3ad",),  # measures_v2.csv
        ),
    ),
    licence="CC BY-SA 4.0",
    terms=(
        "Creative Commons Attribution-ShareAlike 4.0: free to use and share with the citation; what is made of it is"
        " shared under the same licence."
    ),
    citation=(
        "W. Kirchgässner, O. Wallscheid and J. Böcker (2021). Electric Motor Temperature. Kaggle."
        " doi:10.34740/KAGGLE/DSV/2161054"
    ),
)

_COLUMNS = (
    *("u_q", "coolant", "stator_winding", "u_d", "stator_tooth", "motor_speed"),
    *("i_d", "i_q", "pm", "stator_yoke", "ambient", "torque"),
)
MOTOR_TARGETS = ("pm", "stator_winding", "stator_tooth", "stator_yoke", "coolant", "ambient", "motor_speed")
"""Columns that can be the mean reward: the temperatures, that of the rotor's permanent magnets first; and the speed."""


def read_motor(path: str | os.PathLike[str]) -> FeatureTable:
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
