"""The results reader: reads folders written by the command line or by Python."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bai_gym.errors import OutputError, SchemaError
from bai_gym.results.recording import Recording
from bai_gym.results.result import Optima, Result, Runs
from bai_gym.results.rows import from_row
from bai_gym.results.schema import CHECKSUM, read_table, schema_of
from bai_gym.results.writer import CHUNK_RUNS, RESULTS, read_chunk

__all__ = ["Judgement", "ResultTable", "gather", "read_results", "read_outcomes", "read_recordings"]

PARTS = ("chunks", "recordings")
NUMBERED = re.compile(r"\d+-\d+")  # names of their files
_T = TypeVar("_T")


@dataclass(frozen=True)
class Judgement:
    """A claim and its verdict.

    Attributes:
        text: The claim.
        verdict: ``"confirmed"``, ``"refuted"`` or ``"undecided"``.
        against: Settings that contradict it.
        open: Undecided settings.
    """

    text: str
    verdict: str
    against: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One file of results: what the commands of a folder have compared, or one panel of a figure.

    Attributes:
        path: The file.
        results: Its rows; their ``seconds`` are 0, since folders hold no times.
        title: Title for display.
        command: The commands that reproduce it, one per line, where such a command exists.
        optima: Probability that the best possible agent is correct, by (env, budget), where known.
        claims: Claims that were judged on these results.
        claims_are: A heading for them.
    """

    path: Path
    results: tuple[Result, ...]
    title: str = ""
    command: str = ""
    optima: Optima = field(default_factory=dict)
    claims: tuple[Judgement, ...] = ()
    claims_are: str = ""


def read_results(folder: str | Path) -> list[ResultTable]:
    """Return all results in a folder and its subfolders, by path.

    Raises:
        OutputError: If there is no such folder, or there are no results in it, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    folder = _check_folder(folder)
    tables = []
    for path in sorted(folder.rglob("*.parquet")):
        if not _is_part(path, *PARTS) and not path.name.startswith("."):
            table = _read(path, _results, "results")
            if table is not None:
                tables.append(table)
    if not tables:
        raise OutputError(
            f"there are no results in {folder}; `bai-gym run ... --out {folder}` writes some, and so do "
            "`bai-gym reproduce` and bai_gym.compare(..., out=)"
        )
    return tables


def gather(path: Path, results: Iterable[Result], command: str = "", optima: Optima | None = None) -> ResultTable:
    """Add results to those that earlier commands have written to a file, and return all; nothing is written.

    Of the same agent, environment, budget, checkpoint and seed, the row with more runs stays. Rows of an agent,
    environment or data that have changed since are outdated, and are replaced.

    Args:
        path: The file, which may be missing. A damaged file causes a warning.
        results: The new results.
        command: The commands that reproduce them, if any, one per line.
        optima: The known optima.

    Raises:
        SchemaError: If a newer version of this library wrote it.
    """
    results = list(results)
    earlier = None
    if path.exists():
        try:
            earlier = _read(path, _results, "results")
        except SchemaError:
            raise
        except OutputError as error:
            warnings.warn(f"{error}; its earlier results are lost, but not their chunks", stacklevel=2)
    current = {_played(row): row.digest for row in results}
    rows = {
        _place(row): row
        for row in (earlier.results if earlier is not None else ())
        if _played(row) not in current or current[_played(row)] == row.digest and not row.digest.startswith("?")
    }
    commands = earlier.command.splitlines() if earlier is not None and rows else []
    for row in results:
        other = rows.get(_place(row))
        if other is None or other.precedence <= row.precedence:
            rows[_place(row)] = row
    known = earlier.optima if earlier is not None else {}
    lines = dict.fromkeys((*commands, *command.splitlines()))
    return ResultTable(path, tuple(rows.values()), command="\n".join(lines), optima={**known, **(optima or {})})


def _played(row: Result) -> tuple[str, str, int, int | None]:
    return row.agent, row.env, row.budget, row.seed


def _place(row: Result) -> tuple[Any, ...]:
    """Return the key of a row of a file; the end of the runs has one key, with or without checkpoints."""
    return *_played(row), row.checkpoint or row.budget


def read_outcomes(folder: str | Path, results: Iterable[Result]) -> dict[tuple[str, str, int], Runs]:
    """Return the single runs behind results, by (agent, env, budget), as far as a folder or its subfolders hold them.

    Args:
        folder: The folder.
        results: Which of several evaluations of the same name (with other seeds, or fewer runs) to read.

    Raises:
        OutputError: If there is no such folder, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    folder = _check_folder(folder)
    rows = {(row.agent, row.env, row.budget): row for row in results if row.at_end}
    outcomes: dict[tuple[str, str, int], Runs] = {}
    cells: dict[Path, dict[tuple[int, int], Path]] = {}
    for path in _parts(folder, "chunks"):
        cells.setdefault(path.parent, {})[_number_and_runs(path)] = path
    for chunks in cells.values():
        name = _read(next(iter(chunks.values())), _address, "outcomes")
        row = rows.get(name)
        paths = [] if row is None else _of_runs(chunks, row.runs)
        if row is None or not paths:
            continue
        episodes = Runs.joined([_read(path, read_chunk, "outcomes") for path in paths])
        if _gives(episodes, row):
            outcomes[name] = episodes
    return outcomes


