"""Memory limits, checked before anything is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["check_memory", "total_memory"]

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of containers


def total_memory() -> float:
    """Return the memory limit of this process in bytes; infinite if unknown."""
    limits = [float("inf")]
    with suppress(AttributeError, OSError, ValueError):  # not on Windows
        limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limits += [float(limit) for limit in resource.getrlimit(resource.RLIMIT_AS) if limit != resource.RLIM_INFINITY]
    for file in LIMITS:
        with suppress(OSError, ValueError):  # "max"
            limits.append(float(Path(file).read_text()))
    return min(limits)


def check_memory(count: int, each: float, name: str, error: type[Exception]) -> None:
    """Raise an error if a number of things cannot fit into memory.

    Args:
        count: How many.
        each: Bytes that each takes.
        name: Their name, such as ``"num_arms"``.
        error: Type of the error.
    """
    memory = total_memory()
    if count * each > memory:
        needed = count * each / 1e9
        raise error(
            f"{name}={count} would take about {needed:,.0f} GB of memory, and there are {memory / 1e9:,.1f}; "
            f"the largest {name} that fits is {int(memory / each)}"
        )
