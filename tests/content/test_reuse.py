"""Finished chunks are reused where code and data are provably the same, and else if the user says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

AGENT = """
import numpy as np
LEVEL = 1

class Mine:
    def __init__(self, level=None):
        self.level = level

    def allocate(self, observation):
        return np.ones(observation["means"].shape, int)

    def recommend(self, observation):
        return np.full(len(observation["means"]), LEVEL if self.level is None else self.level)
"""
PLAY = """
import bai_gym

def play(agent, **more):
    played = []
    arms = {"means": [0.9, 0.5, 0.1], "shuffle": False}
    row = bai_gym.compare([agent], "BAI-Custom-v0", budgets=[3], runs=more.pop("runs", 2), env_kwargs=arms,
        out="results", on_chunk=lambda done, of: played.append(of - done), **more)[0]
    return round(row.simple_regret, 3), bool(played[0])
"""


def run(folder: Path, program: str, *, script: str | None = "script.py", arguments: tuple[str, ...] = ()) -> Any:
    """Return what a program prints, as JSON; it has the agent and ``play`` in its own text."""
    text = AGENT + PLAY + textwrap.dedent(program)
    if script is not None:
        (folder / script).write_text(text)
    command = ["-c", text] if script is None else [script, *arguments]
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(
        done.stdout.replace("(", "[").replace(")", "]").replace("'", '"').replace("T", "t").replace("F", "f")
    )


def test_a_script_takes_its_finished_runs_until_its_text_changes(tmp_path: Path) -> None:
    """An agent of the library is reused whatever the script says."""
    program = "print([play(Mine), play('Uniform')])"
    found = [run(tmp_path, program) for _ in range(2)]
    found += [run(tmp_path, f"{program}\n# a remark"), run(tmp_path, program, arguments=("--fast",))]
    played = [tuple(played for _, played in agents) for agents in found]
    assert played == [(True, True), (False, False), (True, False), (True, False)]


def test_what_a_script_changes_while_it_runs_is_another_agent(tmp_path: Path) -> None:
    program = """
        found = []
        for LEVEL in (0, 2):
            found.append(play(Mine))
        Mine.recommend = lambda self, observation: np.full(len(observation["means"]), 1)
        print(found + [play(Mine), play(Mine(0)), play(Mine(2))])
        """
    assert run(tmp_path, program) == [[0, True], [0.8, True], [0.4, True], [0.4, True], [0.4, True]]


def test_where_it_cannot_be_known_the_user_decides(tmp_path: Path) -> None:
    first = run(tmp_path, "print(play(Mine, runs=3000))", script=None)
    program = """
        from bai_gym.errors import AgentError
        refused = False
        try:
            play(Mine)
        except AgentError as error:
            refused = "reuse" in str(error) and "\\n" not in str(error)
        print([refused, play(Mine, runs=3000, reuse=True), play(Mine, reuse=False)])
        """
    assert first == [0.4, True]
    assert run(tmp_path, program, script=None) == [True, [0.4, False], [0.4, True]]
