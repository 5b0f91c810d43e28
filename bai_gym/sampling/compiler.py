"""Compiles the loops of sequential agents with Numba, and stores them by content.

The module of a loop is written into a folder under a digest of its text and of the functions that it calls, and Numba
stores its machine code beside it (``cache=True``). So the next process finds the code of a rule wherever the rule was
written, in this library, a script or a notebook, and a constant that changes three calls away gives another module.

Numba is imported when something is compiled for the first time, not before: that takes a third of a second.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.util
import os
import re
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from bai_gym.content.parameters import closure_of, global_names
from bai_gym.sampling.signals import signals_held

__all__ = ["Loops", "NotCompiledError", "can_compile", "compile_loops"]

_global_names = functools.lru_cache(maxsize=4096)(global_names)
NOTE_AFTER = 1.0  # seconds
_UNSAID = ["; each rule is compiled once on this machine"]  # what only the first note explains
FLAGS = {"error_model": "numpy", "nogil": True}
INNER = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # never called from Python or C
_LOCK = threading.RLock()  # Numba compiles in one thread at a time, and signals are held by the main one
_functions: dict[str, Any] = {}  # compiled functions by digest
_loops: dict[str, Loops] = {}


class NotCompiledError(Exception):
    """A function cannot be compiled.

    Args:
        function: Its name.
        reason: Why.
    """

    def __init__(self, function: str, reason: str) -> None:
        """Keep the name."""
        super().__init__(reason)
        self.function = function


class Loops:
    """The functions of the module of a loop; the first call of each compiles it, or loads it from disk.

    Args:
        text: The module.
        functions: The functions that it calls, by name.
        key: Digest of all that; None: plain Python.
        name: What is compiled, for a message if that takes long.
    """

    def __init__(self, text: str, functions: Mapping[str, Callable[..., Any]], key: str | None, name: str) -> None:
        """Make the module."""
        self._text, self._functions, self._key, self._name = text, functions, key, name
        self._ready: set[str] = set()
        self._module = _plain(text, functions) if key is None else _stored(text, functions, key)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a loop.

        Raises:
            NotCompiledError: If it cannot be compiled.
        """
        if self._key is None:
            with np.errstate(all="ignore"):
                self._module[name](*arguments)
            return
        with signals_held():
            if name not in self._ready:
                self._compile(name, arguments)
            self._module[name](*arguments)

    def _compile(self, name: str, arguments: tuple[Any, ...]) -> None:
        """Call a loop with no episodes, which compiles it; where that cannot be stored, compile it in memory."""
        empty = tuple(_first_rows(argument) for argument in arguments)
        with _LOCK, _no_collection(), _note(self._name):
            try:
                try:
                    self._module[name](*empty)
                except OSError:
                    self._module = _in_memory(self._text, self._functions)
                    self._module[name](*empty)
            except Exception as error:  # mostly NumbaError, but Numba can raise anything
                raise NotCompiledError(_culprit(error) or self._own_names(), _first_line(error)) from None
        self._ready.add(name)

    def _own_names(self) -> str:
        """Return the names of the rule's functions."""
        parts = (self._functions.get(part) for part in ("index", "choose", "refresh", "stops"))
        return " or ".join(getattr(part, "__name__", repr(part)) for part in parts if part is not None)


def compile_loops(text: str, functions: Mapping[str, Callable[..., Any]], name: str, *, plain: bool = False) -> Loops:
    """Return the loops of a module, the same for the same content.

    Args:
        text: The module, in which the decorator ``compiled`` marks what is compiled.
        functions: The functions that it calls, by name.
        name: What is compiled, for a message if that takes long.
        plain: Whether it runs as plain Python.

    Raises:
        NotCompiledError: If a function refers to something that has no content to compare.
    """
    if plain:
        return Loops(text, functions, None, name)
    parts = [text, _versions(), *(f"{key} {digest(function)}" for key, function in functions.items())]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]
    with _LOCK:
        if key not in _loops:
            _loops[key] = Loops(text, functions, key, name)
        return _loops[key]


@functools.cache
def can_compile() -> bool:
    """Return whether there is Numba, and it is switched on."""
    try:
        with signals_held(), _no_collection():
            import numba
    except ImportError as error:
        warnings.warn(f"Numba cannot be imported ({error}): sequential agents run uncompiled, slowly", stacklevel=3)
        return False
    return not numba.config.DISABLE_JIT


