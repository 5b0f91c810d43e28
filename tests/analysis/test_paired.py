"""Paired comparison: published and hand-worked values, and the cases without information."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bai_gym.analysis.intervals import tango, z_score
from bai_gym.analysis.paired import compare_paired, mcnemar_exact, paired_test
from bai_gym.errors import ParameterError

discordant_counts = st.integers(1, 300).flatmap(
    lambda runs: st.integers(0, runs).flatmap(lambda b: st.tuples(st.just(b), st.integers(0, runs - b), st.just(runs)))
)


def outcomes(both: int, only_a: int, only_b: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    """Two boolean error arrays with these counts."""
    a = np.repeat([True, True, False, False], [both, only_a, only_b, neither])
    b = np.repeat([True, False, True, False], [both, only_a, only_b, neither])
    return a, b


def test_published_example() -> None:
    # Fagerland, Lydersen and Laake (2014), airway data, Table V: Tango's 95 % interval (-0.517, -0.026).
    # The exact McNemar test by hand: 2 (1 + 8) / 2^8.
    test = compare_paired(*outcomes(1, 1, 7, 12))
    assert test.interval == pytest.approx((-0.517, -0.026), abs=5.1e-4)
    assert test.difference == pytest.approx(-6 / 21)
    assert test.p_value == pytest.approx(2 * 9 / 256)
    assert (test.only_a_errs, test.only_b_errs, test.runs, test.level) == (1, 7, 21, 0.95)


def test_no_discordant_run_by_hand() -> None:
    # The estimate q is 0, and n D = z sqrt(n D (1 - D)) solves to D = z^2 / (n + z^2).
    test = compare_paired(*outcomes(3, 0, 0, 47))
    z = z_score(0.95)
    bound = z**2 / (50 + z**2)
    assert test.interval == pytest.approx((-bound, bound), rel=1e-9)
    assert (test.difference, test.p_value) == (0.0, 1.0)


def test_one_agent_always_wrong_and_the_other_never() -> None:
    # With b = n the constrained estimate is q = (1 - D) / 2, and n (1 - D) = z sqrt(n (1 - D^2)) gives the bound.
    test = compare_paired(*outcomes(0, 30, 0, 0))
    z = z_score(0.95)
    assert test.difference == 1.0
    assert test.interval == pytest.approx(((30 - z**2) / (30 + z**2), 1.0), rel=1e-9)
    assert test.p_value == pytest.approx(2 / 2**30)


@pytest.mark.each(("counts", "level"), [((3, 9, 40), 0.9), ((0, 6, 25), 0.99), ((120, 80, 1000), 0.9)])
def test_bounds_solve_the_score_equation(counts: tuple[int, int, int], level: float) -> None:
    # Independent of the closed form: the constrained likelihood is maximised numerically.
    b, c, n = counts

    def score(difference: float) -> float:
        low, high = max(0.0, -difference), (1 - difference) / 2

        def minus_log_likelihood(q: float) -> float:
            cells = (q + difference, q, 1 - 2 * q - difference)
            counted = zip((b, c, n - b - c), cells, strict=True)
            return -sum(k * math.log(max(p, 1e-300)) for k, p in counted if k)

        q = float(minimize_scalar(minus_log_likelihood, bounds=(low, high), options={"xatol": 1e-12}).x)
        return (b - c - n * difference) / math.sqrt(n * (2 * q + difference * (1 - difference)))

    lower, upper = tango(b, c, n, level)
    assert score(lower) == pytest.approx(z_score(level), abs=1e-4)
    assert score(upper) == pytest.approx(-z_score(level), abs=1e-4)


@given(counts=discordant_counts, level=st.floats(0.5, 0.999))
def test_interval_is_sound(counts: tuple[int, int, int], level: float) -> None:
    b, c, n = counts
    lower, upper = tango(b, c, n, level)
    assert -1.0 <= lower <= (b - c) / n <= upper <= 1.0
    assert lower < upper
    assert tango(c, b, n, level) == (-upper, -lower)


@pytest.mark.each(("b", "c", "expected"), [(0, 0, 1.0), (0, 5, 0.0625), (5, 5, 1.0), (2, 8, 112 / 1024)])
def test_mcnemar_by_hand(b: int, c: int, expected: float) -> None:
    assert mcnemar_exact(b, c) == pytest.approx(expected)


def test_at_level_keeps_the_counts() -> None:
    test = paired_test(10, 30, 500)
    wide = test.at_level(0.999)
    assert wide == paired_test(10, 30, 500, 0.999)
    assert wide.interval[0] < test.interval[0] and wide.p_value == test.p_value


@pytest.mark.each(
    ("call", "message"),
    [
        (lambda: compare_paired([True], [True, False]), "cannot be paired"),
        (lambda: compare_paired(np.zeros(0, bool), np.zeros(0, bool)), "at least one run"),
        (lambda: compare_paired([0, 1], [True, False]), "True"),
        (lambda: compare_paired([[True]], [[False]]), "True"),
        (lambda: paired_test(-1, 0, 5), "impossible"),
        (lambda: paired_test(3, 3, 5), "impossible"),
        (lambda: paired_test(0, 0, 0), "impossible"),
        (lambda: paired_test(1, 2, 5, 95), "level"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
