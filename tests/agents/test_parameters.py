"""Checks of parameters: what is in range, and what the message says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.parameters import check_choice, check_not_negative, check_positive, check_share, check_whole
from bai_gym.errors import ParameterError

POSITIVE = "c of X must be a positive number, not "
SCALE = "scale of X must be a number of at least 0, not "
WHOLE = "steps of X must be a whole number of at least 1, not "
SHARE = "delta of X must lie strictly between 0 and 1, not "
CHOICE = "mode of X must be 'cycle' or 'random', not "


def positive(value: Any) -> None:
    check_positive(value, "c", "X")


def scale(value: Any) -> None:
    check_not_negative(value, "scale", "X")


def steps(value: Any) -> None:
    check_whole(value, 1, "steps", "X")


def share(value: Any) -> None:
    check_share(value, "delta", "X")


def choice(value: Any) -> None:
    check_choice(value, ("cycle", "random"), "mode", "X")


@pytest.mark.each(
    ("check", "value"),
    [
        *((positive, value) for value in (None, 1e-300, 1, np.float64(2.5), np.float32(0.5), np.int64(3))),
        *((scale, value) for value in (None, 0, 0.0, 1e-300, np.float64(0.0), 7)),
        *((steps, value) for value in (1, 10**6, np.int64(2))),
        *((share, value) for value in (1e-300, 0.5, np.nextafter(1.0, 0.0))),
        *((choice, value) for value in ("cycle", "random")),
    ],
)
def test_values_in_range_pass(check: Callable[[Any], None], value: Any) -> None:
    check(value)


@pytest.mark.each(
    ("check", "value", "message"),
    [
        *((positive, value, f"{POSITIVE}{value}") for value in (0, 0.0, -1.0, math.nan, math.inf, -math.inf)),
        *((scale, value, f"{SCALE}{value}") for value in (-1e-300, -1, math.nan, math.inf)),
        *((steps, value, f"{WHOLE}{value!r}") for value in (0, -1, 1.0, True, "1", None, math.nan)),
        *((share, value, f"{SHARE}{value}") for value in (0, 0.0, 1, 1.0, -0.5, math.nan, math.inf)),
        *((choice, value, f"{CHOICE}{value!r}") for value in ("Cycle", "", None, 5)),
    ],
)
def test_other_values_are_refused(check: Callable[[Any], None], value: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check(value)
    assert str(caught.value) == message
