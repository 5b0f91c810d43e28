"""Every example runs, from any folder, without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(Path(__file__).resolve().parents[1].glob("examples/*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: str(path.stem))
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    if "stable_baselines3" in example.read_text(encoding="utf-8"):
        pytest.importorskip("stable_baselines3")
    command = [sys.executable, "-W", "error", str(example)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") >= 3
    assert list(tmp_path.iterdir()) == []  # nothing is left lying about
