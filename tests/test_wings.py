"""Wings: another distribution adds environments, agents and commands, and cannot break the suite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bai_gym.wings import NAMED, Wing, wings

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="there are no processes")

CODE = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import typer

from bai_gym.agents import Agent, SequentialAgent
from bai_gym.bandits import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.data import DataFile, DataSet
from bai_gym.problems import FixedProblem
from bai_gym.sampling import Block, Rule, State
from bai_gym.statistics import Statistics
from bai_gym.tasks import BestArm


class WorstArm(BestArm):
    name = "worst-arm"

    def describe(self):
        return "the worst arm"

    def correct_recommendation(self, means):
        return means.argmin(axis=-1)

    def simple_regret(self, means, recommendation):
        chosen = np.take_along_axis(means, np.asarray(recommendation)[..., None], -1)[..., 0]
        return chosen - means.min(axis=-1)


class Margin(WorstArm):
    name = "worst-with-margin"

    def __init__(self, threshold):
        super().__init__(epsilon=threshold)


@dataclass
class Halves(Agent):
    name: ClassVar[str] = "Halves"
    tasks: ClassVar[frozenset[str]] = frozenset({"best-arm", "worst-arm", "worst-with-margin"})

    def plan(self):
        pulls = np.full((self.batch, self.num_arms), self.budget // self.num_arms)
        return self.task.correct_recommendation((yield Block(pulls)).means)


class Nothing(State):
    pass


def upper_bound(pulls, mean, variance, s):
    return mean + 2.0 / np.sqrt(pulls)


@dataclass
class Widest(SequentialAgent):
    name: ClassVar[str] = "Widest"
    rule: ClassVar[Rule] = Rule(index=upper_bound, state=Nothing)


class Uniforms(NamedTuple):
    means: np.ndarray


def draw(arms, n, arm, rng):
    return arms.means[n, arm] + rng.random() - 0.5


class UniformBandit(Bandit):
    def __init__(self, means):
        self.means, self.variances = means, np.full(means.shape, 1.0 / 12.0)

    def pull(self, flat, rng):
        return self.means.take(flat) + rng.random(len(flat)) - 0.5

    def draw_blocks(self, flat, counts, rng, *, variances=True):
        rewards = self.pull(np.repeat(np.arange(self.means.size)[flat], counts), rng)
        parts = np.split(rewards, np.cumsum(counts)[:-1])
        squares = [((x - x.mean()) ** 2).sum() / max(len(x) - 1, 1) for x in parts]
        return Statistics(counts, np.array([x.mean() for x in parts]), np.array(squares))

    def draws(self):
        return Draws(draw, Uniforms(self.means))


def two_arms(*, gap=1.0):
    return FixedProblem(UniformBandit(np.array([[gap, 0.0]])))


def hello():
    typer.echo("hello from another distribution")


LOG = DataSet(
    name="log",
    title="A log of others",
    page="https://example.org",
    archive=None,
    archive_path="log.csv",
    archive_sha256=None,
    files=(DataFile("log", ("log.csv",)),),
    licence="none",
    terms="None.",
    citation="Others.",
)
"""

WING = """
from bai_gym.wings import Command, Entry, Registration, Wing

WING = Wing(
    families={"two-arms": "others.code:two_arms"},
    ids=(Registration("Others-TwoArms-v0", "two-arms", 50, "two arms, for a test", {"gap": 2.0}),),
    groups={"others": "Of others"},
    agents={"Halves": Entry("others.code:Halves"), "Widest": Entry("others.code:Widest")},
    tasks={"worst-arm": "others.code:WorstArm", "worst-with-margin": "others.code:Margin"},
    data={"log": "others.code:LOG"},
    commands={"hello": Command("others.code:hello", "Say hello.")},
)
TAKEN = Wing(agents={"Halves": Entry("others.code:Halves")})
TASK = Wing(tasks={"top-m": "others.code:WorstArm"})
DATA = Wing(data={"log": "others.code:LOG"})
"""

