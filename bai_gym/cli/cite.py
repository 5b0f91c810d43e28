"""``bai-gym cite``: BibTeX entries."""

from __future__ import annotations

from typing import Annotated

import typer

from bai_gym.agents.citations import cite as entries
from bai_gym.cli.complete import AGENTS

__all__ = ["cite"]


def cite(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AGENT]...", help="Agents, for example SHAdaVar; none: the library.", autocompletion=AGENTS
        ),
    ] = None,
) -> None:
    """Print BibTeX entries of the library, or of the papers of agents."""
    typer.echo(entries(*(agents or ())))
