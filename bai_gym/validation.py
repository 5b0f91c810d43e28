"""Checks of what users give: each function returns the value in its plain type, or raises an error of one line.

The line names the thing, the rule and the value: ``runs must be an integer of at least 1, not 0``. True and False
are no numbers; NumPy's numbers are; NaN and infinity are where ``finite=False``. Where ``rule`` is given, the line says
that instead of what follows from the bounds.
"""

from __future__ import annotations

import ast
import json
import math
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bai_gym.errors import BaiGymError, ParameterError

__all__ = [
    "AnyPath",
    "LARGEST",
    "REWARD",
    "ROWS",
    "array",
    "choice",
    "file_path",
    "flag",
    "integer",
    "literal",
    "probability",
    "real",
    "reward",
]

AnyPath = str | os.PathLike[str]

LARGEST = 1e50
"""Largest magnitude of rewards and means: agents compute fourth powers and products of them, which floats must hold."""

REWARD = f"a finite number of at most {LARGEST:g} in magnitude"

ROWS = "numbers, in rows of equal length, and are not"
NUMBERS = "a number or an array of numbers, not {!r}"


def integer(
    value: object,
    name: str,
    *,
    least: int | None = None,
    most: int | None = None,
    rule: str | None = None,
    error: type[BaiGymError] = ParameterError,
) -> int:
    """Return an integer from ``least`` to ``most``."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if (least is None or number >= least) and (most is None or number <= most):
            return number
    limits = f" in {least}..{most}" if least is not None and most is not None else _limits(None, least, most)
    raise _refusal(name, rule or f"an integer{limits}", value, error)


def real(
    value: object,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    finite: bool = True,
    rule: str | None = None,
    error: type[BaiGymError] = ParameterError,
) -> float:
    """Return a number above ``above`` and from ``least`` to ``most``."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        huge = isinstance(value, int) and abs(value) > sys.float_info.max
        number = math.nan if huge else float(value)
        if not huge and _allowed(number, above, least, most, finite).all():
            return number
    raise _refusal(name, rule or _rule(above, least, most, finite), value, error)


def reward(value: object, name: str) -> float:
    """Return a reward of at most :data:`LARGEST` in magnitude; True and False count as 1 and 0, as in tables."""
    try:
        is_number = not (isinstance(value, str | bytes) or np.ndim(value) or _hides(value))  # type: ignore[arg-type]
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if abs(number) <= LARGEST:
        return number
    raise _refusal(name, REWARD, value)


def probability(value: object, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    number = real(value, name, finite=False)
    if not 0.0 < number < 1.0:
        raise ParameterError(f"{name} must lie strictly between 0 and 1, not {_shown(value)}")
    return number


def choice(value: object, allowed: Collection[str], name: str) -> str:
    """Return one of the allowed words."""
    if isinstance(value, str) and value in allowed:
        return value
    options = [repr(word) for word in allowed]
    raise _refusal(name, " or ".join(options) if len(options) < 3 else f"one of {', '.join(options)}", value)


def flag(value: object, name: str) -> bool:
    """Return True or False; the text ``"False"`` would otherwise count as true."""
    if not isinstance(value, bool | np.bool_):
        raise _refusal(name, "True or False", value)
    return bool(value)


def file_path(value: object, name: str) -> Path:
    """Return the path of a file or folder, which need not exist."""
    try:
        if isinstance(value, str | os.PathLike) and b"\0" not in os.fsencode(value):
            return Path(value)
    except (TypeError, ValueError):  # no text, or none that can be encoded
        pass
    raise ParameterError(f"{name} must be the path of a file or folder, as text, not {value!r:.60}")


def members(values: object) -> tuple[Any, ...] | None:
    """Return the members of a collection; None for a text, and for what has none, such as an array of no dimensions."""
    try:
        return None if isinstance(values, str | bytes) else tuple(values)  # type: ignore[arg-type]
    except TypeError:
        return None


def literal(text: str) -> Any:
    """Return the value that text on a command line stands for: a literal of Python or JSON; else the text itself."""
    for read in (ast.literal_eval, json.loads):
        try:
            return read(text.strip())
        except (SyntaxError, TypeError, ValueError):
            continue
    return text


def array(
    values: object,
    name: str,
    *,
    above: float | None = None,
    least: float | None = None,
    finite: bool = True,
    kind: str = NUMBERS,
    error: type[BaiGymError] = ParameterError,
) -> npt.NDArray[np.float64]:
    """Return new floats of any shape, above ``above`` and at least ``least``.

    ``kind`` says what they must be, with ``{!r}`` for what was given.
    """
    try:
        if _hides(values):
            raise TypeError
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise error(" ".join(f"{name} must be {kind.format(values)}".split())) from None
    except OverflowError:  # an integer of hundreds of digits
        raise error(f"{name} must be finite numbers of at most 1.8e308, and one is larger") from None
    right = _allowed(numbers, above, least, None, finite)
    if not right.all():
        wrong = float(numbers[~right][0])
        raise _refusal(name, _rule(above, least, None, finite, several=numbers.ndim > 0), wrong, error)
    return numbers


def _hides(value: Any) -> bool:
    """Whether NumPy would make numbers of this by leaving out its imaginary parts, or that some are masked."""
    return bool(np.iscomplexobj(value) or np.ma.is_masked(value))


def _allowed(
    numbers: float | npt.NDArray[np.float64], above: float | None, least: float | None, most: float | None, finite: bool
) -> npt.NDArray[np.bool_]:
    right = np.isfinite(numbers) if finite else np.ones(np.shape(numbers), np.bool_)
    if above is not None:
        right = right & (numbers > above)
    if least is not None:
        right = right & (numbers >= least)
    return np.asarray(right if most is None else right & (numbers <= most))


def _rule(above: float | None, least: float | None, most: float | None, finite: bool, *, several: bool = False) -> str:
    limits = _limits(above, least, most)
    kind = ("finite " if finite and (several or not limits) else "") + ("numbers" if several else "number")
    if limits == " above 0":
        kind, limits = f"positive {kind.removeprefix('finite ')}", ""
    return f"{'' if several else 'a '}{kind}{limits}"


def _limits(above: float | None, least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    limits = {"above": above, "of at least": least, "of at most": most}
    return "".join(f" {word} {bound:g}" for word, bound in limits.items() if bound is not None)


def _refusal(name: str, rule: str, value: object, error: type[BaiGymError] = ParameterError) -> BaiGymError:
    return error(f"{name} must be {rule}, not {_shown(value)}")


def _shown(value: object) -> str:
    """Write NumPy's numbers as Python's own are written, and all in one line."""
    return " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
