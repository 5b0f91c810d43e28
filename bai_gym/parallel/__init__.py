"""Parallel work on processes of this machine, or on any executor."""

from bai_gym.parallel.memory import available_memory, check_memory
from bai_gym.parallel.pool import (
    Workers,
    check_executor,
    check_workers,
    num_workers,
    plays_elsewhere,
    run_calls,
)
from bai_gym.parallel.task import opened, packed

__all__ = [
    "Workers",
    "available_memory",
    "check_executor",
    "check_memory",
    "check_workers",
    "num_workers",
    "opened",
    "packed",
    "plays_elsewhere",
    "run_calls",
]
