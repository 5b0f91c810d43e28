"""Reads folders of results again, whoever wrote them: the command line, Python, or an earlier version."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import count, takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bai_gym.benchmark.chunk import CHUNK_RUNS
from bai_gym.benchmark.optimum import Optima
from bai_gym.benchmark.played import matching
from bai_gym.benchmark.recording import Recording
from bai_gym.benchmark.result import Episodes, Result
from bai_gym.benchmark.schema import check_schema, schema_of
from bai_gym.benchmark.store import read_chunk
from bai_gym.errors import OutputError, SchemaError

__all__ = ["Judgement", "ResultTable", "read_folder", "read_outcomes", "read_recordings"]

PARTS = ("chunks", "recordings")
CHUNK = re.compile(r"(\d{6,})-(\d+)\.parquet")  # of a killed process there may be a draft beside it
_T = TypeVar("_T")


@dataclass(frozen=True)
class Judgement:
    """A claim, and what the results say to it.

    Attributes:
        text: The claim.
        verdict: ``"confirmed"``, ``"refuted"`` or ``"undecided"``.
        against: Where the results speak against it.
        open: Where they decide nothing.
    """

    text: str
    verdict: str
    against: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One file of results: what one command compared, or one panel of a figure.

    Attributes:
        path: The file.
        results: Its rows; their ``seconds`` are 0, since folders hold no times.
        title: What it is about, for people.
        command: The command that gives all of it again; empty where none can.
        optima: Probabilities with which the best possible agent is right, by (env, budget), where they are known.
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


def read_folder(folder: Path) -> list[ResultTable]:
    """Return all results in a folder and its subfolders, by path.

    Raises:
        OutputError: If there is no such folder, or there are no results in it, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    _check_folder(folder)
    tables = []
    for path in sorted(folder.rglob("*.parquet")):
        if path.parent.parent.name not in PARTS and not path.name.startswith("."):
            table = _read(path, _results, "results")
            if table is not None:
                tables.append(table)
    if not tables:
        raise OutputError(
            f"there are no results in {folder}; `bai-gym run ... --out {folder}` writes some, and so do "
            "`bai-gym reproduce` and bai_gym.compare(..., out=)"
        )
    return tables


