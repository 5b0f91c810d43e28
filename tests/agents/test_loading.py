"""Agents named by the file or the module that they are in."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bai_gym import compare
from bai_gym.agents import make
from bai_gym.api import agent_source, make_cells, parse_agent
from bai_gym.errors import AgentError, BaiGymError, ParameterError, UnknownNameError

Command = Callable[..., tuple[str, str]]
MINE = """
from __future__ import annotations
import helpers
from dataclasses import dataclass
from bai_gym.agents import SequentialHalving

@dataclass
class First:
    start: int = 0
    def act(self, observation):
        exploring = observation["remaining"][0] > 0
        return (int(observation["pulls"].sum()) + self.start) % 2 if exploring else helpers.choose(observation)

class Same(SequentialHalving):
    pass

def ready(start=1):
    return First(start)

instance = First(1)
number = 3
def broken():
    return 3
"""
LATE = """
class Late:
    def act(self, observation):
        import helpers, os
        import package.part as part
        from helpers import choose as chosen
        from package import NAME, other, part as again
        assert helpers.choose is chosen and part.SHARE == again.SHARE == 2 and os.sep and other.NAME != NAME
        exploring = observation["remaining"][0] > 0
        return int(observation["pulls"].sum()) % part.SHARE if exploring else chosen(observation)
"""
HELPERS = "def choose(observation):\n    return int(observation['means'].argmax())\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with an agent's file and a module beside it."""
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "helpers.py").write_text(HELPERS)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("helpers", "package", "package.other", "package.part"):
        sys.modules.pop(name, None)


@pytest.mark.each(
    "reference, start",
    [
        ("mine.py:First", 0),
        ("mine.py:First(start=1)", 1),
        ("mine.py:instance", 1),
        ("mine.py:ready(start=0)", 0),
        ("mine:First", 0),
    ],
)
def test_a_class_a_function_or_an_agent(folder: Path, reference: str, start: int) -> None:
    name, parameters = parse_agent(reference)
    made = make(name, **parameters)
    source = agent_source(reference)
    assert made.start == start and made is not make(name, **parameters) and source.make() is not source.make()
    assert "mine" not in sys.modules and "helpers" not in sys.modules
    assert str(folder) not in sys.path


def test_folders_have_modules_of_their_own(folder: Path) -> None:
    other = folder / "a (b)"
    other.mkdir()
    (other / "mine.py").write_text(MINE)
    (other / "helpers.py").write_text(HELPERS.replace("argmax", "argmin"))
    observation = {"means": np.array([1.0, 2.0]), "remaining": np.zeros(1)}
    assert [make(f"{path}:First").act(observation) for path in ("mine.py", "a (b)/mine.py", "mine.py")] == [1, 0, 1]
    assert parse_agent("a (b)/mine.py:First(start=1)") == ("a (b)/mine.py:First", {"start": 1})


def digest(reference: str) -> str:
    return make_cells([reference], "BAI-Bernoulli3-v0", [9], 0)[0].digest


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_functions_may_import_modules_of_the_folder(folder: Path, workers: int) -> None:
    """They do so while the agent plays, when the folder is no longer searched, and in worker processes."""
    (folder / "late.py").write_text(LATE)
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("NAME = 1\n")
    (folder / "package" / "other.py").write_text("NAME = 2\n")
    (folder / "package" / "part.py").write_text("SHARE = 2\n")
    (played,) = compare(["late.py:Late"], "BAI-Bernoulli3-v0", budgets=[9], runs=1000 * workers, workers=workers)
    assert 0 < played.error_probability < 1
    assert str(folder) not in sys.path
    (folder / "package" / "part.py").write_text("SHARE = 1 + 1\nSHARE += 1")
    with pytest.raises(AssertionError):  # of the agent: SHARE is 3
        compare(["late.py:Late"], "BAI-Bernoulli3-v0", budgets=[9], runs=1000 * workers, workers=workers)
    assert make("mine.py:First").act({"means": np.array([1.0, 2.0]), "remaining": np.zeros(1)}) == 1
    (folder / "helpers.py").write_text("choose = None\n")
    with pytest.raises(TypeError):  # not the module that the other agent has left
        make("mine.py:First").act({"means": np.array([1.0, 2.0]), "remaining": np.zeros(1)})


