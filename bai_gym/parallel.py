"""Worker processes, through joblib."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["parallel"]


@contextmanager
def parallel(workers: int | None, *, ordered: bool = True) -> Iterator[Any]:
    """Give a ``joblib.Parallel`` whose answers come as a generator.

    Args:
        workers: Processes; -1 for all cores; None for what an enclosing ``joblib.parallel_config`` says.
        ordered: Whether answers come in the order of the tasks, or as soon as they are there.
    """
    import joblib  # here, because most sessions play a single run, or find everything on disk

    with warnings.catch_warnings():
        # joblib replaces a worker that has grown by 300 MB, and says so by a warning in the thread that manages the
        # workers. Where warnings are errors, this thread would die of it, and everybody wait for ever.
        warnings.filterwarnings("ignore", category=UserWarning, module=r"(joblib\.externals\.)?loky\.")
        yield joblib.Parallel(n_jobs=workers, return_as="generator" if ordered else "generator_unordered")