USE = """
import sys
import tomllib
import gymnasium as gym
import bai_gym
from bai_gym import data
from bai_gym.errors import BaiGymError

assert "others.code" not in sys.modules, "it is imported with bai_gym"
print([round(bai_gym.evaluate(name, "Others-TwoArms-v0", runs=50).error_probability) for name in ("Halves", "Widest")])
print(gym.make("Others-TwoArms-v0").unwrapped.num_arms, bai_gym.agents.Halves.__module__)
print([env.num_arms for env in [gym.make_vec("Others-TwoArms-v0", 3, gap=1.0).unwrapped]])
from bai_gym.sampling import engine
engine.COMPILED_FROM = 0  # the loop of these arms and this rule is compiled
print(round(bai_gym.evaluate("Widest", "Others-TwoArms-v0", runs=50).error_probability, 2))
print(gym.make("Others-TwoArms-v0", task="worst-arm").unwrapped.episode_spec.task)
print([
    bai_gym.evaluate(name, "Others-TwoArms-v0", runs=20, env_kwargs=dict(task="worst-arm")).error_probability
    for name in ("Halves", "Uniform")
])
for keywords in (dict(task="worst-arm", m=2), dict(task="worst-with-margin"), dict(task="worst")):
    try:
        gym.make("Others-TwoArms-v0", **keywords)
    except BaiGymError as error:
        print(str(error).partition(" (allowed")[0])
print(data.get("log").title, [state.dataset for state in data.status() if state.dataset == "log"])
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
    assert done.stdout.splitlines() == [
        "[0, 0]",
        "2 others.code",
        "[2]",
        "0.0",
        "WorstArm()",
        "[0.0, 0.0]",
        "m is a keyword of the task 'top-m'; this one is 'worst-arm'",
        "the task 'worst-with-margin' needs the keyword threshold",
        "unknown task 'worst'. Did you mean worst-arm?",
        "A log of others ['log']",
    ], done.stderr
    for arguments, text in (
        (("hello",), "hello from another distribution"),
        (("--help",), "Say hello."),
        (("list", "agents", "--wide", "--search", "Widest"), "Of others"),
        (("list", "agents", "--wide", "--task", "worst-arm"), "Halves"),
        (("data",), "log"),
        (("list", "envs", "--search", "Others-TwoArms"), "two arms, for a test"),
        (("run", "Others-TwoArms-v0", "--agent", "Widest", "--runs", "20"), "Widest"),
    ):
        done = python(points, "-c", "from bai_gym.cli.main import main; main()", *arguments)
        assert done.returncode == 0 and text in done.stdout, (arguments, done)


def test_wings_that_do_not_fit_are_left_out_with_a_warning(python: Callable[..., Any]) -> None:
    reasons = {
        "others.absent:WING": "cannot be loaded (ModuleNotFoundError",
        "others.wing:Command": "it is no bai_gym.wings.Wing",
        "others.wing:TAKEN": "'Halves', one of its agents, is taken",
        "others.wing:TASK": "'top-m', one of its tasks, is taken",
        "others.wing:DATA": "'log', one of its data, is taken",
    }
    done = python({"first": "others.wing:WING", **{f"no{place}": place for place in reasons}}, "-c", USE)
    assert "[0, 0]" in done.stdout, done.stderr
    for place, reason in reasons.items():
        assert re.search(f"the wing {place} of others is left out: .*{re.escape(reason)}", done.stderr), done.stderr


def test_the_core_comes_first_and_names_are_declared_once() -> None:
    assert next(iter(wings())) == "bai_gym"
    for kind in NAMED:
        names = [name for wing in wings().values() for name in getattr(wing, kind)]
        assert sorted(set(names)) == sorted(names), kind


def without(*arguments: str) -> None:
    """Run the script that checks a copy without wings."""
    script = Path(__file__).resolve().parents[1] / ".ci" / "without.py"
    done = subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stdout[-4000:], done.stderr[-4000:])


def test_each_wing_declares_something() -> None:
    assert [name for name, wing in wings().items() if wing == Wing()] == []


@pytest.mark.slow
def test_without_a_wing_the_rest_is_imported_listed_and_played() -> None:
    for name in wings().keys() - {"bai_gym"}:
        without(name, "--only", "imports", "--only", "commands")


@pytest.mark.slow
def test_without_all_wings_too_the_documentation_is_built_and_the_fast_tests_pass() -> None:
    without("all")
