"""Digests of values see what outcomes depend on, and nothing that changes from process to process."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bai_gym.api import make_cells
from bai_gym.benchmark import identity
from bai_gym.content.library import own_versions
from bai_gym.content.parameters import Parameters, UnknownContentError
from bai_gym.content.sources import files_of_import
from bai_gym.envs.registration import IDS


def digest(value: Any) -> str:
    return Parameters().digest(value)


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
        lambda n: np.zeros((n, 3 - n)),
        lambda n: np.random.default_rng(n),
        lambda n: functools.partial(max, n),
        lambda n: lambda: n,
        lambda n: lambda x=n: x,
        lambda n: lambda *, x=n: x,
        lambda n: functools.cache(lambda: n),
        lambda n: type("Own", (), {"number": property(lambda self: n)}),
        lambda n: type("Slots", (), {"__slots__": ("a",), "__init__": lambda self: setattr(self, "a", n)})(),
        lambda n: np.vectorize(lambda x: x + n),
    ],
)
def test_it_sees_values_of_all_kinds(make: Callable[[int], Any]) -> None:
    one, same, two = (digest(values(make(n))) for n in (1, 1, 2))
    assert one == same != two


def test_what_has_no_content_is_refused() -> None:
    for value in (threading.Lock(), np.frompyfunc(lambda x: x, 1, 1), (n for n in range(3))):
        with pytest.raises(UnknownContentError):
            digest([value])


def test_what_a_process_has_changed_since_is_seen() -> None:
    found = []
    for level in (1, 2, 1):
        names = {"LEVEL": level}
        exec("def function(): return [LEVEL for _ in 'a']", names)
        found.append(digest(names["function"]))
    assert found[0] == found[2] != found[1]


def test_an_attribute_is_not_the_global_of_its_name() -> None:
    code = """
def function(s):
    def inner():
        return LEVEL
    return [s.a for _ in "a"], inner()
"""

    def of(**values: Any) -> str:
        names = dict(values)
        exec(code, names)
        return Parameters().digest(names["function"])

    one = of(a=1, LEVEL=1)
    assert one == of(a=2, LEVEL=1) == of(LEVEL=1) == of(a=threading.Lock(), LEVEL=1)
    assert one != of(a=1, LEVEL=2)


def test_own_code_is_told_from_the_librarys() -> None:
    for value, own in (
        (np.mean, False),
        (IDS, False),
        (digest, True),
        ({digest}, True),
        ([functools.partial(digest)], True),
    ):
        values = Parameters()
        values.digest(value)
        assert values.has_own_code == own, value


def test_other_versions_are_other_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def digest_now() -> str:
        return make_cells(["SH"], "BAI-Bernoulli3-v0", [9], 0)[0].digest

    before = digest_now()
    for package, version in own_versions().items():
        monkeypatch.setattr(identity, "own_versions", lambda p=package, v=version: {**own_versions(), p: f"{v}.1"})
        assert digest_now() != before, package
    monkeypatch.undo()
    assert digest_now() == before


def test_a_relative_import_is_of_its_own_package(tmp_path: Path) -> None:
    for name in ("base.py", "pack/__init__.py", "pack/base.py", "pack/sub/__init__.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    for folder, level in (("pack", 1), ("pack/sub", 2)):
        found = [file.resolve() for file in files_of_import("base", tmp_path / folder, level)]
        assert found == [tmp_path / "pack" / "__init__.py", tmp_path / "pack" / "base.py"], folder
