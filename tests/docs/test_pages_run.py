"""Pages tell the truth: whoever follows them from top to bottom, block by block, sees no error.

Python blocks and lines that begin with ``bai-gym`` are run in the order of the page, in a folder of its own (of the
README: each section in one). A comment above a block may say

- ``<!-- continues -->``: this block uses names of the Python blocks before it; others start afresh;
- ``<!-- not run: REASON -->``: it would take too long; only its names and options are checked;
- ``<!-- run by FILE -->``: that test runs it.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from bai_gym import agents
from bai_gym.api import parse_agent
from bai_gym.cli.main import app
from bai_gym.envs.registration import check_id
from bai_gym.experiments import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>python|bash)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
NEEDED = ("stable_baselines3", "pandas")  # of the extras, where a block imports them

FOLLOW = """
import json, sys
from bai_gym.cli import main

names = {}
for number, (kind, text, continues) in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))):
    print(f"\\n=== step {number}", flush=True)
    if kind == "python":
        names = names if continues else {"__name__": "__main__"}
        exec(compile(text, f"<block {number}>", "exec"), names)
    else:
        sys.argv = text
        try:
            main()
        except SystemExit as stop:
            if stop.code:
                raise
"""


@dataclass(frozen=True)
class Block:
    """A block of code on a page."""

    language: str
    text: str
    mark: str = ""

    @property
    def run(self) -> bool:
        return not self.mark.startswith(("not run", "run by"))

    @property
    def commands(self) -> list[list[str]]:
        lines = self.text.splitlines() if self.language == "bash" else []
        return [shlex.split(line, comments=True) for line in lines if line.startswith("bai-gym ")]


def blocks_of(text: str) -> list[Block]:
    return [Block(match["language"], match["text"], match["mark"] or "") for match in BLOCK.finditer(text)]


def chapters() -> dict[str, list[Block]]:
    """What is followed in one go: pages, and sections of the README; those with a block."""
    found = {}
    for page in PAGES:
        text, name = page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix()
        parts = re.split(r"^## ", text, flags=re.MULTILINE) if page == README else [text]
        for part in parts:
            title = f"{name}: {part.partition(chr(10))[0]}" if page == README else name
            found[title] = blocks_of(part)
    return {title: blocks for title, blocks in found.items() if blocks}


CHAPTERS = chapters()
NOT_RUN = [block for blocks in CHAPTERS.values() for block in blocks if block.mark.startswith("not run")]


def follow(steps: list[tuple[str, object, bool]], folder: Path) -> str:
    """Run Python and commands, one after the other in one process; return what they print."""
    plan = folder.parent / f"{folder.name}.json"
    plan.write_text(json.dumps(steps), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, "-c", FOLLOW, str(plan)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_whoever_follows_a_page_sees_no_error(chapter: str, tmp_path: Path) -> None:
    rows = "".join(f"{'ABC'[i % 3]},{int(i % 7 < 1 + i % 3)}\n" for i in range(300))
    (tmp_path / "log.csv").write_text(f"variant,clicked\n{rows}")  # the log of the reader, of which the README speaks
    steps: list[tuple[str, object, bool]] = []
    for block in CHAPTERS[chapter]:
        for package in NEEDED:
            if block.run and package in block.text:
                pytest.importorskip(package)
        if block.run and block.language == "python":
            steps.append(("python", block.text, block.mark == "continues"))
        elif block.run:
            steps += [("bash", command, False) for command in block.commands]
    printed = re.split(r"^=== step \d+$", follow(steps, tmp_path), flags=re.MULTILINE)[1:]
    assert len(printed) == len(steps)
    for step, text in zip(steps, printed, strict=True):
        assert text.strip() or step[0] == "python", step


def test_marks_are_understood() -> None:
    for blocks in CHAPTERS.values():
        for block in blocks:
            assert re.fullmatch(r"|continues|not run: \S.+|run by \S+", block.mark), block.mark
            if block.mark.startswith("run by "):
                assert (ROOT / block.mark.removeprefix("run by ")).is_file()


def test_what_is_not_run_is_little() -> None:
    commands = [command for block in NOT_RUN for command in block.commands]
    assert commands
    assert {command[1] for command in commands} <= {"reproduce", "train", "run", "list"}
    assert len(NOT_RUN) <= 6


@pytest.mark.parametrize("block", NOT_RUN, ids=lambda block: block.text.strip()[:40])
def test_what_is_not_run_names_what_exists(block: Block) -> None:
    for command in block.commands:
        check_command(command)
    if block.language == "python":
        check_imports(block.text)


def check_command(words: list[str]) -> None:
    """Fail unless a command, its options and the names in it exist."""
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while hasattr(command, "commands"):
        name, *rest = rest
        command = command.commands[name]
    given = command.make_context(words[1], rest).params
    if words[1] == "reproduce":
        assert set(given["figures"]) <= set(EXPERIMENTS)
    if "env" in given:
        check_id(given["env"])
    for agent in given.get("agent") or ():
        agents.registry.find(parse_agent(agent)[0])


def check_imports(code: str) -> None:
    """Fail unless code is Python, and what it imports from this library exists."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bai_gym"):
            module = importlib.import_module(node.module or "")
            assert all(hasattr(module, alias.name) for alias in node.names)


@pytest.mark.parametrize(
    "line",
    [
        "bai-gym reproduce shvar-99",
        "bai-gym run BAI-Nowhere-v0",
        "bai-gym run BAI-Gaussian64-v0 --agent Nobody",
        "bai-gym run BAI-Gaussian64-v0 --no-such-option 3",
        "bai-gym no-such-command",
    ],
)
def test_a_wrong_command_is_noticed(line: str) -> None:
    with pytest.raises(Exception, match=r"shvar-99|Nowhere|Nobody|no-such|''"):
        check_command(shlex.split(line))


def test_a_block_that_fails_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        follow([("python", "x = 1", False), ("python", "x / 0", True)], tmp_path)
    with pytest.raises(AssertionError, match="NameError"):
        follow([("python", "x = 1", False), ("python", "x", False)], tmp_path)
    with pytest.raises(AssertionError, match="unknown agent"):
        follow([("bash", ["bai-gym", "run", "BAI-Bernoulli3-v0", "--agent", "Nobody"], False)], tmp_path)
