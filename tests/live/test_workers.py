"""Workers and servers that are killed: nothing told is lost, and nothing is handed out beyond the budget."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.live import database
from bai_gym.live.database import Database
from bai_gym.live.entries import Entry, Overtaken
from bai_gym.live.overview import Overview
from bai_gym.live.storage import read_log

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill -9")]

NAMES = ("red", "green", "blue")
MEANS = (0.0, 2.0, 1.0)
SERVER = shutil.which("postgres") or next(map(str, Path("/usr/lib/postgresql").glob("*/bin/postgres")), None)

# Eight workers, of which twenty are killed and replaced. While a server is down, new ones cannot open the study.
WORKERS = """
import os, random, signal, sys, time, traceback
import numpy as np
import bai_gym
from bai_gym.errors import OutputError

told = sys.argv[1]
ARGUMENTS = {"arms": ("red", "green", "blue"), "agent": "AGENT", "items": range(40) if WITH_ITEMS else None}
MEANS = (0.0, 2.0, 1.0)
PLACE = {PLACE}

def opened():
    for _ in range(600):
        try:
            return bai_gym.live.Study(budget=60, lease=0.5, **PLACE, **ARGUMENTS)
        except OutputError:
            if "storage" not in PLACE:
                raise
            time.sleep(0.1)

def work(seed):
    chance = random.Random(seed)
    acknowledged = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with opened() as study:
        while pulls := study.ask(chance.randint(1, 2), wait=float("inf")):
            for pull in pulls:
                time.sleep(chance.random() * 0.1)
                study.tell(pull, float(np.random.default_rng([0, pull.number]).normal(MEANS[pull.arm])))
                os.write(acknowledged, f"{pull.number} {pull.arm} {pull.item}\\n".encode())

def start(seed):
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work(seed)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

# Workers are forks: they need not import and compile again.
warm = bai_gym.live.Study(budget=12, **({**PLACE, "name": "warm AGENT"} if "storage" in PLACE else {}), **ARGUMENTS)
while not warm.ended:
    warm.tell(warm.ask()[0], 0.0)
