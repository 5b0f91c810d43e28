"""Calls on processes and executors: results as soon as they are there, lost work again, a bounded number of times."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import pytest

from bai_gym import compare
from bai_gym.benchmark import runner
from bai_gym.errors import BaiGymError, ClusterError, ParameterError, PullError
from bai_gym.parallel import num_workers, pool, run_calls
from bai_gym.results.writer import ResultsWriter

GROWING = """
import functools, sys, time
import numpy as np
from bai_gym.parallel import run_calls

def grow(number):
    sys.kept = getattr(sys, "kept", []) + [np.ones(45_000_000)]  # 360 MB; loky replaces workers that grew by 300
    time.sleep(1.1)  # it looks once a second
    return number

found = []  # and no `if __name__ == "__main__"`
run_calls([functools.partial(grow, number) for number in range(6)], 2, lambda _, result: found.append(result))
print(sorted(found))
"""


class Threads(Executor):
    """A cluster of threads, which loses the first tasks in given ways."""

    def __init__(self, *losses: BaseException) -> None:
        self.pool = ThreadPoolExecutor(3)
        self.losses = list(losses)
        self.tasks: list[bytes] = []

    def submit(self, call: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        assert call is pickle.loads, "a worker without this library could not read it"
        self.tasks.append(args[0])
        if not self.losses:
            return self.pool.submit(call, *args)
        lost = self.losses.pop(0)
        if isinstance(lost, BrokenProcessPool):
            raise lost
        future: Future[Any] = Future()
        future.set_exception(lost)
        return future


def results(calls: list[Callable[[], Any]], workers: Any) -> list[Any]:
    found: dict[int, Any] = {}
    run_calls(calls, workers, found.__setitem__)
    return [found[number] for number in range(len(calls))]


def value(number: int) -> int:
    return number


CALLS: list[Callable[[], Any]] = [partial(value, number) for number in range(5)]


@pytest.mark.slow
def test_workers_that_are_replaced_are_not_waited_for() -> None:
    pytest.importorskip("psutil", reason="without psutil loky does not look how much workers grow")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", GROWING], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.returncode) == (f"{list(range(6))}\n", 0), done.stderr


def test_no_process_has_nothing_to_do() -> None:
    most = max(joblib.cpu_count(), 2)
    cases = {(100_000, 1): 1, (100_000, 10**6): most, (-1, 1): 1, (1, 5): 1, (100_000, 0): 1}
    assert {case: num_workers(*case) for case in cases} == cases
    assert results([partial(num_workers, -1, 9)] * 2, Threads()) == [1, 1], "tasks have one core"


def test_results_come_as_soon_as_they_are_there() -> None:
    # The first call waits until the result of the second has been received.
    received = threading.Event()
    _EVENTS["received"] = received
    order: list[int] = []

    def take(number: int, result: str) -> None:
        order.append(number)
        received.set()
        assert result == ("waited: True", "at once")[number]

    run_calls([_wait_for_the_other, partial(str, "at once")], Threads(), take)
    assert order == [1, 0]


_EVENTS: dict[str, threading.Event] = {}


def _wait_for_the_other() -> str:
    return f"waited: {_EVENTS['received'].wait(20)}"


def test_lost_work_is_sent_again_in_other_bytes() -> None:
    # Dask would return the old error for equal bytes.
    for loss in (BrokenProcessPool("gone"), KeyError("worker"), RuntimeError("killed"), TimeoutError()):
        executor = Threads(loss, loss)
        assert results(CALLS, executor) == [0, 1, 2, 3, 4]
        assert len(executor.tasks) == len(set(executor.tasks)) == 7


def test_work_that_is_lost_too_often_is_an_error_of_one_line() -> None:
    executor = Threads(*[RuntimeError("killed\nby\nsomebody")] * (pool.TRIES * len(CALLS)))
    with pytest.raises(ClusterError, match=r"lost 3 times \(killed by somebody\); .* the same call resumes$"):
        results(CALLS, executor)


def test_work_that_the_executor_cancels_is_an_error_at_once() -> None:
    with pytest.raises(ClusterError, match=r"^the executor has cancelled its work .* the same call resumes$"):
        results(CALLS, Threads(CancelledError()))


def test_a_worker_without_the_library_is_an_error_at_once() -> None:
    executor = Threads(ModuleNotFoundError("No module named 'bai_gym'"))
    with pytest.raises(ClusterError, match=r"^a worker cannot import bai-gym \(No module"):
        results(CALLS, executor)


def test_what_is_not_done_after_an_error_is_cancelled() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    executor = Threads()
    with pytest.raises(ZeroDivisionError):
        results([broken, *[partial(slow, 0)] * 500], executor)
    before = time.monotonic()
    executor.pool.shutdown()
    assert time.monotonic() < before + 2.0, "not 500 times 0.02 s by three threads"


def test_processes_end_after_an_error_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loky's thread would die of a future that was cancelled meanwhile, and leave its processes."""
    monkeypatch.setattr(joblib.externals.loky.process_executor, "EXTRA_QUEUED_CALLS", -3)  # the rest waits
    died: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    with pytest.raises(ZeroDivisionError):
        run_calls([lambda: 1 / 0, *[lambda: time.sleep(5)] * 9], 2, print)
    assert died == []


