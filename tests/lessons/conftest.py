"""The modules of the lessons, which stand beside the notebooks and are imported as a notebook does it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

LESSONS = Path(__file__).resolve().parents[2] / "examples" / "lessons"


@contextmanager
def importable(folder: Path, *names: str) -> Iterator[list[ModuleType]]:
    """Import modules from a folder, and forget them at the end."""
    before = list(sys.path), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield [importlib.import_module(name) for name in names]
    finally:
        sys.path[:], sys.dont_write_bytecode = before
        for name in names:
            sys.modules.pop(name, None)


@pytest.fixture
def checks() -> Iterator[ModuleType]:
    with importable(LESSONS, "checks") as (module,):
        yield module


@pytest.fixture(scope="session")
def put_in() -> Iterator[ModuleType]:
    with importable(LESSONS / "solutions", "put_in") as (module,):
        yield module
