"""Every example runs, from any folder, without a warning."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"
# Those of the lessons are run by tests/lessons/, and the assignment by tests/leaderboard/.
NOTEBOOKS = [path for path in sorted(FOLDER.rglob("*.ipynb")) if "assignment" not in path.parts]
EXAMPLES = [
    path
    for path in sorted([*FOLDER.rglob("*.py"), *NOTEBOOKS])
    if not {"lessons", "assignment"} & {*path.parts}
    and path not in {*FOLDER.glob("training/*.py")}  # tests/training/ plays what they learn
]
NEEDED = (
    "matplotlib",
    "stable_baselines3",
    "tensorboard",
    "torch",
    "torchrl",
)  # of the extras, where an example mentions them


def cells_of(notebook: Path) -> list[dict[str, Any]]:
    """The code cells of a notebook."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def program_of(example: Path) -> str:
    """What an example does, as one program."""
    if example.suffix == ".py":
        return example.read_text(encoding="utf-8")
    return "\n".join("".join(cell["source"]) for cell in cells_of(example))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: str(path.stem))
def test_an_example_runs(example: Path, tmp_path: Path, shortened: Callable[[str], str]) -> None:
    program = shortened(program_of(example))  # what comes out is not what is tested
    trains = "bai_gym.training import recipe_for" in program  # which writes logs for TensorBoard
    for package in NEEDED:
        if package in program or (trains and package != "matplotlib"):
            pytest.importorskip(package)
    script = tmp_path.parent / f"{tmp_path.name}.py"
    script.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        timeout=300,
    )
    # Whether something has to be compiled depends on what ran before on this machine.
    said = [line for line in done.stderr.splitlines() if not line.startswith("bai-gym compiles ")]
    assert (done.returncode, said) == (0, [])
    assert done.stdout.count("\n") >= 3
    assert list(tmp_path.iterdir()) == []  # nothing is left lying about


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_shows_what_came_out(notebook: Path) -> None:
    text = notebook.read_text(encoding="utf-8")
    assert len(text) < 300_000
    outputs = [output for cell in cells_of(notebook) for output in cell["outputs"]]
    # Definitions show nothing; a message on stderr would be a warning.
    kinds = {output["output_type"] if output.get("name") != "stderr" else "stderr" for output in outputs}
    assert kinds <= {"stream", "display_data", "execute_result"}
    printed = "".join("".join(output.get("text", "")) for output in outputs)
    assert not re.search(r"/home/|/tmp/|/Users/|[A-Z]:\\", printed)  # nothing of the machine that it ran on
    assert not re.search(r"^[!%]", program_of(notebook), re.MULTILINE)  # plain Python
