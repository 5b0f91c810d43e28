"""Markdown parts of several generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from generate.docstrings import oneline

__all__ = ["WIDE", "agent_page", "environment_page", "facts", "filterable", "links", "table"]

WIDE = "---\nhide: [navigation, toc]\n---\n\n"
"""Prefix of a page that needs the full width of the window."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells become one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(oneline(cell) for cell in line)} |" for line in lines)


def filterable(head: Sequence[str], rows: Iterable[Sequence[str]], filters: Sequence[str]) -> str:
    """Return a table with a field for text, and a choice for each of the named columns, see ``filter.js``."""
    names = " ".join(name.replace(" ", "-") for name in filters)
    return f'<div class="filterable" data-filters="{names}" markdown>\n\n{table(head, rows)}\n\n</div>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of facts, each with its name."""
    return table(("fact", "value"), [(f"**{name}**", value) for name, value in rows])


def agent_page(name: str) -> str:
    """Return the file of an agent's page, within its folder."""
    return f"{name.lower()}.md"


def environment_page(env_id: str) -> str:
    """Return the file of an environment's page, within its folder."""
    return f"{env_id}.md"


def links(pages: Iterable[tuple[str, str]]) -> str:
    """Return links to pages, given as shown name and path."""
    return ", ".join(f"[`{name}`]({path})" for name, path in pages)
