"""What tests of the runner share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bai_gym.benchmark import runner

Resumed = Callable[[Path, int, Callable[[], Any]], Any]


@pytest.fixture
def resumed(monkeypatch: pytest.MonkeyPatch) -> Resumed:
    """Return what a call gives when every other one of the chunks in a folder is gone; these alone are played again."""

    def call(folder: Path, number: int, play: Callable[[], Any]) -> Any:
        chunks = sorted(folder.rglob("chunks/*/*.parquet"))
        assert len(chunks) == number
        for gone in chunks[::2]:
            gone.unlink()
        again = []
        play_chunk = runner.play_chunk
        monkeypatch.setattr(runner, "play_chunk", lambda *given: (again.append(given[1]), play_chunk(*given))[1])
        result = play()
        assert len(again) == len(chunks[::2])
        return result

    return call
