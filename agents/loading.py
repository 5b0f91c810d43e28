"""Agents that are named by where they are.

``mine.py:Thirds`` is in a file, ``package.module:Thirds`` in a module, and ``model.zip`` a model of stable-baselines3.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typing_extensions import override

from bai_gym.content.sources import files_of_import
from bai_gym.errors import AgentError, ParameterError, UnknownNameError, unknown_name

__all__ = ["as_agent", "file_of", "is_reference", "load", "split_reference"]

METHODS = ("act", "allocate", "plan")
SUFFIX = ".py"
MODEL = ".zip"


def is_reference(name: str) -> bool:
    """Return whether a name refers to a file or a module."""
    return ":" in name or name.endswith((SUFFIX, MODEL))


def split_reference(text: str) -> tuple[str, str] | None:
    """Split ``"mine.py:Thirds(share=3)"`` into the name and the rest; None if it refers to no file.

    The path of the file may contain brackets.
    """
    path, found, rest = text.partition(f"{SUFFIX}:")
    if not found:
        return None
    name, bracket, parameters = rest.partition("(")
    return f"{path}{SUFFIX}:{name}".strip(), bracket + parameters


def file_of(reference: str) -> Path | None:
    """Return the file in which a reference looks for its agent; None if there is none."""
    if reference.endswith(MODEL):
        return None  # no code
    place = reference.rpartition(":")[0]
    if place.endswith(SUFFIX):
        return Path(place).resolve()
    return next(reversed([*files_of_import(place, Path.cwd())]), None)


def load(reference: str) -> Callable[..., Any]:
    """Return the factory of the agent that a reference names: a class, a function, or one that copies the agent.

    The file runs at every call, so that a changed file gives a changed agent. It may import modules of its own folder
    (those that its functions import are imported with the file, too), and a module those of the current folder. Such
    modules are private to this call: they are not left in ``sys.modules``, so that worker processes receive their code
    by value, and files in different folders may import different modules of one name.

    Args:
        reference: ``"<path>.py:<name>"`` or ``"<module>:<name>"``, the name of a class, of a function that returns an
            agent, of an agent, or of a model; or ``"<path>.zip"``, what ``model.save`` has written.

    Raises:
        UnknownNameError: If there is no such file, module or name.
        AgentError: If the file cannot be run, or the name is that of something else.
    """
    if reference.endswith(MODEL):
        from bai_gym.agents.learned.sb3 import SB3Agent  # imports agents, which need the registry

        return functools.partial(SB3Agent, path=reference)
    place, colon, name = reference.rpartition(":")
    if not colon:
        raise ParameterError(f"agent {reference!r} names a file without an agent: write {reference}:NAME")
    module = _run(Path(place)) if place.endswith(SUFFIX) else _import(place)
    if not hasattr(module, name):
        defined = {w: value for w, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
        own = [word for word, value in defined.items() if not word.startswith("_") and _may_be_agent(value)]
        raise unknown_name("agent", name, own, f"{place} has: {', '.join(own) or 'no agents'}")
    value = getattr(module, name)
    if not _may_be_agent(value):
        raise AgentError(
            f"{reference} is a {type(value).__name__}: name a class, an agent, or a function that returns an agent"
        )
    return functools.partial(_copy, reference, as_agent(value)) if _is_instance(value) else value


def as_agent(value: Any) -> Any:
    """Return a trained model, which has ``predict`` and does not act, as an agent; all else as it is."""
    if inspect.isclass(value) or not callable(getattr(value, "predict", None)) or _acts(value):
        return value
    from bai_gym.agents.learned.sb3 import SB3Agent

    return SB3Agent(model=value)


def _copy(reference: str, agent: Any, **parameters: Any) -> Any:
    if parameters:
        raise ParameterError(f"{reference} is an agent, not a class, and takes no parameters: leave out the brackets")
    return copy.deepcopy(agent)


def _is_instance(value: Any) -> bool:
    return not inspect.isclass(value) and (_acts(value) or callable(getattr(value, "predict", None)))


def _acts(value: Any) -> bool:
    return any(callable(getattr(value, method, None)) for method in METHODS)


def _may_be_agent(value: Any) -> bool:
    return callable(value) or _is_instance(value)


def _run(path: Path) -> types.ModuleType:
    """Run a file as a module."""
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise UnknownNameError(f"there is no file {path} in {Path.cwd()}; give the path of the agent's file") from None
    except OSError as error:
        raise UnknownNameError(f"{path} cannot be read: {error.strerror}; give the path of the agent's file") from None
    # The name differs from that of any module: a file called math.py is not the math of Python.
    module = types.ModuleType(f"agent-file-{path.stem}")
    module.__file__ = str(path.resolve())
    folder = path.resolve().parent
    with _private_modules(folder), _explained(str(path)):
        sys.modules[module.__name__] = module  # dataclasses look their module up
        try:
            imports = _LateImports(folder)
            tree = imports.visit(ast.parse(source, str(path)))
            vars(module).update(imports.modules())
            exec(compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True), vars(module))
        finally:
            del sys.modules[module.__name__]
    return module


class _LateImports(ast.NodeTransformer):
    """Replaces imports of modules of a folder within functions with assignments.

    They would fail: such modules can be imported only while the file is loaded, not while the agent plays, nor in a
    worker process. So they are imported with the file, as global variables that the functions read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, list[str]] = {}  # modules, and what is imported from them
        self._depth = 0  # of functions

    def modules(self) -> dict[str, types.ModuleType]:
        """Import what functions import, and return it by the names of the variables."""
        return {_variable(name): __import__(name, fromlist=["__name__", *of]) for name, of in self._names.items()}

    @override
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    @override
    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.AST]:
        return [self._import(node, alias) for alias in node.names] if self._depth else node

    @override
    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.AST]:
        if not self._depth or node.level or node.module is None or not self._is_own(node.module):
            return node
        self._names.setdefault(node.module, []).extend(alias.name for alias in node.names)
        return [
            _assign(node, alias.asname or alias.name, ast.Attribute(_read(node.module), alias.name, ast.Load()))
            for alias in node.names
        ]

    def _import(self, node: ast.Import, alias: ast.alias) -> ast.AST:
        if not self._is_own(alias.name):
            return ast.copy_location(ast.Import([alias]), node)
        bound = alias.name if alias.asname else alias.name.partition(".")[0]
        for name in (alias.name, bound):
            self._names.setdefault(name, [])
        return _assign(node, alias.asname or bound, _read(bound))

    def _is_own(self, module: str) -> bool:
        top = self._folder / module.partition(".")[0]
        return top.is_dir() or top.with_suffix(SUFFIX).is_file()


