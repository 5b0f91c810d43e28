"""Compiles the functions of sequential agents with Numba, once, and keeps the machine code on disk.

Numba does not keep the code of functions that take other functions, or that are made at run time: every process would
compile them again, for seconds. Two things avoid that. Functions are passed to the player as typed pointers, so the
player is compiled for their type alone. And the name of what is compiled carries a digest of its code and of all that
it calls, so Numba finds a function by its content, wherever it was written: in this library, a script, or a notebook.

Numba is imported when something is compiled for the first time, not before: that takes a third of a second. Rules set
elements in loops, not by slices: the first assignment to a slice takes Numba two seconds.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import math
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from bai_gym.content.values import UnknownContentError, Values, closure_of, global_names
from bai_gym.errors import AgentError
from bai_gym.sampling import episode as rows
from bai_gym.sampling import player
from bai_gym.sampling.episode import STOP, episode, numbers_of, values
from bai_gym.sampling.inlining import is_noinline
from bai_gym.sampling.sequential import Rule, pull_leader
from bai_gym.sampling.signals import signals_held
from bai_gym.sampling.state import State

__all__ = ["CompiledPlayer", "compile_rule", "compiled_player", "precompile"]

NOTE_AFTER = 1.0  # seconds
_LOCK = threading.RLock()  # workers of a Dask cluster may be threads of one process
_dispatchers: dict[Any, Any] = {}
_rules: dict[str, Any] = {}


class NotCompiled(Exception):
    """A function cannot, or must not, be compiled."""


# What a template calls; :func:`_compile` substitutes the functions of a rule, and what makes its state.
function: Any = None
stops: Any = None
state: Any = None


def _indices(number: int, pulls: Any, means: Any, variances: Any, found: Any, p: Any, step: int) -> int:
    for k in range(number):
        values(found)[k] = function(values(pulls)[k], values(means)[k], values(variances)[k], state(p + k * step, 0))
    return 0


def _choose(f: Any, q: Any, x: Any, rng: Any) -> int:
    return int(function(episode(f, q, x), state(numbers_of(f, q), q), rng))


def _choose_or_stop(f: Any, q: Any, x: Any, rng: Any) -> int:
    e, s = episode(f, q, x), state(numbers_of(f, q), q)
    return STOP if stops(e, s) else int(function(e, s, rng))


def _digest(function: Any) -> str:
    """Return a hash of a function's code and of all that it refers to.

    Raises:
        NotCompiled: If it refers to something without content to hash.
    """
    try:
        return Values(compiled=True).digest(function)[:16]
    except UnknownContentError as error:
        raise NotCompiled(str(error)) from None


def _references(function: types.FunctionType) -> dict[str, Any]:
    """Return the global names and the variables of enclosing functions that a function uses, with their values."""
    names = function.__globals__
    read = {name: names[name] for name in global_names(function.__code__) & names.keys()}
    return {**read, **dict(closure_of(function))}


@cache
def _library_digest() -> str:
    """Return a hash of the modules that give rows their names, which Numba compiles in a form of their own."""
    from bai_gym.sampling import addresses

    sources = (inspect.getsource(module) for module in (addresses, rows))
    return hashlib.sha256("".join(sources).encode()).hexdigest()[:8]


def _bound(function: types.FunctionType, replacements: dict[str, Any], digest: str = "") -> types.FunctionType:
    """Return a copy of a function with other global values, and a name that holds the digest."""
    copy = types.FunctionType(
        function.__code__, {**function.__globals__, **replacements}, function.__name__, None, function.__closure__
    )
    copy.__qualname__ = f"{function.__name__}_{digest}" if digest else function.__qualname__
    # Numba imports the module that machine code on disk names, and the one where a function was written may be gone.
    copy.__module__ = __name__
    return copy


def _dispatcher(function: Any) -> Any:
    """Return a function as one that compiled code can call."""
    import numba

    from bai_gym.sampling import addresses

    if not isinstance(function, types.FunctionType):
        return function
    replaced = getattr(addresses, function.__name__, None)
    if replaced is not None and function is getattr(rows, function.__name__, None):
        return replaced
    if function not in _dispatchers:
        inner = {
            name: _dispatcher(value)
            for name, value in _references(function).items()
            if isinstance(value, types.FunctionType) and value is not function
        }
        _dispatchers[function] = numba.njit(
            _bound(function, inner),
            error_model="numpy",
            forceinline=not is_noinline(function),
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )
    return _dispatchers[function]


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


@signals_held()
@_no_collection()
def _compile(template: Any, signature: Any, parts: dict[str, Any], kind: type[State], *, has_arrays: bool) -> Any:
    """Return the machine code of a template whose parts are other functions; from disk, if it is there.

    Args:
        template: The function.
        signature: Its type.
        parts: The functions that take the place of global names.
        kind: The fields of the state.
        has_arrays: Whether it receives the arrays of the state, too.
    """
    import numba

    from bai_gym.sampling.addresses import state_maker

    digests = [*(_digest(part) for part in (template, *parts.values())), repr(kind.layout())]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
    key = f"{template.__name__}_{digest}{_library_digest()}"
    if key not in _rules:
        names = {name: value for name, value in _references(template).items() if isinstance(value, types.FunctionType)}
        inner = {name: _dispatcher(value) for name, value in {**names, **parts}.items()}
        inner["state"] = state_maker(kind.layout(), has_arrays)
        bound = _bound(template, inner, f"{digest}{_library_digest()}")
        options = {"error_model": "numpy"}
        try:
            try:
                _rules[key] = numba.njit(signature, cache=True, **options)(bound)
            except (OSError, RuntimeError):  # no writable folder
                _rules[key] = numba.njit(signature, **options)(bound)
        except Exception as error:  # mostly NumbaError, but Numba can raise anything
            raise NotCompiled(_first_line(error)) from None
    return _rules[key]


def _first_line(error: Exception) -> str:
    """Return the relevant line of Numba's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in", "File ", "During:", "[", "^", "def "))]
    return (telling or lines or [type(error).__name__])[0][:200]


