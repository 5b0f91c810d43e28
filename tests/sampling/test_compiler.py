"""Machine code is kept between processes, found by its content, and done without where it cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bai_gym.sampling.compiler import _digest

SCRIPT = """
import gc, math, sys, time
import numpy as np
from numba.core import event  # what Numba compiles is an event

compiled = []
class Listener(event.Listener):
    def on_start(self, happened): compiled.append(happened.data["dispatcher"].py_func.__qualname__)
    def on_end(self, happened): pass
event.register("numba:compile", Listener())

from bai_gym.bandits import GaussianBandit
from bai_gym.sampling import Engine, Rule, Sequential
from bai_gym.statistics import Statistics

FACTOR = {factor}

def width(pulls):
    return FACTOR / math.sqrt(pulls)

def bound(pulls, mean, variance, s):
    return mean + width(pulls)

bandit = GaussianBandit([[0.0, 1.0, 0.5]], 0.0)
begin = bandit.pull_block(np.ones((1, 3), np.int64), np.random.default_rng(0))
request = Sequential(Rule(index=bound), 30, "first", np.random.default_rng(0))
engine = Engine(request, begin, 3, None, variances=True)
engine.advance(bandit.table(), np.random.default_rng(0), 30, lambda rows, slots: bandit.means[0, slots])
assert gc.isenabled()  # it is paused while something is compiled or loaded
print(engine.statistics.pulls[0].tolist(), len(compiled))
"""


def run(code: str, cache: Path | None, **more: str) -> list[str]:
    environment = {**os.environ, **more}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [*done.stdout.strip().rsplit(maxsplit=1), done.stderr]


@pytest.mark.slow
def test_machine_code_is_found_by_its_content(tmp_path: Path) -> None:
    one, other = SCRIPT.format(factor=0.5), SCRIPT.format(factor=5.0)
    gone = 'import sys, types; __name__ = "gone"; sys.modules[__name__] = types.ModuleType(__name__)'
    pulls, first, _ = run(f"{gone}\n{one}", tmp_path)  # in a module that no other process has
    assert int(first) > 5
    again, none, note = run(one, tmp_path)
    assert (again, int(none), note) == (pulls, 0, "")  # a second process compiles nothing, and says nothing
    # A constant that the index uses through another function has changed: only what depends on it is compiled.
    changed, few, _ = run(other, tmp_path)
    assert changed != pulls and 0 < int(few) < int(first)
    assert run(one, tmp_path)[:2] == [pulls, "0"]


@pytest.mark.slow
def test_where_nothing_can_be_kept_it_works_all_the_same() -> None:
    plain = run(SCRIPT.format(factor=0.5), None, NUMBA_DISABLE_JIT="1")[0]
    only = "numba.core.caching.UserProvidedCacheLocator"  # which finds no folder where none is named
    pulls, compiled, note = run(SCRIPT.format(factor=0.5), None, NUMBA_CACHE_LOCATOR_CLASSES=only)
    assert pulls == plain and int(compiled) > 5
    assert "happens once" in note


def test_numba_is_not_imported_before_it_is_needed() -> None:
    code = """
import sys, bai_gym, gymnasium as gym
gym.make("BAI-Gaussian64-v0").reset(seed=0)
bai_gym.evaluate("SH", "BAI-Gaussian64-v0", budget=1000, runs=5)
print("numba" in sys.modules, "torch" in sys.modules, "matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def test_the_name_of_machine_code_depends_on_the_values_of_enclosing_functions() -> None:
    def adding(number: object) -> Callable[[float], object]:
        def add(x: float) -> object:
            return x + number  # type: ignore[operator]

        return add

    one, two = np.array([1.0]), np.array([2.0])
    assert _digest(adding(1.0)) == _digest(adding(1.0)) != _digest(adding(2.0))
    assert _digest(adding(one)) == _digest(adding(one.copy())) != _digest(adding(two))
