"""Finished chunks and results on disk: written atomically, never half read, the same bytes for the same work."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bai_gym.benchmark.chunk import Cell
from bai_gym.benchmark.result import Episodes, Result
from bai_gym.errors import OutputError

__all__ = ["SCHEMA_VERSION", "Store", "write_atomically"]

SCHEMA_VERSION = 1
_DRAFT = re.compile(r"^\.draft-(\d+)-")


class Store:
    """A folder of results.

    ``chunks/<cell>/<chunk>-<runs>.parquet`` holds finished chunks, one row per episode. ``results.parquet`` and
    ``results.csv`` hold one row per cell of the last command. Timings are not stored: everything here is the same,
    byte for byte, however often the work was interrupted and by how many workers it was done.

    Args:
        folder: Created if missing.

    Raises:
        OutputError: If it cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        """Create the folder, and clear away what killed processes left."""
        self.folder = Path(folder)
        try:
            (self.folder / "chunks").mkdir(parents=True, exist_ok=True)
            with write_atomically(self.folder / ".writable") as draft:
                draft.write_bytes(b"")
            (self.folder / ".writable").unlink()
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"cannot write to the output folder {self.folder}: {reason}; choose another one") from None
        for draft in self.folder.rglob(".draft-*"):
            match = _DRAFT.match(draft.name)
            if match and not _alive(int(match[1])):
                draft.unlink(missing_ok=True)

    def chunk_path(self, cell: Cell, chunk: int, runs: int) -> Path:
        """Return where a chunk is, or will be."""
        words = re.sub(r"[^A-Za-z0-9.=-]+", "_", f"{cell.env.label}_{cell.label}_n={cell.budget}")[:80].strip("_")
        return self.folder / "chunks" / f"{words}_{cell.fingerprint}" / f"{chunk:06d}-{runs}.parquet"

    def load(self, cell: Cell, chunk: int, runs: int) -> Episodes | None:
        """Return a finished chunk, or None if it has to be played (again)."""
        path = self.chunk_path(cell, chunk, runs)
        if not path.exists():
            return None
        try:
            table = pq.read_table(path)
            metadata = table.schema.metadata or {}
            if table.num_rows != runs or metadata.get(b"schema") != str(SCHEMA_VERSION).encode():
                raise ValueError("another schema or number of rows")
            columns = {name: table[name].to_numpy() for name in table.column_names if name != "run"}
            return Episodes(**columns, pulls=np.array(json.loads(metadata[b"pulls"]), np.int64))
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            warnings.warn(f"{path} cannot be read ({error}); this chunk is played again", stacklevel=2)
            return None

    def save(self, cell: Cell, chunk: int, episodes: Episodes) -> None:
        """Write a finished chunk."""
        runs = episodes.correct.size
        path = self.chunk_path(cell, chunk, runs)
        path.parent.mkdir(parents=True, exist_ok=True)
        first = cell.first_run(chunk)
        table = pa.table(
            {
                "run": np.arange(first, first + runs),
                "recommendation": episodes.recommendation,
                "answer": episodes.answer,
                "correct": episodes.correct,
                "simple_regret": episodes.simple_regret,
                "spent": episodes.spent,
            }
        )
        metadata = {"schema": str(SCHEMA_VERSION), "pulls": json.dumps(episodes.pulls.tolist())}
        with write_atomically(path) as draft:
            pq.write_table(table.replace_schema_metadata(metadata), draft)

    def save_results(self, results: list[Result], name: str = "results.parquet") -> Path:
        """Write one row per result as Parquet."""
        path = self.folder / name
        table = pa.table(
            {
                "agent": [r.agent for r in results],
                "env": [r.env for r in results],
                "budget": [r.budget for r in results],
                "runs": [r.runs for r in results],
                "errors": [r.errors for r in results],
                "error_probability": [r.error_probability for r in results],
                "error_probability_lower": [r.interval[0] for r in results],
                "error_probability_upper": [r.interval[1] for r in results],
                "simple_regret": [r.simple_regret for r in results],
                "simple_regret_se": [r.simple_regret_se for r in results],
                "mean_pulls": [r.mean_pulls.tolist() for r in results],
                "unspent": [r.unspent for r in results],
                "knows": pa.array([list(r.knows) for r in results], pa.list_(pa.string())),
                "notes": pa.array([list(r.notes) for r in results], pa.list_(pa.string())),
            }
        ).replace_schema_metadata({"schema": str(SCHEMA_VERSION)})
        with write_atomically(path) as draft:
            pq.write_table(table, draft)
        return path

    def save_text(self, name: str, text: str) -> Path:
        """Write a text file."""
        path = self.folder / name
        with write_atomically(path) as draft:
            draft.write_text(text, encoding="utf-8")
        return path


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Give a draft beside ``path`` to write to; it takes its place only when complete.

    Raises:
        OutputError: If the disk refuses.
    """
    draft = path.with_name(f".draft-{os.getpid()}-{path.name}")
    try:
        yield draft
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}; free some space or choose another folder") from None
    finally:
        draft.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
