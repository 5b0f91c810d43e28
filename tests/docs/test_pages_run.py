"""Pages tell the truth: whoever follows them from top to bottom, block by block, sees no error.

Python blocks and lines that begin with ``bai-gym`` are run in the order of the page, in a folder of its own (of the
README: each section in one), with few runs: what comes out is not what is tested. A comment above a block may say

- ``<!-- continues -->``: this block uses names of the Python blocks before it; others start afresh;
- ``<!-- tested with: OPTIONS -->``: at full size it would take too long; its commands are run with these options, too;
- ``<!-- run by FILE -->``: that test runs it;
- ``<!-- not run: REASON -->``: nothing runs it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>python|bash)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
NEEDED = ("stable_baselines3", "pandas", "minari", "sqlalchemy")  # of the extras, where a block imports them

SMALLER = "tested with: "
ELSEWHERE = "run by "
NOWHERE = "not run: "
SIZED = ("plan", "reproduce", "run", "train")

FOLLOW = """
import json, sys

names = {}
for number, (kind, text, continues) in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))):
    print(f"\\n=== step {number}", flush=True)
    if kind == "python":
        names = names if continues else {"__name__": "__main__"}
        exec(compile(text, f"<block {number}>", "exec"), names)
    else:
        from bai_gym.cli import main  # not sooner: what Python blocks need they have to import
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
    def run_here(self) -> bool:
        return not self.mark.startswith((ELSEWHERE, NOWHERE))

    @property
    def smaller(self) -> list[str]:
        """Options that make the commands smaller."""
        return shlex.split(self.mark.partition(SMALLER)[2]) if self.mark.startswith(SMALLER) else []

    @property
    def commands(self) -> list[list[str]]:
        lines = self.text.splitlines() if self.language == "bash" else []
        found = [shlex.split(line, comments=True) for line in lines if line.startswith("bai-gym ")]
        return [words + (self.smaller if words[1] in SIZED else []) for words in found]


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


def follow(steps: list[tuple[str, object, bool]], folder: Path) -> str:
    """Run Python and commands, one after the other in one process; return what they print."""
    plan = folder.parent / f"{folder.name}.json"
    plan.write_text(json.dumps(steps), encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "default", "MINARI_DATASETS_PATH": str(folder)}
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
def test_whoever_follows_a_page_sees_no_error(chapter: str, tmp_path: Path, shortened: Callable[[str], str]) -> None:
    rows = "".join(f"{'ABC'[i % 3]},{int(i % 7 < 1 + i % 3)}\n" for i in range(300))
    (tmp_path / "log.csv").write_text(f"variant,clicked\n{rows}")  # the log of the reader, of which the README speaks
    steps: list[tuple[str, object, bool]] = []
    for full in filter(lambda block: block.run_here, CHAPTERS[chapter]):
        text = full.text if "bai-gym advise" in full.text else shortened(full.text)  # which needs 400 runs
        block = Block(full.language, text, full.mark)
        for package in NEEDED:
            if package in block.text:
                pytest.importorskip(package)
        if block.language == "python":
            steps.append(("python", block.text, block.mark == "continues"))
        else:
            steps += [("bash", command, False) for command in block.commands]
    printed = re.split(r"^=== step \d+$", follow(steps, tmp_path), flags=re.MULTILINE)[1:]
    assert len(printed) == len(steps)
    for step, text in zip(steps, printed, strict=True):
        assert text.strip() or step[0] == "python", step
