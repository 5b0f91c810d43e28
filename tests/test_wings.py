"""Wings: another distribution adds environments, agents and commands, and cannot break the suite."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bai_gym
from bai_gym.wings import wings

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="there are no processes")

CODE = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import typer

from bai_gym.agents import Agent, SequentialAgent
from bai_gym.bandits import GaussianBandit
from bai_gym.problems import FixedProblem
from bai_gym.sampling import Block, Rule, State


@dataclass
class Halves(Agent):
    name: ClassVar[str] = "Halves"

    def plan(self):
        pulls = np.full((self.batch, self.num_arms), self.budget // self.num_arms)
        return (yield Block(pulls)).means.argmax(axis=1)


class Nothing(State):
    pass


def upper_bound(pulls, mean, variance, s):
    return mean + 2.0 / np.sqrt(pulls)


@dataclass
class Widest(SequentialAgent):
    name: ClassVar[str] = "Widest"
    rule: ClassVar[Rule] = Rule(index=upper_bound, state=Nothing)


def two_arms(*, gap=1.0):
    return FixedProblem(GaussianBandit([[gap, 0.0]], [[1.0, 1.0]]))


def hello():
    typer.echo("hello from another distribution")
"""

WING = """
from bai_gym.wings import Command, Entry, Registration, Wing

WING = Wing(
    families={"two-arms": "others.code:two_arms"},
    ids=(Registration("Others-TwoArms-v0", "two-arms", 50, "two arms, for a test", {"gap": 2.0}),),
    groups={"others": "Of others"},
    agents={"Halves": Entry("others.code:Halves"), "Widest": Entry("others.code:Widest")},
    commands={"hello": Command("others.code:hello", "Say hello.")},
)
TAKEN = Wing(agents={"Halves": Entry("others.code:Halves")})
"""

USE = """
import sys
import tomllib
import gymnasium as gym
import bai_gym

assert "others.code" not in sys.modules, "it is imported with bai_gym"
print([round(bai_gym.evaluate(name, "Others-TwoArms-v0", runs=50).error_probability) for name in ("Halves", "Widest")])
print(gym.make("Others-TwoArms-v0").unwrapped.num_arms, bai_gym.agents.Halves.__module__)
print([env.num_arms for env in [gym.make_vec("Others-TwoArms-v0", 3, gap=1.0).unwrapped]])
"""


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs Python where a distribution with the given entry points is installed."""

    def run(points: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
        package, about = tmp_path / "others", tmp_path / "others-1.0.dist-info"
        for folder in (package, about):
            folder.mkdir(exist_ok=True)
        for path, text in (
            (package / "__init__.py", ""),
            (package / "code.py", CODE),
            (package / "wing.py", WING),
            (about / "METADATA", "Metadata-Version: 2.1\nName: others\nVersion: 1.0\n"),
            (about / "entry_points.txt", "[bai_gym.wings]\n" + "".join(f"{k} = {v}\n" for k, v in points.items())),
        ):
            path.write_text(text, encoding="utf-8")
        environ = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"}
        return subprocess.run([sys.executable, *arguments], env=environ, capture_output=True, text=True, check=False)

    return run


def test_another_distribution_adds_agents_environments_and_commands(python: Callable[..., Any]) -> None:
    points = {"others": "others.wing:WING"}
    done = python(points, "-W", "error", "-c", USE)
    assert done.stdout.split("\n")[:3] == ["[0, 0]", "2 others.code", "[2]"], done.stderr
    for arguments, text in (
        (("hello",), "hello from another distribution"),
        (("--help",), "Say hello."),
        (("list", "agents", "--search", "Widest"), "Of others"),
        (("list", "envs", "--search", "Others-TwoArms"), "two arms, for a test"),
        (("run", "Others-TwoArms-v0", "--agent", "Widest", "--runs", "20"), "Widest"),
    ):
        done = python(points, "-c", "from bai_gym.cli.main import main; main()", *arguments)
        assert done.returncode == 0 and text in done.stdout, (arguments, done)


@pytest.mark.each(
    "place, reason",
    [
        ("others.absent:WING", "cannot be loaded (ModuleNotFoundError"),
        ("others.wing:Command", "it is no bai_gym.wings.Wing"),
        ("others.wing:TAKEN", "'Halves', one of its agents, is taken"),
    ],
)
def test_a_wing_that_does_not_fit_is_left_out_with_a_warning(
    place: str, reason: str, python: Callable[..., Any]
) -> None:
    done = python({"first": "others.wing:WING", "second": place}, "-c", USE)
    assert "[0, 0]" in done.stdout, done.stderr
    assert f"the wing {place} of others is left out: " in done.stderr and reason in done.stderr, done.stderr


def test_the_core_comes_first_and_names_are_declared_once() -> None:
    assert next(iter(wings())) == "bai_gym"
    for kind in ("families", "groups", "agents", "commands"):
        names = [name for wing in wings().values() for name in getattr(wing, kind)]
        assert sorted(set(names)) == sorted(names), kind


REST = """
import importlib, pkgutil, sys
import gymnasium as gym
import bai_gym, bai_gym.agents

def failed(name):
    raise ImportError(name)

for module in pkgutil.walk_packages(bai_gym.__path__, "bai_gym.", onerror=failed):
    if not module.name.endswith(("executor.worker", "__main__")):  # the body of another process
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            if str(error.name).startswith("bai_gym"):
                raise
from bai_gym.agents import make, names
for name in names():
    make(name)
from bai_gym.envs.registration import IDS
for entry in IDS:
    if entry.data is None:
        gym.make(entry.id)
print(len(names()), len(IDS), bai_gym.evaluate("SH", "BAI-Gaussian64-v0", runs=20).error_probability)
"""


@pytest.mark.slow
def test_without_a_wing_the_rest_is_imported_made_and_played(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[1]
    tables = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["bai-gym"]["wings"]
    assert set(tables) <= wings().keys()
    agents: dict[str, int] = {}
    for name in ["", *tables, "all"]:
        copy = tmp_path / (name or "whole")
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*")
        for folder in ("bai_gym", "agents"):
            shutil.copytree(root / folder, copy / folder, ignore=ignored)
        for path in tables.get(name, []) if name != "all" else [path for paths in tables.values() for path in paths]:
            target = copy / path
            if path.startswith(("bai_gym", "agents")):
                shutil.rmtree(target) if target.is_dir() else target.unlink()
        shutil.move(copy / "agents", copy / "bai_gym" / "agents")
        environ = {**os.environ, "PYTHONPATH": str(copy)}
        done = subprocess.run([sys.executable, "-c", REST], env=environ, cwd=copy, capture_output=True, text=True)
        assert done.returncode == 0, (name, done.stderr[-2000:])
        agents[name] = int(done.stdout.split()[0])
        shutil.rmtree(copy)
    assert agents["all"] < min(agents[name] for name in tables) and agents[""] == len(bai_gym.agents.names())
