"""Kinds of parameters: agents name them as the types of their fields, and are checked at every reset.

The names of types are read, not the types: ``float``, ``bool``, ``Literal["drop", "last"]``, and those defined here,
also with ``| None``, ``| str`` or ``| Literal["ids"]``, where None, any text or a word is allowed too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, Literal

from bai_gym.errors import ParameterError
from bai_gym.validation import choice, flag, integer, probability, real

__all__ = ["Count", "Finite", "NotNegative", "Oracle", "Positive", "Probability", "Several", "check_parameters"]

Probability = float  # strictly between 0 and 1
Positive = float
NotNegative = float
Count = int  # at least 1
Several = int  # at least 2
Oracle = Literal["oracle"]  # a value that the environment grants
Finite = float

CHECKS: Mapping[str, Callable[[Any, str], Any]] = {
    "bool": flag,  # else text such as "false" would count as true
    "float": partial(real, finite=False),
    "Probability": probability,
    "Positive": partial(real, above=0),
    "NotNegative": partial(real, least=0),
    "Count": partial(integer, least=1),
    "Several": partial(integer, least=2),
    "Finite": real,
}
WORDS = re.compile(r"Literal\[('[^']*'(?:, '[^']*')*)\]")


def check_parameters(agent: Any) -> None:
    """Raise :class:`ParameterError` unless each field of an agent, a dataclass, is of its kind."""
    for field in fields(agent):
        value, kinds = getattr(agent, field.name), str(field.type).replace("Oracle", str(Oracle)).split(" | ")
        name = f"{field.name} of {agent.name}"
        words = [word for kind in kinds for text in WORDS.findall(kind) for word in text[1:-1].split("', '")]
        if (value is None and "None" in kinds) or (isinstance(value, str) and ("str" in kinds or value in words)):
            continue
        if kinds[0] in CHECKS:
            try:
                CHECKS[kinds[0]](value, name)
            except ParameterError as error:
                others = f"; also allowed: {', '.join(map(repr, words))}" if words else ""
                raise ParameterError(f"{error}{others}") from None
        elif words:
            choice(value, words, name)
