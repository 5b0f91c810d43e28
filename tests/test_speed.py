"""benchmarks/speed.py: the verdict by hand, with made-up times, and a row that is really measured."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FILE = Path(__file__).parents[1] / "benchmarks" / "speed.py"


@pytest.fixture(scope="module")
def speed() -> ModuleType:
    spec = importlib.util.spec_from_file_location(FILE.stem, FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[FILE.stem] = module  # where dataclasses look up annotations
    spec.loader.exec_module(module)
    return module


def test_rows_above_the_limit_are_too_slow(speed: ModuleType) -> None:
    reference = {"slower": 10.0, "at the limit": 10.0, "faster": 10.0, "gone": 1.0}
    now = {"slower": 12.6, "at the limit": 12.5, "faster": 5.0, "new": 99.0}
    assert speed.too_slow(reference, now) == ["slower"]


def test_only_rows_above_the_limit_are_measured_again_and_the_best_time_counts(speed: ModuleType) -> None:
    """A row that is slow by chance passes at last, one that has become slower does not."""
    rows = [speed.Row(agent, "arms", 100, 1) for agent in ("steady", "disturbed", "slower")]
    times = {  # after compiling, which has no time
        "reference": {"steady": [10.0], "disturbed": [10.0], "slower": [10.0, 11.0, 9.0]},
        "now": {"steady": [11.0], "disturbed": [20.0, 19.0, 12.0], "slower": [13.0]},
    }
    measured: list[tuple[str, int]] = []

    class Side:
        def __init__(self, name: str) -> None:
            self.name = name
            self.best: dict[str, float] = {}

        def start(self, rows: list[Any], repeats: int) -> tuple[list[Any], int]:
            return rows, repeats

        def finish(self, started: tuple[list[Any], int]) -> None:
            chosen, repeats = started
            if repeats:
                measured.append((self.name, len(chosen)))
            for row in chosen:
                left = times[self.name][row.agent]
                value = float("inf") if not repeats else left.pop(0) if len(left) > 1 else left[0]
                self.best[row.name] = min(value, self.best.get(row.name, value))

    reference, now = Side("reference"), Side("now")
    assert speed.compare(reference, now, rows, rounds=2, repeats=1) == ["slower, arms"]
    assert now.best["disturbed, arms"] == 12.0 and reference.best["slower, arms"] == 9.0
    again = [count for name, count in measured if name == "now"]
    assert again == [3, 3, 2] + [1] * (speed.AGAIN - 1)
    assert [name for name, _ in measured[:4]] == ["reference", "now"] * 2


def test_rows_are_measured_and_those_unknown_here_are_left_out(speed: ModuleType) -> None:
    known = [speed.Row("SH", "10 Bernoulli arms", 200, 20), speed.Row(speed.STEP, "BAI-Gaussian64-v0", 100, 1)]
    unknown = [speed.Row("NoSuchAgent", "10 Bernoulli arms", 200, 20), speed.Row("SH", "BAI-NoSuch-v0", 200, 20)]
    times = speed.measure([*known, *unknown], repeats=2)
    assert set(times) == {row.name for row in known}
    assert all(0.1 < value < 1e6 for value in times.values())  # ns


def test_the_rows_have_names_of_their_own_and_are_known_here(speed: ModuleType) -> None:
    names = [row.name for row in speed.ROWS]
    assert len(set(names)) == len(names) >= 30
    assert 10 <= sum(row.short for row in speed.ROWS) < len(names)
    assert {row.name for row in speed.ROWS if speed.known(row)} == set(names)
