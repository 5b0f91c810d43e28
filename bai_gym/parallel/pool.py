"""Calls on processes of this machine, or on the workers of any ``concurrent.futures.Executor``.

The processes of this machine are those of loky, which comes with joblib: unlike the standard library's, they need no
``if __name__ == "__main__":`` in scripts, are started the same way on every system, and are replaced after one has died
or leaks memory.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import queue
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from bai_gym.errors import ClusterError, ParameterError
from bai_gym.parallel.memory import exceeded_limit
from bai_gym.parallel.task import opened, packed, within_task
from bai_gym.validation import integer

__all__ = ["TRIES", "Workers", "check_workers", "num_workers", "plays_elsewhere", "run_calls"]

Workers = int | Executor
"""Processes of this machine, -1 for all cores; or any ``concurrent.futures.Executor``."""

TRIES = 3
"""Times that a call is sent before it fails for good: its workers were lost each time."""
AT_ONCE = 1000  # calls that wait at an executor: enough for workers that join later, little to cancel and to hold
IDLE_SECONDS = 300  # after which processes without work end
POLL_SECONDS = 0.1  # between two looks at futures that cannot be waited for
RESUME = "with an output folder, the same call resumes"
SHOWN = 100  # characters of the error of an executor
WATCH_SECONDS = 0.5  # between two looks for the parent
THREADS = (
    "BLIS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_Result = TypeVar("_Result")


def check_workers(workers: Any) -> None:
    """Check the user's argument.

    Raises:
        ParameterError: If it is neither an integer of at least 1, nor -1, nor an executor.
    """
    if not plays_elsewhere(workers) and workers != -1:
        integer(workers, "workers", least=1, rule="an integer of at least 1, or -1 for all cores")


def check_executor(executor: Any) -> None:
    """Check the user's argument.

    Raises:
        ParameterError: If it is no executor.
    """
    if not plays_elsewhere(executor):
        raise ParameterError(
            f"executor must be a concurrent.futures.Executor, such as client.get_executor() of Dask, not {executor!r}"
        )


def plays_elsewhere(workers: Any) -> bool:
    """Return whether an executor makes the calls, perhaps on machines without access to local files."""
    return not isinstance(workers, type) and callable(getattr(workers, "submit", None))


def num_workers(workers: Any, tasks: int) -> int:
    """Return the number of processes on this machine: at most one for each task and each core; -1 means all cores.

    Within a task it is 1: the other cores belong to other tasks.
    """
    if workers == 1 or within_task():
        return 1
    from joblib import cpu_count

    cores = int(cpu_count())
    # At least two, if there are two tasks: one would be this process itself.
    return min(cores if workers == -1 else min(workers, max(cores, 2)), max(tasks, 1))


def run_calls(calls: Sequence[Callable[[], _Result]], workers: Workers, take: Callable[[int, _Result], object]) -> None:
    """Make calls, and hand over the number and the result of each as soon as it is there.

    Calls travel by cloudpickle, those of lost workers again. One process is this one, without any pickling.

    Args:
        calls: Functions without arguments.
        workers: Where.
        take: Called here, in the order in which results arrive.

    Raises:
        ParameterError: If a call cannot be pickled.
        ClusterError: If the workers of a call were lost :data:`TRIES` times, or differ from this process, see
            :func:`bai_gym.parallel.task.differences`.
        Exception: What a call or ``take`` raises; calls that are not yet made are then cancelled.
    """
    if plays_elsewhere(workers):
        _send(calls, workers, AT_ONCE, take)
        return
    processes = num_workers(workers, len(calls))
    if processes == 1:
        for number, call in enumerate(calls):
            take(number, call())
        return
    with warnings.catch_warnings():
        # loky replaces a worker that has grown by 300 MB, and says so by a warning in the thread that manages the
        # workers. Where warnings are errors, this thread would die, and the program wait forever.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"(joblib\.externals\.)?loky\.")
        pool = _Processes.of(processes)
        try:
            _send(calls, pool, 2 * processes, take)
        except BaseException:
            pool.end()
            raise


class _Processes:
    """Processes of this machine, kept from call to call, and replaced after one has died.

    They are not the reusable ones of loky, which joblib takes: those of a program that plays here and fits models there
    would take each other's place.

    Args:
        number: How many.
        threads: Environment variables with the number of threads of each.
    """

    _kept: ClassVar[_Processes | None] = None

    def __init__(self, number: int, threads: dict[str, str]) -> None:
        self._number, self._threads = number, threads
        self._start()

    @classmethod
    def of(cls, number: int) -> _Processes:
        """Return so many processes: those of the last call, or new ones."""
        from joblib import cpu_count

        threads = {name: os.environ.get(name, str(max(1, cpu_count() // number))) for name in THREADS}
        kept = cls._kept
        if kept is not None and (kept._number, kept._threads) == (number, threads):
            return kept
        if kept is not None:
            kept.end()
        cls._kept = cls(number, threads)
        return cls._kept

    def _start(self) -> None:
        from joblib.externals.loky import ProcessPoolExecutor

        ends = {"initializer": _end_with, "initargs": (os.getpid(),)}
        self._pool = ProcessPoolExecutor(self._number, timeout=IDLE_SECONDS, env=self._threads, **ends)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the future of a call."""
        try:
            return self._pool.submit(function, *arguments)
        except BrokenExecutor:  # a process has died since the last call
            self._start()
            return self._pool.submit(function, *arguments)

    def end(self) -> None:
        """End the processes, whatever they are doing."""
        type(self)._kept = None
        with suppress(queue.Empty):  # loky's thread would look for calls that it has failed meanwhile, and die
            while True:
                self._pool._work_ids.get_nowait()
        self._pool.shutdown(kill_workers=True)


