"""The journal: what is in it is there for good, and what is not its own is refused."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bai_gym
from bai_gym.errors import OutputError, ParameterError
from bai_gym.live.entries import Entry
from bai_gym.live.journal import Journal, read_journal

FACTS: dict[str, Any] = {"agent": "SR", "arms": ["a", "b", "\u00e9"], "budget": 9, "seed": 0, "features": None}
ENTRIES = [
    Entry("ask", 1, arm="\u00e9", item=0),
    Entry("tell", 1, reward=-1e50),
    Entry("again", 1),
    Entry("release", 1),
    Entry("tell", 1, reward=1 / 3, error="ValueError: no\u00e9"),
    Entry("end", 1),
]
DEEP = "[" * 100_000 + "]" * 100_000


def written(path: Path, entries: Sequence[Entry], **facts: Any) -> list[Entry]:
    """Append entries one by one; return those that were there."""
    with contextlib.closing(Journal(path, FACTS | facts)) as journal:
        with journal.transaction() as found:
            pass
        for entry in entries:
            with journal.transaction() as others:
                assert others == []
                journal.append([entry])
    return found


def reopened(path: Path, **facts: Any) -> list[Entry]:
    return written(path, [], **facts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of six entries."""
    path = tmp_path / "journal.jsonl"
    assert written(path, ENTRIES) == []
    return path


def test_an_entry_that_does_not_reach_the_disk_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left"):
        written(path, ENTRIES[:1])


def test_entries_come_back_bit_for_bit(path: Path) -> None:
    assert reopened(path) == ENTRIES
    lines = [json.loads(line) for line in path.read_text().splitlines()[2:4]]
    assert [{name: line[name] for name in line if name != "sum"} for line in lines] == [
        {"ask": 1, "arm": "\u00e9", "item": 0},
        {"tell": 1, "reward": -1e50},
    ]


