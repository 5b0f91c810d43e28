"""Tie rules."""

from __future__ import annotations

from typing import Literal, get_args

from bai_gym.errors import ParameterError

__all__ = ["TieRule", "check_tie_rule"]

TieRule = Literal["random", "first"]
"""``"random"``: uniformly among exact ties. ``"first"``: fewest pulls, then the lowest arm number."""


def check_tie_rule(tie: str) -> TieRule:
    """Return ``tie`` if it is a tie rule.

    Raises:
        ParameterError: If it is not.
    """
    if tie not in get_args(TieRule):
        raise ParameterError(f"tie must be 'random' or 'first', not {tie!r}")
    return tie  # type: ignore[return-value]
