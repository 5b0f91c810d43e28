"""``bai-gym show``: what an agent does, what it needs, and its parameters."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from bai_gym.cli.catalogue import needs, plain
from bai_gym.cli.complete import AGENTS
from bai_gym.cli.console import OUT

__all__ = ["show"]


def show(
    agent: Annotated[
        str, typer.Argument(help="Agent, for example SHAdaVar, or your own: mine.py:Thirds.", autocompletion=AGENTS)
    ],
) -> None:
    """Show an agent: what it does, its parameters, its oracle knowledge, and the tasks that it supports."""
    from bai_gym.agents.registry import BUILT_IN, find, make
    from bai_gym.api import parse_agent
    from bai_gym.benchmark.protocol import knowledge

    name, given = parse_agent(agent)
    kind, made, entry = find(name), make(name, **given), BUILT_IN.get(name)
    stops = " (decides when to stop)" if getattr(made, "stops", False) else ""
    facts = {
        "group": "" if entry is None else entry.group,
        "tasks": ", ".join(sorted(getattr(made, "tasks", ()))) + stops,
        "oracle knowledge": ", ".join(sorted(knowledge(made))) or "none",
        "needs": ", ".join([*needs(made), *(() if entry is None else entry.restrictions)]),
        "parameters": ", ".join(_shown(parameter) for parameter in inspect.signature(kind).parameters.values()),
        "paper": "" if entry is None or entry.own else f"`bai-gym cite {name}`",
    }
    OUT.print(agent, style="bold")
    for fact, value in facts.items():
        if value:
            OUT.print(f"  {fact}: {value}", soft_wrap=True)
    OUT.print(f"\n{plain(inspect.getdoc(kind) or '')}", soft_wrap=True)


def _shown(parameter: inspect.Parameter) -> str:
    return parameter.name if parameter.default is parameter.empty else f"{parameter.name}={parameter.default!r}"
