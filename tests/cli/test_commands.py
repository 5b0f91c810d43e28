"""What the commands print and write."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bai_gym import compare
from bai_gym.api import agent_source
from bai_gym.cli import console
from bai_gym.cli.defaults import default_agents
from bai_gym.envs.registration import IDS
from bai_gym.errors import ParameterError
from bai_gym.theory import optimal_value

SMALL = ("run", "BAI-Custom-v0", "--budget", "40", "--runs", "30")
BERNOULLI = {"means": [0.9, 0.3, 0.1], "distribution": "bernoulli"}
FILES = ("results.csv", "results.md", "results.parquet")
Command = Callable[..., tuple[str, str]]


class PassedOnError(Exception):
    """Ends a command where the library would begin."""


SHARED: dict[str, Any] = {"seed": 3, "workers": 2}


@pytest.mark.each(
    ("function", "words", "given"),
    [
        (
            "api.compare",
            "run BAI-Custom-v0 --budget 40 --runs 9 --path steps --checkpoints 20 --record 2 --reuse",
            {"budgets": [40], "runs": 9, "path": "steps", "checkpoints": 20, "record": 2, "reuse": True},
        ),
        (
            "cli.audit.audit_rule",
            "audit a --delta 0.2 --rewards b --cap 50 --looks 3 --arms 2:5 --epsilon 0.1 --sigma 2 --arrays --bound c",
            {"delta": 0.2, "rewards": "b", "cap": 50, "looks": 3, "arms": (2, 5), "epsilon": 0.1, "sigma": 2.0}
            | {"arrays": True, "intervals": False, "bound": "c"},
        ),
        ("cli.audit.audit_rule", "audit a --looks geometric --arms 3", {"looks": "geometric", "arms": (3, 3)}),
        (
            "cli.plan.plan_budgets",
            "plan a --regret 0.1 --certainty 0.6 --most 500 --reuse",
            {"regret": 0.1, "certainty": 0.6, "most": 500, "reuse": True},
        ),
        (
            "cli.plan.advise_agent",
            "advise a --budget 40 --regret --runs 500 --all",
            {"budget": 40, "regret": True, "runs": 500, "finalists": None},
        ),
    ],
)
def test_options_are_passed_on(
    command: Command, monkeypatch: pytest.MonkeyPatch, function: str, words: str, given: dict[str, Any]
) -> None:
    seen: dict[str, Any] = {}

    def end(*_: Any, **keywords: Any) -> None:
        seen.update(keywords)
        raise PassedOnError

    module, _, name = f"bai_gym.{function}".rpartition(".")
    monkeypatch.setattr(pytest.importorskip(module, reason="the command is part of a wing"), name, end)
    with pytest.raises(PassedOnError):
        command(*words.split(), "--seed", "3", "--workers", "2")
    assert {keyword: seen.get(keyword) for keyword in given | SHARED} == given | SHARED


# ------------------------------------------------------------------------------------------------ run


def test_run_prints_what_it_found_and_where(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = (*SMALL, "--agent", "GapE", "--agent", "SH", "--set", "means=[1, 0, 0]")
    out, err = command(*words, "--out", "[red] :smile:")
    assert err == ""  # no progress where nobody watches
    header, *rows = [line for line in out.splitlines() if line[:1] in "┃│"]
    assert header.split("┃")[-3].strip() == "oracle knowledge"
    knows = {row.split("│")[1].strip(): row.split("│")[-3].strip() for row in rows}
    assert knows == {"GapE [1]": "complexity, range", "SH [2]": "none"}
    assert "BAI-Custom-v0(means=[1, 0, 0])" in out
    folder = Path("[red] :smile:")  # a name, and no style
    assert {path.name for path in folder.iterdir()} == {*FILES, "chunks", "figure.png"}
    assert all(f": {folder / name}\n" in out for name in (*FILES, "figure.png"))
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    left = sorted(tmp_path.iterdir())
    assert "SH [2]" in command(*words)[0] and sorted(tmp_path.iterdir()) == left


def test_run_writes_the_numbers_of_compare(command: Command) -> None:
    pytest.importorskip("matplotlib")
    envs = ["BAI-Bernoulli3-v0", "BAI-Custom-v0"]
    agents = ["VBR", "SH(tie=first)"]
    options = [f"--agent={agent}" for agent in agents]
    command("run", *envs, "--budget=40", "--budget=50", *options, "--runs=30", "--seed=3", "--out=results")
    expected = compare(agents, envs, budgets=[40, 50], runs=30, seed=3)
    found = {
        (row["agent"], row["env"], row["budget"]): (row["errors"], row["mean_pulls"])
        for row in pq.read_table("results/results.parquet").to_pylist()
    }
    assert found == {(row.agent, row.env, row.budget): (row.errors, row.mean_pulls.tolist()) for row in expected}
    figures = {path.name for path in Path("results").glob("*.png")}
    assert figures == {f"figure-{number}-{env}.png" for number, env in enumerate(envs, start=1)}


def test_run_takes_costs_and_shows_money(command: Command, tmp_path: Path) -> None:
    arms = ("--set", "means=[0.5,0.0,0.0]", "--costs", "2.5,1,1", "--budget", "90.5")
    out, _ = command("run", "BAI-Custom-v0", "--agent", "SH", "--agent", "SR", *arms, "--runs", "30", "--out", "found")
    assert "money spent" in out and "90.5" in out and "against the one with the fewest" not in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found" / "results.csv").read_text(encoding="utf-8"))))
    assert all(float(row["budget"]) == 90.5 and 80.0 < float(row["money_spent"]) <= 90.5 for row in rows)


def test_run_shows_the_gap_to_the_optimum(command: Command, tmp_path: Path) -> None:
    words = ("run", "BAI-Bernoulli3-v0", "--runs", "50", "--agent", "Uniform", "--agent", "BayesOptimal", "--optimum")
    out, err = command(*words, "--budget", "9", "--out", "results")
    assert err == "" and "excess error [95 %]" in out and "\nExcess error: error probability minus" in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "results" / "results.csv").read_text())))
    assert {row["agent"] for row in rows} == {"Uniform", "BayesOptimal"}
    for row in rows:
        assert float(row["optimum"]) == optimal_value(3, 9)
        gap = float(row["error_probability"]) - (1 - optimal_value(3, 9))
        assert float(row["excess_error"]) == pytest.approx(gap)
        assert f" {gap:.2f} [" in out
    assert "excess error" in (tmp_path / "results" / "results.md").read_text()
    out, _ = command(*SMALL, "--agent", "SHVar", "--optimum", "--bounds")
    assert "Theorem 4" in out and "No optimum of BAI-Custom-v0" in out and "excess error" not in out.lower()


def test_run_shows_pulls_where_agents_decide_when_to_stop(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("run", "BAI-FC-Custom-v0", "--set", "means=[0.9, 0.3, 0.1]", "--set", "distribution=bernoulli")
    agents = ("--agent", "UGapEc", "--agent", "UGapEc(delta=0.001)")
    out, _ = command(*words, *agents, "--runs", "40", "--budget", "5000", "--out", "results")
    played = compare(agents[1::2], "BAI-FC-Custom-v0", budgets=[5000], runs=40, env_kwargs=BERNOULLI)
    assert f" {played[0].sample_complexity:,.0f} / {played[0].sample_quantiles[2]:,.0f} / " in out
    test = played.paired_pulls("UGapEc(delta=0.001)", "UGapEc")
    assert f" {test.difference:+,.0f} [{test.interval[0]:+,.0f}, {test.interval[1]:+,.0f}] │" in out
    assert (tmp_path / "results" / "figure.png").read_bytes().startswith(b"\x89PNG")


PLAYED = {entry.family: entry.id for entry in IDS if entry.data is None and entry.family != "function"}


@pytest.mark.each("env", PLAYED.values())
def test_agents_that_are_not_named_fit_the_task_and_know_nothing(env: str) -> None:
    found = default_agents([env], None, 0, {})
    assert 1 <= len(found) <= 4
    assert all(not agent_source(name).make().knows for name in found)


def test_agents_that_are_not_named_play_everywhere() -> None:
    found = default_agents(["BAI-Custom-v0", "BAI-TopM-Custom-v0"], None, 0, {})
    assert found == ["Uniform", "SAR", "A-UGapEb", "EB-TCI"]
    with pytest.raises(ParameterError, match="--agent"):
        default_agents(["BAI-FC-Custom-v0", "BAI-Custom-v0"], None, 0, {})


def test_run_without_matplotlib_says_how_to_install_it(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, err = command(*SMALL, "--agent", "SH", "--out", "results")
    assert err == 'no figure: drawing figures needs matplotlib; pip install "bai-gym[plots]"\n'
    assert "results.csv" in out and "figure" not in out
    assert sorted(path.name for path in Path("results").iterdir()) == ["chunks", *FILES]


class Terminal(io.StringIO):
    """A stderr that somebody watches."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_to_who_watches_and_only_there(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(console, "ERR", console.make_console(stderr=True))
    out, _ = command(*SMALL, "--agent", "SH")
    assert "playing" in terminal.getvalue() and "1/1" in terminal.getvalue()
    assert "playing" not in out


