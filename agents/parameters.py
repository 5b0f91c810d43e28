"""Kinds of parameters: agents name them as the types of their fields, and are checked at every reset.

The names of types are read, not the types: ``float``, ``bool``, ``Literal["drop", "last"]``, and those defined here,
also with ``| None`` or ``| str``, where None or any text is allowed too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from bai_gym.validation import choice, flag, integer, probability, real

__all__ = ["Count", "Finite", "NotNegative", "Positive", "Probability", "check_parameters"]

Probability = float  # strictly between 0 and 1
Positive = float
NotNegative = float
Count = int  # at least 1
Finite = float

CHECKS: Mapping[str, Callable[[Any, str], Any]] = {
    "bool": flag,  # else text such as "false" would count as true
    "float": partial(real, finite=False),
    "Probability": probability,
    "Positive": partial(real, above=0),
    "NotNegative": partial(real, least=0),
    "Count": partial(integer, least=1),
    "Finite": real,
}
WORDS = re.compile(r"Literal\[('[^']*'(, )?)+\]")


def check_parameters(agent: Any) -> None:
    """Raise :class:`ParameterError` unless each field of an agent, a dataclass, is of its kind."""
    for field in fields(agent):
        value, kinds = getattr(agent, field.name), str(field.type).split(" | ")
        if (value is None and "None" in kinds) or (isinstance(value, str) and "str" in kinds):
            continue
        name = f"{field.name} of {agent.name}"
        if WORDS.fullmatch(kinds[0]):
            choice(value, re.findall(r"'([^']*)'", kinds[0]), name)
        elif kinds[0] in CHECKS:
            CHECKS[kinds[0]](value, name)
