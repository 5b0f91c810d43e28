"""Digests of agents by content: the code that they run, the values that it uses, and the versions of packages.

Pickles would not do. They name functions instead of holding them, and cloudpickle's bytes depend on line numbers, on
which strings are one object, and on what the process has done before.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.errors import AgentError

__all__ = ["content_digest", "is_own", "library_digest"]

LATER_PACKAGES = frozenset(
    {"analysis", "api.py", "citations.py", "cli", "experiments", "live", "papers.bib", "report", "rerun.py", "training"}
)
"""Parts of the library that do not affect outcomes."""
_IGNORED = frozenset(
    {
        "__abstractmethods__",  # follows from the methods
        "__annotate_func__",
        "__annotations__",  # types; dataclasses keep their fields elsewhere
        "__annotations_cache__",
        "__classdictcell__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__slotnames__",  # written by pickle
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",  # cache of isinstance
    }
)
_PLAIN = (bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType, types.NotImplementedType)
_DESCRIPTORS = (
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
)


class _NoContentError(Exception):
    """An object without content that two processes could compare."""


def content_digest(value: Any, what: str) -> str:
    """Return a hash of an agent, or a problem, and of everything that it uses, except the library's own code.

    Of what users have written, classes and functions count by their code, with all functions, constants, classes and
    modules that it uses; installed packages count by their versions. Memory addresses, line numbers, comments and what
    the code does not use make no difference.

    Args:
        value: A fresh agent, or a problem.
        what: Its name in messages: ``"agent Mine"``.

    Raises:
        AgentError: If it uses something without content, such as an open file.
    """
    try:
        return _Digest().of(value)
    except (_NoContentError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise AgentError(
            f"finished chunks of {what} cannot be matched with its current version: {reason}; give no output "
            "folder, or make that only when the first episode begins"
        ) from None


def is_own(value: Any) -> bool:
    """Return whether the class of an object is the user's own, neither the library's nor an installed package's."""
    return _home_of_class(type(value)) is None