# ------------------------------------------------------------------------------------------------ listings


def test_list_agents_says_what_they_know(command: Command) -> None:
    rows = [line.split("│") for line in command("list", "agents", "--wide")[0].splitlines() if line.startswith("│")]
    found = {row[1].strip(): [cell.strip() for cell in row[3:6]] for row in rows if row[1].strip()}
    assert found["GapE"][0] == "complexity, range" and found["SHAdaVar"][:2] == ["none", ""]
    assert found["SHVar"][0] == "variances" and found["APT"][2] == "Thresholding"
    assert found["BayesOptimal"][1] == "rewards of 0 and 1"


def test_version_and_help(command: Command) -> None:
    assert command("--version") == (f"{version('bai-gym')}\n", "")
    for words, shown in (("run", "--set"), ("list", "envs")):
        out, _ = command(words, "--help")
        assert out.startswith("Usage: ") and shown in out


def test_run_scores_answers_within_a_run(command: Command) -> None:
    pytest.importorskip("matplotlib")
    words = ("run", "BAI-CustomThresholding-v0", "--budget", "60", "--runs", "40", "--agent", "APT", "--agent", "CSAR")
    out, err = command(*words, "--checkpoints", "25", "--out", "results")
    assert err == "" and "error probability at intermediate budgets" in out
    rows = pq.read_table("results/results.parquet").to_pylist()
    assert [(row["agent"], row["checkpoint"]) for row in rows] == [
        (a, t) for a in ("APT", "CSAR") for t in (25, 50, 60)
    ]
    again, _ = command(*words, "--checkpoints", "50,25", "--out", "other")
    assert pq.read_table("other/results.parquet").to_pylist() == rows  # the budget always is one
    assert again.partition("Intervals")[0].count("│") == out.partition("Intervals")[0].count("│")
    plain, _ = command(*words)
    assert "after" not in plain
    line = compare(["APT"], "BAI-CustomThresholding-v0", budgets=[60], runs=40, checkpoints=[25, 50])
    assert [row["errors"] for row in rows[:3]] == [result.errors for result in line]
