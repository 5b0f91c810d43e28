"""The log in a database is that of a journal, and a connection that is lost loses and repeats nothing."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bai_gym
from bai_gym.cli.main import app
from bai_gym.errors import MissingPackageError, OutputError, ParameterError
from bai_gym.live import database
from bai_gym.live.database import Database, read_database
from bai_gym.live.entries import Chain, Entry, Memory
from bai_gym.live.overview import Overview
from bai_gym.live.storage import read_log

exc = pytest.importorskip("sqlalchemy.exc")

FACTS: dict[str, Any] = {"agent": "SR", "arms": ["a", "b", "\u00e9"], "budget": 9, "seed": 0, "features": None}
ENTRIES = [
    Entry("ask", 1, arm="\u00e9", item=0),
    Entry("tell", 1, reward=-1e50),
    Entry("again", 1),
    Entry("release", 1),
    Entry("tell", 1, reward=1 / 3, error="ValueError: no\u00e9 \0 \U0001f600"),
    Entry("end", 1),
]


def written(address: str, entries: Sequence[Entry], name: str = "one", **facts: Any) -> list[Entry]:
    """Append entries one by one; return those that were there."""
    with contextlib.closing(Database(address, name, FACTS | facts)) as log:
        with log.transaction() as found:
            pass
        for entry in entries:
            with log.transaction() as others:
                assert others == []
                log.append([entry])
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "studies.db"


@pytest.fixture
def address(path: Path) -> str:
    """A database with a study of six entries."""
    address = f"sqlite:///{path}"
    assert written(address, ENTRIES) == []
    return address


def test_entries_come_back_bit_for_bit_and_studies_stay_apart(address: str, path: Path) -> None:
    assert written(address, [], name="it's %s :x") == []
    assert written(address, ENTRIES[:1], name="two", budget=10) == []
    assert written(address, []) == ENTRIES == read_database(address, "one")[1]
    assert read_database(address, "two")[0]["budget"] == 10
    with contextlib.closing(sqlite3.connect(path)) as connection:
        lines = connection.execute("SELECT entry FROM bai_gym_entries WHERE study = 'one' ORDER BY position").fetchall()
    assert lines[1][0].startswith('{"tell": 1, "reward": -1e+50, "sum": "')


def test_two_that_have_it_open_read_what_the_other_appends(address: str) -> None:
    with (
        contextlib.closing(Database(address, "new", FACTS)) as one,
        contextlib.closing(Database(address, "new", FACTS)) as two,
    ):
        for number in (1, 2):
            for writer, reader in ((one, two), (two, one)):
                with writer.transaction() as others:
                    assert others == []
                    writer.append([Entry("again", number)])
                    writer.append([Entry("release", number)])
                with reader.transaction() as others:
                    assert others == [Entry("again", number), Entry("release", number)]
        with pytest.raises(KeyError), one.transaction():
            one.append([Entry("again", 3)])
            raise KeyError
        two.rewind()
        with two.transaction() as others:
            assert len(others) == 8


def test_what_is_rewound_is_returned_again() -> None:
    memory = Memory()
    with memory.transaction() as found:
        memory.append(ENTRIES)
        memory.append(ENTRIES[:1])
    assert found == []
    with memory.transaction() as found:
        assert found == []
    memory.rewind()
    with memory.transaction() as found:
        assert found == [*ENTRIES, ENTRIES[0]]


def test_another_experiment_and_damage_are_refused(address: str, path: Path) -> None:
    with pytest.raises(OutputError, match=r"study 'one' in sqlite.* its budget is 9, and here it is 10.*another name"):
        written(address, [], budget=10)
    assert written(address, []) == ENTRIES
    whole = path.read_bytes()
    for change, message in (
        ("UPDATE bai_gym_entries SET entry = '{}' WHERE position = 2", "entry 2 is missing or not as it was written"),
        ("UPDATE bai_gym_entries SET entry = x'ff' WHERE position = 2", "entry 2 is missing"),
        ("UPDATE bai_gym_entries SET entry = CAST(x'ff' AS TEXT) WHERE position = 2", "cannot be read"),
        ("UPDATE bai_gym_entries SET entry = replace(entry, '\"tell\": 1', '\"tell\": 2')", "entry 1 is missing"),
        ("DELETE FROM bai_gym_entries WHERE position = 2", "entry 2 is missing"),
        ("DELETE FROM bai_gym_entries WHERE position = 5", "entry 5 is missing"),
        ("UPDATE bai_gym_studies SET tip = 5", "entry 6 is missing"),
        (
            "UPDATE bai_gym_studies SET head = 'notes'",
            "was not written by a study of bai-gym, or its beginning is damaged",
        ),
        ("UPDATE bai_gym_studies SET head = 7", "was not written by a study of bai-gym"),
        ("UPDATE bai_gym_studies SET head = replace(head, '9', '8')", "its head is not as it was written"),
        ("UPDATE bai_gym_studies SET name = 'onf'", "has entries, and no head|there is no study 'one'.*it has 'onf'"),
    ):
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(change)
            connection.commit()
        for read in (lambda: written(address, []), lambda: read_database(address, "one")):
            with pytest.raises(OutputError, match=message) as caught:
                read()
            assert "\n" not in str(caught.value) and str(path) in str(caught.value)
        path.write_bytes(whole)


def test_a_study_that_others_cut_off_or_delete_is_noticed(address: str, path: Path, tmp_path: Path) -> None:
    with contextlib.closing(Database(address, "one", FACTS)) as log:
        with log.transaction():
            pass
        for change, message in (
            ("UPDATE bai_gym_studies SET tip = 'x'", "is damaged: entry 6 is missing"),
            ("DELETE FROM bai_gym_studies", "was deleted by others"),
        ):
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute(change)
                connection.commit()
            with pytest.raises(OutputError, match=message), log.transaction():
                pass
    with pytest.raises(OutputError, match="is closed"), log.transaction():
        pass


@pytest.mark.skipif(os.name != "posix", reason="an open file can be moved")
def test_nothing_goes_to_a_file_that_was_moved(address: str, path: Path, tmp_path: Path) -> None:
    with contextlib.closing(Database(address, "one", FACTS)) as log:
        with log.transaction():
            pass
        path.rename(tmp_path / "moved.db")
        with pytest.raises(OutputError, match="cannot be read or written .*readonly"), log.transaction():
            log.append([Entry("again", 1)])
    assert written(f"sqlite:///{tmp_path}/moved.db", []) == ENTRIES


@pytest.fixture
def lose(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool, Callable[[], object]], None]:
    """Lose the connection at the next commit: whether it took place, and what others do meanwhile."""

    def lose(took_place: bool, meanwhile: Callable[[], object]) -> None:
        times.append((took_place, meanwhile))

    commit, times = Database._commit, []

    def broken(log: Database) -> Chain | None:
        took_place, meanwhile = times.pop() if times else (True, None)
        done = commit(log) if took_place else None
        if meanwhile is not None:
            log._release()
            meanwhile()
            reason = Exception("server closed the connection")
            raise exc.OperationalError("", {}, reason, connection_invalidated=True)
        return done

    monkeypatch.setattr(Database, "_commit", broken)
    return lose


def test_a_lost_connection_loses_and_repeats_nothing(path: Path, lose: Callable[..., None]) -> None:
    arguments: dict[str, Any] = {"arms": 2, "budget": 12, "agent": "SH", "storage": f"sqlite:///{path}"}
    with bai_gym.live.Study(**arguments) as study, bai_gym.live.Study(**arguments) as other:
        for took_place in (False, True):
            lose(took_place, lambda: None)
            (pull,) = study.ask()
            lose(took_place, lambda: None)
            assert study.tell(pull, 0.5)  # it counts, also where its commit is found in the log
            assert not other.tell(pull, 0.7)
        # Others take the pull that was about to be handed out, and tell the reward that was about to count.
        lose(False, lambda: other.ask())
        assert [pull.number for pull in study.ask()] == [4]
        lose(False, lambda: other.tell(3, 3.0))
        assert not study.tell(3, 4.0)
        lose(True, lambda: other.tell(4, 4.0))
        study.release(4)
        assert [pull.reward for pull in other.log] == [0.5, 0.5, 3.0, 4.0] == [pull.reward for pull in study.log]
    told = [(entry.kind, entry.number, entry.reward) for entry in read_log(arguments["storage"])[1]]
    assert told == [
        *(("ask", 1, None), ("tell", 1, 0.5), ("tell", 1, 0.7)),
        *(("ask", 2, None), ("tell", 2, 0.5), ("tell", 2, 0.7)),
        *(("ask", 3, None), ("ask", 4, None), ("tell", 3, 3.0), ("tell", 3, 4.0), ("release", 4, None)),
        ("tell", 4, 4.0),
    ]


def test_a_connection_that_stays_lost_is_an_error_that_has_the_reward(
    path: Path, lose: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with bai_gym.live.Study(2, 12, "SH", storage=f"sqlite:///{path}") as study:
        study.ask()
        lose(False, lambda: monkeypatch.setattr(database.time, "monotonic", lambda: float("inf")))
        with pytest.raises(OutputError, match=r'server closed.*perhaps not in it: \{"tell": 1, "reward": 0.5\}$'):
            study.tell(1, 0.5)
        monkeypatch.undo()
        assert study.log == () and study.tell(1, 0.5)


def test_overviews_and_the_command_read_a_storage(path: Path, tmp_path: Path) -> None:
    storage = f"sqlite:///{path}"
    with bai_gym.live.Study(["red", "green"], 12, "SH", storage=storage, name="trial", items=range(9)) as study:
        found = study.optimize(lambda pull: float(pull.arm))
        assert Overview.of(storage, "trial").log == found.log
    done = CliRunner().invoke(app, ["study", storage, "--name", "trial", "--watch"])
    assert done.exit_code == 0 and "SH recommends arm green" in done.output
    for words, message in (
        ((storage,), f"there is no study 'study' in {storage}: it has 'trial'"),
        ((f"{storage}x",), "there is no file"),
        ((str(tmp_path / "journal"), "--name", "trial"), "name is that of a study in a database"),
    ):
        refused = CliRunner().invoke(app, ["study", *words])
        assert refused.exit_code and message in str(refused.exception or refused.output)
    with contextlib.closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        connection.executescript("CREATE TABLE other (x); INSERT INTO other VALUES (1)")
    with pytest.raises(OutputError, match="has no studies"):
        Overview.of(f"sqlite:///{tmp_path}/empty.db")
    assert not Path(f"{path}x").exists()


def test_the_working_directory_may_change(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with bai_gym.live.Study(2, 12, "SH", storage=f"sqlite:///{path.name}") as study:
        monkeypatch.chdir("/")
        study.ask()
    assert len(read_log(f"sqlite:///{path}")[1]) == 1


def test_arguments_that_do_not_fit_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = f"sqlite:///{path}"
    for arguments, message in (
        ({"storage": good, "journal": path}, "leave one of them out"),
        ({"name": "trial"}, "give storage, too"),
        ({"storage": good, "exclusive": True}, "use release()"),
        ({"storage": "sqlite://"}, "in memory"),
        ({"storage": "sqlite:///:memory:"}, "in memory"),
        ({"storage": str(path)}, "must be the address of a database"),
        ({"storage": "mysql://root:secret@host/x"}, "PostgreSQL or SQLite.*not mysql"),
        *(({"storage": good, "name": name}, "name must be") for name in ("", " ", 3, "a\0b", "\ud800")),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            bai_gym.live.Study(2, 12, **arguments)
        assert "secret" not in str(caught.value)
    assert not path.exists()
    with pytest.raises(OutputError, match="unable to open"):
        bai_gym.live.Study(2, 12, storage=f"sqlite:///{path}/x.db")
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    for open_ in (lambda: bai_gym.live.Study(2, 12, storage=good), lambda: Overview.of(good)):
        with pytest.raises(MissingPackageError, match=r"bai-gym\[sql\]"):
            open_()


def test_a_server_that_does_not_answer_is_an_error_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    address = "postgresql://user:secret@127.0.0.1:1/database"
    for open_ in (lambda: bai_gym.live.Study(2, 12, storage=address), lambda: Overview.of(address)):
        with pytest.raises(OutputError, match="refused") as caught:
            open_()
        assert "secret" not in str(caught.value) and "user:***@127.0.0.1" in str(caught.value)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingPackageError, match="driver of postgresql is missing"):
        bai_gym.live.Study(2, 12, storage=address)
