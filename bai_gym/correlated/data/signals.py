"""Signals of sensors, time x sensors, from common file formats; and a synthetic field of sensors.

:func:`traffic_like` draws signals of the size of the I-880 data of Srinivas et al. (2010), which were never published:
357 sensors at random places on a line, speeds about 60 miles per hour. The covariance of two sensors at distance r is
95.6 (0.7 exp(-r / 0.1) + 0.3 u'v) with random unit vectors u and v of length 3, one for each sensor: nearby sensors are
alike, and some far ones are too. 95.6 is the signal variance that makes the published noise, 4.78, 5 % of it. The
model is a choice of this project.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from bai_gym.common.seeding import check_seed
from bai_gym.data.columns import identify
from bai_gym.errors import DataError
from bai_gym.statistics import FloatArray
from bai_gym.validation import AnyPath, flag

__all__ = ["Signals", "read_signals", "traffic_like"]

NUM_SENSORS, NUM_SIGNALS = 357, 2520  # 840 signals are the last third
MEAN_SPEED = 60.0  # miles per hour
SIGNAL_VARIANCE = 4.78 / 0.05
NEARBY_SHARE, DISTANCE, SHARED_DIMENSIONS = 0.7, 0.1, 3

_WHAT = "a matrix time x sensors: CSV (also gzipped), Parquet, npy or npz"


@dataclass(frozen=True, eq=False)
class Signals:
    """T signals of K sensors.

    Attributes:
        names: K names of the sensors.
        values: ``(T, K)`` float64 in C order, a row for each moment; read-only.
        notes: Sentences that every report about these signals must show.
    """

    names: tuple[str, ...]
    values: FloatArray
    notes: tuple[str, ...] = ()


def read_signals(path: AnyPath, header: bool | None = None) -> Signals:
    """Read signals; a file is read once per process.

    Every column is a sensor, except a first column of times (text or dates), which is left out. In an npz file the
    matrix is the only array, or the one called ``signals`` or ``data``.

    Args:
        path: CSV, plain or gzipped; Parquet; npy; or npz. The content decides the format, not the name.
        header: Whether a CSV file begins with a line of names. None: it does, if that line has anything but numbers, or
            only distinct integers, which look like sensor numbers, not like measurements.

    Raises:
        MissingDataError: There is no such file.
        DataError: It is damaged, or no such matrix; or a value is missing or not a finite number.
        ParameterError: ``header`` is neither None, True nor False.
    """
    header = None if header is None else flag(header, "header")
    return _read(*identify(path, _WHAT), header)


@lru_cache(maxsize=2)
def _read(path: Path, mtime_ns: int, size: int, header: bool | None) -> Signals:
    """The signals in a file; time and size detect changes."""
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            with pa.input_stream(io.BytesIO(raw), compression="gzip") as stream:
                raw = stream.read()
        if raw.startswith((b"\x93NUMPY", b"PK\x03\x04")):
            names, values = _numpy(path, raw)
        elif raw.startswith(b"PAR1"):
            names, values = _columns(path, pq.read_table(cast(BinaryIO, pa.BufferReader(raw)), use_threads=False))
        else:
            names, values = _columns(path, _csv(path, raw, header))
    except DataError:
        raise
    except (OSError, EOFError, ValueError, KeyError, pa.ArrowException, zlib.error, zipfile.BadZipFile) as error:
        line = " ".join(str(error).split())[:160]
        raise DataError(f"{path} cannot be read as {_WHAT}; {line}") from None
    if values.shape[0] < 1 or values.shape[1] < 2:
        raise DataError(
            f"{path} has {values.shape[0]} rows of {values.shape[1]} sensors; at least two sensors are needed"
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        number = values[row, column]
        raise DataError(
            f"sensor {names[column]!r} of {path}, row {row + 1}, is {'missing' if np.isnan(number) else number}; every "
            f"value must be a finite number ({len(bad)} of {values.size} are not): fill the gaps first"
        )
    values = np.ascontiguousarray(values)
    values.setflags(write=False)
    return Signals(names, values)


def _numpy(path: Path, raw: bytes) -> tuple[tuple[str, ...], FloatArray]:
    loaded = np.load(io.BytesIO(raw), allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        files = loaded.files
        chosen = files if len(files) == 1 else [name for name in ("signals", "data") if name in files]
        if not chosen:
            raise DataError(f"{path} has the arrays {', '.join(files)}: call the matrix time x sensors 'signals'")
        loaded = loaded[chosen[0]]
    if loaded.ndim != 2 or loaded.dtype.kind not in "fiu":
        raise DataError(
            f"{path} has an array of shape {loaded.shape} and type {loaded.dtype}; expected numbers, time x sensors"
        )
    return tuple(map(str, range(loaded.shape[1]))), loaded.astype(np.float64)


def _csv(path: Path, raw: bytes, header: bool | None) -> pa.Table:
    if not raw.strip():
        raise DataError(f"{path} is empty; expected {_WHAT}")
    first = raw[: raw.find(b"\n") if b"\n" in raw else len(raw)].decode("utf-8-sig", "replace").strip().split(",")
    fields = [field.strip().strip('"') for field in first]
    if header is None:
        header = not all(map(_is_number, fields)) or (all(map(str.isdigit, fields)) and len({*fields}) == len(fields))
    names = fields if header else [str(number) for number in range(len(fields))]
    return pacsv.read_csv(
        pa.BufferReader(raw),
        read_options=pacsv.ReadOptions(column_names=names, skip_rows=int(header), use_threads=False),
    )


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _columns(path: Path, table: Any) -> tuple[tuple[str, ...], FloatArray]:
    """Return names and values of the columns of numbers."""
    names, kinds = list(table.column_names), [field.type for field in table.schema]
    if kinds and not _is_numeric(kinds[0]):
        names, kinds, table = names[1:], kinds[1:], table.select(range(1, len(names)))
    for place, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if not _is_numeric(kind):
            found = next(
                (value for value in table.column(place).to_pylist() if not isinstance(value, int | float)), None
            )
            raise DataError(
                f"column {name!r} of {path} has something else than numbers, such as {found!r}: only a first column of "
                "times may"
            )
    values = np.empty((len(table), len(names)))
    for place in range(len(names)):
        values[:, place] = table.column(place).cast(pa.float64()).to_numpy()  # null becomes NaN
    return tuple(names), values


def _is_numeric(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def traffic_like(seed: int = 0) -> Signals:
    """Draw 2,520 signals of 357 sensors, from the model in the module's docstring, in miles per hour.

    Args:
        seed: Of the generator, at least 0. The same seed gives the same signals.

    Raises:
        ParameterError: The seed is not an integer of at least 0.
    """
    return _draw(check_seed(seed))


@lru_cache(maxsize=2)
def _draw(seed: int) -> Signals:
    rng = np.random.default_rng(seed)
    places = np.sort(rng.random(NUM_SENSORS))
    loadings = rng.standard_normal((NUM_SENSORS, SHARED_DIMENSIONS))
    loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
    # The field with exponential covariance is a Markov chain along the line: no factorisation, and no rounding in it.
    nearby = rng.standard_normal((NUM_SIGNALS, NUM_SENSORS))
    shares = np.exp(-np.diff(places) / DISTANCE)
    for sensor in range(1, NUM_SENSORS):
        nearby[:, sensor] *= np.sqrt(1.0 - shares[sensor - 1] ** 2)
        nearby[:, sensor] += shares[sensor - 1] * nearby[:, sensor - 1]
    factors = rng.standard_normal((NUM_SIGNALS, SHARED_DIMENSIONS))
    # Summed by NumPy, not BLAS: the bytes must not depend on the number of threads.
    shared = sum(factors[:, [part]] * loadings[:, part] for part in range(SHARED_DIMENSIONS))
    values = np.sqrt(NEARBY_SHARE) * nearby + np.sqrt(1.0 - NEARBY_SHARE) * np.asarray(shared)
    values *= np.sqrt(SIGNAL_VARIANCE)
    values += MEAN_SPEED
    values.setflags(write=False)
    names = tuple(f"{place:.3f}" for place in places)
    return Signals(names, values, ("TrafficLike: a synthetic field of 357 sensors, not the real data",))