def test_futures_that_are_no_standard_ones_are_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "POLL_SECONDS", 0.01)

    class Job:
        """As submitit's."""

        def __init__(self, future: Future[Any]) -> None:
            self.done, self.result, self.cancel = future.done, future.result, future.cancel

    class Jobs:
        threads = Threads()

        def submit(self, *call: Any) -> Job:
            return Job(self.threads.submit(*call))

    assert results(CALLS, Jobs()) == [0, 1, 2, 3, 4]


def test_what_is_no_executor_is_refused() -> None:
    for executor in (3, "dask", Threads):
        with pytest.raises(ParameterError, match="executor must be a concurrent.futures.Executor"):
            compare(["SH"], "BAI-Bernoulli4-v0", runs=5, executor=executor)


# ------------------------------------------------------------------------------------------------ who writes


def test_what_was_played_elsewhere_is_written_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    writers = []
    save, keep = ResultsWriter.save, ResultsWriter.save_recording
    monkeypatch.setattr(ResultsWriter, "save", lambda *a: (writers.append(threading.current_thread()), save(*a)))
    monkeypatch.setattr(
        ResultsWriter, "save_recording", lambda *a: (writers.append(threading.current_thread()), keep(*a))
    )
    threads = Threads(KeyError("lost"))
    finished: list[tuple[int, int]] = []

    def on_chunk(done: int, total: int) -> None:
        finished.append((done, len(list((tmp_path / "away").glob("chunks/*/0*.parquet")))))

    how = {"runs": 1200, "seed": 3, "record": 2}
    compare(["SH", "Uniform"], "BAI-Bernoulli4-v0", out=tmp_path / "away", executor=threads, on_chunk=on_chunk, **how)
    assert len(threads.tasks) == 1 + 4 + 4
    assert writers == [threading.main_thread()] * 8
    assert finished == [(done, done) for done in range(5)], "on disk before the next is played"
    compare(["SH", "Uniform"], "BAI-Bernoulli4-v0", out=tmp_path / "here", **how)
    assert contents(tmp_path / "away") == contents(tmp_path / "here")


def test_a_worker_with_other_data_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.csv"
    log.write_text("page,sales\n" + "a,0\nb,1\nc,0\n" * 5)
    keywords = {"path": str(log), "arm_column": "page", "reward_column": "sales"}
    work = runner._work_elsewhere

    def with_another_file(job: Any, probe: Any) -> Any:
        log.write_text("page,sales\n" + "a,1\nb,0\nc,1\n" * 6)
        return work(job, probe)

    compare(["SH"], "BAI-Table-v0", runs=10, budgets=[9], env_kwargs=keywords, executor=Threads())
    monkeypatch.setattr(runner, "_work_elsewhere", with_another_file)
    with pytest.raises(ClusterError, match=r"^worker \S+ draws other instances of BAI-Table-v0\(path=log.csv"):
        compare(["SH"], "BAI-Table-v0", runs=10, budgets=[9], env_kwargs=keywords, executor=Threads())


# ------------------------------------------------------------------------------------------------ single calls


def slow(arm: int) -> float:
    time.sleep(0.02)
    return float(arm)


def test_pulls_of_identify_are_tasks_of_an_executor() -> None:
    identify = pytest.importorskip("bai_gym.live.identify", reason="real experiments are a wing").identify
    threads = Threads()
    there = identify(slow, 3, 12, "SH", parallel=3, run_in=threads)
    assert len(threads.tasks) == len(there.log) == 12
    assert there.log == identify(slow, 3, 12, "SH").log


def test_a_pull_that_fails_there_or_takes_too_long_has_failed_and_a_lost_one_has_not() -> None:
    identify = pytest.importorskip("bai_gym.live.identify", reason="real experiments are a wing").identify

    def broken(arm: int) -> float:
        raise TimeoutError("of its own")

    cases: list[tuple[Any, Any, type[BaiGymError], str]] = [
        (broken, {}, PullError, r"pull 1 \(arm \d\) failed: TimeoutError: of its own"),
        (slow, {"timeout": 0.005}, PullError, "it took longer than 0.005 seconds"),
    ]
    for pull, how, kind, words in cases:
        with pytest.raises(kind, match=words):
            identify(pull, 2, 4, "Uniform", run_in=Threads(), **how)
    lost = Threads(KeyError("its worker"))
    with pytest.raises(ClusterError, match="the worker of a pull was lost"):
        identify(slow, 2, 4, "Uniform", run_in=lost, on_error="worst", worst=0.0)


def test_processes_of_joblib_and_ours_are_used_side_by_side() -> None:
    results: dict[int, float] = {}
    for _ in range(2):
        run_calls([partial(math.sqrt, number) for number in (1, 4)], 2, results.__setitem__)
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(math.sqrt)(number) for number in (9, 16)) == [3.0, 4.0]
    assert results == {0: 1.0, 1: 2.0}
