"""The compiled form of :mod:`bai_gym.sampling.episode`: rows by their addresses.

Imported by the compiler alone, since it takes Numba. Numba counts the references to arrays and generators, by atomic
operations at every call. Those that are made here are not counted, which saves three quarters of the time of a pull.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, models, register_model

from bai_gym.sampling.episode import (
    ARMS,
    END,
    FEATURES,
    HEADER,
    LINE,
    MADE,
    NODES,
    PULLED,
    TIE,
    TREE,
    WIDTH,
    Episode,
)
from bai_gym.sampling.tournament import Tournament

__all__ = [
    "at",
    "borrowed",
    "episode",
    "header",
    "larger",
    "locate",
    "numbers_of",
    "section",
    "singles",
    "state_maker",
    "sums",
    "total",
    "values",
]


def _pointer_to(kind: Any) -> Any:
    @intrinsic
    def pointer(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(types.CPointer(kind)))

        return types.CPointer(kind)(address), generate

    return pointer


_floats = _pointer_to(types.float64)
_ints = _pointer_to(types.int64)
_singles = _pointer_to(types.float32)


@intrinsic
def _uncounted(typing_context: Any, rng: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        proxy = cgutils.create_struct_proxy(rng)(context, builder, value=arguments[0])
        proxy.meminfo = cgutils.get_null_value(proxy.meminfo.type)
        return proxy._getvalue()

    return rng(rng), generate


@numba.njit(forceinline=True)
def borrowed(rng: Any) -> Any:
    """Return a generator that is not counted, for as long as the caller holds it."""
    return _uncounted(rng)


@numba.njit(forceinline=True)
def locate(rows: Any, number: Any) -> Any:
    """Return the address of a row."""
    return rows.ctypes.data + number * rows.strides[0]


@intrinsic
def larger(typing_context: Any, value: Any, other: Any) -> Any:
    """Return the larger value, in a form that LLVM turns into vector instructions."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        function = builder.module.declare_intrinsic("llvm.maxnum", [double], ir.FunctionType(double, [double, double]))
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