class CompiledPlayer:
    """The player's three loops, compiled."""

    def __init__(self) -> None:
        """Compile the loops, or load them from disk."""
        import numba
        from numba.core.types import FunctionType

        f8, i8, void = numba.float64, numba.int64, numba.void
        generator = numba.types.npy_rng
        floats, ints, vector, numbers = f8[:, ::1], i8[:, ::1], f8[::1], i8[::1]
        self.indices_type = i8(i8, i8, i8, i8, i8, i8, i8)
        self.choose_type = i8(i8, i8, i8, generator)
        pointers = (FunctionType(self.indices_type), *(2 * (FunctionType(self.choose_type),)), i8)
        features = numba.types.Array(f8, 3, "C", readonly=True)  # read-only in environments
        samples = numba.types.Array(f8, 1, "C", readonly=True)  # read-only where they are a file
        state = (floats, ints, features, generator)
        arms = (i8, floats, floats, ints, samples, generator)
        self._signatures = {
            "play": void(*arms, *state, *pointers, vector, i8),
            "choose_all": void(numbers, *state, *pointers),
            "update_all": void(numbers, vector, *state, pointers[0], i8),
        }

    def __getattr__(self, name: str) -> Any:
        """Compile a loop when it is first needed."""
        if name.startswith("_") or name not in self._signatures:
            raise AttributeError(name)
        with _LOCK, note("the loop of sequential agents"):
            loop = _compile(getattr(player, name), self._signatures[name], {}, State, has_arrays=False)

        def enter(*arguments: Any) -> None:
            with signals_held():
                loop(*arguments)

        setattr(self, name, enter)
        return enter


@cache
@signals_held()
@_no_collection()
def compiled_player() -> CompiledPlayer | None:
    """Return the compiled player; None where Numba is switched off, or cannot be imported."""
    try:
        import numba
    except ImportError as error:
        warnings.warn(f"Numba cannot be imported ({error}): sequential agents run uncompiled, slowly", stacklevel=3)
        return None
    return None if numba.core.config.DISABLE_JIT else CompiledPlayer()