@pytest.mark.usefixtures("folder")
def test_a_command_plays_them_and_names_them_in_its_rerun_command(command: Command) -> None:
    words = ["--agent", "mine.py:First", "--agent", "mine.py:First(start=1)", "--agent", "SH", "--runs", "40"]
    assert "│ First(start=1) " in command("run", "BAI-Bernoulli3-v0", "--budget", "9", *words, "--out", "a")[0]
    rows = pq.read_table("a/results.parquet").to_pylist()
    assert [row["agent"] for row in rows] == ["First", "First(start=1)", "SH"]
    assert "mine.py:First(start=1)" in rows[1]["rerun"]
    command(*shlex.split(rows[1]["rerun"])[1:], "--out", "again")
    (again,) = pq.read_table("again/results.parquet").to_pylist()
    assert again["errors"] == rows[1]["errors"] and again["digest"] == rows[1]["digest"]


@pytest.mark.usefixtures("folder")
def test_a_theorem_does_not_cover_a_class_that_is_derived_from_its_agent(command: Command) -> None:
    """Such a class may play differently under the inherited name."""
    words = ("run", "BAI-Bernoulli3-v0", "--runs", "5", "--budget", "90", "--bounds", "--agent")
    assert "Karnin" in command(*words, "SH")[0]
    assert "Karnin" not in command(*words, "mine.py:Same")[0]


def test_a_change_of_the_file_or_of_what_it_imports_is_seen(folder: Path) -> None:
    digests = [digest("mine.py:First"), digest("mine.py:First")]
    (folder / "helpers.py").write_text(HELPERS.replace("argmax", "argmin "))  # another length: another time stamp
    digests.append(digest("mine.py:First"))
    (folder / "mine.py").write_text(MINE.replace("% 2", "% 3"))
    digests.append(digest("mine.py:First"))
    assert digests[0] == digests[1] and len(set(digests)) == 3


@pytest.mark.each(
    "reference, error, words",
    [
        ("nine.py:First", UnknownNameError, "there is no file nine.py in "),
        ("nine:First", UnknownNameError, "there is no module 'nine'"),
        ("mine.py:Frist", UnknownNameError, "Did you mean First? (mine.py has: First, Same, ready, instance, broken)"),
        ("mine.py", ParameterError, "names a file without an agent: write mine.py:NAME"),
        ("mine.py:number", AgentError, "mine.py:number is a int: name a class, an agent, or a function"),
        ("mine.py:broken", AgentError, "int is not an agent: it needs act"),
        ("mine.py:First(stop=1)", ParameterError, "mine.py:First has no parameter 'stop'; it has: start"),
        ("mine.py:ready(stop=1)", AgentError, "unexpected keyword argument 'stop'"),
        ("mine.py:instance(start=1)", ParameterError, "is an agent, not a class, and takes no parameters"),
        ("mine.py:First(", ParameterError, "cannot be read; write NAME or NAME(parameter=value, ...)"),
        ("bad.py:First", AgentError, "bad.py cannot be loaded: ZeroDivisionError: division by zero (line 3)"),
        ("worse.py:First", AgentError, "worse.py cannot be loaded: SyntaxError: "),
        ("needs.py:First", AgentError, "needs.py cannot be loaded: ModuleNotFoundError: No module named 'nothing'"),
    ],
)
def test_mistakes_are_one_line(folder: Path, reference: str, error: type[BaiGymError], words: str) -> None:
    (folder / "bad.py").write_text("\n\nfirst = 1 / 0\n")
    (folder / "worse.py").write_text("class First(\n")
    (folder / "needs.py").write_text("import nothing.here\n")
    with pytest.raises(error) as caught:
        agent_source(reference)
    assert words in str(caught.value) and "\n" not in str(caught.value)