def test_two_that_have_it_open_read_what_the_other_appends(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with contextlib.closing(Journal(path, FACTS)) as one, contextlib.closing(Journal(path, FACTS)) as two:
        for round_ in (1, 2):
            for writer, reader in ((one, two), (two, one)):
                entry = Entry("again", round_)
                with writer.transaction() as others:
                    assert others == []
                    writer.append([entry, entry])
                with reader.transaction() as others:
                    assert others == [entry, entry]
        two.rewind()
        with two.transaction() as others:
            assert len(others) == 8


def test_what_a_writer_left_incomplete_is_cut_off_by_the_next(path: Path) -> None:
    whole = path.read_bytes()
    with contextlib.closing(Journal(path, FACTS)) as journal:
        with journal.transaction():
            pass
        path.write_bytes(whole + b'{"tell": 1, "rew')
        with journal.transaction() as others:
            assert others == []
            journal.append([Entry("again", 1)])
    assert b'\n{"again": 1, "sum": "' in path.read_bytes() and b'"rew' not in path.read_bytes()[len(whole) :]
    assert reopened(path) == [*ENTRIES, Entry("again", 1)]


def test_a_file_that_others_shorten_or_delete_is_noticed(path: Path) -> None:
    with contextlib.closing(Journal(path, FACTS)) as journal:
        with journal.transaction():
            pass
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(OutputError, match="deleted, replaced or cut off"), journal.transaction():
            pass
        path.unlink()
        with pytest.raises(OutputError, match="deleted, replaced or cut off"), journal.transaction():
            pass


def test_no_entry_goes_to_a_file_that_was_replaced(path: Path, tmp_path: Path) -> None:
    # Another name keeps the old file alive, so that only a comparison of the two files finds out.
    for moment in ("before a transaction", "within one", "in a fork"):
        with contextlib.closing(Journal(path, FACTS)) as journal:
            with journal.transaction():
                pass
            os.link(path, tmp_path / moment)
            (tmp_path / "copy").write_bytes(path.read_bytes())
            if moment == "within one":
                with pytest.raises(OutputError, match=r'replaced.*not in it: \{"again": 1\}$'), journal.transaction():
                    os.replace(tmp_path / "copy", path)
                    journal.append([Entry("again", 1)])
                continue
            os.replace(tmp_path / "copy", path)
            if moment == "in a fork":
                journal._process = -1
            with pytest.raises(OutputError, match="replaced"), journal.transaction():
                pass
    assert reopened(path) == ENTRIES


def test_the_working_directory_may_change(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with contextlib.closing(Journal(path.name, FACTS)) as journal:
        monkeypatch.chdir("/")
        with journal.transaction() as found:
            journal.append([Entry("again", 1)])
    assert found == ENTRIES and reopened(path) == [*ENTRIES, Entry("again", 1)]


@given(
    st.lists(
        st.builds(
            lambda reward, error: Entry("tell", 7, reward=reward, error=error),
            st.floats(-1e50, 1e50),
            st.none() | st.text(st.characters(codec="utf-8")),
        )
    )
)
def test_every_reward_comes_back(told: list[Entry]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.jsonl")
        with contextlib.closing(Journal(path, FACTS)) as journal, journal.transaction():
            journal.append(told)
        again = reopened(path)
    assert again == told
    signs = [[math.copysign(1.0, float(entry.reward or 0.0)) for entry in entries] for entries in (again, told)]
    assert signs[0] == signs[1]


def test_what_was_not_written_to_its_end_is_cut_off(path: Path) -> None:
    whole, more = path.read_bytes(), Entry("tell", 1, reward=9.0)
    written(path, [more])
    count = path.read_bytes().index(b"\n")
    later = whole[:count] + path.read_bytes()[count:]  # killed between the entry and the count
    for rest in (*(later[len(whole) : length] for length in range(len(whole), len(later))), b"\0\0\n", b"\xff\n" * 3):
        path.write_bytes(whole + rest)
        assert read_journal(path)[1] == reopened(path) == ENTRIES
        assert path.read_bytes() == whole
    path.write_bytes(later)
    assert read_journal(path)[1] == reopened(path) == [*ENTRIES, more]


def test_damage_is_refused_wherever_it_is(path: Path) -> None:
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    damaged = [whole[:length] for length in range(1, len(whole))]  # cut off
    damaged += [whole[:place] + bytes([byte ^ 1]) + whole[place + 1 :] for place, byte in enumerate(whole)]
    damaged += [b"".join(lines[:number] + lines[number + 1 :]) for number in range(len(lines))]
    damaged += [b"".join([*lines[:3], lines[4], lines[3], *lines[5:]]), whole[:-40] + bytes(40)]
    damaged += [whole + b"".join(lines[-2:]), b"".join([*lines[:4], DEEP.encode(), *lines[5:]])]
    for content in damaged:
        path.write_bytes(content)
        for read in (reopened, lambda path: read_journal(path)[1]):
            try:
                found = read(path)
            except OutputError as error:
                assert str(path) in str(error) and "\n" not in str(error)
                assert any(way in str(error) for way in ("restore a copy", "resume with the library")), error
            else:  # of the number of bytes, or after the end
                assert found == ENTRIES and content[30:].startswith(whole[30:])


@pytest.mark.each(
    ("facts", "message"),
    [
        ({"budget": 10}, "its budget is 9, and here it is 10"),
        ({"arms": ["a", "b"]}, r"its arms is \['a', 'b', '\u00e9'\], and"),
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


@pytest.mark.each("content", [b"notes\n", b"notes", b'{"a": 1}\n', b"\xff\xfe\n", DEEP.encode()])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(OutputError, match="was not written by a study of bai-gym"):
        reopened(path)
    assert path.read_bytes() == content


def test_a_journal_of_another_version_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace('"version": 5', '"version": 4'))
    for read in (reopened, read_journal):
        with pytest.raises(OutputError, match="has version 4, and this library reads 5"):
            read(path)


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "journal.jsonl", "", "a\0b", "\ud800", "/dev/null", "/dev/full"):
        with pytest.raises(OutputError, match="cannot be opened"):
            reopened(Path(place))
    for wrong in (5, b"x"):
        with pytest.raises(ParameterError, match="journal must be the path"):
            bai_gym.live.Study(3, 12, journal=wrong)  # type: ignore[arg-type]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_an_error_that_has_the_pull(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(path, FACTS)
    journal.close()
    with open("/dev/full", "wb", buffering=0) as full:
        monkeypatch.setattr(journal, "_file", full)
        with pytest.raises(OutputError, match=r'cannot be written \(No space.*\{"tell": 2, "reward": 0.5\}'):
            journal.append([Entry("tell", 2, reward=0.5)])


@pytest.mark.skipif(os.name != "posix", reason="needs locks")
def test_a_journal_in_use_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(Journal(path, FACTS, exclusive=True)):
        for exclusive in (False, True):
            monkeypatch.setattr("bai_gym.live.journal._PATIENCE", 0.05)
            with pytest.raises(OutputError, match="is in use by another process"):
                Journal(path, FACTS, exclusive=exclusive)
    assert reopened(path) == ENTRIES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_takes_turns_with_its_parent(path: Path) -> None:
    with contextlib.closing(Journal(path, FACTS)) as journal, journal.transaction():
        child = os.fork()
        if not child:
            with contextlib.suppress(BaseException), journal.transaction() as others:
                journal.append([Entry("again", len(others))])
            os._exit(0)
        time.sleep(0.1)
        journal.append([Entry("again", 77)])
    os.waitpid(child, 0)
    assert reopened(path)[len(ENTRIES) :] == [Entry("again", 77), Entry("again", 1)]
