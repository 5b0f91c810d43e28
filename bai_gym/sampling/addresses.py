"""The compiled form of :mod:`bai_gym.sampling.episode`: rows by their addresses.

Imported by the compiler alone, since it takes Numba. Numba counts the references to arrays and generators, by atomic
operations at every call. Those that are made here are not counted, which saves three quarters of the time of a pull.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bai_gym.sampling.episode import (
    ARMS,
    END,
    FEATURES,
    FIRST,
    HEADER,
    LINE,
    MADE,
    MEMORY,
    PARAMETERS,
    PULLED,
    ROOM,
    SECOND,
    TREES,
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
    "section",
    "settings",
    "singles",
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
def settings(f: Any, q: Any) -> Any:
    """Return the address of the parameters."""
    return f + 8 * (LINE + 4 * numba.carray(_ints(q), HEADER)[WIDTH])


@numba.njit(forceinline=True)
def values(p: Any) -> Any:
    """Return the numbers at an address."""
    return numba.carray(_floats(p), 2**20)  # their number is not known here, and does not matter


@numba.njit(forceinline=True)
def episode(f: Any, q: Any, x: Any) -> Any:
    """Name the numbers of an episode."""
    head = numba.carray(_ints(q), HEADER)
    k, width, trees, first, second = head[ARMS], head[WIDTH], head[TREES], head[FIRST], head[SECOND]
    other = trees + 2 * first
    return Episode(
        numba.carray(_floats(f + 8 * LINE), k),
        numba.carray(_floats(f + 8 * (LINE + width)), k),
        numba.carray(_floats(f + 8 * (LINE + 2 * width)), k),
        numba.carray(_floats(f + 8 * (LINE + 4 * width)), head[PARAMETERS]),
        numba.carray(_floats(f + 8 * head[ROOM]), head[MEMORY]),
        numba.carray(_ints(q + 8 * HEADER), k),
        numba.carray(_floats(x), (k, head[FEATURES])),
        Tournament(numba.carray(_floats(f + 8 * trees), first), numba.carray(_floats(f + 8 * (trees + first)), first)),
        Tournament(
            numba.carray(_floats(f + 8 * other), second), numba.carray(_floats(f + 8 * (other + second)), second)
        ),
        head[MADE],
        head[END],
        head[PULLED],
        numba.carray(_floats(f), 1)[0],
    )
