"""A cache of its own for completed ratings, and a video driver that needs no screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    cache = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAI_GYM_CACHE", os.fspath(cache))
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        yield
    shutil.rmtree(cache, ignore_errors=True)  # 80 MB for each completed matrix
