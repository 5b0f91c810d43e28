"""A killed command resumes when it is repeated, and ends with the bytes of one that nobody disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bai_gym.results.writer import _HOST as HOST

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")]

CHUNKS = 6
PATIENCE = 60.0  # seconds; far more than a loaded machine needs for the first chunk, and to end


def command(out: Path, workers: int) -> list[str]:
    # A chunk takes about 0.2 s, fifty times as long as the look for it: the kill always lands in the middle.
    words = f"run BAI-Custom-v0 --agent GapE --budget 2000 --runs {CHUNKS}000 --workers {workers} --out {out}"
    return [sys.executable, "-c", "from bai_gym.cli import main; main()", *words.split()]


def chunks(out: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of every finished chunk."""
    files = {str(file.relative_to(out)): file.stat() for file in out.glob("chunks/*/[0-9]*.parquet")}
    return {name: (facts.st_ino, facts.st_mtime_ns) for name, facts in files.items()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a command that ran to its end."""
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    subprocess.run(command(out, 1), check=True, capture_output=True, timeout=PATIENCE)
    assert len(chunks(out)) == CHUNKS
    return out


def kill_in_the_middle(out: Path) -> None:
    """Start the command, kill it with all its workers once a chunk is finished, and see that it leaves a draft."""
    started = time.monotonic()
    with subprocess.Popen(
        command(out, 2),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            while not chunks(out) and process.poll() is None and time.monotonic() < started + PATIENCE:
                time.sleep(0.003)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    for semaphore in Path("/dev/shm").glob(f"sem.loky-{process.pid}-*"):
        semaphore.unlink()  # loky's own clean-up was killed too
    (cell,) = out.glob("chunks/*")
    # Whether the kill hit a process that was just writing is left to chance; here one always was.
    (cell / f".draft-{HOST}-{process.pid}-0a1b2c3d-000005-1000.parquet").write_bytes(b"half a chunk")


def test_a_killed_command_goes_on(
    tmp_path: Path, undisturbed: Path, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    out = tmp_path / "out"
    kill_in_the_middle(out)
    finished = chunks(out)
    assert 1 <= len(finished) < CHUNKS
    assert not (out / "results.csv").exists()
    subprocess.run(command(out, 2), check=True, capture_output=True, timeout=PATIENCE)
    assert {name: facts for name, facts in chunks(out).items() if name in finished} == finished
    # Hidden files count: a draft that was left behind would be one file too many.
    assert contents(out) == contents(undisturbed)


def living(group: int) -> list[int]:
    """Processes of a group, without those that only wait to be reaped."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = file.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(file.parent.name))
    return found


def semaphores(process: int) -> list[Path]:
    """The semaphores that loky has made for a process and not removed."""
    return list(Path("/dev/shm").glob(f"sem.loky-{process}-*"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="lists processes by /proc")
def test_workers_end_with_the_command(tmp_path: Path) -> None:
    for moment in ("start", "chunk"):
        out = tmp_path / moment
        with subprocess.Popen(
            command(out, 2), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            # Itself, two trackers of semaphores, both workers: of one that is just being made, no tracker knows yet.
            def reached(out: Path = out, group: int = process.pid, moment: str = moment) -> bool:
                return bool(chunks(out)) if moment == "chunk" else len(living(group)) > 4

            until = time.monotonic() + PATIENCE
            while not reached() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.003)
            assert reached(), moment
            process.kill()
            process.wait()
        try:
            until = time.monotonic() + PATIENCE  # a chunk, and half a second; far more on a busy machine
            while (living(process.pid) or semaphores(process.pid)) and time.monotonic() < until:
                time.sleep(0.05)
            assert living(process.pid) == [], moment
            assert semaphores(process.pid) == [], moment  # loky's tracker has outlived the workers
        finally:
            for left in living(process.pid):
                os.kill(left, signal.SIGKILL)


def test_a_command_that_is_ended_says_what_is_saved(tmp_path: Path) -> None:
    for number, said in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        out = tmp_path / number.name
        with subprocess.Popen(command(out, 2), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            until = time.monotonic() + PATIENCE
            while not chunks(out) and process.poll() is None and time.monotonic() < until:
                time.sleep(0.003)
            process.send_signal(number)
            _, error = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in error and f"are saved in {out}; the same command resumes" in error, error
        assert process.returncode == said


def test_an_interruption_while_the_command_is_imported_is_no_traceback() -> None:
    script = Path(sys.executable).with_name("bai-gym")
    for seconds in (0.03, 0.06, 0.1, 0.15, 0.2, 0.3):
        with subprocess.Popen([script, "list", "agents"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=PATIENCE)
        assert b"/bai_gym/" not in error, (seconds, error)  # before that, Python itself may say something
