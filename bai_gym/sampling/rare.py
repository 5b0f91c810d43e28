"""Marks functions that compiled code calls, instead of holding a copy of them wherever they are used."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["is_rare", "rare"]

F = TypeVar("F")


def rare(function: F) -> F:
    """Mark a function that is called rarely or takes long: a call costs nothing there, and a copy has to be compiled.

    All other functions are copied into their callers, whose loops then fit into registers.
    """
    function.is_rare = True  # type: ignore[attr-defined]
    return function


def is_rare(function: object) -> bool:
    """Return whether a function is marked."""
    return getattr(function, "is_rare", False)
