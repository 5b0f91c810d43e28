"""``bai-gym study``: a study as its journal shows it."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from bai_gym.live.evidence import printable
from bai_gym.live.overview import Overview
from bai_gym.live.terminal import Screen

__all__ = ["study"]

_PAUSE = 1.0  # seconds between two looks at the journal


def study(
    journal: Annotated[
        str,
        typer.Argument(
            help="The journal of a `bai_gym.live.Study` or of `bai_gym.live.identify`, or the address of a database."
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the study in the database.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again whenever it changes, until it ends.")] = False,
) -> None:
    """Show a study: the arms, their rewards so far, and what is outstanding. It may be running."""
    screen = Screen(sys.stdout)
    messages: list[str] = []
    while True:
        overview = Overview.of(journal, name)
        lines = overview.lines()
        if lines != messages and watch and sys.stdout.isatty():
            screen.draw(lines)
        elif lines != messages:
            typer.echo("\n".join(map(printable, lines)))
        messages = lines
        if not watch or overview.ended:
            return
        try:
            time.sleep(_PAUSE)
        except KeyboardInterrupt:  # the way to end it
            return
