"""The notebooks run from top to bottom as Jupyter runs them: as students get them, and with the solutions put in."""

from __future__ import annotations

import json
import re
import shutil
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