def read_recordings(folder: str | Path) -> list[Recording]:
    """Return the recorded episodes in a folder and its subfolders, by path.

    Raises:
        OutputError: If there is no such folder, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    folder = _check_folder(folder)
    return [
        _read(path, lambda path: Recording.from_table(read_table(path)), "a recording")
        for path in _parts(folder, "recordings")
    ]


def _parts(folder: Path, kind: str) -> list[Path]:
    """Return the chunks or the recordings in a folder and its subfolders, by path."""
    return sorted(path for path in folder.rglob(f"{kind}/*/*.parquet") if _is_part(path, kind))


def _is_part(path: Path, *kinds: str) -> bool:
    """Return whether a file is a chunk or a recording; user folders may have these names, too."""
    return path.parent.parent.name in kinds and NUMBERED.fullmatch(path.stem) is not None


def _check_folder(folder: str | Path) -> Path:
    if not isinstance(folder, str | Path) or not Path(folder).is_dir():
        raise OutputError(f"there is no folder {folder}; name one that holds results")
    return Path(folder)


def _read(path: Path, reader: Callable[[Path], _T], what: str) -> _T:
    """Read a file, or raise an error that names the problem."""
    try:
        return reader(path)
    except SchemaError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise OutputError(f"{path} cannot be read as {what} ({reason}); delete it, or run its command again") from None


def _results(path: Path) -> ResultTable | None:
    """Return the results in a file; None if it holds something else."""
    metadata = pq.read_schema(path).metadata or {}
    if schema_of(metadata) is None and CHECKSUM not in metadata and path.name != RESULTS:
        return None
    table = read_table(path)
    facts = json.loads(metadata.get(b"facts", b"{}"))
    optima: Optima = {}
    results = []
    for row in table.to_pylist():
        if row["optimum"] is not None:
            optima[row["env"], row["budget"]] = row["optimum"]
        results.append(from_row(row))
    claims = tuple(
        Judgement(**{**claim, "against": tuple(claim["against"]), "open": tuple(claim["open"])})
        for claim in facts.pop("claims", ())
    )
    envs = ", ".join(dict.fromkeys(result.env for result in results))
    return ResultTable(path, tuple(results), optima=optima, claims=claims, **{"title": envs, **facts})


def _address(path: Path) -> tuple[str, str, int]:
    """Return agent, environment and budget of a file of outcomes."""
    first = read_table(path).select(["agent", "env", "budget"]).slice(0, 1).to_pylist()[0]
    return str(first["agent"]), str(first["env"]), int(first["budget"])


def _number_and_runs(path: Path) -> tuple[int, int]:
    number, _, runs = path.stem.partition("-")
    return int(number), int(runs)


def _of_runs(chunks: Mapping[tuple[int, int], Path], runs: int) -> list[Path]:
    """Return the chunks of an evaluation with a number of runs; none if one is missing."""
    full = min(runs, _full_size(chunks))
    if runs > full * len(chunks):
        return []
    sizes = [min(full, runs - start) for start in range(0, runs, full)]
    paths = [chunks.get(pair) for pair in enumerate(sizes)]
    return [path for path in paths if path is not None] if None not in paths else []


def _full_size(chunks: Mapping[tuple[int, int], Path]) -> int:
    """Return the runs of a full chunk, from the number of the first run of a later one; if there is none, CHUNK_RUNS.

    With many arms chunks have fewer runs; the number of arms is not in their names.
    """
    for (number, _), path in chunks.items():
        if number:
            return int(read_table(path)["run"][0].as_py()) // number
    return CHUNK_RUNS


def _gives(episodes: Runs, result: Result) -> bool:
    """Return whether a result was computed from these episodes: another seed gives different numbers."""
    runs = episodes.correct.size
    if (runs, int(np.count_nonzero(~episodes.correct))) != (result.runs, result.errors):
        return False
    if episodes.pulls.shape != result.mean_pulls.shape or not np.allclose(episodes.pulls / runs, result.mean_pulls):
        return False
    return bool(np.isclose(episodes.simple_regret.mean(), result.simple_regret, equal_nan=True))
