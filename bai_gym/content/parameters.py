"""Parameters as digests: the values that agents and problems hold.

Code counts by the text of its files, see :mod:`bai_gym.content.sources`. What a process may have changed since it read
them counts here, too: the instructions of the user's own functions, and the numbers, texts and arrays that these read
as globals. So does, of modules that these use, the text of the file.

Pickles would not do: they name functions without their closures, drop what ``__getstate__`` drops, and their bytes
depend on which strings are one object.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bai_gym.content.homes import home_of_class, home_of_file, home_of_module

__all__ = ["Parameters", "UnknownContentError", "closure_of", "global_names"]

_READ_GLOBALS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_PLAIN = (bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType, types.NotImplementedType)


class UnknownContentError(Exception):
    """What an object depends on cannot be known."""


class Parameters:
    """Reads values and all that they hold, each object once, in an order that the content decides.

    Attributes:
        files: The user's own files in which functions, classes and modules among the values are written.
        has_own_code: Whether some of these are neither Python's, nor this library's, nor an installed package's.
    """

    def __init__(self) -> None:
        self.files: set[Path] = set()
        self.has_own_code = False
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps the object alive: Python reuses ids

    def digest(self, *values: Any) -> str:
        """Return a hash of values.

        Raises:
            UnknownContentError: If there is something without content that two processes could compare.
        """
        try:
            facts = json.dumps([self._facts(value) for value in values])
        except RecursionError:
            raise UnknownContentError("it is nested too deeply") from None
        return hashlib.sha256(facts.encode()).hexdigest()

    def _facts(self, value: Any) -> list[Any]:
        """Return the content of a value, as JSON."""
        kind = type(value)
        if kind in _PLAIN:
            return [kind.__name__, repr(value)]
        if kind is tuple:
            return ["tuple", *map(self._facts, value)]
        if kind in (frozenset, set):  # in no order
            return [kind.__name__, *sorted(map(self._alone, value))]
        if isinstance(value, np.ndarray | np.generic) and kind.__module__ == "numpy":
            array = np.asarray(value)
            content = array.tolist() if array.dtype.hasobject else hashlib.sha256(array.tobytes()).hexdigest()
            return ["array", repr(array.dtype), array.shape, self._facts(content)]
        if id(value) in self._seen:
            return ["seen", self._seen[id(value)][0]]
        self._seen[id(value)] = len(self._seen), value
        if kind is list:
            return ["list", *map(self._facts, value)]
        if kind in (dict, types.MappingProxyType):
            return ["dict", *([self._facts(key), self._facts(item)] for key, item in value.items())]
        return self._code(value) or self._object(value)

    def _alone(self, value: Any) -> str:
        other = Parameters()
        digest = other.digest(value)
        self.files |= other.files
        self.has_own_code |= other.has_own_code
        return digest

    def _code(self, value: Any) -> list[Any] | None:
        """Return the facts of a value that stands for code; None: it is no such."""
        function: Any = getattr(value, "py_func", None)
        if isinstance(function, types.FunctionType):  # compiled by Numba
            return ["compiled", self._facts(function)]
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, types.BuiltinFunctionType):
            owner = None if isinstance(value.__self__, types.ModuleType) else value.__self__
            module = value.__module__ or "builtins"
            return ["built in", self._home(module), module, value.__qualname__, self._facts(owner)]
        if isinstance(value, functools._lru_cache_wrapper):
            return ["cached", self._facts(value.__wrapped__)]
        if isinstance(value, np.ufunc):
            name = str(value.__name__)
            if getattr(np, name, None) is not value:
                raise UnknownContentError(f"the code of {value!r} cannot be read")
            return ["ufunc", name]
        return None

    def _module(self, module: types.ModuleType) -> list[Any]:
        """Return the facts of a module: the text of its file, where it is the user's own."""
        file = getattr(module, "__file__", None)
        home = home_of_module(module.__name__) if file is None else home_of_file(file)
        if home is None:
            self._note(file)
        text = Path(file).read_bytes() if home is None and file is not None and Path(file).is_file() else b""
        return ["module", module.__name__, home, hashlib.sha256(text).hexdigest()]

    def _home(self, module: str) -> str | None:
        """Return the home of a module, and note it if it is the user's own."""
        home = home_of_module(module)
        if home is None:
            self._note(getattr(sys.modules.get(module), "__file__", None))
        return home

    def _note(self, file: str | None) -> None:
        self.has_own_code = True
        if file is not None:
            self.files.add(Path(file))

    def _function(self, function: types.FunctionType) -> list[Any]:
        names, code = function.__globals__, function.__code__
        file = names.get("__file__")
        home = None if file is None else home_of_file(file)
        given = function.__defaults__, function.__kwdefaults__, dict(closure_of(function))
        facts = ["function", home, function.__module__, function.__qualname__, *map(self._facts, given)]
        if home is None:
            self._note(file)
            facts.append(self._instructions(code))
            for name in sorted(global_names(code) & names.keys()):
                if isinstance(names[name], types.FunctionType | types.ModuleType | type) or _is_data(names[name]):
                    facts.append([name, self._facts(names[name])])
        return facts

    def _instructions(self, code: types.CodeType) -> list[Any]:
        constants = [
            self._instructions(each) if isinstance(each, types.CodeType) else self._facts(each)
            for each in code.co_consts
        ]
        return [code.co_code.hex(), code.co_names, code.co_varnames, code.co_flags, constants]

    def _class(self, kind: type) -> list[Any]:
        home = home_of_class(kind)
        facts: list[Any] = ["class", home, kind.__module__, kind.__qualname__]
        if home is None:
            self.has_own_code = True
            self._home(kind.__module__)
            facts += map(self._facts, kind.__bases__)
            for name, member in sorted(vars(kind).items()):
                if isinstance(member, staticmethod | classmethod):
                    member = member.__func__
                elif isinstance(member, property):
                    member = member.fget
                elif isinstance(member, functools.cached_property):
                    member = member.func
                if isinstance(member, types.FunctionType) or (_is_data(member) and not name.startswith("__")):
                    facts.append([name, self._facts(member)])
        return facts

    def _object(self, value: Any) -> list[Any]:
        """Return the facts of what pickle would keep and, of the user's own classes, of all attributes."""
        kind = type(value)
        if callable(getattr(value, "detach", None)) and callable(getattr(value, "numpy", None)):
            return ["tensor", self._facts(np.asarray(value.detach().cpu()))]  # its pickle holds an address
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # user classes can raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            raise UnknownContentError(f"its {_named(value)} has no content to compare ({reason})") from None
        if isinstance(reduced, str):  # a name of its module
            return ["name", getattr(value, "__module__", ""), reduced, self._facts(kind)]
        facts: list[Any] = ["object"]
        if home_of_class(kind) is None:
            own = (base for base in kind.__mro__ if home_of_class(base) is None)
            if any(name in vars(base) for base in own for name in ("__reduce__", "__reduce_ex__")):
                raise UnknownContentError(f"its {_named(value)} has a pickling of its own")
            facts.append(self._facts(_without_cached(kind, object.__getstate__(value))))
        for part in reduced:
            facts.append(self._facts(list(part) if isinstance(part, Iterator) else _without_cached(kind, part)))
        return facts


def _is_data(value: Any) -> bool:
    """Return whether a value is a number, a text, an array, or a collection of such."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_data, value))
    if type(value) is dict:
        return _is_data(list(value.items()))
    return type(value) in _PLAIN or isinstance(value, np.ndarray | np.generic)


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


def _named(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def closure_of(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the variables of enclosing functions that a function uses; those without a value are left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            continue


def global_names(code: types.CodeType) -> frozenset[str]:
    """Return the names that code reads as globals, also in its inner functions; attributes are not among them."""
    inner = (global_names(each) for each in code.co_consts if isinstance(each, types.CodeType))
    read = (each.argval for each in dis.get_instructions(code) if each.opname in _READ_GLOBALS)
    return frozenset(read).union(*inner)
