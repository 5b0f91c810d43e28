"""Panels of fixed confidence: there is no budget, and each panel has agents at one level delta.

The agents of an experiment are those at the first level; in the panels of other levels, variants stand for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bai_gym.papers.model import Panel, Setting

__all__ = ["CAP", "FIRST", "AtLevel", "at_level", "level_panel"]

CAP = 1_000_000  # pulls
FIRST = 0.1  # the first level, and the default of delta

AtLevel = Callable[[float], str]
"""Returns the name of an agent at a level."""


def at_level(name: str, *more: str) -> AtLevel:
    """Return the names of an agent at each level, with further parameters; they leave out the default of delta."""

    def at(delta: float) -> str:
        parameters = ", ".join([*([] if delta == FIRST else [f"delta={delta}"]), *more])
        return f"{name}({parameters})" if parameters else name

    return at


def level_panel(name: str, title: str, setting: Setting, delta: float = FIRST, agents: Iterable[AtLevel] = ()) -> Panel:
    """Return the panel of a level; where there is but one, no level is given."""
    variants = {} if delta == FIRST else {agent(FIRST): agent(delta) for agent in agents}
    return Panel(name.replace(".", "-"), title, (setting,), picture="stopping", variants=variants)
