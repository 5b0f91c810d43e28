"""The state of a rule: what it is given and what it stores in an episode, by name.

A rule declares its fields once::

    class ExplorationState(State):
        a: float  # exploration
        leader: int  # arm of largest mean
        gaps: PerArm  # distances to the largest mean
        ends: Vector  # pulls at which the phases end

and its functions read and write them as ``s.a``, ``s.leader = arm``, ``s.gaps[arm]``, in compiled code and in plain
Python. A :class:`bai_gym.sampling.Sequential` request gives initial values by the same names; a field that is not
given starts at its default, ``bound: float = math.inf``, or at 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, get_type_hints

import numpy as np

from bai_gym.errors import AgentError
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["PerArm", "State", "States", "Vector"]

PerArm = Annotated[FloatArray, "arms"]
"""Type of a field of k numbers, one for each candidate arm."""
Vector = Annotated[FloatArray, "vector"]
"""Type of a field of as many numbers as the value that a request gives."""

NUMBERS: dict[Any, str] = {float: "float", int: "int", bool: "bool"}
ARRAYS: dict[Any, str] = {PerArm: "arms", Vector: "vector"}


class _Number:
    """A field of one number, which is stored as a float."""

    def __init__(self, place: int, kind: Any) -> None:
        self.place, self.kind = place, kind

    def __get__(self, state: State | None, owner: Any) -> Any:
        return self if state is None else self.kind(state._numbers[self.place])

    def __set__(self, state: State, value: float) -> None:
        state._numbers[self.place] = value


class _Array:
    """A field of several numbers."""

    def __init__(self, place: int) -> None:
        self.place = place

    def __get__(self, state: State | None, owner: Any) -> Any:
        if state is None:
            return self
        start, size = state._sections[self.place]
        return state._numbers[start : start + size]


class State:
    """Fields of a rule in one episode; a subclass declares them, and inherits those of its base.

    Types of fields are ``float``, ``int``, ``bool``, :data:`PerArm` and :data:`Vector`; single numbers may have a
    default. Functions of a rule receive a state; they do not make one.

    Args:
        numbers: The numbers of all fields, those of single numbers first.
        sections: ``(V, 2)`` start and size of each array among the numbers.

    Raises:
        AgentError: If a subclass declares a field of another type.
    """

    numbers: ClassVar[dict[str, str]] = {}
    arrays: ClassVar[dict[str, str]] = {}
    defaults: ClassVar[dict[str, float]] = {}

    def __init_subclass__(cls) -> None:
        """Collect the fields."""
        cls.numbers, cls.arrays, cls.defaults = {}, {}, {}
        for base in reversed(cls.__mro__[1:]):
            cls.defaults.update(getattr(base, "defaults", {}))
        for name, kind in get_type_hints(cls, include_extras=True).items():
            if name in State.__annotations__:
                continue
            if name in vars(cls):
                cls.defaults[name] = float(vars(cls)[name])
            if kind in NUMBERS:
                setattr(cls, name, _Number(len(cls.numbers), kind))
                cls.numbers[name] = NUMBERS[kind]
            elif kind in ARRAYS:
                setattr(cls, name, _Array(len(cls.arrays)))
                cls.arrays[name] = ARRAYS[kind]
            else:
                allowed = "float, int, bool, PerArm or Vector"
                raise AgentError(f"field {name} of {cls.__name__} must have the type {allowed}, not {kind!r}")

    def __init__(self, numbers: FloatArray, sections: IntArray) -> None:
        """Refer to the numbers of an episode."""
        self._numbers, self._sections = numbers, sections

    @classmethod
    def of(cls, **values: float | FloatArray) -> Self:
        """Return a state of its own with these values, for examples and tests; other fields have their defaults.

        Args:
            **values: Numbers, and ``(L,)`` arrays.
        """
        arrays = [np.asarray(values.get(name, ()), np.float64) for name in cls.arrays]
        sizes = np.array([array.size for array in arrays], np.int64)
        starts = len(cls.numbers) + np.cumsum(sizes) - sizes
        single = [float(values.get(name, cls.defaults.get(name, 0.0))) for name in cls.numbers]
        return cls(np.concatenate([single, *arrays]), np.stack([starts, sizes], axis=1).reshape(-1, 2))

    @classmethod
    def layout(cls) -> tuple[tuple[str, str], ...]:
        """Return names and types of all fields, single numbers first: all that compiled code depends on."""
        return (*cls.numbers.items(), *cls.arrays.items())


class States:
    """The states of N episodes: an array for each field, ``states["leader"]``.

    Args:
        kind: The declared fields.
        rows: ``(N, W)`` numbers of the episodes; arrays of fields are views of them.
        sections: ``(V, 2)`` start and size of each array in a row.
    """

    def __init__(self, kind: type[State], rows: FloatArray, sections: IntArray) -> None:
        """Refer to the rows."""
        self._kind, self._rows, self._sections = kind, rows, sections

    def __getitem__(self, name: str) -> FloatArray:
        """Return ``(N,)`` values of a field, or ``(N, L)`` of an array; writing to them changes the states."""
        if name in self._kind.numbers:
            return self._rows[:, list(self._kind.numbers).index(name)]
        start, size = self._sections[list(self._kind.arrays).index(name)]
        return self._rows[:, start : start + size]

    def values(self) -> dict[str, FloatArray | float]:
        """Return all fields by name, as the initial values of another request."""
        return {name: self[name] for name in (*self._kind.numbers, *self._kind.arrays)}

    def copy(self) -> States:
        """Return a copy, of which later pulls change nothing."""
        return States(self._kind, self._rows.copy(), self._sections)


def sizes_of(kind: type[State], values: Mapping[str, FloatArray | float], arms: int, agent: str) -> list[int]:
    """Return the length of each array of a state.

    Args:
        kind: The declared fields.
        values: Initial values by name, which define the length of a :data:`Vector`.
        arms: k.
        agent: Name, for messages.

    Raises:
        AgentError: If there is no such field, or a vector has no value.
    """
    for name in values:
        if name not in kind.numbers and name not in kind.arrays:
            known = ", ".join((*kind.numbers, *kind.arrays)) or "none"
            raise AgentError(f"{kind.__name__} of {agent} has no field {name!r}; it has: {known}")
    missing = [name for name, length in kind.arrays.items() if length == "vector" and name not in values]
    if missing:
        raise AgentError(f"{agent} gives no value for {missing[0]} of {kind.__name__}, whose length would be unknown")
    return [arms if length == "arms" else np.shape(values[name])[-1] for name, length in kind.arrays.items()]
