"""The README tells the truth: its Python runs, its commands run, its links and names exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bai_gym import agents
from bai_gym.envs.registration import IDS
from bai_gym.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
SHELL = re.findall(r"^```bash\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
COMMANDS = [line for block in SHELL for line in block.splitlines() if line.startswith("bai-gym ")]
FULL_SIZE = [line for line in COMMANDS if line.startswith("bai-gym reproduce")]


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "default"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs(code: str, tmp_path: Path) -> None:
    if "stable_baselines3" in code:
        pytest.importorskip("stable_baselines3")
    assert run([sys.executable, "-c", code], tmp_path).strip()


@pytest.mark.parametrize("line", [line for line in COMMANDS if line not in FULL_SIZE])
def test_commands_run(line: str, tmp_path: Path) -> None:
    rows = "".join(f"{'ABC'[i % 3]},{int(i % 7 < 1 + i % 3)}\n" for i in range(300))
    (tmp_path / "log.csv").write_text(f"variant,clicked\n{rows}")
    program = "import sys; from bai_gym.cli import main; sys.argv[0] = 'bai-gym'; main()"
    assert run([sys.executable, "-c", program, *shlex.split(line, comments=True)[1:]], tmp_path)


def test_commands_at_full_size_name_experiments() -> None:
    assert FULL_SIZE
    for line in FULL_SIZE:
        assert shlex.split(line, comments=True)[2] in EXPERIMENTS


def test_links_lead_somewhere() -> None:
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", README) if not t.startswith("https://")]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_every_environment_and_agent_is_listed() -> None:
    families = re.findall(r"^\| (`BAI-.*?) \|", README, re.MULTILINE)
    named = set()
    for family in re.findall(r"`(BAI-[^`]+)`", " ".join(families)):
        many = re.search(r"\{(.*?)\}", family)
        named |= {re.sub(r"\{.*?\}", part, family) for part in (many[1].split(",") if many else [""])}
    assert named == {entry.id for entry in IDS}
    rows = " ".join(re.findall(r"^\| (`.*?) \|", README, re.MULTILINE))
    assert set(agents.names()) == set(re.findall(r"`([^`]+)`", rows)) - set(re.findall(r"`(BAI-[^`]+)`", rows))
