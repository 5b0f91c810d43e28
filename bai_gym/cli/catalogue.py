"""What listings and completion say about agents and experiments, as data: to read it imports none of them.

``make catalogue`` writes the file, and a test compares it with the classes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bai_gym.wings import gathered, load_reference, wings

__all__ = ["FILE", "catalogue", "collected", "needs", "plain"]

FILE = Path(__file__).with_name("catalogue.json")
PAGES = Path(__file__).parents[2] / "docs" / "agents"  # of a checkout

Catalogue = dict[str, list[dict[str, Any]]]
"""The rows of ``"agents"``, of ``"experiments"``, and of ``"rules"`` for stopping."""


def catalogue() -> Catalogue:
    """Return the stored catalogue, with the agents that are there, those of other distributions included."""
    found: Catalogue = json.loads(FILE.read_text(encoding="utf-8"))
    stored = {row["name"]: row for row in found["agents"]}
    return {**found, "agents": [stored.get(name) or _agent(name, {}) for name in gathered("agents")]}


def collected() -> Catalogue:
    """Return the same from the classes, and from their pages in a checkout, which takes a second."""
    from bai_gym.agents.registry import BUILT_IN

    titles = _titles()
    found: Catalogue = {"agents": [_agent(name, titles) for name in BUILT_IN], "experiments": [], "rules": []}
    for place in (wing.catalogue for wing in wings().values() if wing.catalogue):
        for kind, rows in load_reference(place)().items():
            found[kind] += rows
    return found


def _agent(name: str, titles: Mapping[str, str]) -> dict[str, Any]:
    """Return the row of an agent."""
    import inspect

    from bai_gym.agents.registry import BUILT_IN, heading, make

    agent, entry = make(name), BUILT_IN[name]
    kind = entry.load()
    return {
        "name": name,
        "title": titles.get(name, ""),
        "group": heading(entry),
        "tasks": agent.known_tasks,
        "stops": agent.stops,
        "knows": sorted(agent.knows),
        "needs": [*needs(agent), *entry.restrictions],
        "minimum_budget": agent.minimum_budget(64),
        "what": plain((inspect.getdoc(kind) or "").partition("\n")[0]),
        "parameters": list(inspect.signature(kind).parameters),
    }


def needs(agent: Any) -> list[str]:
    """Return what an agent needs of an environment."""
    declared = {"features": "needs_features", "paired pulls": "uses_pairs"}
    return [what for what, name in declared.items() if getattr(agent, name, False)]


def _titles() -> dict[str, str]:
    """Return the names of agents in words, which their pages begin with."""
    heads = (page.read_text(encoding="utf-8").split("---")[1] for page in PAGES.rglob("*.md"))
    return dict(re.findall(r"^  ([^:]+): (.+)$", "\n".join(heads), re.MULTILINE))


def plain(text: str) -> str:
    """Return text of a docstring as the terminal shows it, with names in place of references."""
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).replace("``", "`")


def _written(found: Catalogue) -> str:
    """Return the contents of the file, a row on each line."""
    kinds = (f'"{kind}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for kind, rows in found.items())
    return "{\n" + ",\n".join(kinds) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(_written(collected()), encoding="utf-8", newline="\n")
