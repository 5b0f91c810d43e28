"""What tests of training have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Networks this small leave nothing to share out, and threads wait for a processor that other tests hold."""
    torch = sys.modules.get("torch")
    if torch is None:  # not installed, or not imported by these tests
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
