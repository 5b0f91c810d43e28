"""The assignment, as a teacher uses it: Otter makes the student's notebook, and grades right and wrong solutions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ASSIGNMENT = Path(__file__).resolve().parents[2] / "examples" / "lessons" / "assignment"
MINE = """
import os, time
import numpy as np
class MyAgent:
    def reset(self, info, rng):
        self.arms = info.num_arms
    def allocate(self, observation):
        return None
    def recommend(self, observation):
        {body}
"""
CRASHES = MINE.format(body="return arm_of(observation)\n").lstrip() + "def arm_of(observation): return 1 // 0"
SOLUTIONS = {  # code of the student's cell (None: the teacher's, "": the template), points of 12, words of the tests
    "model": (None, 12, ""),
    "template": ("", 4, ""),
    "better": ("from bai_gym.agents import TTTS as MyAgent", 14, ""),
    "guesses": (MINE.format(body="return np.zeros(len(observation['means']), int)"), 3, ""),
    "slow": (MINE.format(body="time.sleep(1000)"), 0, "the agent took longer than the time limit"),
    "exits": (MINE.format(body="os._exit(1)"), 0, "process ended by itself, with exit code 1"),
    "crashes": (
        CRASHES,
        0,
        "recommend raised ZeroDivisionError: integer division or modulo by zero (line 11 of its cell: "
        "def arm_of(observation): return 1 // 0)",
    ),
    "no_python": (
        "class MyAgent(:",
        0,
        "there is no MyAgent: its cell raises SyntaxError: invalid syntax (line 1: class MyAgent(:)",
    ),
}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_otter_makes_and_grades_the_assignment(tmp_path: Path) -> None:
    """With fewer episodes, and less time than a student has."""
    pytest.importorskip("otter", reason="otter-grader is not installed: pip install otter-grader")
    folder = tmp_path / "assignment"
    shutil.copytree(ASSIGNMENT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    arena = (folder / "arena.py").read_text(encoding="utf-8")
    for old, new in {"RUNS = 1000": "RUNS = 600", "SECONDS = 120.0": "SECONDS = 60.0"}.items():
        assert old in arena
        arena = arena.replace(old, new)
    (folder / "arena.py").write_text(arena, encoding="utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def otter(*words: str | Path) -> None:
        command = [sys.executable, "-m", "otter", *map(str, words)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr

    otter("assign", "assignment.ipynb", "dist", "--no-pdfs")
    notebook, teachers = (
        json.loads((folder / "dist" / side / "assignment.ipynb").read_text(encoding="utf-8"))
        for side in ("student", "autograder")
    )
    text = json.dumps(notebook)
    assert "20260917" not in text and "lexsort" not in text and "beats_uniform" not in text
    (place,) = [cell for cell in notebook["cells"] if "class MyAgent" in "".join(cell["source"])]
    (model,) = ["".join(cell["source"]) for cell in teachers["cells"] if "class MyAgent" in "".join(cell["source"])]
    template = place["source"]
    (autograder,) = (folder / "dist" / "autograder").glob("*.zip")
    found = {}
    for name, (code, _, words) in SOLUTIONS.items():
        (folder / name).mkdir()
        place["source"] = model if code is None else code or template
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        otter("run", "-a", autograder, "-o", folder / name, folder / f"{name}.ipynb")
        tests = json.loads((folder / name / "results.json").read_text(encoding="utf-8"))["tests"]
        scored = [test for test in tests if test.get("max_score")]
        said = " ".join(str(test.get("output")) for test in tests)
        found[name] = *(sum(test[word] for test in scored) for word in ("score", "max_score")), words in said or said
    assert found == {name: (points, 12, True) for name, (_, points, _) in SOLUTIONS.items()}
