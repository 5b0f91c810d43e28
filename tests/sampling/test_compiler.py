"""Machine code is kept between processes, found by its content, and done without where it cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from bai_gym.sampling.compiler import NotCompiledError, digest

pytestmark = pytest.mark.usefixtures("compiled")

SCRIPT = """
import gc, math, sys
import numpy as np
from bai_gym.bandits import GaussianBandit
from bai_gym.sampling import Engine, Rule, Sequential, compiler, engine as engines
from bai_gym.statistics import Statistics

FACTOR = {factor}
engines.COMPILED_FROM = 0

def width(pulls):
    return FACTOR / math.sqrt(pulls)

def bound(pulls, mean, variance, s):
    return mean + width(pulls)

bandit = GaussianBandit([[0.0, 1.0, 0.5]], 0.0)
begin = bandit.pull_block(np.ones((1, 3), np.int64), np.random.default_rng(0))
rule = Rule(index=bound)
engine = Engine(Sequential(rule, 30, "first", np.random.default_rng(0)), begin, 3, None, variances=True)
engine.advance(bandit.draws(), np.random.default_rng(0), 30, lambda rows, slots: bandit.means[0, slots])
assert gc.isenabled()  # it is paused while something is compiled or loaded
loops = list(compiler._loops.values())
hits = [sum(loop._module["play"].stats.cache_hits.values()) for loop in loops]
print(engine.statistics.pulls[0].tolist(), hits[0] if hits else "plain")
"""


def run(code: str, cache: Path, **more: str) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), **more}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return [*done.stdout.strip().rsplit(maxsplit=1), done.stderr]


@pytest.mark.slow
def test_machine_code_is_found_by_its_content(tmp_path: Path) -> None:
    one, other = SCRIPT.format(factor=0.5), SCRIPT.format(factor=5.0)
    gone = 'import sys, types; __name__ = "gone"; sys.modules[__name__] = types.ModuleType(__name__)'
    pulls, hits, _ = run(f"{gone}\n{one}", tmp_path)  # in a module that no other process has
    assert hits == "0"
    assert run(one, tmp_path)[:2] == [pulls, "1"]  # a second process compiles nothing
    # A constant that the index uses through another function has changed.
    changed, hits, _ = run(other, tmp_path)
    assert changed != pulls and hits == "0"
    assert run(one, tmp_path)[:2] == [pulls, "1"] and run(other, tmp_path)[:2] == [changed, "1"]


@pytest.mark.slow
def test_where_nothing_can_be_kept_it_works_all_the_same(tmp_path: Path) -> None:
    script = SCRIPT.format(factor=0.5)
    plain = run(script, tmp_path, NUMBA_DISABLE_JIT="1")
    assert plain[1] == "plain"
    occupied = tmp_path / "file"
    occupied.write_text("", encoding="utf-8")
    assert run(script, occupied)[:2] == [plain[0], "0"]  # the folder cannot be made
    full = f"{script}\n"  # the module can be written, but not its machine code, as on a full disk
    full = full.replace("FACTOR =", "from numba.core import caching\ncaching.IndexDataCacheFile.save = no\nFACTOR =")
    full = "def no(*arguments):\n    raise OSError(28, 'No space left on device')\n" + full
    assert run(full, tmp_path / "full")[:2] == [plain[0], "0"]


def test_numba_is_not_imported_before_it_is_needed() -> None:
    code = """
import sys, bai_gym, gymnasium as gym
gym.make("BAI-Gaussian64-v0").reset(seed=0)
bai_gym.evaluate("SH", "BAI-Gaussian64-v0", budget=1000, runs=5)
print("numba" in sys.modules, "torch" in sys.modules, "matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False"]


def test_a_digest_depends_on_what_a_function_refers_to_however_far_away() -> None:
    def adding(number: object) -> Callable[[float], object]:
        def add(x: float) -> object:
            return x + number  # type: ignore[operator]

        return add

    one, two = np.array([1.0]), np.array([2.0])
    assert digest(adding(1.0)) == digest(adding(1.0)) != digest(adding(2.0))
    assert digest(adding(one)) == digest(adding(one.copy())) != digest(adding(two))

    def rule(source: str, **known: object) -> FunctionType:
        names: dict[str, object] = {**known}
        exec(source, names)
        return names["rule"]  # type: ignore[return-value]

    far = "def helper(x):\n    return x * FACTOR\ndef rule(x):\n    return [helper(y) for y in x]"
    assert digest(rule(far, FACTOR=1.0)) == digest(rule(far, FACTOR=1.0)) != digest(rule(far, FACTOR=2.0))
    # A global with the name of an attribute is not what the rule refers to, even one that has no content.
    field = "def rule(s):\n    return s.a"
    assert digest(rule(field)) == digest(rule(field, a=object())) == digest(rule(field, a=1.0))
    with pytest.raises(NotCompiledError, match="no number, array, or function"):
        digest(rule("def rule(s):\n    return a", a=object()))