def _variable(module: str) -> str:
    return f"_imported_{module.replace('.', '_')}"


def _read(module: str) -> ast.expr:
    return ast.Name(_variable(module), ast.Load())


def _assign(place: ast.stmt, name: str, value: ast.expr) -> ast.AST:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _import(name: str) -> types.ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UnknownNameError(f"there is no module {name!r}; write FILE.py:NAME or package.module:NAME")
    with _private_modules(Path.cwd()), _explained(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):  # missing is what it imports
                raise
            raise UnknownNameError(
                f"there is no module {name!r}, installed or in {Path.cwd()}; write FILE.py:NAME or package.module:NAME"
            ) from None


@contextmanager
def _private_modules(folder: Path) -> Iterator[None]:
    """Let modules of a folder be imported, and forget those that have been."""
    before = set(sys.modules)
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            top = name.partition(".")[0]
            file = getattr(sys.modules[name], "__file__", None)
            homes = (folder / f"{top}{SUFFIX}", folder / top)
            if top != "bai_gym" and file and any(Path(file).is_relative_to(home) for home in homes):
                del sys.modules[name]


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Report errors of code that is run in one line."""
    try:
        yield
    except UnknownNameError:
        raise
    except (Exception, SystemExit) as error:
        inside = [step.lineno for step in traceback.extract_tb(error.__traceback__) if step.filename == what]
        place = f" (line {inside[-1]})" if inside else ""  # the text of a SyntaxError says where it is
        raise AgentError(f"{what} cannot be loaded: {type(error).__name__}: {error}{place}") from None