warm.close()
print("ready", flush=True)
chance = random.Random(1)
alive = [start(seed) for seed in range(8)]
kills = 0
while kills < 20 and alive:
    time.sleep(chance.random() * 0.06)
    for child in list(alive):
        if os.waitpid(child, os.WNOHANG)[0]:
            alive.remove(child)
    if alive:
        child = alive.pop(chance.randrange(len(alive)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kills += 1
        alive.append(start(100 + kills))
codes = [os.waitpid(child, 0)[1] for child in alive]
print(kills, codes)
assert not any(codes)
"""


def reward(number: int, arm: int) -> float:
    """A reward that depends on the pull alone, so that it does not matter who makes it, and when."""
    return float(np.random.default_rng([0, number]).normal(MEANS[arm]))


@contextlib.contextmanager
def workers(place: dict[str, Any], agent: str, items: bool, told: Path) -> Iterator[subprocess.Popen[str]]:
    """Start workers, wait for their end, and check that none has failed and some were killed."""
    program = WORKERS.replace("AGENT", agent).replace("WITH_ITEMS", str(items)).replace("{PLACE}", repr(place))
    command = [sys.executable, "-W", "error::UserWarning", "-c", program, str(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        if process.stdout.readline() == "ready\n":
            yield process
        output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert int(output.split()[0]) >= 5  # kills that took place before the end


def check(place: dict[str, Any], agent: str, items: bool, told: Path) -> None:
    """Compare the log with what workers were told, and the result with that of one process."""
    numbers = range(40) if items else None
    _, entries = read_log(*place.values())
    asked = {entry.number: entry for entry in entries if entry.kind == "ask"}
    assert list(asked) == list(range(1, len(asked) + 1)) and len(asked) <= 60
    kept = {entry.number for entry in entries if entry.kind == "tell"}
    acknowledged = [line.split() for line in told.read_text().splitlines()]
    assert {int(number) for number, _, _ in acknowledged} <= kept == set(asked)
    assert any(entry.kind == "again" for entry in entries)
    with bai_gym.live.Study(NAMES, 60, agent, items=numbers, **place) as study:
        assert study.ended and study.outstanding == ()
        found = study.result()
    assert [pull.reward for pull in found.log] == [reward(number, pull.arm) for number, pull in enumerate(found.log, 1)]
    assert Overview.of(*place.values()).log == found.log
    if items:  # every worker that had a pull played it on the same item, and no arm played an item twice
        played = {number: (NAMES.index(str(entry.arm)), entry.item) for number, entry in asked.items()}
        assert all((int(arm), int(item)) == played[int(number)] for number, arm, item in acknowledged)
        by_arm = [[item for arm, item in played.values() if arm == wanted] for wanted in range(3)]
        longest = max(by_arm, key=len)
        assert len(set(longest)) == len(longest) > 20
        assert all(order == longest[: len(order)] for order in by_arm)
    if agent != "TTTS":  # SH plays by blocks: workers and kills change nothing
        with bai_gym.live.Study(NAMES, 60, agent, items=numbers) as serial:
            alone = serial.optimize(lambda pull: reward(pull.number, pull.arm))
        assert (found.log, found.recommendation) == (alone.log, alone.recommendation)


@pytest.mark.each(
    ("kind", "agent", "items"),
    [("journal", "TTTS", False), ("journal", "SH", True), ("journal", "TTTS", True), ("storage", "SH", True)],
)
def test_eight_workers_that_are_killed_lose_nothing_and_keep_the_budget(
    kind: str, agent: str, items: bool, tmp_path: Path
) -> None:
    if kind == "storage":
        pytest.importorskip("sqlalchemy")
    place = {kind: f"sqlite:///{tmp_path}/studies.db" if kind == "storage" else str(tmp_path / "journal.jsonl")}
    with workers(place, agent, items, tmp_path / "told"):
        pass
    check(place, agent, items, tmp_path / "told")


class Server:
    """A server of PostgreSQL with its data in a temporary folder, at a socket of the file system."""

    def __init__(self, program: str, folder: Path) -> None:
        """Make the data, as a user who may run the server: root may not."""
        self.folder = folder
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            import pwd

            user = pwd.getpwnam("postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody")
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(folder, user.pw_uid, user.pw_gid)
        self._program = Path(program).resolve()
        initialise = [str(self._program.with_name("initdb")), "-D", "data", "-U", "tester", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initialise, "--no-sync"], cwd=folder, check=True, capture_output=True, **self._as)
        self.address = f"postgresql://tester@/postgres?host={folder}"
        self.start()

    def start(self) -> None:
        """Start it, and return when it answers."""
        command = [str(self._program), "-D", "data", "-k", str(self.folder), "-h", ""]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._as)
        log.close()
        for _ in range(600):
            if self._process.poll() is not None:  # a process of the one before has not ended yet
                return self.start()
            ready = [str(self._program.with_name("pg_isready")), "-h", str(self.folder)]
            if subprocess.run(ready, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.05)
        raise TimeoutError((self.folder / "log").read_text())

    def children(self) -> list[int]:
        """Return the processes that the server has started."""
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._process.pid)], capture_output=True, text=True, check=False
        )
        return list(map(int, listed.stdout.split()))

    def kill(self) -> None:
        """Kill it, with all its processes."""
        for process in (self._process.pid, *self.children()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A running server, or a skipped test."""
    for package in ("sqlalchemy", "psycopg"):
        pytest.importorskip(package)
    if SERVER is None:
        pytest.skip("PostgreSQL is not installed here")
    folder = Path(tempfile.mkdtemp(prefix="bai-gym-"))  # not below a folder that only the user of the tests may enter
    server = Server(SERVER, folder)
    yield server
    server.kill()
    shutil.rmtree(folder)


@pytest.mark.each(("agent", "items"), [("SH", True), ("TTTS", False)])
def test_a_server_that_is_killed_with_the_workers_loses_nothing(
    agent: str, items: bool, server: Server, tmp_path: Path
) -> None:
    place = {"storage": server.address, "name": agent}
    chance, kills = random.Random(2), 0
    with workers(place, agent, items, tmp_path / "told") as process:
        while kills < 4 and process.poll() is None:
            time.sleep(chance.uniform(0.2, 0.6))
            if kills % 2:  # one of its processes: it ends all others, and recovers
                with contextlib.suppress(ProcessLookupError):
                    os.kill(chance.choice(server.children()), signal.SIGKILL)
            else:
                server.kill()
                time.sleep(chance.random() * 0.3)
                server.start()
            kills += 1
    assert kills >= 2
    server.kill()  # it may not have noticed yet that a process of it was killed, or still be recovering
    server.start()
    check(place, agent, items, tmp_path / "told")


def test_workers_that_open_a_study_at_the_same_moment_take_turns(server: Server) -> None:
    """They create the tables, too, if this test is the first; the name has every kind of letter."""
    name = 'it\'s \u00e9 "%s" :x'

    def work(_: int) -> list[bool]:
        with bai_gym.live.Study(["a", "b"], 80, "Uniform", storage=server.address, name=name) as study:
            return [study.tell(pull, pull.arm) for _ in range(10) for pull in study.ask()]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [[True] * 10] * 8
    facts, entries = read_log(server.address, name)
    told = [entry.number for entry in entries if entry.kind == "tell"]
    assert (facts["agent"], sorted(told)) == ("Uniform", list(range(1, 81)))


def test_a_connection_that_is_lost_while_reading_is_made_again(server: Server) -> None:
    """More often than a pool has connections."""
    with contextlib.closing(Database(server.address, "reader", {"arms": ["a", "b"]})) as log:
        for number in range(1, 21):
            with log.transaction() as entries:
                assert entries == []
                assert log._connection is not None
                backend = log._connection.connection.dbapi_connection.info.backend_pid
                os.kill(backend, signal.SIGTERM)
                if number % 2:
                    log.append([Entry("again", number)])
        log.rewind()
        with log.transaction() as entries:
            assert entries == [Entry("again", number) for number in range(1, 21, 2)]


def test_a_process_that_is_stopped_in_a_transaction_loses_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_SETTINGS", database._SETTINGS.replace(f"{database._IDLE:.0f}s", "500ms"))
    facts = {"arms": ["a", "b"]}

    def write() -> list[Entry]:
        with contextlib.closing(Database(server.address, "stopped", facts)) as other:
            with other.transaction() as entries:
                other.append([Entry("release", 1)])
            return entries

    with contextlib.closing(Database(server.address, "stopped", facts)) as log, ThreadPoolExecutor(1) as pool:
        with pytest.raises(Overtaken), log.transaction():
            log.append([Entry("again", 1)])
            assert (
                pool.submit(write).result() == []
            )  # which waits until the server ends the transaction of this process
        with log.transaction() as entries:
            assert entries == [Entry("release", 1)]
