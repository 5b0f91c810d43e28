"""The commands of docs/clusters.md work as written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = "docs/clusters.md"
PATIENCE = 300

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="needs a shell's programs")]


def block(language: str) -> str:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    mark = f"<!-- run by tests/{Path(__file__).name} -->"
    (found,) = re.findall(rf"^{mark}\n```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return str(found)


def test_commands(tmp_path: Path, shortened: Callable[[str], str]) -> None:
    lines = shortened(block("bash")).splitlines()
    assert lines[-1].startswith("diff ")
    for line in lines:
        words = shlex.split(line)
        if words[0] == "bai-gym":
            words[:1] = [sys.executable, "-c", "from bai_gym.cli import main; main()"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(tmp_path.glob("results/*/results.parquet"))) == 2


@pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed")
def test_python(tmp_path: Path, shortened: Callable[[str], str]) -> None:
    (tmp_path / "script.py").write_text(shortened(block("python")))
    done = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "BAI-Bernoulli10-v0" in done.stdout