def _plain(text: str, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    names = {"compiled": lambda function: function, "borrowed": lambda array: array, **functions}
    exec(_bytecode(text), names)
    return names


def _in_memory(text: str, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
    import numba

    names = {
        "compiled": numba.njit(**FLAGS),
        "borrowed": borrowed(),
        **{name: jitted(function) for name, function in functions.items()},
    }
    exec(_bytecode(text), names)
    return names


@functools.lru_cache(maxsize=256)
def _bytecode(text: str) -> types.CodeType:
    return compile(text, "<loop of bai-gym>", "exec")


def _stored(text: str, functions: Mapping[str, Callable[..., Any]], key: str) -> dict[str, Any]:
    """Return the names of the module, which stands in a file, so that Numba stores its machine code; or in memory."""
    import numba

    path = folder() / f"bai_gym_loop_{key}.py"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
            draft.write_text(text, encoding="utf-8", newline="\n")
            os.utime(draft, (0, 0))  # Numba compares times: files that two processes have written are the same
            draft.replace(path)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        vars(module).update(compiled=numba.njit(cache=True, no_cfunc_wrapper=True, **FLAGS), borrowed=borrowed())
        vars(module).update({name: jitted(function) for name, function in functions.items()})
        sys.modules[path.stem] = module  # Numba imports it by its name when it loads machine code
        spec.loader.exec_module(module)
    except (OSError, RuntimeError):  # no writable folder
        return _in_memory(text, functions)
    return vars(module)


@functools.cache
def borrowed() -> Any:
    """Return a compiled function that returns an array which does not own its memory.

    Numba counts references to arrays by atomic operations, of which it cannot save all. In a loop of 20 ns these take
    most of the time.
    """
    import cffi
    import numba

    ffi = cffi.FFI()

    def borrow(array: Any) -> Any:
        return numba.carray(ffi.from_buffer(array), array.shape)

    return numba.njit(borrow, **INNER, **FLAGS)


def folder() -> Path:
    """Return where loops are stored."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen or platformdirs.user_cache_dir("bai-gym", appauthor=False)) / "loops"


def jitted(function: Any) -> Any:
    """Return a function compiled together with the plain functions that it calls."""
    import numba

    if not isinstance(function, types.FunctionType):
        return function  # such as one that the user has compiled
    key = digest(function)
    if key not in _functions:
        known = {name: jitted(value) for name, value in references(function).items()}
        code, cells = function.__code__, function.__closure__
        copy = types.FunctionType(code, {**function.__globals__, **known}, function.__name__, None, cells)
        copy.__defaults__ = function.__defaults__
        # Machine code of two processes may meet in a third one, which knows functions by these names.
        copy.__qualname__, copy.__module__ = f"{function.__name__}_{key[:16]}", __name__
        _functions[key] = numba.njit(copy, **INNER, **FLAGS)
    return _functions[key]


def references(function: types.FunctionType) -> dict[str, Any]:
    """Return the globals and the variables of enclosing functions that a function uses, by name."""
    names = function.__globals__
    read = {name: names[name] for name in sorted(_global_names(function.__code__)) if name in names}
    return {**read, **dict(closure_of(function))}


def digest(function: Any) -> str:
    """Return a digest of a function's code and of all that it refers to.

    Raises:
        NotCompiledError: If it refers to something without content to compare.
    """
    try:
        return hashlib.sha256(repr(_content(function, ())).encode()).hexdigest()
    except _NoContentError as error:
        raise NotCompiledError(getattr(function, "__name__", repr(function)), str(error)) from None


class _NoContentError(Exception):
    """There is something that has no content to compare."""


def _content(value: Any, above: tuple[Any, ...]) -> Any:
    """Return nested tuples of strings that two values share if they are the same to compiled code."""
    function = getattr(value, "py_func", value)  # of a function that the user has compiled
    if isinstance(function, types.FunctionType):
        if function in above:
            return ("recursion", above.index(function))
        used = {name: _content(value, (*above, function)) for name, value in references(function).items()}
        return (_code(function.__code__), repr(function.__defaults__), *used.items())
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest())
    if isinstance(value, tuple):
        return (type(value).__qualname__, *(_content(part, above) for part in value))
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return (type(value).__qualname__, repr(value))
    if isinstance(value, types.ModuleType):
        return ("module", value.__name__)
    if isinstance(value, types.BuiltinFunctionType | np.ufunc):
        return ("built-in", getattr(value, "__module__", None), value.__name__)
    if isinstance(value, type):
        return ("class", value.__module__, value.__qualname__, getattr(value, "_fields", ()))
    raise _NoContentError(f"it refers to {value!r}, which is no number, array, or function")


@functools.lru_cache(maxsize=4096)
def _code(code: types.CodeType) -> Any:
    constants = tuple(
        _code(c) if isinstance(c, types.CodeType) else (type(c).__name__, repr(c)) for c in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)


@functools.cache
def _versions() -> str:
    import numba

    from bai_gym.sampling import episode, index

    sources = "".join(Path(module.__file__ or "").read_text(encoding="utf-8") for module in (episode, index))
    return f"{numba.__version__} {sys.version} {hashlib.sha256(sources.encode()).hexdigest()}"


def _first_rows(argument: Any) -> Any:
    """Return an argument of a loop for no episodes, of the same type."""
    if isinstance(argument, tuple):
        return getattr(argument, "_make", tuple)(_first_rows(part) for part in argument)
    return argument[:0] if isinstance(argument, np.ndarray) else argument


def _first_line(error: Exception) -> str:
    """Return the relevant line of Numba's message."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # without colours
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in", "File ", "During:", "[", "^", "def "))]
    return (telling or lines or [type(error).__name__])[0][:200]


def _culprit(error: Exception) -> str | None:
    """Return the name of the innermost function that Numba's message names or quotes."""
    text = str(error)
    names = re.findall(r"<function (\w+?)(?:_[0-9a-f]{16})? at", text) or re.findall(r"def (\w+)\(", text)
    return names[-1] if names else None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause garbage collection: among the objects that Numba makes it takes as long as loading from disk."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def _note(name: str) -> Iterator[None]:
    """Report a long compilation on standard error; loading from disk takes less, and is silent."""

    def say() -> None:
        why = _UNSAID.pop() if _UNSAID else ""
        print(f"bai-gym compiles {name}{why}", file=sys.stderr, flush=True)

    timer = threading.Timer(NOTE_AFTER, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
