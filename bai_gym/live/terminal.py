"""The live table of a study, redrawn in place while standard error is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from bai_gym.live.evidence import printable
from bai_gym.live.study import Study

__all__ = ["Screen", "Terminal"]

_PAUSE = 0.2  # seconds between two drawings, at least
_UP, _CLEAR = "\x1b[{}F", "\x1b[J"  # to the start of the line so many lines above; delete to the end of the screen


class Screen:
    """Lines at the end of a terminal, which replace each other.

    Args:
        stream: The terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        """Start with no lines."""
        self._stream = stream
        self._lines = 0

    def draw(self, lines: Sequence[str]) -> None:
        """Replace the lines."""
        up = _UP.format(self._lines) if self._lines else ""
        # A line that the terminal wraps would take two, and the table would creep down.
        columns, rows = shutil.get_terminal_size()
        width = max(20, columns - 1)
        shown = [printable(line)[:width] for line in lines[: max(2, rows - 1)]]
        self._stream.write(up + _CLEAR + "".join(f"{line}\n" for line in shown))
        self._stream.flush()
        self._lines = len(shown)


class Terminal:
    """Shows :meth:`bai_gym.live.Study.result` while the study runs, and removes it at the end.

    Args:
        study: The study.
        shown: Whether to show anything.
    """

    def __init__(self, study: Study, *, shown: bool) -> None:
        """Find out whether there is a terminal."""
        self._study = study
        self._screen = Screen(sys.stderr) if shown and sys.stderr is not None and sys.stderr.isatty() else None
        self._next = 0.0

    def update(self) -> None:
        """Draw the table, unless that was done a moment ago."""
        if self._screen is not None and time.monotonic() >= self._next:
            found = self._study.result()
            title = f"{found.use}; largest mean so far: {found.name}"
            self._screen.draw([title, *found.table])
            self._next = time.monotonic() + _PAUSE

    def __enter__(self) -> Terminal:
        """Remove the table at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen is not None:
            self._screen.draw([])
