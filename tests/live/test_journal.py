"""The journal: what is in it is there for good, and what is not its own is refused."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bai_gym
from bai_gym.errors import OutputError
from bai_gym.live.evidence import Pull
from bai_gym.live.journal import Journal

FACTS: dict[str, Any] = {"agent": "SR", "num_arms": 3, "budget": 9, "seed": 0, "features": None}
PULLS = [Pull(0, 0.1), Pull(2, -1e300), Pull(1, -1.0, "ValueError: no\u00e9"), Pull(1, 1 / 3)]


def reopened(path: Path, **facts: Any) -> list[Pull]:
    with Journal(path, FACTS | facts, 3) as journal:
        return journal.pulls


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of four pulls."""
    path = tmp_path / "journal.jsonl"
    with Journal(path, FACTS, 3) as journal:
        assert journal.pulls == []
        for pull in PULLS:
            journal.append(pull)
    return path


def test_pulls_come_back_bit_for_bit(path: Path) -> None:
    assert reopened(path) == PULLS
    assert [sorted(json.loads(line)) for line in path.read_text().splitlines()[1:]] == [
        ["arm", "reward"],
        ["arm", "reward"],
        ["arm", "error", "reward"],
        ["arm", "reward"],
    ]


@given(
    st.lists(
        st.builds(
            Pull,
            st.integers(0, 2),
            st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.text(st.characters(codec="utf-8")),
        )
    )
)
def test_every_pull_comes_back(pulls: list[Pull]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        with Journal(path, FACTS, 3) as journal:
            for pull in pulls:
                journal.append(pull)
        again = reopened(path)
    assert again == pulls
    assert [math.copysign(1.0, pull.reward) for pull in again] == [math.copysign(1.0, pull.reward) for pull in pulls]


def test_reading_writes_nothing(path: Path) -> None:
    before = path.read_bytes()
    reopened(path)
    assert path.read_bytes() == before


def test_wherever_it_is_cut_off_what_was_complete_remains(path: Path) -> None:
    whole = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        with Journal(path, FACTS, 3) as journal:
            made = max(0, sum(end <= length for end in ends) - 1)
            assert journal.pulls == PULLS[:made]
            journal.append(Pull(0, 9.0))
        assert reopened(path) == [*PULLS[:made], Pull(0, 9.0)]


def test_a_last_line_of_rubbish_is_cut_off(path: Path) -> None:
    whole = path.read_bytes()
    for rubbish in (b"\0" * 20, b"\0\0\n", b'{"arm": 1, "rew', b"\xff\n"):
        path.write_bytes(whole + rubbish)
        assert reopened(path) == PULLS
        assert path.read_bytes() == whole


@pytest.mark.each(
    ("facts", "message"),
    [
        ({"budget": 10}, "its budget is 9, and here it is 10"),
        ({"agent": "SH"}, "its agent is 'SR', and here it is 'SH'"),
        ({"seed": 1}, "its seed is 0, and here it is 1"),
        ({"num_arms": 4}, "its num_arms is 3, and here it is 4"),
        ({"features": "abc"}, "its features is not given, and here it is 'abc'"),
    ],
)
def test_the_journal_of_another_experiment_is_refused_and_left_alone(
    path: Path, facts: dict[str, Any], message: str
) -> None:
    before = path.read_bytes()
    with pytest.raises(OutputError, match=message) as caught:
        reopened(path, **facts)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.each("content", [b"notes\n", b"notes", b'{"a": 1}\n', b"[1]\n", b"\xff\xfe\n", b'{"journal": "x"'])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(OutputError, match="is not a journal of bai-gym"):
        reopened(path)
    assert path.read_bytes() == content


def test_a_journal_of_another_version_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(OutputError, match="has version 2, and this library reads 1"):
        reopened(path)


@pytest.mark.each(
    "line", ["", "nothing", "[0]", '{"arm": 3, "reward": 0}', '{"arm": 0, "reward": NaN}', '{"arm": true, "reward": 1}']
)
def test_damage_in_the_middle_is_refused(path: Path, line: str) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[3:], ""]))
    with pytest.raises(OutputError, match="is damaged: line 3 is no pull"):
        reopened(path)


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "journal.jsonl"):
        with pytest.raises(OutputError, match="cannot be opened"):
            reopened(place)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_an_error_that_has_the_pull(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal(path, FACTS, 3) as journal, open("/dev/full", "wb", buffering=0) as full:
        journal.close()
        monkeypatch.setattr(journal, "_file", full)
        with pytest.raises(OutputError, match=r'cannot be written \(No space.*\{"arm": 2, "reward": 0.5\}'):
            journal.append(Pull(2, 0.5))


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_a_journal_in_use_is_refused(path: Path) -> None:
    code = f"""if True:
        from bai_gym.errors import OutputError
        from bai_gym.live.journal import Journal
        try:
            Journal({str(path)!r}, {FACTS!r}, 3)
        except OutputError as error:
            print(error)
    """
    with Journal(path, FACTS, 3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "is in use by another process" in done.stdout


@pytest.mark.each("line", ['{"arm": 0, "reward": 1' + "0" * 400 + "}", "[" * 100_000 + "]" * 100_000])
def test_numbers_and_nesting_beyond_measure_are_damage(tmp_path: Path, line: str) -> None:
    journal = tmp_path / "journal"
    bai_gym.identify(lambda arm: float(arm), 2, 4, journal=journal)
    lines = journal.read_text().splitlines()
    for number, words in ((1, "line 2"), (0, "not a journal")):
        journal.write_text("\n".join([*lines[:number], line, *lines[number + 1 :]]) + "\n")
        with pytest.raises(OutputError, match=words):
            bai_gym.identify(lambda arm: float(arm), 2, 4, journal=journal)
