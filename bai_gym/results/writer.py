"""The results writer: chunks and results on disk, written atomically, with equal bytes for equal work.

The files are described in docs/results.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from typing_extensions import override

from bai_gym.content.library import library_digest
from bai_gym.errors import OutputError, SchemaError
from bai_gym.results.recording import Recording
from bai_gym.results.result import Checkpoint, Optima, Result, Runs
from bai_gym.results.rows import to_arrow
from bai_gym.results.schema import check_schema, metadata_now, read_table, schema_of, write_table
from bai_gym.statistics import AnyArray

__all__ = ["CHUNK_RUNS", "RESULTS", "CellKey", "ResultsWriter", "check_replaceable", "read_chunk", "write_atomically"]

CHUNK_RUNS = 1000
"""Runs per chunk, at most. Fixed: the random numbers of a run depend on it."""

RESULTS = "results.parquet"
"""Name of the file with the results of a command."""
PART = ".part"
"""Ending of the file with a part of an unfinished chunk."""
_T = TypeVar("_T")
ADDRESS = ("agent", "env", "budget", "run")  # columns that say which episode a row is
AT_CHECKPOINTS = ("correct_at_checkpoints", "simple_regret_at_checkpoints")
_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
_DRAFT = re.compile(r"^\.draft-([0-9a-f]{8})-(\d+)-")
_DRAFT_SECONDS = 86400  # a draft older than a day is abandoned, even if a process has its number


@dataclass(frozen=True)
class CellKey:
    """What identifies a cell in a folder of results: one agent on one environment with one budget.

    Attributes:
        agent: Name of the agent.
        env: Id of the environment, with the keyword arguments given.
        budget: Pulls per episode.
        checkpoints: Intermediate budgets, ascending.
        chunk_runs: Runs of a full chunk.
        fingerprint: Hash of everything that the outcome depends on.
    """

    agent: str
    env: str
    budget: int
    checkpoints: tuple[int, ...]
    chunk_runs: int
    fingerprint: str


class ResultsWriter:
    """A folder of results.

    ``chunks/<cell>/<chunk>-<runs>.parquet`` holds finished chunks, one row per episode. ``results.parquet`` and
    ``results.csv`` hold one row per cell of all commands, and ``recordings/<cell>/<run>.parquet`` episodes pull by
    pull. Timings are not stored: the files are equal, byte for byte, for any number of interruptions and of workers.

    Args:
        folder: Created if missing.

    Raises:
        OutputError: If it cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder, and delete drafts of killed processes."""
        self.folder = Path(folder)
        try:
            (self.folder / "chunks").mkdir(parents=True, exist_ok=True)
            probe = _draft(self.folder / "probe")
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(
                f"cannot write to the output folder {self.folder}: {reason}; choose another one"
            ) from None
        for draft in self.folder.rglob(".draft-*"):
            if _abandoned(draft):
                draft.unlink(missing_ok=True)

    @override
    def __getstate__(self) -> dict[str, Path]:
        """Pickle an absolute path, because worker processes may run in another folder."""
        return {"folder": self.folder.absolute()}

    def chunk_path(self, cell: CellKey, chunk: int, runs: int) -> Path:
        """Return the path of a chunk, written or not."""
        return self.folder / "chunks" / _folder_name(cell) / f"{chunk:06d}-{runs}.parquet"

    def recording_path(self, cell: CellKey, run: int, runs: int) -> Path:
        """Return the path of the recording of a run, written or not.

        Args:
            cell: What is played.
            run: Its number.
            runs: Runs of the chunk that it belongs to, on which its instance depends.
        """
        return self.folder / "recordings" / _folder_name(cell) / f"{run:06d}-{runs}.parquet"

    def has_finished(self, cell: CellKey) -> bool:
        """Return whether there are chunks or recordings of a cell."""
        return any(any(folder.glob("[0-9]*")) for folder in self._folders(cell))

    def forget(self, cell: CellKey) -> None:
        """Delete the chunks and recordings of a cell.

        Raises:
            OutputError: If the disk rejects it.
        """
        for folder in self._folders(cell):
            if folder.is_dir():
                try:
                    shutil.rmtree(folder)
                except OSError as error:
                    raise OutputError(f"cannot delete {folder}: {error.strerror or error}") from None

    def _folders(self, cell: CellKey) -> tuple[Path, Path]:
        return self.folder / "chunks" / _folder_name(cell), self.folder / "recordings" / _folder_name(cell)

    def part_path(self, cell: CellKey, chunk: int, runs: int, first: int) -> Path:
        """Return the path of a part of an unfinished chunk, which begins with a run of it; written or not."""
        return self.chunk_path(cell, chunk, runs).with_suffix(f".{first:06d}{PART}")

    def load(self, cell: CellKey, chunk: int, runs: int) -> Runs | None:
        """Return a finished chunk, or None if it must be played (again).

        Raises:
            SchemaError: If a newer version of this library wrote it.
        """
        return _finished(self.chunk_path(cell, chunk, runs), lambda path: _read_runs(path, cell, runs), "chunk")

    def load_part(self, cell: CellKey, chunk: int, runs: int, first: int, end: int) -> Runs | None:
        """Return a stored part of a chunk of ``runs`` runs, or None if it must be played (again).

        Raises:
            SchemaError: If a newer version of this library wrote it.
        """
        path = self.part_path(cell, chunk, runs, first)
        return _finished(path, lambda path: _read_runs(path, cell, end - first), "part of a chunk")

    def has_parts(self, cell: CellKey) -> bool:
        """Return whether there are parts of an unfinished chunk of a cell."""
        return any(self.chunk_path(cell, 0, 0).parent.glob(f"*{PART}"))

    def save(self, cell: CellKey, chunk: int, episodes: Runs) -> None:
        """Write a finished chunk, and delete its parts."""
        runs = episodes.correct.size
        path = self.chunk_path(cell, chunk, runs)
        self._save(path, cell, chunk * cell.chunk_runs, episodes)
        for part in path.parent.glob(f"{path.stem}.*{PART}"):
            part.unlink(missing_ok=True)

    def save_part(self, cell: CellKey, chunk: int, runs: int, first: int, episodes: Runs) -> None:
        """Write a part of a chunk of ``runs`` runs."""
        self._save(self.part_path(cell, chunk, runs, first), cell, chunk * cell.chunk_runs + first, episodes)

    def _save(self, path: Path, cell: CellKey, first: int, episodes: Runs) -> None:
        """Write runs, of which the first one has a number."""
        runs = episodes.correct.size
        metadata = {**metadata_now(), "pulls": json.dumps(episodes.pulls.tolist())}
        if episodes.pulls_by_rank is not None:
            metadata["pulls_by_rank"] = json.dumps(episodes.pulls_by_rank.tolist())
        if episodes.tally:
            metadata["tally"] = json.dumps(episodes.tally)
        points = episodes.checkpoints
        later: dict[str, pa.Array] = {}
        if points:
            later[AT_CHECKPOINTS[0]] = _column(np.stack([point.correct for point in points], axis=1))
            later[AT_CHECKPOINTS[1]] = _column(np.stack([point.simple_regret for point in points], axis=1))
            facts = {"after": [p.pulls_made for p in points], "pulls": [p.pulls.tolist() for p in points]}
            metadata["checkpoints"] = json.dumps(facts)
        table = pa.table(
            {
                "agent": _constant(cell.agent, runs),
                "env": _constant(cell.env, runs),
                "budget": np.full(runs, cell.budget),
                "run": np.arange(first, first + runs),
                "recommendation": _column(episodes.recommendation),
                "correct_recommendation": _column(episodes.correct_recommendation),
                "correct": episodes.correct,
                "simple_regret": episodes.simple_regret,
                "spent": episodes.spent,
                "truncated": episodes.truncated,
                **later,
            }
        )
        with write_atomically(path) as draft:
            write_table(table.replace_schema_metadata(metadata), draft)

    def has_recording(self, cell: CellKey, run: int, runs: int) -> bool:
        """Return whether the recording of a run is there; False if it must be played (again).

        Raises:
            SchemaError: If a newer version of this library wrote it.
        """
        path = self.recording_path(cell, run, runs)

        return _finished(path, lambda path: Recording.from_table(read_table(path)), "episode") is not None

    def save_recording(self, cell: CellKey, runs: int, recording: Recording) -> None:
        """Write the recording of a run from a chunk with ``runs`` runs."""
        with write_atomically(self.recording_path(cell, recording.run, runs)) as draft:
            write_table(recording.to_table(), draft)

    def save_results(
        self,
        results: Sequence[Result],
        name: str = RESULTS,
        *,
        optima: Optima | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write one row per result as Parquet.

        Args:
            results: The results.
            name: Name of the file.
            optima: Probability that the best possible agent is correct, where known.
            facts: More about all of them, kept as JSON: see :class:`bai_gym.results.reader.ResultTable`.

        Raises:
            SchemaError: If a newer version of this library wrote the file that is there.
        """
        path = self.folder / name
        check_replaceable(path)
        metadata = {**metadata_now(), "facts": json.dumps(dict(facts or {}))}
        table = to_arrow(results, optima).replace_schema_metadata(metadata)
        with write_atomically(path) as draft:
            write_table(table, draft)
        return path

    def save_text(self, name: str, text: str) -> Path:
        """Write a text file."""
        path = self.folder / name
        with write_atomically(path) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")
        return path


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Yield a draft beside ``path``; it replaces the file only when complete. The folder is made if missing.

    Raises:
        OutputError: If the disk rejects it.
    """
    draft = _draft(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        with draft.open("r+b") as written:  # Windows flushes only what is open for writing
            os.fsync(written.fileno())
        draft.replace(path)
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}; free some space or choose another folder"
        ) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def check_replaceable(path: Path) -> None:
    """Raise :class:`SchemaError` for a file that a newer version of this library wrote.

    Args:
        path: A Parquet file that is about to be written; it may be missing.

    Raises:
        SchemaError: If it is such a file.
    """
    try:
        metadata = pq.read_schema(path).metadata
    except (OSError, ValueError, pa.ArrowException):  # missing or damaged
        return
    if schema_of(metadata):
        check_schema(path, metadata)


def _read_runs(path: Path, cell: CellKey, runs: int) -> Runs:
    """Return the runs of a cell in a file, or raise an error as :func:`read_chunk` does."""
    episodes = read_chunk(path)
    if episodes.correct.size != runs:
        raise ValueError("another number of rows")
    if (pq.read_schema(path).metadata or {}).get(b"bai-gym", b"").decode() != library_digest():
        raise ValueError("other code of bai-gym played it")
    if tuple(point.pulls_made for point in episodes.checkpoints) != cell.checkpoints:
        raise ValueError("other checkpoints")
    return episodes


def read_chunk(path: Path) -> Runs:
    """Return a finished chunk.

    Raises:
        SchemaError: If a newer version of this library wrote it.
        OSError, ValueError, KeyError, TypeError, pyarrow.ArrowException: If it is damaged.
    """
    table = read_table(path)
    metadata = table.schema.metadata
    stored = [name for name in table.column_names if name not in ADDRESS]
    columns: dict[str, Any] = {name: _array(table[name], table.num_rows) for name in stored}
    points = _read_checkpoints(columns, metadata.get(b"checkpoints"))
    pulls = np.array(json.loads(metadata[b"pulls"]), np.int64)
    ranked = metadata.get(b"pulls_by_rank")
    by_rank = None if ranked is None else np.array(json.loads(ranked), np.int64)
    tally = json.loads(metadata.get(b"tally", b"{}"))
    return Runs(**columns, pulls=pulls, pulls_by_rank=by_rank, checkpoints=points, tally=tally)


def _finished(path: Path, read: Callable[[Path], _T], what: str) -> _T | None:
    """Return the content of a file; None if it is missing or, with a warning, damaged.

    Raises:
        SchemaError: If a newer version of this library wrote it.
    """
    if not path.exists():
        return None
    try:
        return read(path)
    except SchemaError:
        raise
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        warnings.warn(f"{path} cannot be read ({reason}); this {what} is played again", stacklevel=3)
        return None


def _folder_name(cell: CellKey) -> str:
    """Return the name of a cell's folder: a readable name and the fingerprint.

    Without ``=``, which would make pyarrow read columns out of names.
    """
    name = re.sub("[^A-Za-z0-9.-]+", "_", f"{cell.env}_{cell.agent}_n={cell.budget}")[:80].strip("_")
    return f"{name}_{cell.fingerprint}"


def _constant(text: str, rows: int) -> pa.Array:
    """Return a column of one text."""
    return pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), [text])


def _read_checkpoints(columns: dict[str, Any], facts: bytes | None) -> tuple[Checkpoint, ...]:
    """Remove the checkpoints of a chunk from its columns, and return them."""
    if facts is None:
        return ()
    read = json.loads(facts)
    correct, regret = (columns.pop(name) for name in AT_CHECKPOINTS)
    return tuple(
        Checkpoint(
            after,
            np.ascontiguousarray(correct[:, i]),
            np.ascontiguousarray(regret[:, i]),
            np.array(read["pulls"][i], np.int64),
        )
        for i, after in enumerate(read["after"])
    )


def _column(values: AnyArray) -> pa.Array:
    """Return one value per row, such as a recommendation: a number, or a list of fixed length."""
    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def _array(column: pa.ChunkedArray, runs: int) -> AnyArray:
    """Return what :func:`_column` was made from."""
    if pa.types.is_fixed_size_list(column.type):
        flat = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)  # booleans are packed
        return np.asarray(flat).reshape(runs, -1)
    return np.asarray(column.to_numpy())


def _draft(path: Path) -> Path:
    """Return a name that no other process or thread uses, and that contains machine and process."""
    return path.with_name(f".draft-{_HOST}-{os.getpid()}-{secrets.token_hex(4)}-{path.name}")


def _abandoned(draft: Path) -> bool:
    """Return whether the process that wrote a draft is gone."""
    match = _DRAFT.match(draft.name)
    try:
        if match is None or time.time() - draft.stat().st_mtime > _DRAFT_SECONDS:
            return match is not None
        if match[1] != _HOST or os.name == "nt":  # of another machine; or os.kill(pid, 0) would send Ctrl-C
            return False
        os.kill(int(match[2]), 0)
        state = Path(f"/proc/{match[2]}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z"  # a zombie process
    except ProcessLookupError:
        return True
    except OSError:  # another user's process, no /proc, or the draft is gone by now
        return False
