"""The compiled form of :mod:`bai_gym.sampling.episode`: rows by their addresses.

Imported by the compiler alone, since it takes Numba. Numba counts the references to arrays and generators, by atomic
operations at every call. Those that are made here are not counted, which saves three quarters of the time of a pull.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bai_gym.sampling.episode import (
    ARMS,
    END,
    FEATURES,
    FIRST,
    HEADER,
    MADE,
    MEMORY,
    PARAMETERS,
    PULLED,
    SECOND,
    TREES,
    Episode,
)
from bai_gym.sampling.tournament import Tournament

__all__ = ["at", "borrowed", "episode", "header", "locate", "section", "settings", "singles", "sums", "values"]


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
    k = numba.carray(_ints(q), HEADER)[ARMS]
    return numba.carray(_floats(f + 8 * (1 + 3 * k)), k)


@numba.njit(forceinline=True)
def settings(f: Any, q: Any) -> Any:
    """Return the address of the parameters."""
    k = numba.carray(_ints(q), HEADER)[ARMS]
    return f + 8 * (1 + 4 * k)


@numba.njit(forceinline=True)
def values(p: Any) -> Any:
    """Return the numbers at an address."""
    return numba.carray(_floats(p), 2**20)  # their number is not known here, and does not matter


@numba.njit(forceinline=True)
def episode(f: Any, q: Any, x: Any) -> Any:
    """Name the numbers of an episode."""
    head = numba.carray(_ints(q), HEADER)
    k, trees, first, second = head[ARMS], head[TREES], head[FIRST], head[SECOND]
    memory = trees - head[MEMORY]
    other = trees + 2 * first
    return Episode(
        numba.carray(_floats(f + 8), k),
        numba.carray(_floats(f + 8 * (1 + k)), k),
        numba.carray(_floats(f + 8 * (1 + 2 * k)), k),
        numba.carray(_floats(f + 8 * (1 + 4 * k)), head[PARAMETERS]),
        numba.carray(_floats(f + 8 * memory), head[MEMORY]),
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
