"""Tie rules."""

from __future__ import annotations

from typing import Literal, cast, get_args

from bai_gym.validation import choice

__all__ = ["TieRule", "check_tie_rule"]

TieRule = Literal["random", "first"]
"""``"random"``: uniformly among exact ties. ``"first"``: fewest pulls, then the lowest arm number."""


def check_tie_rule(tie: str) -> TieRule:
    """Return ``tie`` if it is a tie rule.

    Raises:
        ParameterError: If it is not.
    """
    return cast(TieRule, choice(tie, get_args(TieRule), "tie"))
