"""What tests of several folders need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples everywhere, however long they take: whether a change passes must not depend on day or machine.
# `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def contents() -> Contents:
    """Return every file of a folder, hidden ones too, with its bytes."""

    def read(folder: Path) -> dict[str, bytes]:
        return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}

    return read
