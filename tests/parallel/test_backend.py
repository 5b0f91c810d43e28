"""Joblib on futures: results as they come, every end reported, a lost cluster given up. The cluster here is threads."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import pytest

from bai_gym import compare, identify
from bai_gym.benchmark import runner
from bai_gym.errors import ClusterError, ParameterError, PullError
from bai_gym.parallel import backend, on_cluster, parallel, plays_elsewhere
from bai_gym.problems.automl import cache
from bai_gym.results.writer import ResultsWriter

THREADS = 3


class Threads:
    """A cluster of threads, which can be told to misbehave."""

    name = "the cluster of threads"

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(THREADS)
        self.alive = True
        self.sent = 0
        self.cancelled = 0
        self.end: Callable[[Future[bytes]], None] | None = None  # how each task ends, if not with an answer

    def submit(self, call: bytes) -> Future[bytes]:
        self.sent += 1
        if self.end is None:
            return self.pool.submit(pickle.loads, call)
        future: Future[bytes] = Future()
        self.end(future)
        return future

    def cores(self) -> int:
        return THREADS if self.alive else 0

    def versions(self) -> dict[str, dict[str, str | None]]:
        raise NotImplementedError

    def explain(self, error: BaseException) -> str | None:
        return "all its workers were lost" if isinstance(error, KeyError) else None

    def cancel(self) -> None:
        self.cancelled += 1

    def close(self) -> None:
        self.pool.shutdown()


@pytest.fixture
def threads() -> Iterator[Threads]:
    """The cluster, in use."""
    connection = Threads()
    with joblib.parallel_config(backend=backend.ClusterBackend(connection), n_jobs=-1):
        yield connection
    connection.close()


def answers(calls: list[Callable[[], Any]], *, ordered: bool = False) -> Iterator[Any]:
    with parallel(1, ordered=ordered) as pool:
        yield from pool(joblib.delayed(call)() for call in calls)


def test_answers_come_as_soon_as_they_are_there(threads: Threads) -> None:
    # The first task waits until the answer of the second has been received: with anything batched, or kept back
    # until the end, it would wait for ever.
    received = threading.Event()
    _EVENTS["received"] = received
    found = []
    for answer in answers([_wait_for_the_other, _at_once]):
        found.append(answer)
        received.set()
    assert found == ["at once", "waited: True"]


_EVENTS: dict[str, threading.Event] = {}


def _wait_for_the_other() -> str:
    return f"waited: {_EVENTS['received'].wait(20)}"


def _at_once() -> str:
    return "at once"


def test_order_is_kept_where_asked_for(threads: Threads) -> None:
    calls = [_sleeper(0.2), _sleeper(0.1), _sleeper(0.0)]
    assert list(answers(calls, ordered=True)) == [0.2, 0.1, 0.0]


def _sleeper(seconds: float) -> Callable[[], float]:
    def sleep() -> float:
        time.sleep(seconds)
        return seconds

    return sleep


def test_all_tasks_are_sent_at_once_and_one_is_sent_too(threads: Threads) -> None:
    pending = answers([_sleeper(0.05)] * 40)
    assert next(pending) == 0.05
    assert threads.sent == 40
    assert len(list(pending)) == 39
    assert list(answers([_at_once])) == ["at once"]  # joblib alone would play a single one here
    assert threads.sent == 41


def test_an_error_of_the_cluster_is_explained_and_the_rest_forgotten(threads: Threads) -> None:
    threads.end = lambda future: future.set_exception(KeyError("worker"))
    with pytest.raises(ClusterError) as caught:
        list(answers([_at_once] * 4))
    resumes = "with an output folder, the same command resumes"
    assert str(caught.value) == f"all its workers were lost; {resumes}"
    assert threads.cancelled == 1


def test_tasks_that_the_cluster_cancels_are_an_error(threads: Threads) -> None:
    def cancel(future: Future[bytes]) -> None:
        future.cancel()
        future.set_running_or_notify_cancel()

    threads.end = cancel
    with pytest.raises(ClusterError, match="^the cluster of threads is lost; with an output folder, the same command"):
        list(answers([_at_once] * 4))


def test_a_worker_without_the_library_is_an_error(threads: Threads) -> None:
    threads.end = lambda future: future.set_exception(ModuleNotFoundError("No module named 'bai_gym'"))
    with pytest.raises(ClusterError, match=r"^a worker of the cluster of threads cannot import bai-gym \(No module"):
        list(answers([_at_once] * 4))


def test_a_cluster_where_nobody_works_is_given_up(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "LOST_SECONDS", 0.3)
    monkeypatch.setattr(backend, "WATCH_SECONDS", 0.05)
    threads.end = lambda future: None  # nobody ever answers
    threads.alive = False
    with pytest.raises(ClusterError, match="is lost: it had no workers for 0 s; with an output folder, the same"):
        list(answers([_at_once] * 4))


def test_nobody_working_for_a_moment_is_nothing(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "LOST_SECONDS", 60.0)
    monkeypatch.setattr(backend, "WATCH_SECONDS", 0.01)
    threads.alive = False
    assert list(answers([_sleeper(0.2)] * 3)) == [0.2] * 3
    watchers = [thread for thread in threading.enumerate() if thread.name == backend.WATCHER]
    for thread in watchers:
        thread.join(20)
    assert not any(thread.is_alive() for thread in watchers)


# ------------------------------------------------------------------------------------------------ who writes


def test_what_was_played_elsewhere_is_written_here(
    threads: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contents: Callable[[Path], dict[str, bytes]]
) -> None:
    writers = []
    save, keep = ResultsWriter.save, ResultsWriter.save_recording
    monkeypatch.setattr(ResultsWriter, "save", lambda *a: (writers.append(threading.current_thread()), save(*a)))
    monkeypatch.setattr(
        ResultsWriter, "save_recording", lambda *a: (writers.append(threading.current_thread()), keep(*a))
    )
    compare(["SH", "Uniform"], "BAI-Bernoulli4-v0", runs=1200, seed=3, out=tmp_path / "away", record=2)
    assert threads.sent == 4 + 4
    assert writers == [threading.main_thread()] * 8
    with joblib.parallel_config(backend="sequential"):
        compare(["SH", "Uniform"], "BAI-Bernoulli4-v0", runs=1200, seed=3, out=tmp_path / "here", record=2)
    assert contents(tmp_path / "away") == contents(tmp_path / "here")


def test_finished_chunks_are_on_disk_before_the_others_are_played(threads: Threads, tmp_path: Path) -> None:
    seen = []
    compare(
        ["SH"],
        "BAI-Bernoulli4-v0",
        runs=3000,
        out=tmp_path,
        on_chunk=lambda done, _: seen.append((done, len(list(tmp_path.glob("chunks/*/0*.parquet"))))),
    )
    assert seen == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_models_are_trained_elsewhere_and_kept_here(
    threads: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers = []
    keep = cache._keep
    monkeypatch.setattr(cache, "split_scores", lambda table, models, seed: cache.np.full(len(models), float(seed)))
    monkeypatch.setattr(cache, "_keep", lambda *a: (writers.append(threading.current_thread()), keep(*a))[1])
    table = type("Table", (), {"digest": "0", "name": "own"})()
    models = [cache.Model("tree", (("depth", depth),), (0,)) for depth in (1, 2)]
    scores = cache.cached_scores(table, models, 3, cache=tmp_path)
    assert scores.tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    assert writers == [threading.main_thread()] * 3
    assert threads.sent == 3
    assert cache.cached_scores(table, models, 3, cache=tmp_path).tolist() == scores.tolist()
    assert threads.sent == 3  # found on disk


# ------------------------------------------------------------------------------------------------ what is refused


def test_local_processes_and_a_cluster_exclude_each_other(threads: Threads) -> None:
    with pytest.raises(ParameterError, match="workers=2 counts processes of this machine; on a cluster leave it out"):
        compare(["SH"], "BAI-Bernoulli4-v0", runs=10, workers=2)
    for workers in (1, -1, None):
        compare(["SH"], "BAI-Bernoulli4-v0", runs=10, workers=workers)
    assert threads.sent == 3


def test_a_worker_with_other_data_refuses(threads: Threads, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.csv"
    log.write_text("page,sales\n" + "a,0\nb,1\nc,0\n" * 5)
    keywords = {"path": str(log), "arm_column": "page", "reward_column": "sales"}
    work = runner._work

    def with_another_file(job: Any, store: Any) -> Any:
        log.write_text("page,sales\n" + "a,1\nb,0\nc,1\n" * 6)
        return work(job, store)

    compare(["SH"], "BAI-Table-v0", runs=10, budgets=[9], env_kwargs=keywords)
    monkeypatch.setattr(runner, "_work", with_another_file)
    with pytest.raises(ClusterError, match=r"^worker \S+ draws other instances of BAI-Table-v0\(path=log.csv"):
        compare(["SH"], "BAI-Table-v0", runs=10, budgets=[9], env_kwargs=keywords)


@pytest.mark.parametrize("name", ["loky", "threading", "multiprocessing", "sequential"])
def test_processes_of_this_machine_are_not_elsewhere(name: str) -> None:
    with joblib.parallel_config(backend=name):
        assert not plays_elsewhere() and not on_cluster()


def test_another_backend_of_joblib_is_elsewhere() -> None:
    class Other(joblib.parallel.ThreadingBackend):  # type: ignore[name-defined,misc]
        pass

    with joblib.parallel_config(backend=Other()):
        assert plays_elsewhere() and not on_cluster()
    assert not plays_elsewhere()


# ------------------------------------------------------------------------------------------------ single calls


def slow(arm: int) -> float:
    time.sleep(0.02)
    return float(arm)


def enclosed(cluster: Threads) -> Any:
    return joblib.parallel_config(backend=backend.ClusterBackend(cluster), n_jobs=-1)


def test_pulls_of_identify_are_tasks_of_the_cluster() -> None:
    cluster = Threads()
    with enclosed(cluster):
        there = identify(slow, 3, 12, "SH", parallel=3)
    assert cluster.sent == len(there.log) == 12
    assert there.log == identify(slow, 3, 12, "SH").log


def test_a_pull_that_fails_there_or_takes_too_long_has_failed() -> None:
    def broken(arm: int) -> float:
        raise TimeoutError("of its own")

    with enclosed(Threads()):
        with pytest.raises(PullError, match=r"pull 1 \(arm \d\) failed: TimeoutError: of its own"):
            identify(broken, 2, 4, "Uniform", run_in="cluster")
        with pytest.raises(PullError, match="it took longer than 0.005 seconds"):
            identify(slow, 2, 4, "Uniform", run_in="cluster", timeout=0.005)


@pytest.mark.parametrize("end", ["no workers", "an error"])
def test_a_lost_cluster_is_no_failed_pull(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "LOST_SECONDS", 0.01)
    cluster = Threads()
    cluster.alive = False
    cluster.end = (lambda future: future.set_exception(KeyError())) if end == "an error" else (lambda future: None)
    with enclosed(cluster), pytest.raises(ClusterError, match="all its workers were lost|it has no workers"):
        identify(slow, 2, 4, "Uniform", parallel=2, on_error="worst", worst=0.0)


def test_a_cluster_must_enclose_the_call() -> None:
    with pytest.raises(ParameterError, match="run_in='cluster' needs a cluster"):
        identify(slow, 2, 4, "Uniform", run_in="cluster")
