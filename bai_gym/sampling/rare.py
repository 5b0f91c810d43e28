"""Marks functions that compiled code calls instead of inlining."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["is_rare", "rare"]

F = TypeVar("F")


def rare(function: F) -> F:
    """Mark a rare or slow function: a call is cheap in comparison, while an inlined copy must be compiled.

    All other functions are inlined into their callers, whose loops then fit into registers.
    """
    function.is_rare = True  # type: ignore[attr-defined]
    return function


def is_rare(function: object) -> bool:
    """Return whether a function is marked."""
    return getattr(function, "is_rare", False)
