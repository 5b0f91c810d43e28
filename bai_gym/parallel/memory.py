"""Limits of the system: memory, checked before anything is allocated, and what errors of other limits mean."""

from __future__ import annotations

import errno
import math
import os
from contextlib import suppress
from pathlib import Path

from bai_gym.errors import ParameterError

__all__ = ["available_memory", "check_memory", "exceeded_limit", "make_room"]

BUFFER = 64e6  # bytes that OpenBLAS takes for a thread, with its code, when it is loaded
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of containers


def available_memory() -> float:
    """Return the bytes that this process could allocate at most; infinite if unknown.

    That is the memory of the machine or the container, and what is left of a limit on the address space of the process
    (``ulimit -v``).
    """
    limits = [float("inf")]
    with suppress(AttributeError, OSError, ValueError):  # not on Windows
        limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            limits.append(max(0.0, float(limit - _address_space())))
    for file in LIMITS:
        with suppress(OSError, ValueError):  # "max"
            limits.append(float(Path(file).read_text()))
    return min(limits)


def _address_space() -> int:
    """Return the size of this process's address space in bytes; 0 if unknown."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def check_memory(count: int, each: float, name: str, error: type[Exception], *, power: int = 1) -> None:
    """Raise an error if a number of things cannot fit into memory.

    Args:
        count: How many.
        each: Bytes that each takes; with ``power=2`` each pair of them.
        name: Their name, such as ``"num_arms"``.
        error: Type of the error.
        power: The memory grows with this power of ``count``.
    """
    each = math.ceil(each)
    memory, needed = available_memory(), count**power * each
    if needed > memory:
        gigabytes = f"{min(needed, 10**30) / 1e9:,.1f} GB of memory, and there are {memory / 1e9:,.1f}"
        largest = int((memory / each) ** (1 / power))
        raise error(f"{name}={count} would take about {gigabytes}; the largest {name} that fits is {largest}")


def make_room() -> None:
    """Have OpenBLAS take one thread where memory is scarce: without room for a buffer of each it would try for ever.

    Raises:
        ParameterError: If there is none for one thread.
    """
    memory = available_memory()
    if memory < BUFFER:
        raise ParameterError("too little memory: raise its limit (`ulimit -v`)")
    if memory < 2 * BUFFER * (os.cpu_count() or 1):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def exceeded_limit(error: BaseException) -> str | None:
    """Return which limit of ``ulimit`` an error comes from, and the way out; None: it comes from none that is known."""
    cause: BaseException | None = error
    while cause is not None:
        number = cause.errno if isinstance(cause, OSError) else None
        if number in (errno.EMFILE, errno.ENFILE):
            return "too many open files: raise their limit, such as by `ulimit -n 1024`"
        if number == errno.EAGAIN:
            return "too many processes or threads: raise their limit (`ulimit -u`), or take fewer workers"
        # A library that finds no address space says so in words of its own, if at all.
        if number in (None, errno.ENOMEM) and isinstance(cause, ImportError | OSError | SystemError) and _limited():
            return f"too little memory ({' '.join(str(cause).split())[:80]}): raise its limit (`ulimit -v`)"
        cause = cause.__cause__ or cause.__context__
    return None


def _limited() -> bool:
    """Whether the address space of this process is limited."""
    try:
        import resource
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
