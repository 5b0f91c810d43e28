"""The ``joblib.Parallel`` of this library."""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bai_gym.errors import BaiGymError

__all__ = ["end_with", "num_workers", "on_cluster", "parallel", "plays_elsewhere"]

WATCH_SECONDS = 0.5  # between two looks for the parent


@contextmanager
def parallel(workers: int | None, *, ordered: bool = True, tasks: int | None = None) -> Iterator[Any]:
    """Yield a ``joblib.Parallel`` that returns a generator of results.

    Args:
        workers: Processes; -1 for all cores; None for what an enclosing ``joblib.parallel_config`` says. Ignored inside
            :func:`bai_gym.cluster`.
        tasks: Number of tasks, if known: more processes than tasks, or than cores, would be idle.
        ordered: Whether results come in the order of the tasks, or as soon as they are ready.

    Raises:
        BaiGymError: Inside, where a worker process was killed, or a task cannot be sent to one.
    """
    import joblib  # here, because most sessions play a single run, or find everything on disk

    if workers is not None and not plays_elsewhere():
        workers = num_workers(workers, tasks)
    with _explained(), warnings.catch_warnings():
        # joblib replaces a worker that has grown by 300 MB, and says so by a warning in the thread that manages the
        # workers. Where warnings are errors, this thread would die, and the program wait forever.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"(joblib\.externals\.)?loky\.")
        yield joblib.Parallel(
            n_jobs=workers,
            return_as="generator" if ordered else "generator_unordered",
            # A cluster receives all tasks at once, so that workers that join later find work.
            pre_dispatch="all" if on_cluster() else "2 * n_jobs",
        )


def num_workers(workers: int, tasks: int | None = None) -> int:
    """Return the number of processes on this machine: at most one for each task and each core; -1 means all cores."""
    import joblib

    cores = int(joblib.cpu_count())
    # At least two, if there are two tasks: one would be this process itself.
    workers = cores if workers == -1 else min(workers, max(cores, 2))
    return workers if tasks is None else min(workers, max(tasks, 1))


@contextmanager
def _explained() -> Iterator[None]:
    """Report errors of local worker processes in one line."""
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    try:
        yield
    except TerminatedWorkerError:
        raise BaiGymError(
            "a worker process was killed (out of memory?); use fewer workers, or run the same command again with the "
            "same output folder to resume it"
        ) from None
    except (BrokenProcessPool, pickle.PicklingError) as error:
        lines = [line.strip("'\" ") for line in str(error.__cause__ or error).splitlines()]
        reason = next((line for line in reversed(lines) if line), type(error).__name__)
        raise BaiGymError(
            f"the agent or the environment cannot be sent to worker processes ({reason}); use workers=1"
        ) from None


def end_with(parent: int) -> None:
    """End this worker process of ``parent`` when that is killed; joblib's workers would wait for work for a while.

    It ends without a last garbage collection, for which the parent would wait.

    Elsewhere, and on Windows, where a process keeps the number of its parent, nothing happens.

    Args:
        parent: Number of the process that has started the work.
    """
    if os.getppid() == parent and os.getpid() not in _WATCHED:
        _WATCHED.add(os.getpid())
        atexit.register(gc.freeze)
        threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


_WATCHED: set[int] = set()


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def on_cluster() -> bool:
    """Return whether :func:`bai_gym.cluster` encloses this call."""
    from joblib.parallel import get_active_backend

    from bai_gym.parallel.backend import ClusterBackend

    return isinstance(get_active_backend()[0], ClusterBackend)


def plays_elsewhere() -> bool:
    """Return whether tasks may run on machines without access to local files.

    This is so with :func:`bai_gym.cluster`, and with any ``joblib.parallel_config`` except for processes and threads
    of this machine.
    """
    from joblib import parallel as kinds

    here = (kinds.LokyBackend, kinds.MultiprocessingBackend, kinds.SequentialBackend, kinds.ThreadingBackend)
    return type(kinds.get_active_backend()[0]) not in here
