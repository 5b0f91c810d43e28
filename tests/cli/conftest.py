"""What the tests of commands need."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def refused(outcome: Callable[..., tuple[object, str, str]]) -> Callable[..., None]:
    """Check that a command line is answered with one line of error that has all these parts, and no work done."""

    def check(words: tuple[str, ...], *parts: str) -> None:
        code, out, err = outcome(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: ") and err.endswith("\n")
        assert [part for part in parts if part not in err] == []

    return check
