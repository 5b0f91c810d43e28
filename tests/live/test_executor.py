"""Pulls of the user's functions: what counts as a reward, where they run, and what happens when one fails."""

from __future__ import annotations

import copy
import gc
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import ParameterError, PullError
from bai_gym.live.executor.executor import Executor

HERE = (7,)  # a stream: any seed
SOON = 0.2  # seconds of a timeout that is to be met
LATE = 3600.0  # seconds: never, for a test
PLENTY = 60.0  # seconds of a timeout that is not to be met, on any machine

Make = Callable[..., Executor]


@pytest.fixture
def make() -> Iterator[Make]:
    """Make executors, and close them."""
    made: list[Executor] = []

    def new(*arguments: Any, **keywords: Any) -> Executor:
        made.append(Executor(*arguments, **keywords))
        return made[-1]

    yield new
    for executor in made:
        executor.close()


def twice(arm: int) -> float:
    return 2.0 * arm


def stuck(arm: int) -> float:
    time.sleep(LATE if arm == 1 else 0.0)
    return float(arm)


@pytest.mark.each("run_in", ["here", "thread", "process"])
def test_a_generator_is_the_same_wherever_the_function_runs(make: Make, run_in: str) -> None:
    executor = make([lambda rng: rng.normal(), lambda: 1.0], run_in=run_in)
    assert executor.takes_rng and executor.num_arms == 2
    assert [make(twice, 3, run_in=run_in).pull(arm, HERE, "pull 1").reward for arm in range(3)] == [0.0, 2.0, 4.0]
    one, again, other = (executor.pull(0, stream, "pull 1").reward for stream in ((7, "a"), (7, "a"), (7, "b")))
    assert one == again != other
    assert one == make([lambda rng: rng.normal(), lambda: 1.0]).pull(0, (7, "a"), "pull 1").reward


@pytest.mark.slow
@pytest.mark.each("run_in", ["here", "process"])
def test_what_is_no_finite_number_is_an_error(make: Make, run_in: str) -> None:
    executor = make(lambda arm: np.ones(2), 2, run_in=run_in)
    message = r"^pull 3 \(arm 1\) failed: what it returned must be a finite number of at most .*, not array"
    with pytest.raises(PullError, match=message):
        executor.pull(1, HERE, "pull 3")


@pytest.mark.each("run_in", ["here", "thread", "process"])
def test_an_error_is_named_in_one_line_with_its_cause(make: Make, run_in: str) -> None:
    def broken(arm: int) -> float:
        raise KeyError(f"no\nvalve {arm}")

    with pytest.raises(PullError) as caught:
        make(broken, 3, run_in=run_in).pull(2, HERE, "pull 5")
    assert str(caught.value) == r"pull 5 (arm 2) failed: KeyError: 'no\nvalve 2'"
    assert type(caught.value.__cause__) is KeyError
    if run_in == "process":  # the traceback of another process would be lost
        assert "in broken" in caught.value.__cause__.__notes__[0]


class OddError(Exception):
    """An exception that cannot be unpickled: its constructor wants two arguments, and it remembers one."""

    def __init__(self, valve: int, pressure: int) -> None:
        super().__init__(f"valve {valve}")


def test_an_exception_that_cannot_travel_is_described(make: Make) -> None:
    def broken(arm: int) -> float:
        raise OddError(3, 4)

    with pytest.raises(PullError, match="OddError: valve 3"):
        make(broken, 2, run_in="process").pull(0, HERE, "pull 1")


def test_a_function_that_leaves_the_interpreter_has_failed(make: Make) -> None:
    for run_in in ("here", "process"):
        with pytest.raises(PullError, match="SystemExit: 3"):
            make(lambda arm: sys.exit(3), 2, run_in=run_in).pull(0, HERE, "pull 1")


@pytest.mark.each("run_in", ["auto", "thread"])
def test_a_pull_that_hangs_is_given_up_and_the_next_one_works(make: Make, run_in: str) -> None:
    executor = make(stuck, 2, timeout=SOON, run_in=run_in)
    started = time.monotonic()
    with pytest.raises(PullError, match=r"^pull 1 \(arm 1\) failed: it took longer than 0.2 seconds$"):
        executor.pull(1, HERE, "pull 1")
    assert time.monotonic() < started + PLENTY
    assert executor.pull(0, HERE, "pull 2").reward == 0.0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_what_a_pull_has_started_is_killed_with_it(make: Make, tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def start(arm: int) -> float:
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LATE})"])
        note.write_text(str(child.pid))
        return float(child.wait())

    with pytest.raises(PullError, match="took longer"):
        make(start, 2, timeout=5.0).pull(0, HERE, "pull 1")
    child = int(note.read_text())
    ended = time.monotonic() + PLENTY
    while alive(child) and time.monotonic() < ended:
        time.sleep(0.01)
    assert not alive(child)


