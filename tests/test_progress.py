"""Progress is shown to those who watch: in terminals and notebooks."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

import bai_gym
from bai_gym.common import progress
from bai_gym.errors import ParameterError


class Terminal(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **options: Any) -> str:
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "stderr", stream)
    bai_gym.evaluate("SH", "BAI-Custom-v0", runs=5, **options)
    return stream.getvalue()


def test_who_watches_sees_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "playing" in shown(monkeypatch, Terminal())
    assert "playing" in shown(monkeypatch, io.StringIO(), progress=True)
    for stream, options in (
        (io.StringIO(), {}),
        (Terminal(), {"progress": False}),
        (Terminal(), {"on_chunk": lambda done, total: None}),
    ):
        assert shown(monkeypatch, stream, **options) == ""
    calls: list[tuple[int, int]] = []
    assert "playing" in shown(monkeypatch, Terminal(), progress=True, on_chunk=lambda *call: calls.append(call))
    assert calls == [(0, 1), (1, 1)]


def test_progress_within_progress_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    with progress.progress_bars(True) as on_stage:
        on_stage("outer", 0, 2)
        assert shown(monkeypatch, stream, progress=True) == ""


def test_a_notebook_has_a_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    published: list[dict[str, Any]] = []

    class Handle:
        def display(self, data: dict[str, Any], raw: bool) -> None:
            published.append(data)

        update = display

    display = type(sys)("IPython.display")
    display.DisplayHandle = Handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with progress.progress_bars() as on_stage:
        on_stage("playing", 0, 3)
    assert published == []  # it took no second
    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    with progress.progress_bars() as on_stage:
        on_stage("playing", 1, 3)
        on_stage("playing", 2, 3)
    assert [data["text/plain"] for data in published] == ["playing: 1 of 3", "playing: 2 of 3", ""]


def test_what_is_no_choice_is_refused() -> None:
    with pytest.raises(ParameterError, match="progress"):
        bai_gym.evaluate("SH", "BAI-Custom-v0", runs=5, progress="no")  # type: ignore[call-overload]
