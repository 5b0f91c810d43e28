"""The notebooks run from top to bottom as Jupyter runs them: as students get them, and with the solutions put in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LESSONS = Path(__file__).resolve().parents[2] / "examples" / "lessons"
NOTEBOOKS = sorted(LESSONS.glob("*.ipynb"))
TRAINING = "5_beat_the_textbook"  # takes long, and what networks come to depends on the machine in the last digits
SECONDS = 180.0  # that a notebook may take on two cores
CHECK = re.compile(r"checks\.(\w+)\(\1\)")

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_of(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def printed(cell: dict[str, Any]) -> str:
    return "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def kinds(cell: dict[str, Any]) -> set[str]:
    # A computation of more than a second has a line of progress, which is empty at the end.
    progress: list[Any] = [{"text/plain": []}, {"text/plain": ""}]
    return {output["output_type"] for output in cell["outputs"] if output.get("data") not in progress}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the lessons, in which a notebook must leave nothing lying about."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    copy = tmp_path / "lessons"
    shutil.copytree(LESSONS, copy, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    before = sorted(copy.rglob("*"))
    yield copy
    assert sorted(copy.rglob("*")) == before


def execute(notebook: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Run a notebook in a kernel, as Jupyter does; return its code cells. An exception in a cell is raised."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    if "import torch" in json.dumps(notebook):
        pytest.importorskip("torch")
    if "bai_gym.training" in json.dumps(notebook):
        pytest.importorskip("stable_baselines3")
        pytest.importorskip("tensorboard")
    node = nbformat.reads(json.dumps(notebook), as_version=4)
    nbformat.validate(node)
    started = time.perf_counter()
    nbclient.NotebookClient(node, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute()
    assert time.perf_counter() - started < SECONDS
    cells = code_of(json.loads(nbformat.writes(node)))
    streams = [output for cell in cells for output in cell["outputs"] if output["output_type"] == "stream"]
    said = [line for output in streams if output["name"] == "stderr" for line in "".join(output["text"]).splitlines()]
    # No warnings; whether something has to be compiled depends on what ran before on this machine.
    assert [line for line in said if not line.startswith("bai-gym compiles ")] == []
    return cells


def test_lessons_are_numbered() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["1_", "2_", "3_", "4_", "5_", "6_", "7_"]


@each
def test_a_lesson_has_its_parts(path: Path, put_in: ModuleType) -> None:
    notebook = read(path)
    text = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    assert text[0].startswith(f"# Lesson {path.stem[0]}: ") and "**You will learn**" in text[0]
    assert "## What you have seen" in text[-1]
    assert 2 <= len(put_in.exercises(notebook)) <= 4
    outputs = [output for cell in code_of(notebook) for output in cell["outputs"]]
    assert any(output["output_type"] == "display_data" for output in outputs)


@each
def test_every_exercise_has_a_gap_a_check_and_a_solution(path: Path, put_in: ModuleType) -> None:
    notebook = read(path)
    cells, exercises = notebook["cells"], put_in.exercises(notebook)
    for cell in exercises:
        assert "return None  # your code goes here" in "".join(cell["source"])
        following = "".join(cells[cells.index(cell) + 1]["source"])
        found = CHECK.fullmatch(following)
        assert found is not None and found[1] == cell["id"]
    assert set(put_in.solutions(path.stem)) == {cell["id"] for cell in exercises}
    for cell in put_in.exercises(put_in.solved(path)):  # the same function, with the same words
        head = "".join(cell["source"]).partition('"""')
        given = next("".join(other["source"]) for other in exercises if other["id"] == cell["id"]).partition('"""')
        assert head[0] == given[0] and head[2].partition('"""')[0] == given[2].partition('"""')[0]


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem != TRAINING], ids=lambda path: path.stem)
def test_a_lesson_runs_as_it_is(path: Path, folder: Path) -> None:
    stored = code_of(read(path))
    cells = execute(read(path), folder)
    checked = {cell["id"]: printed(cell) for cell in cells if CHECK.fullmatch("".join(cell["source"]))}
    assert checked and all(said.startswith("Not done yet: ") for said in checked.values())
    assert [printed(cell) for cell in cells] == [printed(cell) for cell in stored]  # what is stored is what comes out
    assert [kinds(cell) for cell in cells] == [kinds(cell) for cell in stored]


@pytest.mark.slow
@each
def test_a_lesson_runs_with_its_solutions(path: Path, folder: Path, put_in: ModuleType) -> None:
    cells = execute(put_in.solved(path), folder)
    checked = {cell["id"]: printed(cell) for cell in cells if CHECK.fullmatch("".join(cell["source"]))}
    assert checked and all(said.startswith("Right: ") for said in checked.values())
    assert "This cell waits" not in "".join(printed(cell) for cell in cells)


def test_solutions_are_put_in_by_a_command(tmp_path: Path) -> None:
    target = tmp_path / "solved.ipynb"
    command = [sys.executable, str(LESSONS / "solutions" / "put_in.py"), str(NOTEBOOKS[1]), str(target)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "your code goes here" not in target.read_text(encoding="utf-8")
    done = subprocess.run(command[:3], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1 and done.stderr.startswith("usage: ")
