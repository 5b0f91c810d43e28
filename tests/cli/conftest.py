"""What the tests of commands need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bai_gym.cli import console
from bai_gym.cli.main import app
from bai_gym.sampling import compiler


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[str, str]]:
    """Run a command in this process, in an empty folder and without data, and return what it printed."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BAI_GYM_CACHE", str(tmp_path / "derived"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(console.OUT, "width", console.FILE_WIDTH)
    monkeypatch.setattr(compiler, "NOTE_AFTER", 600.0)  # what is compiled depends on what ran before on this machine
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[str, str]:
        assert not app(list(words), standalone_mode=False, prog_name="bai-gym")
        return capsys.readouterr()

    return run
