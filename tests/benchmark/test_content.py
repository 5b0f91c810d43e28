"""Digests of agents: they see what outcomes depend on, and nothing else."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bai_gym
from bai_gym.benchmark.content import content_digest, library_digest
from bai_gym.errors import AgentError

AGENT = """
import numpy as np
import helper
from helper import pick
SIGN = 1

def index(observation):
    return SIGN * observation["means"]

class Mine:
    def act(self, observation):
        return pick(index(observation))

    def later(self):
        import lazy
        return helper.LEVEL, lazy.unused
"""
HELPER = "import numpy as np\nLEVEL = 3\n\ndef pick(values):\n    return int(np.argmax(values))\n"
LAZY = "import deeper\n\ndef unused():\n    return deeper.number\n"
FILES = {"mine.py": AGENT, "helper.py": HELPER, "lazy.py": LAZY, "deeper.py": "number = 1\n"}
DIGEST = "from bai_gym.benchmark.content import content_digest\nprint(content_digest({}(), 'agent'))"

Digest = Callable[..., str]


def run(command: str, folder: Path, seed: str = "0") -> str:
    variables = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=folder, env=variables, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def digest(tmp_path: Path) -> Digest:
    """Return the digest, in a process of its own, of the agent in FILES with a text replaced in one of them."""

    def call(name: str = "mine.py", old: str = "", new: str = "", seed: str = "0") -> str:
        assert old in FILES[name]
        for file, text in FILES.items():
            (tmp_path / file).write_text(text.replace(old, new, 1) if file == name and old else text)
        return run(f"from mine import Mine\n{DIGEST.format('Mine')}", tmp_path, seed)

    return call


@pytest.mark.slow
def test_it_sees_whatever_the_code_uses(digest: Digest) -> None:
    changes = [
        ("mine.py", "pick(index(observation))", "pick(-index(observation))"),  # the class
        ("mine.py", 'SIGN * observation["means"]', 'SIGN - observation["means"]'),  # a function of the module
        ("mine.py", "SIGN = 1", "SIGN = -1"),  # a constant
        ("helper.py", "argmax", "argmin"),  # a function of another module
        ("helper.py", "LEVEL = 3", "LEVEL = 4"),  # an attribute of a module
        ("lazy.py", "number", "other"),  # what is imported when it is needed
        ("deeper.py", "number = 1", "number = 2"),  # and what that imports
    ]
    digests = [digest(), *(digest(*change) for change in changes)]
    assert len(set(digests)) == len(digests)


@pytest.mark.slow
def test_nothing_else_makes_a_difference(digest: Digest) -> None:
    first = digest()
    assert digest(seed="1") == first
    assert digest("mine.py", "SIGN = 1", "# A remark.\n\nOTHER = 5\nSIGN = 1") == first
    assert digest("mine.py", "class Mine", "def another():\n    return 7\n\nclass Mine") == first


@pytest.mark.slow
@pytest.mark.each("seed", ["0", "1"])
def test_a_class_typed_at_a_prompt_has_content(tmp_path: Path, seed: str) -> None:
    code = textwrap.dedent("""
        SIGN = {sign}
        NAMES = {{"a", "b", "c"}}
        def helper(observation):
            return SIGN
        class Mine:
            def act(self, observation):
                return helper(observation), NAMES
        """)
    one, two = (run(code.format(sign=sign) + DIGEST.format("Mine"), tmp_path, seed) for sign in (1, 2))
    assert one != two
    assert one == run(code.format(sign=1) + DIGEST.format("Mine"), tmp_path, "7")


@pytest.mark.slow
def test_finished_chunks_of_other_code_are_not_taken(tmp_path: Path) -> None:
    command = textwrap.dedent("""
        import bai_gym
        from mine import Mine
        print(bai_gym.evaluate(Mine, "BAI-Bernoulli4-v0", budget=20, runs=200, out="results").error_probability)
        """)
    errors = []
    for pick in ("argmax", "argmin", "argmax"):
        for name, text in FILES.items():
            (tmp_path / name).write_text(text.replace("argmax", pick))
        errors.append(run(command, tmp_path))
    assert errors[0] == errors[2] != errors[1]


def values(value: Any) -> Any:
    """Return an agent that has a value."""

    class Holder:
        def __init__(self) -> None:
            self.value = value

    return Holder()


@pytest.mark.each(
    "make",
    [
        lambda n: n,
        lambda n: str(n),
        lambda n: [1, {"a": n}],
        lambda n: {"a", n},
        lambda n: np.array([1.0, n]),
        lambda n: np.array([None, n], object),
        lambda n: np.random.default_rng(n),
        lambda n: functools.partial(max, n),
        lambda n: lambda: n,
        lambda n: lambda x=n: x,
        lambda n: functools.cache(lambda: n),
        lambda n: type("Own", (), {"number": property(lambda self: n)}),
        lambda n: type("Slots", (), {"__slots__": ("a",), "__init__": lambda self: setattr(self, "a", n)})(),
        lambda n: np.vectorize(lambda x: x + n),
    ],
)
def test_it_sees_values_of_all_kinds(make: Callable[[int], Any]) -> None:
    one, same, two = (content_digest(values(make(n)), "agent") for n in (1, 1, 2))
    assert one == same != two


def test_what_refers_to_itself_has_content() -> None:
    def loop(n: int) -> list[Any]:
        own: list[Any] = [n]
        own.append(own)
        return own

    one, same, two = (content_digest(values(loop(n)), "agent") for n in (1, 1, 2))
    assert one == same != two


def test_what_has_no_content_is_refused_in_one_line(tmp_path: Path) -> None:
    class Locked:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def act(self, observation: Any) -> int:
            return 0

    with pytest.raises(AgentError, match=r"Locked.*lock") as caught:
        bai_gym.evaluate(Locked, "BAI-Bernoulli4-v0", budget=20, runs=2, out=tmp_path)
    assert "\n" not in str(caught.value)
    assert bai_gym.evaluate(Locked, "BAI-Bernoulli4-v0", budget=20, runs=2).runs == 2


def test_the_librarys_own_code_counts_as_a_whole() -> None:
    assert library_digest() == library_digest()
    assert library_digest().startswith("0.")
