"""Help, listings, completion and the description of an agent."""

from __future__ import annotations

import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable

import gymnasium as gym
import pytest
from rich.console import Console

from bai_gym import agents
from bai_gym.cli import listing
from bai_gym.cli.catalogue import catalogue, collected
from bai_gym.cli.main import COMMANDS, app
from bai_gym.data.locate import find as find_data
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError, UnknownNameError
from bai_gym.wings import Registration

Command = Callable[..., str]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process, and return what it printed."""

    def run(*words: str) -> str:
        assert not app(list(words), standalone_mode=False, prog_name="bai-gym")
        return capsys.readouterr().out

    return run


@pytest.mark.usefixtures("every_wing")
def test_what_is_stored_to_save_time_is_what_it_is_stored_for() -> None:
    assert catalogue() == collected(), "run `make catalogue`"


@pytest.mark.each("words", [(), *((name,) for name in COMMANDS), ("list", "agents")])
def test_h_is_help(command: Command, words: tuple[str, ...]) -> None:
    assert command(*words, "-h") == command(*words, "--help")


def test_listings_can_be_searched_and_read_by_programs(command: Command) -> None:
    rows = json.loads(command("list", "agents", "--task", "top-m", "--search", "LUCB", "--json"))
    assert [row["name"] for row in rows] == ["LUCB"]
    assert rows[0]["knows"] == [] and "best-arm" in rows[0]["tasks"] and rows[0]["stops"] is True
    assert json.loads(command("list", "agents", "--search", "Sequential halving", "--json"))[0]["name"] == "SH"
    assert [row["name"] for row in catalogue()["agents"] if not row["title"]] == []
    with pytest.raises(ParameterError, match="'halvening'"):
        command("list", "agents", "--search", "halvening")
    found = json.loads(command("list", "envs", "--json"))
    assert [row["id"] for row in found] == [entry.id for entry in IDS]
    assert {row["id"] for row in json.loads(command("list", "experiments", "--search", "shvar", "--json"))} >= {
        "shvar-2"
    }
    with pytest.raises(UnknownNameError, match="top-m"):
        command("list", "agents", "--task", "top-n")


def test_tables_in_pipes_are_not_cut() -> None:
    line = [sys.executable, "-m", "bai_gym", "list", "agents", "--wide"]
    text = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}).stdout
    assert "…" not in text
    found = {row.split("│")[1].strip(): row for row in text.splitlines() if row.startswith("│")}
    assert list(found) == list(agents.names())
    assert all(row["what"] in found[row["name"]] for row in catalogue()["agents"])


def test_agents_take_three_lines_at_most_in_eighty_columns(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(listing, "OUT", Console(width=80, file=shown))
    command("list", "agents")
    lines = [line for line in shown.getvalue().splitlines() if line.startswith("│")]
    named = [number for number, line in enumerate(lines) if line[2] != " "]  # a line that goes on has no name
    assert len(named) == len(agents.names()) and max(map(len, lines)) <= 80
    assert max(after - before for before, after in itertools.pairwise([*named, len(lines)])) <= 3


@pytest.mark.each("name", agents.names())
def test_every_agent_can_be_shown(command: Command, name: str) -> None:
    text = command("show", name)
    assert text.startswith(name) and "oracle knowledge" in text
    (row,) = (row for row in catalogue()["agents"] if row["name"] == name)
    assert row["what"] in text
    assert all(parameter in text for parameter in row["parameters"])


def test_needs_are_shown_for_the_parameters(command: Command) -> None:
    for name, knows, least in (
        ("SHVar", "variances", "2 with 2 arms, 24 with 8 arms, 384 with 64 arms"),
        ("T3C(family=student)", "none", "4 with 2 arms, 16 with 8 arms, 128 with 64 arms"),
        ("T3C(sigma=oracle)", "variances", "2 with 2 arms, 8 with 8 arms, 64 with 64 arms"),
    ):
        assert f"oracle knowledge: {knows}\n  minimum budget: {least}\n" in command("show", name), name


@pytest.mark.each("entry", IDS)
def test_every_environment_can_be_shown(command: Command, entry: Registration) -> None:
    text = command("show", entry.id)
    assert text.startswith(entry.id) and entry.summary in text and f"rewards: {entry.rewards}" in text
    assert f"budget: {entry.budget:,} pulls" in text
    if entry.data is not None and find_data(entry.data) is None:
        assert f"data: data set '{entry.data}' is not in" in text and "\n  arms: " not in text
    else:
        assert f"\n  arms: {gym.make(entry.id).unwrapped.problem.num_arms}\n" in text  # type: ignore[attr-defined]


@pytest.mark.each(
    "words, expected",
    [
        ("bai-gym run --agent SHAd", ["SHAdaVar", "SHAdaVar-Reuse"]),
        ("bai-gym run BAI-Bernoulli3", ["BAI-Bernoulli3-v0"]),
        ("bai-gym show UGapEc", ["UGapEc", "UGapEc-V"]),
        ("bai-gym sh", ["show"]),
    ],
)
def test_the_shell_completes_names(words: str, expected: list[str]) -> None:
    asked = {"_BAI_GYM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    line = [sys.executable, "-c", "from bai_gym.cli import main; main()"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env={**os.environ, **asked})
    assert sorted(done.stdout.split()) == expected
