"""Progress of long computations: bars on standard error in terminals, a line in notebooks, nothing elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["OnStage", "progress_bars"]

SILENT_SECONDS = 1.0  # in notebooks, whose output is kept

OnStage = Callable[[str, int, int | None], None]
"""Called with (stage, finished parts, all parts if known)."""

_shown: list[bool] = []
"""Not empty while progress is shown: what runs inside shows none of its own."""


@contextmanager
def progress_bars(show: bool | None = None) -> Iterator[OnStage]:
    """Show the progress of each of several stages, and remove it at the end.

    Args:
        show: Whether to show it; None: where somebody watches, in terminals and notebooks.
    """
    console = None if show is False or _shown else _console(show)
    if console is None:
        yield lambda title, done, total: None
        return
    _shown.append(True)
    try:
        if console.is_jupyter:
            with _line() as on_stage:
                yield on_stage
        else:
            with _bars(console) as on_stage:
                yield on_stage
    finally:
        _shown.clear()


def _console(show: bool | None) -> Console | None:
    """Return where progress is shown: a terminal or a notebook; None: nobody watches."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, force_terminal=True if show else None)
    return console if console.is_jupyter or console.is_terminal else None


@contextmanager
def _bars(console: Console) -> Iterator[OnStage]:
    """A bar for each stage, in a terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def on_stage(title: str, done: int, total: int | None) -> None:
            if title not in tasks:
                tasks[title] = progress.add_task(title, total=total)
            progress.update(tasks[title], completed=done, total=total)

        yield on_stage


@contextmanager
def _line() -> Iterator[OnStage]:
    """A line below the cell of a notebook, once the computation has taken a second."""
    started, handle = time.monotonic(), import_module("IPython.display").DisplayHandle()
    is_visible = False

    def on_stage(title: str, done: int, total: int | None) -> None:
        nonlocal is_visible
        if time.monotonic() - started < SILENT_SECONDS:
            return
        line: dict[str, Any] = {
            "text/plain": f"{title}: {done:,}" if total is None else f"{title}: {done:,} of {total:,}"
        }
        (handle.update if is_visible else handle.display)(line, raw=True)
        is_visible = True

    try:
        yield on_stage
    finally:
        if is_visible:
            handle.update({"text/plain": ""}, raw=True)
