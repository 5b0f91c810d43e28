"""Marks functions that compiled code calls instead of inlining."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["is_noinline", "noinline"]

F = TypeVar("F")


def noinline(function: F) -> F:
    """Mark a slow or seldom called function: a call is cheap in comparison, while an inlined copy must be compiled.

    All other functions are inlined into their callers, whose loops then fit into registers.
    """
    function.is_noinline = True  # type: ignore[attr-defined]
    return function


def is_noinline(function: object) -> bool:
    """Return whether a function is marked."""
    return getattr(function, "is_noinline", False)
