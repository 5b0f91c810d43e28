"""The state of a rule: what it is given and what it stores in an episode, by name.

A rule declares its fields once::

    class ExplorationState(State):
        a: float  # exploration
        leader: int  # arm of largest mean
        gaps: PerArm  # distances to the largest mean
        ends: Vector  # pulls at which the phases end
        bounds: Scratch  # what is computed anew at each pull

Its functions read and write the numbers as ``s.a``, ``s.leader = arm``, and the arrays as ``w.gaps[arm]``: ``s`` is a
row of a structured array, ``w`` a tuple of arrays. A :class:`bai_gym.sampling.Sequential` request gives initial values
by the same names; a field that is not given starts at its default, ``bound: float = math.inf``, or at 0.
"""

from __future__ import annotations

import hashlib
from collections import namedtuple
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, get_type_hints

import numpy as np
from typing_extensions import override

from bai_gym.errors import AgentError
from bai_gym.statistics import FloatArray

__all__ = ["PerArm", "Scratch", "State", "States", "Values", "Vector"]

PerArm = Annotated[FloatArray, "arms"]
"""Type of a field of k numbers, one for each candidate arm."""
Vector = Annotated[FloatArray, "vector"]
"""Type of a field of as many numbers as the value that a request gives."""
Scratch = Annotated[FloatArray, "scratch"]
"""Type of a field of as many numbers as its value, all episodes together: what is set before it is read, each time."""
Values = dict[str, FloatArray | float]
"""The initial values of fields, by name."""

UNUSED = "unused_"
NUMBERS: dict[Any, str] = {float: "f8", int: "i8", bool: "?"}
ARRAYS: dict[Any, str] = {PerArm: "arms", Vector: "vector", Scratch: "scratch"}


class State:
    """Fields of a rule in one episode; a subclass declares them, and inherits those of its base.

    Types of fields are ``float``, ``int``, ``bool``, :data:`PerArm`, :data:`Vector` and :data:`Scratch`; single numbers
    may have a default. The class is a declaration: functions of a rule receive its numbers and its arrays.

    Attributes:
        numbers: Type of each field of one number, in the notation of NumPy.
        arrays: ``"arms"``, ``"vector"`` or ``"scratch"``, for each array.
        defaults: Defaults of numbers.

    Raises:
        AgentError: If a subclass declares a field of another type, or a number with the name of an attribute that every
            row of NumPy has, such as ``size``.
    """

    numbers: ClassVar[dict[str, str]] = {}
    arrays: ClassVar[dict[str, str]] = {}
    defaults: ClassVar[dict[str, float]] = {}

    @override
    def __init_subclass__(cls) -> None:
        """Collect the fields."""
        cls.numbers, cls.arrays, cls.defaults = {}, {}, {}
        for base in reversed(cls.__mro__[1:]):
            cls.defaults.update(getattr(base, "defaults", {}))
        for name, kind in get_type_hints(cls, include_extras=True).items():
            if name in State.__annotations__:
                continue
            if name in vars(cls):
                cls.defaults[name] = vars(cls)[name]
            if kind in NUMBERS and hasattr(np.record, name):
                raise AgentError(
                    f"field {name} of {cls.__name__} needs another name: rows of NumPy have a {name} of their own"
                )
            if kind in NUMBERS:
                cls.numbers[name] = NUMBERS[kind]
            elif kind in ARRAYS:
                cls.arrays[name] = ARRAYS[kind]
            else:
                allowed = "float, int, bool, PerArm, Vector or Scratch"
                raise AgentError(f"field {name} of {cls.__name__} must have the type {allowed}, not {kind!r}")

    @classmethod
    def dtype(cls) -> np.dtype[Any]:
        """Return the type of a row of numbers.

        A last field, which is not used, has a name that no other type has: Numba would convert rows into shorter ones.
        """
        own = hashlib.sha256(repr(cls.numbers).encode()).hexdigest()[:8]
        return np.dtype([*cls.numbers.items(), (f"{UNUSED}{own}", "?")], align=True)

    @classmethod
    def of(cls, **values: float | FloatArray) -> tuple[Self, Self]:
        """Return the numbers and the arrays of a state with these values, for examples and tests.

        Args:
            **values: Numbers, and ``(L,)`` arrays. Other numbers have their defaults; other arrays of the arms are
                zeros, as many as the longest that is given has, and vectors are empty.
        """
        rows = np.zeros(1, cls.dtype()).view(np.recarray)
        for name in cls.numbers:
            rows[name] = values.get(name, cls.defaults.get(name, 0))
        arms = max((np.size(values.get(name, ())) for name, kind in cls.arrays.items() if kind == "arms"), default=0)
        sizes = {name: arms if kind == "arms" else 0 for name, kind in cls.arrays.items()}
        arrays = (np.array(values.get(name, np.zeros(size)), np.float64) for name, size in sizes.items())
        w: Any = namedtuple("Arrays", list(cls.arrays))(*arrays)
        s: Any = rows[0]
        return s, w


class States:
    """The states of N episodes: an array for each field, ``states["leader"]``.

    Args:
        numbers: ``(N,)`` rows of the fields of one number.
        arrays: ``(N, L)`` values of each array, by name.
    """

    def __init__(self, numbers: np.ndarray, arrays: dict[str, FloatArray]) -> None:
        """Refer to the values."""
        self.numbers, self.arrays = numbers, arrays

    def __getitem__(self, name: str) -> np.ndarray:
        """Return ``(N,)`` values of a field, or ``(N, L)`` of an array; writing to them changes the states."""
        return self.arrays[name] if name in self.arrays else self.numbers[name]

    def values(self) -> Values:
        """Return all fields by name, as the initial values of another request."""
        names = [name for name in self.numbers.dtype.names or () if not name.startswith(UNUSED)]
        return {name: self[name] for name in (*names, *self.arrays)}

    def copy(self) -> States:
        """Return a copy, of which later pulls change nothing."""
        return States(self.numbers.copy(), {name: array.copy() for name, array in self.arrays.items()})


def initial_states(
    kind: type[State], values: Mapping[str, FloatArray | float], batch: int, arms: int, agent: str
) -> States:
    """Return the states of N episodes at the start.

    Args:
        kind: The declared fields.
        values: Initial values by name, which define the length of a :data:`Vector`.
        batch: N.
        arms: k.
        agent: Name, for messages.

    Raises:
        AgentError: If there is no such field, a vector has no value, or the shape of a value is not that of its field.
    """
    for name in values:
        if name not in kind.numbers and name not in kind.arrays:
            known = ", ".join((*kind.numbers, *kind.arrays)) or "none"
            raise AgentError(f"{kind.__name__} of {agent} has no field {name!r}; it has: {known}")
    missing = [name for name, length in kind.arrays.items() if length != "arms" and name not in values]
    if missing:
        raise AgentError(f"{agent} gives no value for {missing[0]} of {kind.__name__}, whose length would be unknown")
    lengths = {name: arms if length == "arms" else np.shape(values[name])[-1] for name, length in kind.arrays.items()}
    rows = {name: 1 if kind.arrays[name] == "scratch" else batch for name in lengths}
    arrays = {name: np.zeros((rows[name], length)) for name, length in lengths.items()}
    states = States(np.zeros(batch, kind.dtype()), arrays)
    for name, value in {**kind.defaults, **values}.items():
        field = states[name]
        try:
            field[...] = value
        except ValueError:
            raise AgentError(f"{name} of {agent} has the shape {np.shape(value)}, which is not {field.shape}") from None
    return states
