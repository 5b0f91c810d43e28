"""Parses docstrings into Markdown."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from griffe import Docstring, DocstringSectionParameters, DocstringSectionText

__all__ = ["Parsed", "code_table", "oneline", "parse", "roles_to_code", "roles_to_links"]

ROLE = re.compile(r":[a-z]+:`(?P<short>~?)(?P<target>[^`]+)`")
BORDER = re.compile(r" *=+( +=+)+ *")
CITED = ("Source:", "Paper:", "Model:")

Linker = Callable[[object], str | None]
"""Gives the page of an object, relative to the page with the docstring, or None."""


@dataclass(frozen=True)
class Parsed:
    """A docstring in parts.

    Attributes:
        paragraphs: Its text, without the parts below; links are Markdown.
        parameters: Description of each parameter.
        sources: The paragraphs that cite.
    """

    paragraphs: tuple[str, ...]
    parameters: dict[str, str]
    sources: tuple[str, ...]


def oneline(text: str) -> str:
    """Return text in one line, as a cell of a table takes it: bars within code need no escape, and would show it."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else part.replace("|", "\\|") for part in parts)


def parse(thing: object, linker: Linker | None = None) -> Parsed:
    """Parse the docstring of a class or function.

    Args:
        thing: The class or function; without a docstring of its own there are no parts.
        linker: Where objects have pages of their own, beside the reference of the API.
    """
    written = thing.__doc__ or ""
    paragraphs: list[str] = []
    parameters: dict[str, str] = {}
    for section in Docstring(inspect.cleandoc(written)).parse("google", warnings=False):
        if isinstance(section, DocstringSectionText):
            paragraphs += re.split(r"\n\s*\n", roles_to_links(section.value, thing, linker).strip())
        elif isinstance(section, DocstringSectionParameters):
            parameters |= {
                entry.name.lstrip("*"): roles_to_links(entry.description, thing, linker) for entry in section.value
            }
    sources = [paragraph for paragraph in paragraphs if paragraph.startswith(CITED)]
    return Parsed(tuple(text for text in paragraphs if text not in sources), parameters, tuple(sources))


def roles_to_links(text: str, scope: object, linker: Linker | None = None) -> str:
    """Turn roles such as ``:class:`Agent``` into links to pages, or to the reference of the API.

    Args:
        text: Part of a docstring.
        scope: The class, function or module whose docstring it is: names are looked up there.
        linker: As in :func:`parse`.
    """

    def replace(match: re.Match[str]) -> str:
        target = match["target"]
        shown = target.rpartition(".")[2] if match["short"] else target
        found = _look_up(target, scope)
        page = None if linker is None or found is None else linker(found)
        if page is not None:
            return f"[`{getattr(found, 'name', shown)}`]({page})"
        path = target if found is None else _path(found, target)
        return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'

    return ROLE.sub(replace, text)


def roles_to_code(text: str) -> str:
    """Turn roles into code without links, for cells and titles."""
    return ROLE.sub(lambda match: f"`{match['target'].rpartition('.')[2]}`", text)


def code_table(text: str) -> str:
    """Turn tables of reStructuredText into code blocks, since Markdown has no such tables."""
    return "\n\n".join(
        f"```text\n{block}\n```" if BORDER.fullmatch(block.splitlines()[0]) else block
        for block in re.split(r"\n\s*\n", text.strip())
    )


def _look_up(target: str, scope: object) -> object | None:
    module = scope if inspect.ismodule(scope) else sys.modules.get(getattr(scope, "__module__", "") or "")
    first, *rest = target.split(".")
    if target.startswith("bai_gym."):
        parts = target.split(".")
        for length in range(len(parts), 0, -1):
            found: object | None = sys.modules.get(".".join(parts[:length]))
            if found is not None:
                return _descend(found, parts[length:])
        return None
    for place in (scope, module):
        if hasattr(place, first):
            return _descend(getattr(place, first), rest)
    return None


def _descend(found: object | None, names: list[str]) -> object | None:
    for name in names:
        found = getattr(found, name, None)
    return found


def _path(found: object, target: str) -> str:
    """Return the whole name of an object; of a constant what was written."""
    if inspect.ismodule(found):
        return found.__name__
    module, name = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    return target if module is None or name is None else f"{module}.{name}"
