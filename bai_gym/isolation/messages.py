"""Messages between the runner and an isolated process: a JSON header and plain arrays, of which nothing is executed."""

from __future__ import annotations

import json
import struct
from typing import Any, TypeAlias

import numpy as np

__all__ = ["STATISTICS", "Arrays", "pack", "unpack"]

Arrays: TypeAlias = dict[str, np.ndarray]
_HEAD = struct.Struct(">I")
STATISTICS = ("pulls", "means", "variances")
"""The arrays of the outcome of a block."""


def pack(header: dict[str, Any], arrays: Arrays | None = None) -> bytes:
    """Return a message."""
    named = {name: np.asarray(array, order="C") for name, array in (arrays or {}).items()}
    shapes = [[name, array.dtype.str, array.shape] for name, array in named.items()]
    head = json.dumps({**header, "arrays": shapes}).encode()
    return b"".join([_HEAD.pack(len(head)), head, *(array.tobytes() for array in named.values())])


def unpack(message: bytes) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a message.

    Raises:
        ValueError: If it is none.
    """
    try:
        (length,) = _HEAD.unpack_from(message)
        header: dict[str, Any] = json.loads(message[_HEAD.size : _HEAD.size + length])
        place, arrays, data = _HEAD.size + length, {}, bytearray(message)
        for name, kind, shape in header.pop("arrays"):
            dtype, count = np.dtype(kind), int(np.prod(shape, dtype=int))
            arrays[name] = np.frombuffer(data, dtype, count, place).reshape(shape)
            place += count * dtype.itemsize
        return header, arrays
    except Exception as error:  # of many kinds: the sender may have written anything
        raise ValueError(f"this is no message: {error}") from None
