"""No edit of an agent leaves results of the old code in place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

Files = dict[str, str]

# Text above the agent's class, what it recommends, other files; ``@`` is 0 before the edit and 2 after, ``@!`` is @.
EDITS: dict[str, tuple[str, str, Files]] = {
    "expression": ("", "@", {}),
    "constant": ("LEVEL = @", "LEVEL", {}),
    "constant of two": ("A, B = @, 1", "A", {}),
    "function": ("def level(): return @", "level()", {}),
    "nested function": ("def level():\n    def inner(): return @\n    return inner()", "level()", {}),
    "lambda": ("level = lambda: @", "level()", {}),
    "comprehension": ("N = @", "[N for _ in range(1)][0]", {}),
    "default": ("def level(x=@): return x", "level()", {}),
    "default by keyword": ("def level(*, x=@): return x", "level()", {}),
    "closure": ("def make(n): return lambda: n\nlevel = make(@)", "level()", {}),
    "decorator": ("def deco(f): return lambda: f() + @\n@!deco\ndef level(): return 0", "level()", {}),
    "decorator with arguments": (
        "def deco(n):\n    def wrap(f): return lambda: n\n    return wrap\n@!deco(@)\ndef level(): return 9",
        "level()",
        {},
    ),
    "wraps": (
        "import functools\ndef deco(f):\n    @!functools.wraps(f)\n    def g(): return @\n    return g\n"
        "@!deco\ndef level(): return 9",
        "level()",
        {},
    ),
    "singledispatch": (
        "from functools import singledispatch\n@!singledispatch\ndef level(x): return 9\n"
        "@!level.register\ndef _(x: int): return @",
        "level(1)",
        {},
    ),
    "singledispatchmethod": (
        "from functools import singledispatchmethod\nclass L:\n    @!singledispatchmethod\n"
        "    def level(self, x): return 9\n    @!level.register\n    def _(self, x: int): return @",
        "L().level(1)",
        {},
    ),
    "partial": ("from functools import partial\nlevel = partial(int, @)", "level()", {}),
    "partialmethod": (
        "from functools import partialmethod\nclass L:\n    def f(self, x): return x\n    level = partialmethod(f, @)",
        "L().level()",
        {},
    ),
    "cache": ("import functools\n@!functools.cache\ndef level(): return @", "level()", {}),
    "reduce": ("from functools import reduce\nlevel = lambda: reduce(lambda a, b: a + b, [@, 0])", "level()", {}),
    "frompyfunc": ("level = np.frompyfunc(lambda x: @, 1, 1)", "level(1)", {}),
    "vectorize": ("level = np.vectorize(lambda x: @)", "level(1)", {}),
    "ufunc method": ("level = np.frompyfunc(lambda a, b: @, 2, 1)", "level.reduce([1, 1])", {}),
    "update_wrapper": (
        "import functools\ndef old(): return 9\nclass Call:\n"
        "    def __init__(self): functools.update_wrapper(self, old)\n    def __call__(self): return @\nlevel = Call()",
        "level()",
        {},
    ),
    "callable object": ("class Call:\n    def __call__(self): return @\nlevel = Call()", "level()", {}),
    "class attribute": ("class C:\n    level = @", "C.level", {}),
    "inherited": ("class A:\n    level = @\nclass B(A): pass", "B.level", {}),
    "metaclass": (
        "class Meta(type):\n    @!property\n    def level(cls): return @\nclass C(metaclass=Meta): pass",
        "C.level",
        {},
    ),
    "init_subclass": (
        "class A:\n    def __init_subclass__(cls): cls.level = @\nclass B(A): pass",
        "B.level",
        {},
    ),
    "set_name": (
        "class D:\n    def __set_name__(self, owner, name): owner.level = @\nclass C:\n    d = D()",
        "C.level",
        {},
    ),
    "descriptor": ("class D:\n    def __get__(self, a, b=None): return @\nclass C:\n    level = D()", "C().level", {}),
    "property": ("class C:\n    @!property\n    def level(self): return @", "C().level", {}),
    "cached_property": (
        "from functools import cached_property\nclass C:\n    @!cached_property\n    def level(self): return @",
        "C().level",
        {},
    ),
    "staticmethod": ("class C:\n    @!staticmethod\n    def level(): return @", "C.level()", {}),
    "classmethod": ("class C:\n    @!classmethod\n    def level(cls): return @", "C.level()", {}),
    "getattr of a class": ("class C:\n    def __getattr__(self, name): return @", "C().level", {}),
    "slots": ("class C:\n    __slots__ = ('a',)\n    def __init__(self): self.a = @\nc = C()", "c.a", {}),
    "private name": ("class C:\n    __level = @\n    def level(self): return self.__level", "C().level()", {}),
    "dunder name": ("__level__ = @", "__level__", {}),
    "dunder of a class": ("class C:\n    __doc__ = '@'", "int(C.__doc__)", {}),
    "docstring": ("def level():\n    '''@'''", "int(level.__doc__)", {}),
    "annotations": ("class C:\n    x: '@'", "C.__annotations__['x']", {}),
    "function attribute": ("def level(): return level.n\nlevel.n = @", "level()", {}),
    "type": ("C = type('C', (), {'level': @})", "C.level", {}),
    "new_class": (
        "import types\nC = types.new_class('C', (), {}, lambda n: n.update(level=@))",
        "C.level",
        {},
    ),
    "make_dataclass": (
        "from dataclasses import make_dataclass, field\nC = make_dataclass('C', [('level', int, field(default=@))])",
        "C().level",
        {},
    ),
    "dataclass": ("from dataclasses import dataclass\n@!dataclass\nclass C:\n    level: int = @", "C().level", {}),
    "ABCMeta": ("import abc\nC = abc.ABCMeta('C', (), {'level': @})", "C.level", {}),
    "enum": ("import enum\nclass E(enum.Enum):\n    A = @\n    B = 1", "E.A.value", {}),
    "IntEnum": ("import enum\nclass E(enum.IntEnum):\n    A = @", "E.A", {}),
    "namedtuple": ("from collections import namedtuple\nT = namedtuple('T', 'a', defaults=[@])", "T().a", {}),
    "NamedTuple": ("from typing import NamedTuple\nclass T(NamedTuple):\n    a: int = @", "T().a", {}),
    "array": ("TABLE = np.array([@])", "TABLE[0]", {}),
    "long array": ("TABLE = np.zeros(5000)\nTABLE[2500] = @", "TABLE[2500]", {}),
    "structured scalar": ("V = np.zeros(1, [('a', float, 3000)])\nV['a'][0, 1500] = @\nV = V[0]", "V['a'][1500]", {}),
    "object array": ("TABLE = np.array([None, @], object)", "TABLE[1]", {}),
    "generator's seed": ("rng = np.random.default_rng(@ + 8)\nN = rng.integers(9, size=99).argmax()", "N % 3", {}),
    "dict": ("TABLE = {'a': @}", "TABLE['a']", {}),
    "set": ("S = {@, 1}", "2 if 2 in S else 0", {}),
    "match": ("def level(x):\n    match x:\n        case 1: return @", "level(1)", {}),
    "walrus": ("if (n := @) >= 0: pass", "n", {}),
    "star import": ("from helper import *", "level()", {"helper.py": "def level(): return @"}),
    "helper's function": ("from helper import level", "level()", {"helper.py": "def level(): return @"}),
    "helper's constant": ("import helper", "helper.N", {"helper.py": "N = @"}),
    "helper of a helper": (
        "import helper",
        "helper.level()",
        {"helper.py": "from deep import level", "deep.py": "def level(): return @"},
    ),
    "package": (
        "from pack.inner import level",
        "level()",
        {
            "pack/__init__.py": "",
            "pack/inner.py": "from . import base\ndef level(): return base.N",
            "pack/base.py": "N = @",
        },
    ),
    "package's front page": ("import pack", "pack.N", {"pack/__init__.py": "N = @"}),
    "helper's name by text": ("import helper", "getattr(helper, 'le' + 'vel')", {"helper.py": "level = @"}),
    "global by text": ("level = @", "globals()['le' + 'vel']", {}),
    "module's getattr": ("import helper", "helper.any", {"helper.py": "def __getattr__(name): return @"}),
    "attribute of a module of Python": ("import math\nmath.my_level = @", "math.my_level", {}),
    "attribute of a package": ("np.my_level = @", "np.my_level", {}),
    "attribute set by a helper": ("import helper", "np.my_level", {"helper.py": "import numpy\nnumpy.my_level = @"}),
    "changed library": (
        "import bai_gym.validation as v\nv.my_level = @",
        "v.my_level",
        {},
    ),
    "dropped by getstate": (
        "class C:\n    def __init__(self): self.n = @\n    def __getstate__(self): return {}\nc = C()",
        "c.n",
        {},
    ),
    "own reduce": (
        "class C:\n    def __init__(self, n=1): self.n = n\n    def __reduce__(self): return (C, ())\nc = C(@)",
        "c.n",
        {},
    ),
    "weak reference": (
        "import weakref\nclass C:\n    n = @\nc = C()\nr = weakref.ref(c)",
        "r().n",
        {},
    ),
    "generator": ("def count():\n    while True: yield @\nrow = count()", "next(row)", {}),
    "thread": ("import threading\nlocal = threading.local()\nlocal.n = @", "getattr(local, 'n', @)", {}),
    "context variable": ("from contextvars import ContextVar\nC = ContextVar('C', default=@)", "C.get()", {}),
    "compiled by Numba": ("import numba\n@!numba.njit\ndef level(): return @", "level()", {}),
    "constant of compiled code": ("import numba\nN = @\n@!numba.njit\ndef level(): return N", "level()", {}),
    "environment": ("import os", "os.environ.get('MY_LEVEL', 9)", {}),
    "environment when imported": ("from os import getenv\nN = getenv('MY_LEVEL')", "N", {}),
    "imported late": ("def level():\n    import late\n    return late.N", "level()", {"late.py": "N = @"}),
    "text file": ("N = open(HERE + 'level.txt').read()", "N", {"level.txt": "@"}),
    "text file while it plays": ("", "open(HERE + 'level.txt').read()", {"level.txt": "@"}),
    "path": (
        "from pathlib import Path",
        "Path(HERE + 'level.txt').read_text()",
        {"level.txt": "@"},
    ),
    "JSON": ("import json", "json.load(open(HERE + 'level.json'))", {"level.json": "@"}),
    "loadtxt": ("N = np.loadtxt(HERE + 'level.txt')", "N", {"level.txt": "@"}),
    "text to execute": ("exec(open(HERE + 'level.txt').read())", "N", {"level.txt": "N = @"}),
    "text to evaluate": ("", "eval('@')", {}),
    "import by text": (
        "import importlib, sys\nsys.path.insert(0, HERE)",
        "importlib.import_module('by' + '_text').level()",
        {"by_text.py": "def level(): return @"},
    ),
    "another program": ("import subprocess", "subprocess.check_output(['echo', '@'])", {}),
}

# What is in no source file: finished runs are neither taken nor played again until the user says so.
REFUSED = {
    "JSON",
    "another program",
    "import by text",
    "loadtxt",
    "path",
    "singledispatch",
    "text file",
    "text file while it plays",
    "text to evaluate",
    "text to execute",
}

AGENT = """
import numpy as np
HERE = {here!r}
{prelude}

