"""Tie rules."""

from __future__ import annotations

from typing import Literal

__all__ = ["TieRule"]

TieRule = Literal["random", "first"]
"""``"random"``: uniformly among exact ties. ``"first"``: fewest pulls, then the lowest arm number."""
