"""Checks of parameters that several agents share. The agents have already checked that numbers are numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bai_gym.errors import ParameterError

__all__ = [
    "check_choice",
    "check_not_negative",
    "check_positive",
    "check_share",
    "check_whole",
]


def check_positive(value: float | None, parameter: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless the value is a positive number, or None, where the parameter may be that."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise ParameterError(f"{parameter} of {agent} must be a positive number, not {value}")


def check_not_negative(value: float | None, parameter: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless the value is a number of at least 0, or None, where it may be that."""
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise ParameterError(f"{parameter} of {agent} must be a number of at least 0, not {value}")


def check_share(value: float, parameter: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless the value lies strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise ParameterError(f"{parameter} of {agent} must lie strictly between 0 and 1, not {value}")


def check_choice(value: str, allowed: Sequence[str], parameter: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless the value is one of the allowed words."""
    if value not in allowed:
        raise ParameterError(f"{parameter} of {agent} must be {' or '.join(map(repr, allowed))}, not {value!r}")


def check_whole(value: object, least: int, parameter: str, agent: str) -> None:
    """Raise :class:`ParameterError` unless the value is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{parameter} of {agent} must be a whole number of at least {least}, not {value!r}")
