"""The terminal: consoles, and a progress bar that is silent without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from bai_gym.benchmark.runner import OnChunk

__all__ = ["ERR", "OUT", "progress_bar", "progress_bars"]

FILE_WIDTH = 10_000  # in files and pipes, where a table is as wide as it needs


def make_console(*, stderr: bool) -> Console:
    # Text is shown as it is: brackets in a path or in "bai-gym[plots]" are no markup, and :x: is no emoji.
    console = Console(stderr=stderr, highlight=False, soft_wrap=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


OUT = make_console(stderr=False)
ERR = make_console(stderr=True)


OnStage = Callable[[str, int, int | None], None]
"""Called with (stage, finished parts, all parts if known)."""


@contextmanager
def progress_bar(title: str) -> Iterator[OnChunk]:
    """Show a progress bar on stderr, if stderr is a terminal."""
    with progress_bars() as on_stage:
        on_stage(title, 0, None)  # before the first chunk is finished
        yield lambda done, total: on_stage(title, done, total)


@contextmanager
def progress_bars() -> Iterator[OnStage]:
    """Show a bar on stderr for each of several stages, if stderr is a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERR, disable=not ERR.is_terminal, transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def on_stage(title: str, done: int, total: int | None) -> None:
            if title not in tasks:
                tasks[title] = progress.add_task(title, total=total)
            progress.update(tasks[title], completed=done, total=total)

        yield on_stage
