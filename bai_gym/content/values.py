"""Values as digests: parameters of agents and problems, and the functions that rules compile.

Pickles would not do. They name functions instead of holding them, drop what ``__getstate__`` drops, and cloudpickle's
bytes depend on line numbers, on which strings are one object, and on what the process has done before.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from bai_gym.content.homes import home_of_class, home_of_file, home_of_module

__all__ = ["UnknownContentError", "Values", "closure_of", "global_names"]

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
_READ_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_PLAIN = (bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType, types.NotImplementedType)
_DESCRIPTORS = (
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
)


class UnknownContentError(Exception):
    """What an object depends on cannot be known."""


class Values:
    """Goes through values and all that they refer to, each object once, in an order that the content decides.

    The user's own functions and classes count by their code, their closures, and the values of the names that they use.
    That shows what a process has changed since its source was read; the source itself is another digest's matter.
    Everybody else's functions and classes count by name and version, with their closures.

    Attributes:
        files: The user's own files in which functions, classes and modules among the values are written.
        has_own_code: Whether some of these are neither Python's, nor this library's, nor an installed package's.
    """

    def __init__(self) -> None:
        self.files: set[Path] = set()
        self.has_own_code = False
        self._hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps the object alive: Python reuses ids
        self._seen_modules: set[tuple[int, frozenset[str]]] = set()

    def digest(self, *values: Any) -> str:
        """Return a hash of values, and of those of earlier calls.

        Raises:
            UnknownContentError: If there is something without content that two processes could compare.
        """
        try:
            for value in values:
                self._visit(value)
        except RecursionError:
            raise UnknownContentError("it is nested too deeply") from None
        return self._hash.hexdigest()

    def _tell(self, *words: object) -> None:
        for word in words:
            text = word if isinstance(word, bytes) else str(word).encode("utf-8", "surrogatepass")
            self._hash.update(b"%d:%b" % (len(text), text))

    def _parts(self, kind: str, *values: Any) -> None:
        self._tell(kind, len(values))
        for value in values:
            self._visit(value)

    def _visit(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN:
            self._tell(kind.__name__, value if kind is bytes else repr(value))
        elif kind is tuple:
            self._parts("tuple", *value)
        elif kind in (frozenset, set):  # in no order
            self._tell(kind.__name__, len(value), *sorted(self._digest_alone(item) for item in value))
        elif isinstance(value, np.ndarray | np.generic) and kind.__module__ == "numpy":
            self._visit_array(np.asarray(value))
        elif id(value) in self._seen:
            self._tell("seen", self._seen[id(value)][0])
        else:
            self._seen[id(value)] = len(self._seen), value
            if not self._visit_code(value):
                self._visit_object(value)

    def _digest_alone(self, value: Any) -> str:
        other = Values()
        digest = other.digest(value)
        self.files |= other.files
        self.has_own_code |= other.has_own_code
        return digest

    def _visit_array(self, array: np.ndarray[Any, Any]) -> None:
        self._tell("array", repr(array.dtype), array.shape)
        self._visit(array.tolist() if array.dtype.hasobject else array.tobytes())

    def _visit_code(self, value: Any) -> bool:
        """Visit a value that stands for code; return whether it is one."""
        function: Any = getattr(value, "py_func", None)
        if isinstance(function, types.FunctionType):  # compiled by Numba
            self._parts("compiled", function)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.ModuleType):
            self._visit_module(value, frozenset())
        elif isinstance(value, type):
            self._visit_class(value)
        elif isinstance(value, types.BuiltinFunctionType):
            module = sys.modules.get(value.__module__ or "")
            self._own_file(getattr(module, "__file__", None), home_of_module(value.__module__ or "builtins"))
            owner = None if isinstance(value.__self__, types.ModuleType) else value.__self__
            self._parts(f"{value.__module__} {value.__qualname__}", owner)
        elif isinstance(value, np.ufunc):
            name = str(value.__name__)
            if getattr(np, name, None) is not value:
                raise UnknownContentError(f"the code of {value!r} cannot be read")
            self._tell("ufunc", name)
        else:
            return False
        return True

    def _own_file(self, file: str | None, home: str | None) -> None:
        if home is None:
            self.has_own_code = True
            if file is not None:
                self.files.add(Path(file))

    def _visit_module(self, module: types.ModuleType, used: frozenset[str]) -> None:
        """Visit a module and, of what it holds, that with a name that is used."""
        home = home_of_module(module.__name__)
        self._own_file(getattr(module, "__file__", None), home)
        self._tell("module", module.__name__, home)
        if home is None:
            used |= {"__getattr__"}  # answers other names
        for name in sorted(used & vars(module).keys()):
            self._visit_used(name, vars(module)[name], used)

    def _visit_used(self, name: str, value: Any, used: frozenset[str]) -> None:
        self._tell("name", name)
        if isinstance(value, types.ModuleType) and (id(value), used) not in self._seen_modules:
            self._seen_modules.add((id(value), used))
            self._visit_module(value, used)
        else:
            self._visit(value)

    def _visit_function(self, function: types.FunctionType) -> None:
        names = function.__globals__
        file = names.get("__file__")
        home = None if file is None else home_of_file(file)
        self._own_file(file, home)
        self._tell("function", home)
        self._visit_instructions(function.__code__)
        self._parts("defaults", function.__defaults__, function.__kwdefaults__)
        self._items("closure", dict(closure_of(function)))
        if home is None:
            used = _names(function.__code__)
            for name in sorted(global_names(function.__code__) & names.keys()):
                self._visit_used(name, names[name], used)
        self._items("attributes", {name: v for name, v in vars(function).items() if name != "__wrapped__"})

    def _visit_instructions(self, code: types.CodeType) -> None:
        self._tell("code", code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._tell(code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
        self._tell(getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._visit_instructions(constant)
            else:
                self._visit(constant)

    def _visit_class(self, kind: type) -> None:
        home = home_of_class(kind)
        self._tell("class", kind.__module__, kind.__qualname__, home)
        if home is not None:
            return
        if home_of_module(kind.__module__) is None:
            self._own_file(getattr(sys.modules.get(kind.__module__), "__file__", None), None)
        self.has_own_code = True
        self._parts("bases", type(kind), *kind.__bases__)
        self._items("members", {name: value for name, value in sorted(vars(kind).items()) if name not in _IGNORED})

    def _items(self, kind: str, items: Mapping[Any, Any]) -> None:
        self._tell(kind, len(items))
        for name, value in items.items():
            self._visit(name)
            self._visit(value)

    def _visit_object(self, value: Any) -> None:
        if type(value) is list:
            self._parts("list", *value)
        elif type(value) in (dict, types.MappingProxyType):
            self._items("dict", value)
        elif isinstance(value, PurePath):
            self._tell("path", value)
        elif isinstance(value, np.dtype):
            self._tell("dtype", repr(value))
        elif isinstance(value, types.MethodType):
            self._parts("method", value.__func__, value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self._parts(type(value).__name__, value.__func__)
        elif isinstance(value, property):
            self._parts("property", value.fget, value.fset, value.fdel)
        elif isinstance(value, functools.cached_property):
            self._parts("property", value.func)
        elif isinstance(value, functools.partial):
            self._parts("partial", value.func, value.args, value.keywords, vars(value))
        elif isinstance(value, functools._lru_cache_wrapper):
            self._parts("cached", value.__wrapped__)
        elif isinstance(value, _DESCRIPTORS):
            self._tell("descriptor", value.__name__)
        elif callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
            self._parts("tensor", np.asarray(value.detach().cpu()))  # its pickle holds an address
        else:
            self._visit_reduced(value)

    def _visit_reduced(self, value: Any) -> None:
        """Visit what pickle would keep and, of the user's own classes, all attributes."""
        kind = type(value)
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # user classes can raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            raise UnknownContentError(f"its {_named(value)} has no content to compare ({reason})") from None
        if isinstance(reduced, str):  # a name of its module
            self._tell("name", getattr(value, "__module__", ""), reduced)
            self._visit(kind)
            return
        if home_of_class(kind) is None:
            if any(name in vars(base) for base in _own_bases(kind) for name in ("__reduce__", "__reduce_ex__")):
                raise UnknownContentError(f"its {_named(value)} has a pickling of its own")
            self._parts("attributes", _without_cached(kind, object.__getstate__(value)))
        self._tell("object", len(reduced))
        for part in reduced:
            self._visit(list(part) if isinstance(part, Iterator) else _without_cached(kind, part))


def _without_cached(kind: type, state: Any) -> Any:
    """Return a state without cached properties, which follow from the rest and are there only once they were read."""
    if type(state) is not dict:
        return state
    kept = {
        name: value
        for name, value in state.items()
        if not isinstance(getattr(kind, str(name), None), functools.cached_property)
    }
    return kept or None  # as before the first attribute


def _own_bases(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if home_of_class(base) is None]


def _named(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def closure_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables of enclosing functions that a function uses; those without a value are left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def _names(code: types.CodeType) -> frozenset[str]:
    """Return the names of globals and attributes that code uses, also in its inner functions."""
    inner = (_names(each) for each in code.co_consts if isinstance(each, types.CodeType))
    return frozenset(code.co_names).union(*inner)


def global_names(code: types.CodeType) -> frozenset[str]:
    """Return the names that code reads as globals, also in its inner functions; attributes are not among them."""
    inner = (global_names(each) for each in code.co_consts if isinstance(each, types.CodeType))
    read = (each.argval for each in dis.get_instructions(code) if each.opname in _READ_GLOBALS)
    return frozenset(read).union(*inner)
