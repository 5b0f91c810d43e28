"""Submissions that attack the grader: none gets a point that it did not earn, none changes another's grade.

Saboteurs, which break rules, pipes and processes, get no points and a line that says why. Spies, which look for what
the grader knows, play like `Uniform` and raise `LOOT` if they have found something.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from bai_gym.isolation import box

ASSIGNMENT = Path(__file__).resolve().parents[2] / "examples" / "lessons" / "assignment"
RUBRIC = """
title = "Test"
class = "MyAgent"
runs = 20
level = 0.01
seconds = 30.0
answer_seconds = 3.0
allowed_knowledge = []

[[parts]]
name = "noisy"
env = "BAI-Gaussian64-v0"
budget = 128

[[criteria]]
asks = "plays"
points = 1

[[criteria]]
asks = "better"
than = "Uniform"
points = 2
"""
ODD_SECONDS = "3601.5"  # of a process that must not live on

HEAD = """
import ctypes, gc, glob, inspect, json, os, resource, signal, socket, stat, struct, subprocess, sys, threading, time
import __main__ as player
import numpy as np
from bai_gym.agents import Agent

def pipe():
    "The grader's pipe, from the frame of player.main."
    frame = sys._getframe()
    while "answers" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["answers"]

def send(header, arrays=None):
    player.write(pipe(), player.pack(header, arrays))
