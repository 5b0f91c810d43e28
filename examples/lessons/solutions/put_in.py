"""Puts the solutions into a lesson: `python solutions/put_in.py 2_sequential_halving.ipynb solved.ipynb`.

The solutions of a lesson stand in the file of the same name, each below a line `# %% exercise`, where `exercise` is the
id of the cell that it replaces. What comes above the first such line is for people who read the file alone.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
MARK = re.compile(r"^# %% (\S+)\n", re.MULTILINE)


def solutions(lesson: str) -> dict[str, str]:
    """Return the solutions of a lesson, such as `"2_sequential_halving"`: cell id -> code."""
    _, *parts = MARK.split(next(FOLDER.rglob(f"{lesson}.py")).read_text(encoding="utf-8"))
    return {name: code.strip("\n") for name, code in zip(parts[::2], parts[1::2], strict=True)}


def exercises(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that a student fills in."""
    return [cell for cell in notebook["cells"] if "exercise" in cell["metadata"].get("tags", ())]


def solved(lesson: Path) -> dict[str, Any]:
    """Return the notebook with its solutions in place, without outputs."""
    notebook: dict[str, Any] = json.loads(lesson.read_text(encoding="utf-8"))
    answers = solutions(lesson.stem)
    for cell in exercises(notebook):
        cell["source"] = answers[cell["id"]].splitlines(keepends=True)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(
            "usage: python put_in.py LESSON.ipynb SOLVED.ipynb (a new file beside the lesson, so that checks are found)"
        )
    Path(sys.argv[2]).write_text(json.dumps(solved(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
