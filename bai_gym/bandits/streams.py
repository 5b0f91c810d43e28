"""Counter-based random numbers: each is a function of a key, the number of an item, and a part of that item.

Nothing is stored, so two arms that come to the same item at different times find the same numbers there. The functions
take ``(...,)`` arrays of unsigned 64-bit integers and, in compiled code, single ones. The mixing function is the
finaliser of SplitMix64 (Steele, Lea and Flood, 2014, "Fast Splittable Pseudorandom Number Generators"), with the
constants that David Stafford found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["LARGEST_KEY", "address", "normal", "part_of", "uniform"]

LARGEST_KEY = 2**53  # so that a key is exact as a float

_STEP = np.uint64(0x9E3779B97F4A7C15)
_TURN = np.uint64(0xD1342543DE82EF95)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11, _1 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(1)


def mixed(h: Any) -> Any:
    """Return well mixed bits of an integer."""
    h = (h ^ (h >> _30)) * _FIRST
    h = (h ^ (h >> _27)) * _SECOND
    return h ^ (h >> _31)


def address(key: Any, item: Any) -> Any:
    """Return the address of an item of a stream."""
    return mixed(mixed(key) + item * _STEP)


def part_of(h: Any, part: Any) -> Any:
    """Return the random bits of a part of the item at an address."""
    return mixed(h + (part + _1) * _TURN)


def uniform(h: Any) -> Any:
    """Return numbers uniform on [0, 1), multiples of 2^-53, from random bits."""
    return (h >> _11) * 2.0**-53


def normal(h: Any) -> Any:
    """Return standard normal numbers from random bits, by the method of Box and Muller."""
    return np.sqrt(-2.0 * np.log(1.0 - uniform(h))) * np.cos(2.0 * np.pi * uniform(mixed(h + _STEP)))
