"""Where code comes from: Python, an installed package, this library, or the user's own files."""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from bai_gym.content.library import library_folders

__all__ = ["home_of_class", "home_of_file", "home_of_module"]


def home_of_module(module: str) -> str | None:
    """Return the home of an imported module, see :func:`home_of_file`; None: the user's own, or unknown."""
    if module in sys.builtin_module_names:
        return "Python"
    found = sys.modules.get(module)
    if getattr(getattr(found, "__spec__", None), "origin", None) == "frozen":
        return "Python"
    file = getattr(found, "__file__", None)
    return None if file is None else home_of_file(file)


@functools.cache
def home_of_file(file: str) -> str | None:
    """Return ``"Python"``, ``"bai-gym"``, or a package with its version; None for a file of the user's own."""
    path = Path(file).resolve()
    if any(path.is_relative_to(folder) for folder in library_folders().values()):
        return "bai-gym"
    for folder, inner in zip(path.parts, path.parts[1:], strict=False):
        if folder in ("site-packages", "dist-packages"):
            package = inner.partition(".")[0]
            return f"{package} {_version(package)}"
    own = (Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))
    return "Python" if any(path.is_relative_to(folder) for folder in own) else None


def home_of_class(kind: type) -> str | None:
    """Return the home of a class; None for a user's own.

    A class that its module does not have under its name was made by a call (``types.new_class``, ``make_dataclass``),
    which names the module of the function called: it counts as the user's own.
    """
    found: object = sys.modules.get(kind.__module__)
    home = home_of_module(kind.__module__)
    if home is None or "<locals>" in kind.__qualname__:
        return home
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return home if found is kind or not kind.__flags__ & _HEAP else None


_HEAP = 1 << 9
"""The flag of classes that Python code, or a C extension at run time, has made."""


@functools.cache
def _version(package: str) -> str:
    """Return the version of an installed package; empty if it has none."""
    try:
        return version(package)
    except PackageNotFoundError:
        names = _distributions().get(package, [])
        return version(names[0]) if names else ""


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the distributions of each package; they are all read, which takes a second."""
    return packages_distributions()
