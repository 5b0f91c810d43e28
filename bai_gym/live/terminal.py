"""The live table of a study, redrawn in place while standard error is a terminal."""

from __future__ import annotations

import shutil
import sys
import time

from bai_gym.live.study import Study

__all__ = ["Terminal"]

_PAUSE = 0.2  # seconds between two drawings, at least
_UP, _CLEAR = "\x1b[{}F", "\x1b[J"  # to the start of the line so many lines above; delete to the end of the screen


class Terminal:
    """Shows :meth:`bai_gym.Study.result` while the study runs, and removes it at the end.

    Args:
        study: The study.
        shown: Whether to show anything.
    """

    def __init__(self, study: Study, *, shown: bool) -> None:
        """Find out whether there is a terminal."""
        self._study = study
        self._shown = shown and sys.stderr is not None and sys.stderr.isatty()
        self._lines = 0
        self._next = 0.0

    def update(self) -> None:
        """Draw the table, unless that was done a moment ago."""
        if self._shown and time.monotonic() >= self._next:
            found = self._study.result()
            title = f"{len(found.log)} of {self._study.budget} rewards; largest mean so far: {found.name}"
            table = str(found).splitlines()[1:]
            self._draw([title, *table[: len(table) - len(found.notes)]])
            self._next = time.monotonic() + _PAUSE

    def __enter__(self) -> Terminal:
        """Remove the table at the end of a ``with``."""
        return self

    def __exit__(self, *_: object) -> None:
        if self._lines:
            self._draw([])

    def _draw(self, lines: list[str]) -> None:
        up = _UP.format(self._lines) if self._lines else ""
        # A line that the terminal wraps would take two, and the table would creep down.
        width = max(20, shutil.get_terminal_size().columns - 1)
        sys.stderr.write(up + _CLEAR + "".join(f"{line[:width]}\n" for line in lines))
        sys.stderr.flush()
        self._lines = len(lines)
