"""Joins the script's files into one, since a page on disk cannot import another file."""

from __future__ import annotations

import re
from importlib import resources

__all__ = ["bundle", "read_asset"]

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) )", re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|const|class) ([A-Za-z_$][\w$]*)", re.MULTILINE)


def read_asset(name: str) -> str:
    """Return a file of the page."""
    return resources.files("bai_gym.page").joinpath(name).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """Return a module and its imports as one script; each module keeps its own scope.

    Args:
        entry: The first module, such as ``main.js``. Modules import names, ``import { a, b } from "./other.js";``, and
            export functions, constants and classes where they are declared.

    Raises:
        ValueError: If modules import each other in a circle.
    """
    done: dict[str, str] = {}
    _add(entry, done, ())
    return "\n".join(done.values())


def _add(name: str, done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join((*above, name))}")
    if name in done:
        return
    source = read_asset(name)
    lines = []
    for names, target in IMPORT.findall(source):
        other = _resolve(name, target)
        _add(other, done, (*above, name))
        lines.append(f"const {{{names}}} = {variable_of(other)};\n")
    body = EXPORT.sub("", IMPORT.sub("", source)).strip()
    exported = ", ".join(EXPORTED.findall(source))
    done[name] = f"const {variable_of(name)} = (() => {{\n{''.join(lines)}{body}\nreturn {{ {exported} }};\n}})();\n"


def _resolve(here: str, target: str) -> str:
    folder = here.rpartition("/")[0]
    parts = [*folder.split("/")] if folder else []
    for step in target.split("/"):
        if step == "..":
            parts.pop()
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def variable_of(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))
