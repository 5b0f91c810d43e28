"""A study seen through its journal alone is the study."""

from __future__ import annotations

import contextlib
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bai_gym
from bai_gym.cli.main import app
from bai_gym.errors import OutputError, ParameterError
from bai_gym.live.commands import study as command
from bai_gym.live.entries import Entry
from bai_gym.live.journal import Journal, read_journal
from bai_gym.live.overview import Overview
from bai_gym.live.study import PendingPull

NAMES = ("red", "green", "blue")


def reward(pull: PendingPull) -> float:
    return float(np.random.default_rng(pull.number).normal([0.0, 2.0, 1.0][pull.arm]))


@pytest.mark.each(
    "arguments",
    [
        {"agent": "TTTS", "budget": 12, "earlier": {"arm": ["red", "red", "blue"], "reward": [0.5, 0.1, 7.0]}},
        {"agent": "SR", "budget": 60.0, "costs": [1.0, 2.0, 3.0]},
        {"agent": "LUCB(b=0.5)", "budget": 500},  # it stops early
        {"agent": "SH-Reuse", "budget": 60, "items": range(30)},
    ],
)
def test_the_journal_shows_what_the_study_knows(arguments: dict[str, Any], tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with bai_gym.live.Study(NAMES, journal=journal, **arguments) as study:
        first = Overview.of(journal)
        assert (first.asked, first.log, first.ended) == (0, (), False)
        assert (first.found is None) == ("earlier" not in arguments)
        study.optimize(reward, pulls=7)
        study.ask()
        seen = Overview.of(journal)
        assert (seen.agent, seen.budget, seen.asked, seen.log) == (study.agent, arguments["budget"], 8, study.log)
        assert seen.found is not None and not seen.ended and seen.found.table == study.result().table
        alone = " chosen for ", "is proved for"  # what the agent alone knows
        assert list(seen.found.notes) == [
            note for note in study.result().notes if not any(words in note for words in alone)
        ]
        study.release()
        found = study.optimize((lambda pull: (reward(pull), 1.5)) if "costs" in arguments else reward)
        end = Overview.of(journal)
        assert end.ended and end.found is not None
        assert (end.found.recommendation, end.found.table) == (found.recommendation, found.table)
        assert end.found.spent == pytest.approx(found.spent)
        study.tell(1, 99.0)  # after the first reward, and after the end
        assert Overview.of(journal).log == end.log
    before = journal.read_bytes()
    with bai_gym.live.Study(NAMES, journal=journal, **arguments) as study:
        assert study.ended
    assert journal.read_bytes() == before


def test_a_recommendation_that_was_not_written_is_written_later(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with bai_gym.live.Study(NAMES, 12, journal=journal) as study:
        study.optimize(lambda pull: float(pull.arm))
    whole, (facts, entries) = journal.read_bytes(), read_journal(journal)
    assert entries[-1] == Entry("recommend", 11, arm="blue")
    journal.unlink()
    log = Journal(journal, facts)
    with contextlib.closing(log), log.transaction():
        log.append(entries[:-1])
    assert not Overview.of(journal).ended
    bai_gym.live.Study(NAMES, 12, journal=journal).close()
    assert journal.read_bytes() == whole


def test_a_journal_that_cannot_be_shown_is_an_error(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with bai_gym.live.Study(NAMES, 12, journal=journal) as study:
        study.optimize(reward, pulls=2)
    journal.write_text(journal.read_text().replace("red", "rad"))
    with pytest.raises(OutputError, match="damaged"):
        Overview.of(journal)
    for place in ("/dev/zero", tmp_path, tmp_path / "missing", "a\0b"):
        with pytest.raises(OutputError, match="cannot be read"):
            Overview.of(place)
    with pytest.raises(ParameterError, match="journal must be"):
        Overview.of(3)  # type: ignore[arg-type]


def test_the_command_shows_a_study_until_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = tmp_path / "journal.jsonl"
    with bai_gym.live.Study(("red", "gr\x1b[2Jeen", "blue"), 12, "Uniform", journal=journal) as study:
        study.ask(2)
        done = CliRunner().invoke(app, ["study", str(journal)])
        assert done.output.splitlines() == ["Uniform: running, rewards 0 (real), outstanding pulls 2, budget 12"]
        study.release()
        play = partial(study.optimize, lambda pull: float(pull.arm == 1))
        steps = iter([partial(play, pulls=5), lambda: None, play])
        monkeypatch.setattr(command.time, "sleep", lambda _: next(steps)())
        done = CliRunner().invoke(app, ["study", str(journal), "--watch"])
        heads = re.findall(r"^Uniform: (\w+), rewards (\d+)", done.output, re.M)
        assert heads == [("running", "0"), ("running", "5"), ("ended", "12")]
        assert "Uniform recommends arm gr?[2Jeen" in done.output and "\x1b" not in done.output
        assert "Uniform recommends arm gr?[2Jeen" in str(study.result()) and "\x1b" not in str(study.result())
