"""The first lesson where a browser's Python would run it: without Numba, threads and processes.

This is not Pyodide, but the same Python as elsewhere without what Pyodide lacks: the modules that it does not have, and
the calls that fail there, with the errors that they raise there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LESSONS = Path(__file__).resolve().parents[2] / "examples" / "lessons"

SURROUNDINGS = """
import os, subprocess, sys, threading, types

def no_threads(*arguments, **keywords):
    raise RuntimeError("can't start new thread")

def no_processes(*arguments, **keywords):
    raise OSError("emscripten does not support processes.")

for name in ("numba", "llvmlite", "resource"):
    sys.modules[name] = None
# Pyodide has no such module. Gymnasium imports what needs it, so a page in a browser has to provide one.
sys.modules["_multiprocessing"] = types.ModuleType("_multiprocessing")
sys.modules["_multiprocessing"].SemLock = type("SemLock", (), {"SEM_VALUE_MAX": 1, "__init__": no_processes})
sys.modules["_multiprocessing"].sem_unlink = no_processes
threading.Thread.start = no_threads
subprocess.Popen.__init__ = os.fork = no_processes
import matplotlib
matplotlib.use("agg")
"""


def outcome(code: str, folder: Path) -> str:
    """Return what code prints there."""
    options = ["-W", "ignore:emscripten does not support processes:UserWarning", "-B", "-c"]
    command = [sys.executable, *options, SURROUNDINGS + code]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=folder)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_first_lesson_prints_the_same() -> None:
    pytest.importorskip("matplotlib")
    cells = json.loads((LESSONS / "1_first_episode.ipynb").read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell.get("outputs", []) if output["output_type"] == "stream"]
    assert outcome("\n".join(codes), LESSONS) == "".join("".join(output["text"]) for output in outputs)


@pytest.mark.slow
def test_sequential_agents_run_uncompiled(tmp_path: Path) -> None:
    code = """
import warnings
import bai_gym
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    result = bai_gym.evaluate("UCB-E(a=2.0)", "BAI-Bernoulli4-v0", budget=600, runs=20, progress=False)
print(result.runs, result.errors < 10, any("run uncompiled" in str(warning.message) for warning in said))
"""
    assert outcome(code, tmp_path) == "20 True True\n"