class Mine:
    def allocate(self, observation):
        return np.ones(observation["means"].shape, int)

    def recommend(self, observation):
        return np.full(len(observation["means"]), int({expression}))
"""
DRIVER = """
import json, os, sys
import bai_gym
from bai_gym.errors import AgentError

def play(**more):
    arms = {"means": [0.9, 0.5, 0.1]}
    return bai_gym.evaluate("mine.py:Mine", "BAI-Custom-v0", budget=3, runs=1, env_kwargs=arms, **more).simple_regret

found = {}
for folder in sys.argv[2:]:
    os.chdir(folder)
    try:
        kept = play(out="results")
    except AgentError as error:
        assert "cannot be known" in str(error), error
        kept = None
    found[folder] = kept, play()
print(json.dumps(found))
"""


def regrets(folders: dict[str, Path], value: str) -> dict[str, tuple[float | None, float]]:
    """Return, in a process of its own, each agent's regret with the output folder and without."""
    for name, folder in folders.items():
        prelude, expression, files = EDITS[name]
        agent = AGENT.format(here=f"{folder}/", prelude=prelude, expression=expression)
        for file, text in {"mine.py": agent, **files}.items():
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("@!", "\0").replace("@", value).replace("\0", "@"))
    driver = next(iter(folders.values())).parent / "driver.py"
    driver.write_text(DRIVER)
    done = subprocess.run(
        [sys.executable, "-B", driver, "same", *folders.values()],
        env={**os.environ, "MY_LEVEL": value},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {name: tuple(found[str(folder)]) for name, folder in folders.items()}


@pytest.mark.slow
def test_no_edit_leaves_results_of_the_old_code(tmp_path: Path) -> None:
    folders = {name: tmp_path / name.replace(" ", "-") for name in EDITS}
    for folder in folders.values():
        folder.mkdir()
    first, again, edited = (regrets(folders, value) for value in "002")
    assert not [name for name in EDITS if first[name][1] == edited[name][1]], "edits that change nothing"
    assert not [name for name in EDITS if edited[name][0] not in (None, edited[name][1])], "old results in place"
    assert {name for name in EDITS if again[name][0] is None} == REFUSED