def alive(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_function_that_crashes_does_not_take_the_experiment_along(make: Make) -> None:
    executor = make(lambda arm: os._exit(7) if arm else 1.0, 2, run_in="process")
    with pytest.raises(PullError, match=r"its process died \(exit code 7\)"):
        executor.pull(1, HERE, "pull 1")
    assert executor.pull(0, HERE, "pull 2").reward == 1.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_function_that_forks_and_returns_twice_gives_each_arm_its_own_reward(make: Make) -> None:
    def forks(arm: int) -> float:
        os.fork()
        return float(arm)

    executor = make(forks, 9, run_in="process")
    arms = [5, 1, 8, 0, 2, 7, 3, 6, 4] * 3
    assert [executor.pull(arm, HERE, "a pull").reward for arm in arms] == arms


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_reply_of_another_pull_is_refused(make: Make) -> None:
    def forks(arm: int) -> float:
        process = os.getpid()
        os.getpid = lambda: process  # both processes believe that they are the worker
        if arm == 0:
            child = os.fork()
            if child:  # the child replies, and later ends at its empty standard input
                time.sleep(0.5)
        return float(arm)

    executor = make(forks, 9, run_in="process")
    assert executor.pull(0, HERE, "pull 1").reward == 0.0
    with pytest.raises(PullError, match="the reply of another pull"):
        executor.pull(5, HERE, "pull 2")
    assert executor.pull(7, HERE, "pull 3").reward == 7.0


def test_what_a_function_prints_does_not_disturb_the_answers(make: Make) -> None:
    def talkative(arm: int) -> float:
        print("measuring" * 100, flush=True)
        os.write(1, b"more\n")
        return 1.0

    assert make(talkative, 2, timeout=PLENTY).pull(0, HERE, "pull 1").reward == 1.0


def test_functions_that_cannot_be_sent_run_in_a_thread_with_a_warning(make: Make) -> None:
    lock = threading.Lock()

    def locked(arm: int) -> float:
        with lock:
            time.sleep(LATE if arm else 0.0)
            return 1.0

    with pytest.warns(UserWarning, match="cannot be run in a worker process.*continues in the background"):
        executor = make(locked, 2, timeout=SOON)
    assert executor.pull(0, HERE, "pull 1").reward == 1.0
    with pytest.raises(PullError, match="took longer"):
        executor.pull(1, HERE, "pull 2")
    with pytest.raises(ParameterError, match="give run_in='thread'"):
        make(locked, 2, run_in="process")


def test_retries_are_made_and_counted(make: Make, tmp_path: Path) -> None:
    note, seen = tmp_path / "calls", list[float]()

    def third_time(arm: int, rng: np.random.Generator) -> float:
        seen.append(rng.random())
        with note.open("a") as file:
            file.write("x")
        if len(note.read_text()) < 3:
            raise OSError("not yet")
        return 4.0

    assert make(third_time, 2, on_error="retry", retries=2).pull(0, HERE, "pull 1").reward == 4.0
    note.unlink()
    with pytest.raises(PullError, match=r"^pull 1 \(arm 0\) failed in each of 2 attempts: OSError: not yet$"):
        make(third_time, 2, on_error="retry", retries=1).pull(0, HERE, "pull 1")
    note.unlink()
    outcome = make(third_time, 2, on_error="retry", retries=1, worst=-9).pull(0, HERE, "pull 1")
    assert (outcome.reward, outcome.error) == (-9.0, "OSError: not yet")
    assert len(note.read_text()) == 2
    assert len(set(seen[:3])) == 3  # every attempt draws other numbers
    outcome = make(lambda arm: 1 / arm, 2, on_error="worst", worst=-1).pull(0, HERE, "pull 1")
    assert (outcome.reward, outcome.error) == (-1.0, "ZeroDivisionError: division by zero")


def test_an_interrupt_is_none_of_our_errors(make: Make) -> None:
    def interrupted(arm: int) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(interrupted, 2, on_error="worst", worst=0.0).pull(0, HERE, "pull 1")


def test_the_worker_ends_with_its_executor() -> None:
    executor = Executor(lambda arm: os.getpid(), 2, run_in="process")
    worker = int(executor.pull(0, HERE, "pull 1").reward)
    assert alive(worker)
    copied = copy.deepcopy(executor)  # has a worker of its own, once it pulls
    del executor
    gc.collect()
    assert not alive(worker)
    with copied:
        assert copied.pull(0, HERE, "pull 1").reward != worker


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_a_worker_leaves_when_its_parent_is_killed_in_the_middle_of_a_pull(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = f"""if True:
        import os, pathlib, time
        from bai_gym.live.executor.executor import Executor

        def stuck(arm):
            pathlib.Path({str(note)!r}).write_text(str(os.getpid()))
            time.sleep({LATE})

        Executor(stuck, 2, timeout={LATE}).pull(0, (1,), "pull 1")
    """
    parent = subprocess.Popen([sys.executable, "-c", program])
    ended = time.monotonic() + PLENTY
    while not (note.exists() and note.read_text()) and time.monotonic() < ended:
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    worker = int(note.read_text())
    while alive(worker) and time.monotonic() < ended:
        time.sleep(0.01)
    assert not alive(worker)


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (3, {"num_arms": 2}, "pull"),
    ([twice, 1], {}, "entry 1"),
    ([twice, twice], {"num_arms": 3}, "2 functions and num_arms is 3"),
    ([twice], {}, "num_arms"),
    (twice, {}, "num_arms is missing"),
    (twice, {"num_arms": 2, "timeout": 0}, "timeout"),
    (twice, {"num_arms": 2, "on_error": "ignore"}, "on_error"),
    (twice, {"num_arms": 2, "on_error": "worst"}, "worst="),
    (twice, {"num_arms": 2, "on_error": "worst", "worst": math.nan}, "worst"),
    (twice, {"num_arms": 2, "retries": 2}, "retries"),
    (twice, {"num_arms": 2, "run_in": "cloud"}, "run_in"),
    (twice, {"num_arms": 2, "run_in": "here", "timeout": 1.0}, "timeout"),
]


@pytest.mark.each(("pull", "keywords", "message"), BAD)
def test_wrong_arguments_are_refused(pull: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Executor(pull, **keywords)
