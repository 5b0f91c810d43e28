"""What the tests of commands need."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from bai_gym.cli import console, main
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


class Outcome(NamedTuple):
    """How a command ended."""

    code: object
    out: str
    err: str


@pytest.fixture
def outcome(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Outcome]:
    """Run a command line in this process as a shell does, in an empty folder and without data."""
    monkeypatch.setenv("BAI_GYM_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main replaces it

    def run(*words: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["bai-gym", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return Outcome(left.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def refused(outcome: Callable[..., Outcome]) -> Callable[..., None]:
    """Check that a command line is answered with one line of error that has all these parts, and no work done."""

    def check(words: tuple[str, ...], *parts: str) -> None:
        code, out, err = outcome(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: ") and err.endswith("\n")
        assert [part for part in parts if part not in err] == []

    return check
