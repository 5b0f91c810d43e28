"""Packages whose names are loaded when they are first used, so that importing the package is light."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from bai_gym.wings import wings

__all__ = ["lazily"]


def lazily(package: str, hint: str = "") -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    They know the names that the package imports for type checkers, in ``if TYPE_CHECKING:``, and import one when it is
    first used.

    Args:
        package: The package.
        hint: What the message about a name that does not exist ends with.
    """
    file = Path(str(sys.modules[package].__file__))

    def find(name: str) -> Any:
        homes = _homes(file)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_elsewhere(name) or hint}")
        home = homes[name]
        if home == package:
            return import_module(f"{package}.{name}")
        module, own = import_module(home), home.removeprefix(f"{package}.")
        if homes.get(own) == home:  # the import has made the module an attribute, in place of what has its name
            setattr(sys.modules[package], own, getattr(module, own))
        return getattr(module, name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *_homes(file)})

    return find, names


@cache
def _homes(file: Path) -> dict[str, str]:
    """Return the module of each name, from the source of the package."""
    blocks = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    statements = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in statements for alias in node.names}


def _elsewhere(name: str) -> str:
    """Return how to import a name that a wing has."""
    for wing in wings():
        face = Path(__file__).parents[1] / wing / "__init__.py"
        if face.exists() and f'"{name}"' in face.read_text(encoding="utf-8"):
            return f"; from bai_gym.{wing} import {name}"
    return ""
