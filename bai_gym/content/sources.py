"""The user's own source files that code may depend on, as a digest.

No reading of Python code can follow everything that it uses. So whole files count: those of the code at hand, those
that the process has imported, and those that any of these import, at their top or later. A change of a docstring in one
of them is a change. What code takes from elsewhere (files, the network, other programs, text that it executes) is not
in its source; where a file mentions the means to do so, whether two runs have the same code cannot be known.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bai_gym.content.homes import home_of_file
from bai_gym.content.parameters import Parameters, UnknownContentError

__all__ = ["content_digest", "files_of_import", "sources_digest"]

READERS = re.compile(
    r"(load|open|read|scan)(_\w+|s|txt|mat|lines?|into)?|__import__|CDLL|DataSource|File|Popen|breakpoint|eval|exec|"
    r"fromfile|fromregex|genfromtxt|import_module|imread|input|memmap|run_module|run_path|stdin|urlopen|urlretrieve"
)
"""Names by which code can take what is not in its source."""
OUTSIDE = frozenset(
    "ctypes dbm fileinput ftplib h5py http httpx importlib mmap pkgutil requests runpy shelve socket sqlite3 "
    "subprocess urllib zipimport".split()
)
"""Modules with the same use."""
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb"})


def content_digest(*values: Any, files: Iterable[Path | None] = ()) -> tuple[str, str | None]:
    """Return a hash of values with the code behind them, apart from that of this library.

    Args:
        values: An agent and a problem, for example.
        files: Where the user's own code among them is written, too, if the functions and classes themselves do not say.

    Returns:
        The hash, and the reason why equal ones do not say that all is equal; None: they do.
    """
    parameters, digests = Parameters(), []
    try:
        digests.append(parameters.digest(*values))
        if parameters.has_own_code:
            digests.append(sources_digest({*parameters.files, *filter(None, files)}))
    except UnknownContentError as error:
        return "-".join(digests), str(error)
    return "-".join(digests), None


def sources_digest(files: Iterable[Path]) -> str:
    """Return a hash of the user's own source files, and of the versions of what they import.

    It covers the given files, the main script with its arguments, all that the process has imported, and what any of
    these import. Where one of them mentions environment variables, all of these count.

    Args:
        files: Where the code at hand is written.

    Raises:
        UnknownContentError: If there is no main script (a notebook, a prompt), or a file mentions what reads from
            outside.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None:
        raise UnknownContentError("it runs in a notebook or at a prompt, whose code is in no file")
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    found = _Sources()
    found.add_all(Path(file) for file in (script, *loaded) if isinstance(file, str))
    found.add_all(files)
    facts: list[object] = [platform.python_version(), sorted(found.packages), found.by_name()]
    if home_of_file(script) is None:
        facts.append(sys.argv[1:])
    if found.reads_environment:
        facts.append(sorted(os.environ.items()))
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class _Sources:
    """Collects files and what they import."""

    def __init__(self) -> None:
        self.bytes: dict[Path, str] = {}
        self.packages: set[str] = set()
        self.reads_environment = False

    def by_name(self) -> dict[str, str]:
        """Return the hash of each file, named from the innermost folder that holds all of them."""
        folder = Path(os.path.commonpath([path.parent for path in self.bytes])) if self.bytes else Path()
        return {path.relative_to(folder).as_posix(): self.bytes[path] for path in sorted(self.bytes)}

    def add_all(self, files: Iterable[Path]) -> None:
        waiting = [file for file in files if home_of_file(str(file)) is None]
        while waiting:
            path = waiting.pop().resolve()
            if path in self.bytes:
                continue
            try:
                content = path.read_bytes()
            except OSError:
                raise UnknownContentError(f"{path} cannot be read") from None
            self.bytes[path] = hashlib.sha256(content).hexdigest()
            if path.suffix == ".py":
                waiting += self._imports(path, content)

    def _imports(self, path: Path, content: bytes) -> Iterator[Path]:
        names, reader, reads_environment = _scan(content)
        if reader is not None:
            raise UnknownContentError(f"{path.name} mentions {reader!r}, so it may depend on what is not in its source")
        self.reads_environment |= reads_environment
        for level, name in names:
            for file in files_of_import(name, path.parent, level):
                home = home_of_file(str(file))
                if home is None:
                    yield file
                else:
                    self.packages.add(home)


@functools.lru_cache(maxsize=512)
def _scan(content: bytes) -> tuple[frozenset[tuple[int, str]], str | None, bool]:
    """Return what source code imports, a name by which it reads from outside, and if it reads the environment."""
    imports: set[tuple[int, str]] = set()
    mentioned: set[str] = set()
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            imports |= {(0, alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            imports |= {(node.level, module), *((node.level, f"{module}.{a.name}".strip(".")) for a in node.names)}
            mentioned |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name):
            mentioned.add(node.id)
        elif isinstance(node, ast.Attribute):
            mentioned.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            mentioned.add(node.value)  # in getattr
    modules = {name.partition(".")[0] for level, name in imports if level == 0}
    reading = {name for name in mentioned if READERS.fullmatch(name)} | modules & OUTSIDE
    return frozenset(imports), min(reading, default=None), bool(mentioned & ENVIRONMENT)


def files_of_import(name: str, folder: Path, level: int = 0) -> Iterator[Path]:
    """Yield the files that importing a module runs, those of its packages first; none for what is no module.

    Args:
        name: The module, with dots.
        folder: The folder that is searched first or, for a relative import, that of the file that imports.
        level: The number of dots before the name.
    """
    start = [str(folder.joinpath(*[".."] * (level - 1)))] if level else [str(folder), *sys.path]
    if level and (package := Path(start[0], "__init__.py")).is_file():
        yield package
    for part in name.split("."):
        if not part:
            return
        spec = importlib.machinery.PathFinder.find_spec(part, start)
        if spec is None:
            return
        if spec.origin is not None and spec.has_location:
            yield Path(spec.origin)
        if spec.submodule_search_locations is None:
            return
        start = list(spec.submodule_search_locations)
