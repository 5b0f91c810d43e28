"""The terminal: consoles and progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

from bai_gym.common.progress import progress_bars

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


@contextmanager
def progress_bar(title: str) -> Iterator[OnChunk]:
    """Show the progress of a single stage."""
    with progress_bars() as on_stage:
        on_stage(title, 0, None)  # before the first chunk is finished
        yield lambda done, total: on_stage(title, done, total)