@contextmanager
def note(name: str) -> Iterator[None]:
    """Report a long compilation on standard error; loading from disk is silent."""
    from numba.core import event

    def say() -> None:
        print(f"bai-gym compiles {name}; this happens once on this machine", file=sys.stderr, flush=True)

    timer = threading.Timer(NOTE_AFTER, say)
    timer.daemon = True
    try:
        with event.install_listener("numba:compile", _starter()(timer)):
            yield
    finally:
        timer.cancel()


@cache
def _starter() -> Callable[[threading.Timer], Any]:
    """Return the class of what starts a timer when something is compiled.

    One class for all timers: with a class of its own, which refers to it, a timer would be freed by a collection, which
    calls Python from C. An exception that a signal handler raises there is lost.
    """
    from numba.core import event

    class Starter(event.Listener):  # type: ignore[misc]
        def __init__(self, timer: threading.Timer) -> None:
            self._timer = timer

        def on_start(self, event: Any) -> None:
            if self._timer.ident is None:
                self._timer.start()

        def on_end(self, event: Any) -> None:
            pass

    return Starter


def nothing(e: Any, s: Any, rng: Any) -> int:
    """Placeholder for a missing function of a rule."""
    return 0


def no_index(pulls: float, mean: float, variance: float, s: Any) -> float:
    """Placeholder for a missing index of a rule."""
    return 0.0


def compile_rule(rule: Rule, agent: str) -> tuple[Any, Any, Any] | None:
    """Return a rule's functions as the player calls them: index, choice (with its stopping rule) and refresh.

    Where one of them cannot be compiled, None is returned, with a warning that names it.

    Raises:
        AgentError: If an index does not return a number.
    """
    built = compiled_player()
    _check_index(rule.index, rule.state, agent)
    if built is None:
        return None
    current: Callable[..., Any] | None = None
    try:
        with _LOCK, note(f"the functions of {agent}"):
            current = rule.index or no_index
            kind = rule.state if rule.index is not None else State
            indices = _compile(_indices, built.indices_type, {"function": current}, kind, has_arrays=False)
            current = rule.choose or nothing
            template: Callable[..., int] = _choose
            parts: dict[str, Callable[..., Any]] = {"function": current}
            if rule.stops is not None:
                template, parts = _choose_or_stop, {"function": rule.choose or pull_leader, "stops": rule.stops}
            kind = rule.state if rule.choose is not None or rule.stops is not None else State
            choose = _compile(template, built.choose_type, parts, kind, has_arrays=True)
            current = rule.refresh or nothing
            kind = rule.state if rule.refresh is not None else State
            refresh = _compile(_choose, built.choose_type, {"function": current}, kind, has_arrays=True)
    except NotCompiled as error:
        name = getattr(current, "__qualname__", repr(current))
        warnings.warn(
            f"{name} of {agent} cannot be compiled ({error}): it runs uncompiled, slowly; use numbers, NumPy arrays, "
            "math and plain functions of module level only",
            stacklevel=2,
        )
        return None
    return indices, choose, refresh


def precompile(rule: Rule, agent: str) -> None:
    """Compile a rule and the player, so that worker processes find both on disk."""
    if compile_rule(rule, agent) is not None and (built := compiled_player()) is not None:
        _ = built.play


def _check_index(function: Callable[..., Any] | None, kind: type[State], agent: str) -> None:
    """Try an index once.

    Raises:
        AgentError: If it returns anything but a number.
    """
    if function is None:
        return
    with np.errstate(all="ignore"):
        try:
            value = function(2.0, 0.5, 0.25, kind.of(**dict.fromkeys(kind.numbers, 1.0)))
        except (ArithmeticError, ValueError, IndexError):  # outside its range, which is the rule's own business
            return
        except TypeError as error:
            raise AgentError(f"{_named(function, agent)}: {error}") from None
    if not isinstance(value, int | float | np.number) or isinstance(value, bool) or math.isnan(float(value)):
        shown = " ".join(repr(value).split())[:60]
        raise AgentError(f"{_named(function, agent)} must return a number, not {shown}")


def _named(function: Callable[..., Any], agent: str) -> str:
    called = getattr(function, "__qualname__", repr(function))
    return f"{called}(pulls, mean, variance, s), the index of {agent},"
