"""Packages whose names are loaded when they are first used, so that importing the package is light."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["lazily"]


def lazily(package: str, hint: str = "") -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    They know the names that the package imports for type checkers, in ``if TYPE_CHECKING:``, and import one when it is
    first used.

    Args:
        package: The package.
        hint: What the message about a name that does not exist ends with.
    """

    @cache
    def homes() -> dict[str, str]:
        """Return the module of each name, from the source of the package."""
        source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
        blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
        statements = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in statements for alias in node.names}

    def find(name: str) -> Any:
        if name not in homes():
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
        home = homes()[name]
        if home == package:
            return import_module(f"{package}.{name}")
        try:
            module, own = import_module(home), home.removeprefix(f"{package}.")
        except ModuleNotFoundError as error:
            if error.name is None or not f"{home}.".startswith(f"{error.name}."):
                raise
            raise AttributeError(f"module {package!r} has no {name!r}, as its wing is not here: no {home}") from None
        if homes().get(own) == home:  # the import has made the module an attribute, in place of what has its name
            setattr(sys.modules[package], own, getattr(module, own))
        return getattr(module, name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes()})

    return find, names