def read_outcomes(folder: Path, results: Iterable[Result] | None = None) -> dict[tuple[str, str, int], Episodes]:
    """Return the outcomes of single runs in a folder and its subfolders, by (agent, env, budget).

    Files of version 1 do not say whose outcomes they hold; they are left out, with a warning.

    Args:
        folder: The folder.
        results: Rows of tables: the outcomes are those of as many runs with as many errors, whatever else the folder
            holds. None: of several evaluations of the same name (with other seeds, for example) the longest is taken.

    Raises:
        OutputError: If there is no such folder, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    _check_folder(folder)
    rows = None if results is None else [row for row in results if row.checkpoint in (None, row.budget)]
    wanted = {(row.agent, row.env, row.budget): row.runs for row in rows or ()}
    found: dict[tuple[str, str, int], Episodes] = {}
    nameless = 0
    for cell in sorted(path for path in folder.rglob("chunks/*") if path.is_dir()):
        files = ((CHUNK.fullmatch(path.name), path) for path in cell.iterdir())
        chunks = {(int(match[1]), int(match[2])): path for match, path in files if match}
        if not chunks:  # nothing is finished
            continue
        name = _read(next(iter(chunks.values())), _address, "outcomes")
        if name is None:
            nameless += 1
            continue
        paths = _longest(chunks) if rows is None else _of_runs(chunks, wanted.get(name, 0))
        if not paths:
            continue
        episodes = Episodes.joined([_read(path, read_chunk, "outcomes") for path in paths])
        if rows is not None and not matching(rows, {name: episodes}):  # of another seed, for example
            continue
        if name not in found or found[name].correct.size < episodes.correct.size:
            found[name] = episodes
    if nameless:
        warnings.warn(
            f"{folder} holds single outcomes of {nameless} evaluations that an earlier version wrote without names; "
            "they are left out, and agents are compared without pairing (run the same command again, in a new folder, "
            "for paired comparisons)",
            stacklevel=2,
        )
    return found


def read_recordings(folder: Path) -> list[Recording]:
    """Return the recorded episodes in a folder and its subfolders, by path.

    Raises:
        OutputError: If there is no such folder, or a file is damaged.
        SchemaError: If a newer version of this library wrote a file.
    """
    _check_folder(folder)
    paths = sorted(path for path in folder.rglob("recordings/*/*.parquet") if not path.name.startswith("."))
    return [_read(path, lambda path: Recording.from_table(pq.read_table(path), path), "a recording") for path in paths]


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise OutputError(f"there is no folder {folder}; name one that holds results")


def _read(path: Path, reader: Callable[[Path], _T], what: str) -> _T:
    """Read a file, or say what is wrong with it."""
    try:
        return reader(path)
    except SchemaError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise OutputError(f"{path} cannot be read as {what} ({reason}); delete it, or run its command again") from None


def _results(path: Path) -> ResultTable | None:
    """Return the results in a file, None if it is about something else."""
    metadata = pq.read_schema(path).metadata or {}
    if schema_of(metadata) is None:
        return None
    check_schema(path, metadata)
    table = pq.read_table(path)
    facts = json.loads(metadata.get(b"facts", b"{}"))
    optima: Optima = {}
    results = []
    for row in table.to_pylist():
        if row.get("optimum") is not None:
            optima[row["env"], row["budget"]] = row["optimum"]
        results.append(_result(row))
    claims = tuple(
        Judgement(**{**claim, "against": tuple(claim["against"]), "open": tuple(claim["open"])})
        for claim in facts.pop("claims", ())
    )
    envs = ", ".join(dict.fromkeys(result.env for result in results))
    return ResultTable(path, tuple(results), optima=optima, claims=claims, **{"title": envs, **facts})


def _result(row: Mapping[str, Any]) -> Result:
    """Return a row; what a file of an earlier version does not say has the default."""
    known = {item.name for item in fields(Result)}
    values = {name: value for name, value in row.items() if name in known}
    for name in ("sample_quantiles", "knows", "notes"):
        values[name] = tuple(values[name])
    values["mean_pulls"] = np.array(values["mean_pulls"], float)
    interval = (row["error_probability_lower"], row["error_probability_upper"])
    return Result(**values, interval=interval, seconds=0.0)


def _address(path: Path) -> tuple[str, str, int] | None:
    """Return whose outcomes a file holds; None if it does not say."""
    found = pq.read_schema(path)
    check_schema(path, found.metadata or {})
    if not {"agent", "env", "budget"} <= set(found.names):
        return None
    first = pq.read_table(path, columns=["agent", "env", "budget"]).slice(0, 1).to_pylist()[0]
    return str(first["agent"]), str(first["env"]), int(first["budget"])


def _longest(chunks: Mapping[tuple[int, int], Path]) -> list[Path]:
    """Return the chunks up to the first that is missing: those after it have other run numbers.

    Args:
        chunks: Files by the number of the chunk and its runs. One that was short in an earlier, smaller evaluation lies
            beside the full one.
    """
    longest = {number: path for (number, _), path in sorted(chunks.items())}
    return [longest[number] for number in takewhile(longest.__contains__, count())]


def _of_runs(chunks: Mapping[tuple[int, int], Path], runs: int) -> list[Path]:
    """Return the chunks of an evaluation of so many runs, none where one of them is missing."""
    parts = [(number, min(CHUNK_RUNS, runs - start)) for number, start in enumerate(range(0, runs, CHUNK_RUNS))]
    return [chunks[part] for part in parts] if all(part in chunks for part in parts) else []
