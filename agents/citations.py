"""BibTeX entries of the library and of the agents' papers."""

from __future__ import annotations

import functools
import re
from importlib import resources
from importlib.metadata import metadata, version

from bai_gym.agents.registry import BUILT_IN, names
from bai_gym.errors import UnknownNameError, unknown_name

__all__ = ["cite", "papers"]

LIBRARY = "baigym"
LIBRARY_ENTRY = """@misc{{{key},
  author = {{{{bai-gym contributors}}}},
  title = {{bai-gym: {{Gymnasium}} Environments, Agents and a Benchmark for Fixed-Budget Best-Arm Identification}},
  year = {{{year}}},{url}
  note = {{Version {version}}}
}}"""
YEAR = 2026  # of the version
_AGENTS = re.compile(r"  agents = \{(.*)\},\n")


def cite(*agents: str) -> str:
    """Return BibTeX entries: of the library, or of the papers of some agents.

    Args:
        *agents: Names as in tables, with or without parameters: ``"SHAdaVar(delta=0.1)"``. None: the library.

    Returns:
        The entries, each once, separated by empty lines.

    Raises:
        UnknownNameError: If there is no such agent, or it is not part of the library.
    """
    keys = dict.fromkeys(key for agent in agents for key in papers(agent)) or {LIBRARY: None}
    return "\n\n".join(_entries()[key] for key in keys)


def papers(agent: str) -> tuple[str, ...]:
    """Return the keys of the entries of an agent, that of its paper first; see :func:`cite`."""
    name = agent.partition("(")[0].strip()
    if name not in names():
        raise unknown_name("agent", name, names(), "`bai-gym list agents` shows all")
    if name not in _keys():
        raise UnknownNameError(f"{name} is not part of the library, which knows no paper of it; cite it yourself")
    return _keys()[name]


@functools.cache
def _keys() -> dict[str, tuple[str, ...]]:
    """Return the keys of each agent."""
    keys: dict[str, tuple[str, ...]] = {name: (LIBRARY,) for name, entry in BUILT_IN.items() if entry.own}
    for key, entry in _parts().items():
        for name in _AGENTS.findall(entry)[0].split(", "):
            keys[name] = (*keys.get(name, ()), key)
    return keys


@functools.cache
def _entries() -> dict[str, str]:
    """Return the entries by their keys, without the field of this library."""
    addresses = [line.partition(", ")[2] for line in metadata("bai-gym").get_all("Project-URL") or ()]
    url = f"\n  url = {{{addresses[0]}}}," if addresses else ""
    own = LIBRARY_ENTRY.format(key=LIBRARY, year=YEAR, url=url, version=version("bai-gym"))
    return {LIBRARY: own} | {key: _AGENTS.sub("", entry) for key, entry in _parts().items()}


@functools.cache
def _parts() -> dict[str, str]:
    """Return the entries of the file by their keys."""
    text = resources.files("bai_gym.agents").joinpath("papers.bib").read_text(encoding="utf-8")
    parts = [part.strip() for part in text.split("\n\n") if part.lstrip().startswith("@")]
    return {re.match(r"@\w+\{(\w+),", part)[1]: part for part in parts}  # type: ignore[index]