@functools.cache
def library_digest() -> str:
    """Return the library's version and a hash of those of its files that outcomes depend on."""
    digest = hashlib.sha256()
    files: dict[str, Path] = {}
    for package in ("bai_gym", "bai_gym.agents"):
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.origin is not None
        folder = Path(spec.origin).parent
        for path in folder.rglob("*"):
            parts = path.relative_to(folder).parts
            if parts[0] not in LATER_PACKAGES:
                files["/".join((package, *parts))] = path
    for name, path in sorted(files.items()):
        if path.is_file() and path.parent.name != "__pycache__":
            digest.update(f"{name} {path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
    return f"{version('bai-gym')}-{digest.hexdigest()[:16]}"


class _Digest:
    """Goes through an object and all that it refers to, each thing once, in an order that its content decides."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps the object alive: Python reuses ids

    def of(self, value: Any) -> str:
        self._visit(value)
        return self._hash.hexdigest()

    def _tell(self, *words: object) -> None:
        for word in words:
            text = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:%b" % (len(text), text))

    def _visit(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self._tell(kind.__name__, value if kind is bytes else repr(value))
        elif kind in (tuple, frozenset, set):
            self._visit_several(value)
        elif isinstance(value, np.generic) or kind is np.dtype:
            self._tell("number", repr(value))
        elif id(value) in self._seen:
            self._tell("seen", self._seen[id(value)][0])
        else:
            self._seen[id(value)] = len(self._seen), value
            self._visit_object(value)

    def _visit_several(self, values: Any) -> None:
        self._tell(type(values).__name__, len(values))
        if isinstance(values, tuple):
            for value in values:
                self._visit(value)
        else:  # in no order
            self._tell(*sorted(_Digest().of(value) for value in values))

    def _visit_object(self, value: Any) -> None:
        if type(value) is np.ndarray:
            self._tell("array", value.dtype.str, value.shape)
            self._visit(value.tolist() if value.dtype.hasobject else value.tobytes())
        elif type(value) is list:
            self._tell("list", len(value))
            for item in value:
                self._visit(item)
        elif type(value) in (dict, types.MappingProxyType):
            self._visit_items("dict", value)
        elif isinstance(value, types.ModuleType):
            self._visit_module(value)
        elif isinstance(value, type):
            self._visit_class(value)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.CodeType):
            self._visit_code(value)
        elif isinstance(value, types.MethodType):
            self._parts("method", value.__func__, value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self._parts(type(value).__name__, value.__func__)
        elif isinstance(value, property):
            self._parts("property", value.fget, value.fset, value.fdel)
        elif isinstance(value, functools.cached_property):
            self._parts("property", value.func)
        elif isinstance(value, functools.partial):
            self._parts("partial", value.func, value.args, value.keywords)
        elif isinstance(getattr(value, "py_func", None), types.FunctionType):  # compiled by Numba
            self._parts("compiled", value.py_func)
        elif isinstance(getattr(value, "__wrapped__", None), types.FunctionType):  # of functools.cache
            self._parts("wrapped", type(value), value.__wrapped__)
        elif isinstance(value, types.BuiltinFunctionType):
            owner = None if isinstance(value.__self__, types.ModuleType) else value.__self__
            self._parts(f"{value.__module__} {value.__qualname__}", owner)
        elif isinstance(value, _DESCRIPTORS):
            self._tell("descriptor", value.__name__)
        elif isinstance(value, np.ufunc):
            self._tell("function", value.__name__)
        elif callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
            self._parts("tensor", np.asarray(value.detach().cpu()))  # its pickle holds an address
        else:
            self._visit_reduced(value)

    def _parts(self, kind: str, *values: Any) -> None:
        self._tell(kind)
        for value in values:
            self._visit(value)

    def _visit_items(self, kind: str, items: Mapping[Any, Any]) -> None:
        self._tell(kind, len(items))
        for name, value in items.items():
            self._visit(name)
            self._visit(value)

    def _visit_module(self, module: types.ModuleType) -> None:
        home = _home(module.__name__, getattr(module, "__file__", None))
        if home is None:  # which of its names are used cannot be known
            names = sorted(name for name in vars(module) if not name.startswith("__"))
            self._visit_items("module", {name: vars(module)[name] for name in names})
        else:
            self._tell("module", module.__name__, home)

    def _visit_class(self, kind: type) -> None:
        home = _home_of_class(kind)
        self._tell("class", kind.__qualname__)
        if home is not None:
            self._tell(kind.__module__, home)
            return
        self._parts("bases", type(kind), kind.__bases__)
        members = {name: value for name, value in sorted(vars(kind).items()) if name not in _IGNORED}
        self._visit_items("members", members)

    def _visit_function(self, function: types.FunctionType) -> None:
        home = _home(str(function.__globals__.get("__name__")), function.__globals__.get("__file__"))
        cells = dict(_closure(function))
        if home is not None:  # what decorators of a package return holds the user's own functions
            self._tell("function", function.__module__, function.__qualname__, home)
            held = {name: value for name, value in cells.items() if isinstance(value, types.FunctionType | type)}
            self._visit_items("holds", held)
            return
        self._tell("function")
        self._visit_code(function.__code__)
        self._parts("defaults", function.__defaults__, function.__kwdefaults__)
        self._visit_items("closure", cells)
        self._visit_items("attributes", {name: v for name, v in vars(function).items() if name != "__wrapped__"})
        for name in sorted(_global_names(function.__code__)):
            if name in function.__globals__:
                self._tell("global", name)
                self._visit(function.__globals__[name])
        for name, wanted, level in sorted(_imports(function.__code__)):
            self._tell("import", name, level, *wanted)
            self._visit_import(name, wanted, level, function.__globals__)

    def _visit_import(self, name: str, wanted: tuple[str, ...], level: int, names: dict[str, Any]) -> None:
        try:
            package = names.get("__package__") or ""
            module = importlib.import_module("." * level + name, package)
            if wanted and "*" not in wanted:
                __import__(module.__name__, fromlist=wanted)  # these may be modules of a package
        except ImportError:  # the code that needs it may never run
            self._tell("missing")
            return
        home = _home(module.__name__, getattr(module, "__file__", None))
        if home is not None or not wanted:
            self._visit(module)
            return
        for each in wanted:
            self._visit(getattr(module, each, None))

    def _visit_code(self, code: types.CodeType) -> None:
        self._tell("code", code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._tell(code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
        self._tell(getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._visit_code(constant)
            else:
                self._visit(constant)

    def _visit_reduced(self, value: Any) -> None:
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # user classes can raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            raise _NoContentError(f"its {_named(value)} has no content to compare ({reason})") from None
        if isinstance(reduced, str):  # a name of its module
            self._tell("name", getattr(value, "__module__", ""), reduced)
            self._visit(type(value))
            return
        self._tell("object", len(reduced))
        for part in reduced:
            self._visit(list(part) if isinstance(part, Iterator) else part)


def _home_of_class(kind: type) -> str | None:
    module = sys.modules.get(kind.__module__)
    return None if module is None else _home(kind.__module__, getattr(module, "__file__", None))


def _named(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _closure(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables of enclosing functions that a function uses; those without a value are left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def _global_names(code: types.CodeType) -> set[str]:
    """Return the global names that code reads, that of its inner functions too."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_global_names(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)))


def _imports(code: types.CodeType) -> set[tuple[str, tuple[str, ...], int]]:
    """Return what code imports when it runs: module, names taken from it, and how many packages up."""
    steps = list(dis.get_instructions(code))
    found = set()
    for level, wanted, step in zip(steps, steps[1:], steps[2:], strict=False):
        if step.opname == "IMPORT_NAME":
            found.add((str(step.argval), tuple(wanted.argval or ()), int(level.argval)))
    return found.union(*(_imports(inner) for inner in code.co_consts if isinstance(inner, types.CodeType)))


@functools.cache
def _home(module: str, file: str | None) -> str | None:
    """Return the package, with its version, that a module is installed with; None for what users have written."""
    top = module.partition(".")[0]
    if top == "bai_gym":
        return "bai-gym"
    if module in sys.builtin_module_names:
        return "Python"
    if file is None or top in ("__main__", "__mp_main__"):
        frozen = getattr(getattr(sys.modules.get(module), "__spec__", None), "origin", None) == "frozen"
        return "Python" if frozen else None
    path = Path(file)
    if not {"site-packages", "dist-packages"} & set(path.parts):
        own = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")]
        return "Python" if any(path.resolve().is_relative_to(folder) for folder in own) else None
    return _version(top)


@functools.cache
def _version(package: str) -> str | None:
    """Return the version of an installed package; None if unknown, so that its code must be compared."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        names = packages_distributions().get(package, [])
        return f"{package} {version(names[0])}" if names else None
