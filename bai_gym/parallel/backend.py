"""A joblib backend for clusters with futures.

Joblib's own backend for Dask does not notice a task that has failed for good (its workers or the scheduler died), and
waits for it forever; Ray's cannot return results as they come. Both clusters have futures, so one small backend serves
both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Protocol

from joblib.parallel import ParallelBackendBase, SequentialBackend

from bai_gym.errors import ClusterError
from bai_gym.parallel.task import opened, packed

__all__ = ["LOST_SECONDS", "ClusterBackend", "Connection"]

LOST_SECONDS = 30.0
"""Seconds without any worker after which a cluster counts as lost. Supervisors restart dead workers within seconds."""
WATCH_SECONDS = 1.0
WATCHER = "bai-gym-cluster"  # name of the thread


class Connection(Protocol):
    """The interface of a cluster."""

    name: str
    """Its name: kind and address."""

    def submit(self, task: bytes) -> Future[bytes]:
        """Submit a task, to be called by ``pickle.loads`` on a worker, and again elsewhere if that worker is lost."""

    def cores(self) -> int:
        """Return the number of tasks that can run in parallel; 0 if the cluster does not respond or has no workers."""

    def versions(self) -> dict[str, dict[str, str | None]]:
        """Return the result of :func:`bai_gym.parallel.task.own_versions` on each worker."""

    def explain(self, error: BaseException) -> str | None:
        """Return the meaning of a future's error, or None if the cluster did not cause it."""

    def cancel(self) -> None:
        """Cancel all unfinished tasks."""

    def close(self) -> None:
        """Close the connection."""


class ClusterBackend(ParallelBackendBase):  # type: ignore[misc]
    """Joblib's side of a cluster.

    Args:
        connection: The cluster.
    """

    supports_retrieve_callback = True
    default_n_jobs = -1

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self.connection = connection
        self._waiting: set[Future[bytes]] = set()
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the number of parallel tasks, at least 2: with 1, joblib would work in this process."""
        return max(2, self.connection.cores())

    def start_call(self) -> None:
        """Start the thread that watches the cluster."""
        self._ended = threading.Event()
        threading.Thread(target=self._watch, args=(self._ended,), name=WATCHER, daemon=True).start()

    def stop_call(self) -> None:
        """Stop watching the cluster."""
        self._ended.set()

    def submit(self, func: Callable[[], Any], callback: Callable[[Future[bytes]], None]) -> Future[bytes]:
        """Submit a task; a callback reports its end, with or without an error."""
        ours: Future[bytes] = Future()
        ours.add_done_callback(callback)
        with self._lock:
            self._waiting.add(ours)
        self.connection.submit(packed(func)).add_done_callback(lambda theirs: self._end(ours, theirs))
        return ours

    apply_async = submit  # the name in joblib 1.3 and 1.4

    def retrieve_result_callback(self, out: Future[bytes]) -> Any:
        """Return the result of a task.

        Raises:
            ClusterError: If the cluster failed; else what the task raised.
        """
        try:
            result = out.result()
        except ImportError as error:  # a task's own exceptions are in its result
            raise ClusterError(
                f"a worker of {self.connection.name} cannot import bai-gym ({error}); install version "
                f"{version('bai-gym')} on all workers"
            ) from None
        except Exception as error:
            reason = self.connection.explain(error)
            if reason is None:
                raise
            raise ClusterError(f"{reason}; {RESUME}") from None
        return opened(result)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """Cancel all tasks."""
        with self._lock:
            self._waiting.clear()
        self.connection.cancel()

    def get_nested_backend(self) -> tuple[Any, None]:
        """Make tasks sequential: the other cores belong to other tasks."""
        return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

    def _end(self, ours: Future[bytes], theirs: Future[bytes]) -> None:
        with self._lock:
            if ours not in self._waiting:  # aborted or lost
                return
            self._waiting.remove(ours)
        with suppress(InvalidStateError):
            if theirs.cancelled():
                ours.set_exception(ClusterError(f"{self.connection.name} is lost; {RESUME}"))
            elif (error := theirs.exception()) is not None:
                ours.set_exception(error)
            else:
                ours.set_result(theirs.result())

    def _watch(self, ended: threading.Event) -> None:
        """End all tasks if workers are missing for long: some clusters would wait forever."""
        alive = time.monotonic()
        while not ended.wait(WATCH_SECONDS):
            if self.connection.cores():
                alive = time.monotonic()
            elif time.monotonic() > alive + LOST_SECONDS:
                break
        else:
            return
        with self._lock:
            waiting, self._waiting = self._waiting, set()
        lost = ClusterError(f"{self.connection.name} is lost: it had no workers for {LOST_SECONDS:.0f} s; {RESUME}")
        for future in waiting:
            future.set_exception(lost)


RESUME = "with an output folder, the same command resumes"