@intrinsic
def _sum_of_lines(typing_context: Any, address: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        line = ir.VectorType(ir.DoubleType(), LINE)
        lines = builder.inttoptr(arguments[0], line.as_pointer())
        sums = cgutils.alloca_once_value(builder, ir.Constant(line, [0.0] * LINE))
        with cgutils.for_range(builder, arguments[1]) as loop:
            numbers = builder.load(builder.gep(lines, [loop.index]), align=8)
            builder.store(builder.fadd(builder.load(sums), numbers), sums)
        found = builder.load(sums)
        return cgutils.pack_array(
            builder, [builder.extract_element(found, ir.Constant(ir.IntType(32), place)) for place in range(LINE)]
        )

    return types.UniTuple(types.float64, LINE)(address, number), generate


@numba.njit(forceinline=True)
def total(numbers: Any) -> Any:
    """Return the sum of numbers."""
    whole = numbers.size // LINE
    a, b, c, d, e, f, g, h = _sum_of_lines(numbers.ctypes.data, whole)
    for place in range(whole * LINE, numbers.size):
        a += numbers[place]
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@numba.njit(forceinline=True)
def header(q: Any) -> Any:
    """Return the state of an episode."""
    return numba.carray(_ints(q), HEADER)


@numba.njit(forceinline=True)
def at(numbers: Any, place: Any) -> Any:
    """Return the address of numbers from a place on."""
    return np.int64(numbers.ctypes.data) + 8 * place


@numba.njit(forceinline=True)
def section(numbers: Any, start: Any, size: Any) -> Any:
    """Return numbers by their address."""
    return numba.carray(_floats(numbers.ctypes.data + 8 * start), size)


@numba.njit(forceinline=True)
def singles(samples: Any) -> Any:
    """Return numbers of single precision by their address."""
    return numba.carray(_singles(samples.ctypes.data), 2 * samples.size)


@numba.njit(forceinline=True)
def sums(f: Any, q: Any) -> Any:
    """Return the sums of rewards."""
    head = numba.carray(_ints(q), HEADER)
    return numba.carray(_floats(f + 8 * (LINE + 3 * head[WIDTH])), head[ARMS])


@numba.njit(forceinline=True)
def numbers_of(f: Any, q: Any) -> Any:
    """Return the address of the numbers of the state."""
    return f + 8 * (LINE + 4 * numba.carray(_ints(q), HEADER)[WIDTH])


@numba.njit(forceinline=True)
def values(p: Any) -> Any:
    """Return the numbers at an address."""
    return numba.carray(_floats(p), 2**20)  # their number is not known here, and does not matter


@numba.njit(forceinline=True)
def episode(f: Any, q: Any, x: Any) -> Any:
    """Name the numbers of an episode."""
    head = numba.carray(_ints(q), HEADER)
    k, width, tree, nodes = head[ARMS], head[WIDTH], head[TREE], head[NODES]
    return Episode(
        k,
        numba.carray(_floats(f + 8 * LINE), k),
        numba.carray(_floats(f + 8 * (LINE + width)), k),
        numba.carray(_floats(f + 8 * (LINE + 2 * width)), k),
        numba.carray(_ints(q + 8 * HEADER), k),
        numba.carray(_floats(x), (k, head[FEATURES])),
        Tournament(numba.carray(_floats(f + 8 * tree), nodes), numba.carray(_floats(f + 8 * (tree + nodes)), nodes)),
        head[MADE],
        head[END],
        head[PULLED],
        numba.carray(_floats(f), 1)[0],
        head[TIE],
    )


class StateType(types.Type):  # type: ignore[misc]
    """The type of a state: names and types of its fields, see :meth:`bai_gym.sampling.state.State.layout`.

    An index receives a state without arrays, since it does not know its episode, only the numbers.
    """

    def __init__(self, layout: tuple[tuple[str, str], ...], has_arrays: bool) -> None:
        self.places = {name: (place, kind) for place, (name, kind) in enumerate(layout) if kind in _NUMBERS}
        arrays = [name for name, kind in layout if kind not in _NUMBERS] if has_arrays else []
        self.arrays = {name: place for place, name in enumerate(arrays)}
        super().__init__(name=f"State({layout}, {has_arrays})")

    def type_of(self, name: str) -> Any:
        """Return the type of a field; None if there is none."""
        if name in self.places:
            return _NUMBERS[self.places[name][1]]
        return _VECTOR if name in self.arrays else None


_NUMBERS = {"float": types.float64, "int": types.int64, "bool": types.boolean}
_VECTOR = types.Array(types.float64, 1, "C")


@register_model(StateType)
class _StateModel(models.StructModel):  # type: ignore[misc]
    """A state is two addresses: of its numbers, and of the row of integers of the episode."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("numbers", types.int64), ("integers", types.int64)])


@infer_getattr
class _StateFields(AttributeTemplate):  # type: ignore[misc]
    key = StateType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.type_of(name)


def _array(numbers: Any, integers: Any, place: Any) -> Any:
    head = numba.carray(_ints(integers), HEADER)
    section = numba.carray(_ints(integers + 8 * (HEADER + head[ARMS] + 2 * place)), 2)
    return numba.carray(_floats(numbers + 8 * section[0]), section[1])


def _address_of(context: Any, builder: Any, kind: Any, state: Any, name: str) -> Any:
    parts = cgutils.create_struct_proxy(kind)(context, builder, value=state)
    address = builder.add(parts.numbers, context.get_constant(types.int64, 8 * kind.places[name][0]))
    return builder.inttoptr(address, ir.DoubleType().as_pointer())


@lower_getattr_generic(StateType)
def _read(context: Any, builder: Any, kind: Any, state: Any, name: str) -> Any:
    if name in kind.arrays:
        parts = cgutils.create_struct_proxy(kind)(context, builder, value=state)
        place = context.get_constant(types.int64, kind.arrays[name])
        signature = _VECTOR(types.int64, types.int64, types.int64)
        return context.compile_internal(builder, _array, signature, (parts.numbers, parts.integers, place))
    number = builder.load(_address_of(context, builder, kind, state, name))
    return context.cast(builder, number, types.float64, kind.type_of(name))


@lower_setattr_generic(StateType)
def _write(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    kind, given = signature.args
    number = context.cast(builder, arguments[1], given, types.float64)
    builder.store(number, _address_of(context, builder, kind, arguments[0], name))


@cache
def state_maker(layout: tuple[tuple[str, str], ...], has_arrays: bool) -> Any:
    """Return a compiled function of the address of numbers, and of a row of integers, that returns a state."""
    kind = StateType(layout, has_arrays)

    @intrinsic
    def make(typing_context: Any, numbers: Any, integers: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            state = cgutils.create_struct_proxy(kind)(context, builder)
            state.numbers, state.integers = arguments
            return state._getvalue()

        return kind(types.int64, types.int64), generate

    @numba.njit(forceinline=True)
    def maker(numbers: Any, integers: Any) -> Any:
        return make(numbers, integers)

    return maker
