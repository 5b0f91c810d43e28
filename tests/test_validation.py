"""Checks of single values: what comes back, and what the one line says."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import AgentError, BaiGymError, BudgetError, InstanceError, ParameterError
from bai_gym.validation import REWARD, ROWS, array, choice, flag, integer, probability, real, reward

HUGE = 10**400
MASKED = np.ma.array([1.0, 2.0], mask=[1, 0])


def test_errors_are_one_line() -> None:
    assert str(ParameterError("one\n  and the same")) == "one and the same"


@pytest.mark.each(
    ("returned", "value"),
    [
        (integer(3, "x"), 3),
        (integer(HUGE, "x", least=1), HUGE),
        (integer(np.int64(1), "x", least=1, most=1), 1),
        (real(2, "x"), 2.0),
        (real(np.float32(0.5), "x", least=0.5, most=0.5), 0.5),
        (real(math.inf, "x", above=0, finite=False), math.inf),
        (probability(np.nextafter(1.0, 0.0), "x"), math.nextafter(1.0, 0.0)),
        (choice("a", ("a", "b"), "x"), "a"),
        (flag(True, "x"), True),
    ],
)
def test_values_come_back_in_their_plain_type(returned: object, value: object) -> None:
    assert returned == value
    assert type(returned) is type(value)


def test_arrays_are_new_floats() -> None:
    given = np.array([[1.0, 2.0]])
    made = array(given, "x", above=0)
    assert made is not given and not np.shares_memory(made, given)
    np.testing.assert_array_equal(made, given)
    assert array(3, "x").shape == () and array([], "x", above=0).shape == (0,)
    assert array([True, 2], "x").dtype == np.float64


@pytest.mark.each(
    ("call", "says"),
    [
        *((lambda v=v: integer(v, "x"), f"an integer, not {v!r}") for v in (1.0, True, "1", None, math.nan)),
        (lambda: integer(0, "x", least=1), "an integer of at least 1, not 0"),
        (lambda: integer(4, "x", least=1, most=3), "an integer in 1..3, not 4"),
        (lambda: integer(0, "x", least=1, rule="1, or 2"), "1, or 2, not 0"),
        *((lambda v=v: real(v, "x"), f"a finite number, not {v!r}") for v in (True, "1", None, 1j, math.nan, math.inf)),
        *((lambda v=v: real(v, "x", above=0), f"a positive number, not {v!r}") for v in (0, -1.0, math.nan, math.inf)),
        (lambda: real(1, "x", above=1), "a number above 1, not 1"),
        (lambda: real(11, "x", least=0.5, most=10), "a number from 0.5 to 10, not 11"),
        (lambda: real(4, "x", above=0, most=3, rule="in (0, 3]"), "in (0, 3], not 4"),
        (lambda: real(HUGE, "x", above=0), f"a positive number, not {HUGE}"),
        (lambda: choice("c", ("a", "b"), "x"), "'a' or 'b', not 'c'"),
        *((lambda v=v: flag(v, "x"), f"True or False, not {v!r}") for v in (0, 1.0, "False", None)),
        (lambda: array("many", "x"), "a number or an array of numbers, not 'many'"),
        (lambda: array([[1.0], [1.0, 2.0]], "x", kind=ROWS), ROWS),
        (lambda: array([1.0, 1j], "x"), "a number or an array of numbers, not [1.0, 1j]"),
        (lambda: array(MASKED, "x", kind=ROWS), ROWS),
        *((lambda v=v: reward(v, "x"), f"{REWARD}, not {v.item()!r}") for v in (np.complex128(1j), np.complex64(1))),
        (lambda: reward(MASKED[0], "x"), f"{REWARD}, not masked"),
        (lambda: array([HUGE], "x"), "finite numbers of at most 1.8e308, and one is larger"),
        (lambda: array([1.0, -math.inf], "x"), "finite numbers, not -inf"),
        (lambda: array([1.0, 0.0], "x", above=0), "positive numbers, not 0.0"),
        (lambda: array([0.0, -1.0], "x", least=0), "finite numbers of at least 0, not -1.0"),
    ],
)
def test_other_values_are_refused(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(ParameterError, match=f"^{re.escape(f'x must be {says}')}$"):
        call()


@pytest.mark.parametrize("value", [0, 1.0, -0.5, np.float64(2), math.nan, math.inf])
def test_probabilities_lie_between(value: float) -> None:
    with pytest.raises(ParameterError, match=f"^x must lie strictly between 0 and 1, not {value}$"):
        probability(value, "x")


@pytest.mark.parametrize("error", [AgentError, BudgetError, InstanceError])
def test_the_caller_says_which_error(error: type[BaiGymError]) -> None:
    for call in (
        lambda: integer("", "x", error=error),
        lambda: real("", "x", error=error),
        lambda: array("", "x", error=error),
        lambda: array(-1, "x", above=0, error=error),
    ):
        with pytest.raises(error):
            call()