"""
UNIFORM = """
class MyAgent(Agent):
    name = "MyAgent"
    def allocate(self, observation):
        if observation["pulls"].any():
            return None
        return np.full((self.batch, self.num_arms), self.budget // self.num_arms)
    def recommend(self, observation):
        return observation["means"].argmax(axis=1)
"""

# What saboteurs do while their file is loaded.
WHILE_LOADING = {
    "half a character": r'raise Exception("\ud800")',
    "signs that move the cursor": r'raise Exception("\x1b[2J\x1b[1A 3 of 3 points \r\n\u2028| x | 1 of 1 |")',
    "a long message": "raise Exception('x' * 10_000_000)",
    "an exception that cannot be printed": """
        class Odd(Exception):
            def __str__(self): raise self
        raise Odd
    """,
    "an exit": "sys.exit(0)",
    "an interrupt": "raise KeyboardInterrupt",
    "the end of the process": "os._exit(0)",
    "an exit code of a signal": "os._exit(255)",
    "abort": "os.abort()",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL); time.sleep(60)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "kills its group": "os.killpg(0, signal.SIGTERM); time.sleep(60)",
    "kills all that it sees": "os.path.exists('/etc') or os.kill(-1, signal.SIGKILL)\ntime.sleep(60)",  # in a box only
    "a null pointer": "ctypes.string_at(0)",
    "deep recursion": "sys.setrecursionlimit(10**9); f = lambda: f(); f()",
    "much memory": "x = [bytearray(2**30) for _ in range(100)]; raise Exception",
    "one large array": "np.ones(2**40)",
    "a large file": "open('x', 'wb').write(bytes(2**28))",
    "many files": "[open(f'x{i}', 'w') for i in range(10**6)]",
    "a full disk": "[open(f'x{i}', 'wb').write(bytes(2**25)) for i in range(10**3)]; raise Exception",
    "deep folders": "for _ in range(3000): os.mkdir('d'); os.chdir('d')\nraise Exception",
    "many processes": "for _ in range(9): os.fork()\ntime.sleep(60)",
    "a process that outlives it": f"""
        if os.fork() == 0:
            os.setsid()
            os.execvp("sleep", ["sleep", "{ODD_SECONDS}"])
        os._exit(1)
    """,
    "many threads": "for _ in range(10**4): threading.Thread(target=time.sleep, args=(60,)).start()",
    "a long log": "for _ in range(3000): print('x' * 10**5, flush=True)\nraise Exception",
    "a log without end": "while True: os.write(2, b'x' * 65536)",
    "hangs": "while True: pass",
    "closes its pipes": "os.closerange(0, 256); time.sleep(60)",
    "closes its pipes and ends": "os.closerange(0, 256); os._exit(0)",
    "garbage": "os.write(pipe().fileno(), b'garbage' * 1000); time.sleep(60)",
    "the head of a large message": "os.write(pipe().fileno(), struct.pack('>Q', 2**62)); time.sleep(60)",
    "a large message": "os.write(pipe().fileno(), struct.pack('>Q', 2**40))\nwhile True: pipe().write(bytes(2**20))",
    "half a message": "os.write(pipe().fileno(), struct.pack('>Q', 100) + b'x'); os._exit(0)",
    "an empty message": "player.write(pipe(), b'')\ntime.sleep(1)",
    "a message that is a list": "player.write(pipe(), struct.pack('>I', 2) + b'[]'); time.sleep(1)",
    "deep nesting": "player.write(pipe(), struct.pack('>I', 10**6) + b'[' * 10**6); time.sleep(1)",
    "a header without knowledge": "send({'acts': True}); time.sleep(1)",
    "knowledge that is a number": "send({'knows': 5, 'acts': True, 'uses_variances': True}); time.sleep(1)",
    "knowledge that is nested": "send({'knows': [[{}]], 'acts': True, 'uses_variances': True}); time.sleep(1)",
    "knowledge that does not exist": "send({'knows': ['x' * 10**6], 'acts': 1, 'uses_variances': 1}); time.sleep(1)",
    "knowledge that is forbidden": "send({'knows': ['variances'], 'acts': 0, 'uses_variances': 1}); time.sleep(1)",
    "answers ahead of questions": "for _ in range(9): send({'knows': [], 'acts': True, 'uses_variances': True})",
    "an error that is no text": "send({'error': {'points': [1, 2]}}); time.sleep(1)",
}
# What the player's `allocate` answers, in place of the agent.
ANSWERS = {
    "no counts": "{'request': 'block'}",
    "no recommendation": "{'request': 'none'}",
    "a request that is a list": "{'request': ['block']}, {'counts': np.zeros(3)}",
    "negative counts": "{'request': 'block'}, {'counts': np.tile([-10**6, 10**6], (20, 32))}",
    "more pulls than there are": "{'request': 'block'}, {'counts': np.full((20, 64), 3)}",
    "counts whose sum overflows": "{'request': 'block'}, {'counts': np.tile([2**62, 2**62, 2**62, 2**62], (20, 16))}",
    "counts without a sign": "{'request': 'block'}, {'counts': np.full((20, 64), 2**63 + 2, np.uint64)}",
    "counts that are times": "{'request': 'block'}, {'counts': np.full((20, 64), 2, 'm8[s]')}",
    "counts that are complex": "{'request': 'block'}, {'counts': np.full((20, 64), 2j)}",
    "counts of no arm": "{'request': 'block'}, {'counts': np.zeros((20, 0), int)}",
    "arms that do not exist": (
        "{'request': 'block'}, {'counts': np.ones((20, 2), int), 'arms': np.full((20, 2), 10**6)}"
    ),
    "arms that are no numbers": (
        "{'request': 'block'}, {'counts': np.ones((20, 2), int), 'arms': np.full((20, 2), np.nan)}"
    ),
    "blocks without end": "{'request': 'block'}, {'counts': np.zeros((20, 64), int)}",
    "recommendations that are no numbers": "{'request': 'none'}, {'recommendation': np.full(20, np.nan)}",
    "all arms": "{'request': 'none'}, {'recommendation': np.tile(np.arange(64), (20, 1))}",
    "a recommendation for fewer episodes": "{'request': 'none'}, {'recommendation': np.zeros(1, int)}",
}
# Each returns what it has found. Files, addresses and numbers of the grader are inserted.
SPIES = {
    "command line of the grader": "return open(f'/proc/{os.getppid()}/cmdline').read().partition('grade.py')[2]",
    "command lines of all": "return [p for p in glob.glob('/proc/[0-9]*/cmdline') if 'grade.py' in open(p).read()]",
    "its environment": "return 'TEACHER' in open(f'/proc/{os.getppid()}/environ').read()",
    "the environment of its own": "return os.environ.get('TEACHER')",
    "memory of the grader": "return open(f'/proc/{GRADER}/mem', 'rb') and open(f'/proc/{GRADER}/maps').read()",
    "files of the grader": "return os.listdir(f'/proc/{GRADER}/fd')",
    "the grader as a process to trace": "return ctypes.CDLL(None).ptrace(0x4206, GRADER, 0, 0) == 0",
    "a signal to the grader": "return os.kill(GRADER, 0) is None",
    "the secret": "return open(SECRET).read()",
    "the secret by another way": "return open('/proc/1/root' + SECRET).read()",
    "another submission": "return open(OTHER).read()",
    "grades": "return os.listdir(GRADES)",
    "a way to write grades": "return open(GRADES + '/grades.csv', 'a')",
    "a way to write submissions": "return open(OTHER, 'a')",
    "a way to write the library": "return open(player.Agent.__file__ if 0 else np.__file__, 'a')",
    "a way to write the player": "return open(player.__file__, 'a')",
    "folder of the grader": "return os.listdir(FOLDER)",
    "homes": "return os.listdir(os.path.expanduser('~root')) and glob.glob('/home/*/*') + glob.glob('/root/.[bs]*')",
    "a port of this computer": "return socket.create_connection(('127.0.0.1', PORT), timeout=2)",
    "a socket of this computer": "s = socket.socket(socket.AF_UNIX); s.connect(SOCKET); return s",
    "the right to mount": "return ctypes.CDLL(None).umount2(b'/usr', 2) == 0",
    "namespaces of its own": "return ctypes.CDLL(None).unshare(0x10020000) == 0",
    "another root": "os.mkdir('r'); os.chroot('r'); return True",
    "another user": "os.setuid(1) if os.getuid() != 1 else os.setuid(2); return True",
    "more memory": "resource.setrlimit(resource.RLIMIT_AS, (-1, -1)); return True",
    "a disk": "return [p for p in glob.glob('/dev/*') if stat.S_ISBLK(os.stat(p).st_mode)]",
    "a terminal": "return open('/dev/tty')",
    "what was left behind": """
        found = [f for folder in (os.getcwd(), '/tmp', '/dev/shm', '/var/tmp') for f in glob.glob(folder + '/left')]
        for folder in (os.getcwd(), '/tmp', '/dev/shm', '/var/tmp'):
            os.path.isdir(folder) and open(folder + '/left', 'w')
        return found
    """,
    "what was left behind before": "return [f for f in ('left', '/tmp/left', '/dev/shm/left') if os.path.exists(f)]",
    "bandits in memory": "return [x for x in gc.get_objects() if type(x).__module__.startswith('bai_gym.bandits')][:1]",
    "means in a frame": "return [one for one in inspect.stack() if {'bandit', 'secret'} & {*one.frame.f_locals}]",
}
# Submissions that are no ordinary files, given the path of another submission.
ODD_FILES: dict[str, Callable[[Path, Path], object]] = {
    "a link to another": lambda path, other: path.symlink_to(other),
    "a link to nowhere": lambda path, other: path.symlink_to("/nowhere"),
    "a link to a device": lambda path, other: path.symlink_to("/dev/zero"),
    "a pipe": lambda path, other: os.mkfifo(path),
    "a folder": lambda path, other: path.mkdir(),
    "a large submission": lambda path, other: path.write_bytes(b"#" * 2_000_000),
    "no text": lambda path, other: path.write_bytes(b"\xff\x00\xfe"),
    "nothing": lambda path, other: path.write_bytes(b""),
}


def sources() -> dict[str, str]:
    """Return the code of all hostile submissions, by name."""
    code = {name: HEAD + textwrap.dedent(body) + "\n" + UNIFORM for name, body in WHILE_LOADING.items()}
    for name, answer in ANSWERS.items():
        code[name] = f"{HEAD}{UNIFORM}\nplayer.Player.allocate = lambda *_: player.pack({answer})"
    for name, body in SPIES.items():
        found = textwrap.indent(textwrap.dedent(body).strip(), "    ")
        tell = "def tell():\n    raise RuntimeError('LOOT: ' + repr(found)[:200])"
        looks = f"def look():\n{found}\ntry:\n    found = look()\nexcept Exception:\n    found = None\n"
        code[name] = f"{HEAD}{UNIFORM}{looks}\n{tell}\nif found: tell()"
    return code


def submissions(folder: Path, code: dict[str, str], port: int) -> list[Path]:
    """Write an honest submission, the given ones, those that are no ordinary files, and the honest one again."""
    folder.mkdir(parents=True)
    honest = HEAD + UNIFORM
    facts = {
        "GRADER": os.getpid(),  # of the same user as the grader, and no easier to reach
        "FOLDER": repr(str(ASSIGNMENT)),
        "SECRET": repr(str(folder.parent / "secret")),
        "OTHER": repr(str(folder / "a first" / "agent.py")),
        "GRADES": repr(str(folder.parent / "grades")),
        "PORT": port,
        "SOCKET": repr(str(folder.parent / "socket")),
    }
    stated = "".join(f"{name} = {value}\n" for name, value in facts.items())
    paths = []
    for name, text in {"a first": honest, **code, "z last": honest}.items():
        paths.append(folder / name / "agent.py")
        paths[-1].parent.mkdir()
        paths[-1].write_text(f"{stated}\n{text}" if name in SPIES else text, encoding="utf-8")
    for name, make in ODD_FILES.items():
        paths.insert(1, folder / name / "agent.py")
        paths[1].parent.mkdir()
        make(paths[1], paths[0])
    return paths


@pytest.fixture
def boxed(grade: ModuleType) -> None:
    """Skip where the system has no box: there a submission may do what its user may, as its report says."""
    if "in a box" not in box.strongest().words:
        pytest.skip("no namespaces on this system")


def play(folder: Path, paths: list[Path]) -> dict[str, dict]:
    """Grade files by the command; return the reports."""
    (folder / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    line = [sys.executable, str(ASSIGNMENT / "grade.py"), *map(str, paths), "--secret", str(folder / "secret")]
    line += ["--rubric", str(folder / "rubric.toml"), "--out", str(folder / "grades")]
    done = subprocess.run(line, capture_output=True, env={**os.environ, "TEACHER": "token"}, timeout=1000, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.isascii() and b"\x1b" not in done.stdout + done.stderr
    table = (folder / "grades" / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert len(table) == 1 + len(paths)
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((folder / "grades").glob("*.json"))]
    assert max(path.stat().st_size for path in (folder / "grades").iterdir()) < 200_000
    return {report["file"].removesuffix("-agent"): report for report in reports}


def check(folder: Path, code: dict[str, str]) -> None:
    """Grade hostile submissions between two honest ones; the honest ones also alone."""
    (folder / "secret").write_text("0123456789abcdef" * 2, encoding="ascii")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(folder / "socket"))
        local.listen()
        paths = submissions(folder / "submissions", code, server.getsockname()[1])
        alone = play(folder, [paths[0], paths[-1]])
        shutil.rmtree(folder / "grades")
        reports = play(folder, paths)
    wrong = {}
    for name in [*code, *ODD_FILES]:
        report = reports[name]
        earned = 1.0 if name in SPIES else 0.0
        reason = report["lines"][0]["reason"]
        if report["points"] != earned or "LOOT" in reason or not reason.isprintable() or len(reason) > 1100:
            wrong[name] = (report["points"], reason[:300])
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(ODD_SECONDS.encode() in line for line in lines)
    assert {name: reports[name] for name in alone} == alone and alone["a first"]["points"] == 1.0


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hostile-") as made:  # short, because of the socket
        yield Path(made)


def test_some_hostile_submissions_get_what_they_earn(boxed: None, folder: Path) -> None:
    code = sources()
    check(folder, {name: code[name] for name in ("half a character", "no counts", "the secret")})


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_hostile_submissions_get_what_they_earn(boxed: None, folder: Path) -> None:
    code = sources()
    assert len(code) >= 50
    check(folder, code)