def _send(
    calls: Sequence[Callable[[], _Result]],
    executor: Any,
    at_once: int,
    take: Callable[[int, _Result], object],
) -> None:
    waiting = deque(range(len(calls)))
    losses = [0] * len(calls)
    pending: dict[Any, int] = {}

    def lose(number: int, error: BaseException) -> None:
        limit = exceeded_limit(error)
        if limit is not None:
            raise ClusterError(f"workers cannot be started, {limit}; {RESUME}")
        losses[number] += 1
        if losses[number] == TRIES:
            reason = (" ".join(str(error).split()) or type(error).__name__)[:SHOWN]
            raise ClusterError(
                f"the workers of the same work were lost {TRIES} times ({reason}); most likely they have too little "
                f"memory: take fewer on one machine; {RESUME}"
            )
        waiting.appendleft(number)

    try:
        while waiting or pending:
            while waiting and len(pending) < at_once:
                number = waiting.popleft()
                task = packed(calls[number], losses[number])
                try:
                    # A function of the standard library, which workers without bai-gym have, too.
                    pending[executor.submit(pickle.loads, task)] = number
                except Exception as error:
                    lose(number, error)
            for future in _ended(pending):
                number = pending.pop(future)
                try:
                    result = future.result()
                except (ImportError, AttributeError) as error:  # a call's own exceptions are in its result
                    raise ClusterError(f"a worker cannot import bai-gym ({error}); install the same version") from None
                except CancelledError:  # Dask does so when it has lost its scheduler
                    raise ClusterError(f"the executor has cancelled its work (is it lost?); {RESUME}") from None
                except Exception as error:
                    lose(number, error)
                else:
                    take(number, opened(result))
    finally:
        if not isinstance(executor, _Processes):  # which end all, and loky's thread would die of a cancelled future
            for future in pending:
                with suppress(Exception):  # the cluster may be gone
                    future.cancel()


def _ended(futures: Collection[Any]) -> Collection[Any]:
    """Wait until some futures have ended, and return them; submitit's are no standard ones, and have to be polled."""
    if all(isinstance(future, Future) for future in futures):
        return wait(futures, return_when=FIRST_COMPLETED).done
    while not (ended := [future for future in futures if future.done()]):
        time.sleep(POLL_SECONDS)
    return ended


def _end_with(parent: int) -> None:
    """End this worker process of ``parent`` when that is killed; loky's workers would wait for work for a while.

    It ends without a last garbage collection, for which the parent would wait. On Windows, where a process keeps the
    number of its parent, it does not end with it.

    Args:
        parent: Number of the process that has started this one, which may have ended since.
    """
    atexit.register(gc.freeze)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
