"""What Windows and macOS do differently, as far as it can be seen on any system."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bai_gym.results.writer import write_atomically

ROOT = Path(__file__).resolve().parents[1]
POSIX_ONLY = {"fcntl", "grp", "posix", "pwd", "resource", "select", "termios", "tty"}


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Yield every module of the library, name and syntax tree."""
    for folder in ("bai_gym", "agents"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def test_no_module_needs_posix_when_it_is_imported() -> None:
    found = []
    for name, tree in modules():
        for statement in tree.body:
            if isinstance(statement, ast.Import):
                found += [(name, alias.name) for alias in statement.names if alias.name in POSIX_ONLY]
            elif isinstance(statement, ast.ImportFrom) and statement.module in POSIX_ONLY:
                found.append((name, statement.module))
    assert found == []


def test_a_file_is_open_for_writing_when_it_is_flushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    modes = []
    monkeypatch.setattr(os, "fsync", lambda number: modes.append(fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE))
    with write_atomically(tmp_path / "file") as draft:
        draft.write_bytes(b"content")
    assert modes == [os.O_RDWR]  # Windows refuses to flush what is open for reading


@pytest.mark.slow
def test_letters_that_standard_output_does_not_have_are_replaced() -> None:
    """On Windows, redirected output has the letters of a code page; tables have more than that."""
    words = "run BAI-Bernoulli3-v0 --agent SH --budget 30 --runs 10"
    command = [sys.executable, "-c", "from bai_gym.cli import main; main()", *words.split()]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "") and "?" in done.stdout
