"""Workers that grow are replaced, and nobody waits for one that is gone."""

from __future__ import annotations

import subprocess
import sys

import joblib
import pytest

from bai_gym.parallel import parallel

GROWING = """
import sys, time
import numpy as np
from bai_gym.parallel import parallel
import joblib

def grow(number):
    sys.kept = getattr(sys, "kept", []) + [np.ones(45_000_000)]  # 360 MB; joblib replaces workers that grew by 300
    time.sleep(1.1)  # it looks once a second
    return number

with parallel(2) as pool:
    print(list(pool(joblib.delayed(grow)(number) for number in range(6))))
"""


@pytest.mark.slow
def test_workers_that_are_replaced_are_not_waited_for() -> None:
    pytest.importorskip("psutil", reason="without psutil joblib does not look how much workers grow")
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", GROWING], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.returncode) == (f"{list(range(6))}\n", 0), done.stderr


@pytest.mark.parametrize(
    ("workers", "tasks", "expected"), [(100_000, 1, 1), (100_000, 10**6, None), (-1, 1, 1), (1, 5, 1), (100_000, 0, 1)]
)
def test_no_process_has_nothing_to_do(workers: int, tasks: int, expected: int | None) -> None:
    with parallel(workers, tasks=tasks) as pool:
        assert pool.n_jobs == (max(joblib.cpu_count(), 2) if expected is None else expected)
