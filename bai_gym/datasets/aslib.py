"""Scenarios of ASlib, the library of algorithm selection, from a user's copy: algorithms by instances.

ASlib, https://github.com/coseal/aslib_data, is under the GNU General Public License 3 and does not ship with the
package. Its format: Bischl et al. (2016), "ASlib: A Benchmark Library for Algorithm Selection", Artificial Intelligence
237. The runs are in an ARFF file with columns of text, which SciPy does not read.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from bai_gym.data.matrix import ScoreMatrix
from bai_gym.errors import DataError, MissingDataError
from bai_gym.rewards import Rewards
from bai_gym.validation import AnyPath, file_path

__all__ = ["PENALTY", "RUNTIMES", "read_aslib"]

PENALTY = 10.0  # of a run that fails, in cut-off times: PAR10
RUNTIMES = Rewards("bounded", -PENALTY, 0.0)
"""The kind of the scores where runtimes are measured."""

_RUNS, _DESCRIPTION = "algorithm_runs.arff", "description.txt"
_KEYS = ("instance_id", "repetition", "algorithm", "runstatus")  # the first other column is the measure
_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|\S+)\s", re.IGNORECASE)


def read_aslib(path: AnyPath) -> ScoreMatrix:
    """Read how every algorithm did on every instance.

    Where the scenario measures runtimes, a score is minus PAR10 in units of the cut-off time: minus the runtime of a
    run that ended in time, else -10. Where it measures quality, a score is that of a run that ended well, with its sign
    turned if less is better; other cells are missing. Repetitions are averaged.

    Args:
        path: The folder of a scenario, with ``algorithm_runs.arff`` and ``description.txt``.

    Returns:
        One arm per algorithm and one item per instance, both in the order of the file.

    Raises:
        MissingDataError: A file is not there.
        DataError: A file is not in the format.
    """
    folder = file_path(path, "path")
    text = _read(folder / _DESCRIPTION)
    runtimes = _first(text, "performance_type", folder) == "runtime"
    sign = 1.0 if _first(text, "maximize", folder).lower() == "true" else -1.0
    cutoff = _number(_first(text, "algorithm_cutoff_time", folder)) if runtimes else 1.0
    if not cutoff > 0:
        raise DataError(f"{folder / _DESCRIPTION} has no algorithm_cutoff_time above 0")
    runs: dict[tuple[str, str], list[float]] = {}
    for instance, algorithm, measure, status in _runs(folder / _RUNS):
        score = sign * _number(measure) / cutoff
        if runtimes:
            score = score if status == "ok" and score >= -1.0 else -PENALTY
        elif status != "ok":
            score = np.nan
        runs.setdefault((algorithm, instance), []).append(score)
    arms = {name: position for position, name in enumerate(dict.fromkeys(algorithm for algorithm, _ in runs))}
    items = {name: position for position, name in enumerate(dict.fromkeys(instance for _, instance in runs))}
    if len(arms) < 2:
        raise DataError(f"{folder / _RUNS} has {len(arms)} algorithm(s); expected at least two")
    scores = np.full((len(arms), len(items)), np.nan)
    for (algorithm, instance), times in runs.items():
        scores[arms[algorithm], items[instance]] = np.mean(times)
    present = scores[~np.isnan(scores)]
    if not present.size:
        raise DataError(f"{folder / _RUNS} has no run that ended well")
    return ScoreMatrix(tuple(arms), scores, RUNTIMES if runtimes else Rewards.read(present))


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingDataError(f"there is no file {file.absolute()}; give the path of a scenario of ASlib") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} cannot be read: {error}") from None


def _first(text: str, key: str, folder: Path) -> str:
    """The first value of a key of the description, which is YAML: ``key: value``, or a list below the key."""
    match = re.search(rf"^{key}:[ \t]*(?:\r?\n\s*-\s*|\[\s*)?['\"]?([^\s,\]'\"]+)", text, re.MULTILINE)
    if match is None:
        raise DataError(f"{folder / _DESCRIPTION} has no {key}")
    return match[1]


def _number(text: str) -> float:
    """The number that a text is; NaN for none, as ``?`` is."""
    try:
        return float(text)
    except ValueError:
        return np.nan


def _runs(file: Path) -> list[tuple[str, str, str, str]]:
    """Instance, algorithm, measure and status of each run."""
    parts = re.split(r"^@data\b.*$", _read(file), maxsplit=1, flags=re.IGNORECASE | re.MULTILINE)
    head, data = parts if len(parts) == 2 else (parts[0], "")
    names = [match[1].strip("'\"") for match in _ATTRIBUTE.finditer(head)]
    measures = [name for name in names if name.lower() not in _KEYS]
    places = [names.index(name) for name in ("instance_id", "algorithm", *measures[:1], "runstatus") if name in names]
    if len(parts) != 2 or len(places) != 4:
        raise DataError(f"{file} must have the columns {', '.join(_KEYS)} and a measure, then @data; it has {names}")
    lines = (line for line in data.splitlines() if line.strip() and not line.startswith("%"))
    runs = []
    for number, row in enumerate(csv.reader(lines, quotechar='"' if '"' in data else "'", skipinitialspace=True), 1):
        if len(row) != len(names):
            raise DataError(f"{file}, run {number}, has {len(row)} fields; expected {len(names)}")
        instance, algorithm, measure, status = (row[place].strip() for place in places)
        runs.append((instance, algorithm, measure, status.lower()))
    return runs
