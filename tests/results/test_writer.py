"""Files of results: whole or not there, the same bytes for the same work, and no drafts of the dead."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym.api import make_cells
from bai_gym.benchmark.cells import Cell
from bai_gym.benchmark.chunk import play_chunk
from bai_gym.errors import OutputError
from bai_gym.results.writer import _HOST as HOST
from bai_gym.results.writer import ResultsWriter, write_atomically

DAY = 86400


def cell(agent: str = "SH", seed: int = 0) -> Cell:
    return make_cells([agent], "BAI-Bernoulli10-v0", [60], seed)[0]


def drafts(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".draft-*")]


# ------------------------------------------------------------------------------------------------ atomic writing


def test_a_file_takes_its_place_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    with write_atomically(path) as draft:
        draft.write_text("half")
        assert not path.exists()
        assert draft.parent == path.parent  # a rename is atomic within one file system only
        draft.write_text("whole")
    assert path.read_text() == "whole"
    assert drafts(tmp_path) == []


@pytest.mark.each("error", [ValueError("mine"), KeyboardInterrupt()])
def test_an_exception_leaves_the_old_file_and_no_draft(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(type(error)), write_atomically(path) as draft:
        draft.write_text("half of the new")
        raise error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with pytest.raises(OutputError) as caught, write_atomically(path) as draft:
        draft.write_text("half")
        raise OSError(28, "No space left on device")
    assert str(caught.value) == (
        f"cannot write {path}: No space left on device; free some space or choose another folder"
    )
    assert list(tmp_path.iterdir()) == []


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    with write_atomically(path) as first, write_atomically(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the one that finished last
    assert drafts(tmp_path) == []


# ------------------------------------------------------------------------------------------------ drafts


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    return process.pid


def put_draft(folder: Path, process: int, age: float = 0.0, host: str = HOST) -> Path:
    path = folder / "chunks" / "cell" / f".draft-{host}-{process}-0a1b2c3d-000000-1000.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"half a chunk")
    os.utime(path, times=(time.time() - age,) * 2)
    return path


def test_drafts_of_dead_processes_are_cleared(tmp_path: Path, dead: int) -> None:
    put_draft(tmp_path, dead)
    ResultsWriter(tmp_path)
    assert drafts(tmp_path) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="cannot tell a killed process from a living one")
def test_a_killed_process_that_nobody_waited_for_is_dead(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        put_draft(tmp_path, process.pid)
        ResultsWriter(tmp_path)
        assert len(drafts(tmp_path)) == 1
        process.kill()
        # waitid with WNOWAIT returns once the process has ended, and leaves it unburied.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        ResultsWriter(tmp_path)
        assert drafts(tmp_path) == []


def test_drafts_of_other_machines_are_kept_whatever_runs_here(tmp_path: Path, dead: int) -> None:
    put_draft(tmp_path, dead, host="01234567")
    ResultsWriter(tmp_path)
    assert len(drafts(tmp_path)) == 1


@pytest.mark.each(("age", "kept"), [(0.0, True), (DAY - 600.0, True), (DAY + 600.0, False)])
def test_drafts_of_living_processes_are_kept_for_a_day(tmp_path: Path, age: float, kept: bool) -> None:
    # After a day the number has been given to another process.
    draft = put_draft(tmp_path, os.getpid(), age)
    ResultsWriter(tmp_path)
    assert draft.exists() is kept


def test_files_of_others_are_left_alone(tmp_path: Path, dead: int) -> None:
    mine = [tmp_path / name for name in (".draft-of-my-paper.txt", f"draft-{dead}-x", ".drafts")]
    for path in mine:
        path.write_text("mine")
    ResultsWriter(tmp_path)
    assert sorted(path for path in tmp_path.iterdir() if path.name != "chunks") == sorted(mine)


# ------------------------------------------------------------------------------------------------ folders


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    # A file in the way stops every user, even root, whom permissions do not.
    taken = tmp_path / "taken"
    taken.write_text("mine")
    for folder in (taken, taken / "deep" / "down"):
        with pytest.raises(OutputError, match=f"cannot write to the output folder {folder}: .*; choose another one$"):
            ResultsWriter(folder)
    assert taken.read_text() == "mine"
    path = ResultsWriter(tmp_path).save_text("notes.txt", "± 1\n")
    assert path.read_bytes() == b"\xc2\xb1 1\n"


def test_a_text_that_cannot_be_written_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ResultsWriter(tmp_path).save_text("notes.txt", "old")

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError):
        ResultsWriter(tmp_path).save_text("notes.txt", "new")
    assert path.read_text() == "old"


# ------------------------------------------------------------------------------------------------ chunks


def test_a_chunk_comes_back_as_it_was(tmp_path: Path) -> None:
    store, played = ResultsWriter(tmp_path), play_chunk(cell(), 1, 70)
    assert store.load(cell().key, 1, 70) is None
    store.save(cell().key, 1, played)
    read = ResultsWriter(tmp_path).load(cell().key, 1, 70)
    assert read is not None
    for name in ("recommendation", "correct_recommendation", "correct", "simple_regret", "spent", "pulls"):
        np.testing.assert_array_equal(getattr(read, name), getattr(played, name), strict=True)
    assert played.seconds > 0 == read.seconds and drafts(tmp_path) == []
    table = pq.read_table(store.chunk_path(cell().key, 1, 70))
    assert table["run"].to_pylist() == list(range(1000, 1070))


def test_only_the_very_chunk_is_found(tmp_path: Path) -> None:
    store = ResultsWriter(tmp_path)
    store.save(cell().key, 1, play_chunk(cell(), 1, 70))
    for agent, seed, chunk, runs in (("SH", 0, 0, 70), ("SH", 0, 1, 71), ("SH", 5, 1, 70), ("VBR", 0, 1, 70)):
        assert store.load(cell(agent, seed).key, chunk, runs) is None


def test_a_chunk_with_other_checkpoints_is_not_found(tmp_path: Path) -> None:
    store, scored = ResultsWriter(tmp_path), make_cells(["Uniform"], "BAI-Bernoulli10-v0", [60], 0, checkpoints=[20])[0]
    store.save(scored.key, 0, play_chunk(scored, 0, 40))
    assert store.load(scored.key, 0, 40) is not None
    with pytest.warns(UserWarning, match="other checkpoints"):
        assert store.load(replace(scored.key, checkpoints=(30,)), 0, 40) is None


def test_the_same_work_gives_the_same_bytes(tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]) -> None:
    for name in ("one", "two"):
        ResultsWriter(tmp_path / name).save(cell().key, 2, play_chunk(cell(), 2, 40))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 1


def test_chunks_have_names_for_people_that_every_system_allows(tmp_path: Path) -> None:
    strange = make_cells(["SH(tie=first)"], "BAI-Custom-v0", [60], 0, {"means": [0.5] * 60})[0]
    path = ResultsWriter(tmp_path).chunk_path(strange.key, 7, 1000)
    folder = path.parent.name
    assert path.name == "000007-1000.parquet" and len(folder) <= 100
    assert folder.startswith("BAI-Custom-v0_means_0.5_0.5_") and folder.endswith(f"_{strange.fingerprint}")
    assert re.fullmatch(r"[\w.-]+", folder, re.ASCII)  # no =: pyarrow would read columns out of it
