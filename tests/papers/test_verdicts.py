"""Verdicts: decided where the data decide, and wrong no more often than the level allows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from bai_gym.analysis.paired import paired_test
from bai_gym.errors import ParameterError
from bai_gym.papers.verdicts import Verdict, above, all_of, below, bonferroni, lower_error, lower_mean, lower_share

CONFIRMED, REFUTED, UNDECIDED = Verdict.CONFIRMED, Verdict.REFUTED, Verdict.UNDECIDED


@pytest.mark.each(
    ("only_a", "only_b", "expected"),
    [(10, 60, CONFIRMED), (60, 10, REFUTED), (33, 35, UNDECIDED), (0, 0, UNDECIDED)],
)
def test_lower_error(only_a: int, only_b: int, expected: Verdict) -> None:
    assert lower_error(paired_test(only_a, only_b, 1000)) is expected


def test_lower_error_asks_the_exact_test_too() -> None:
    # Five discordant runs, all against B: the interval lies below 0, but a fair coin does this with 2/32 > 0.05.
    few = paired_test(0, 5, 1000)
    assert few.interval[1] < 0
    assert lower_error(few) is UNDECIDED
    assert lower_error(paired_test(0, 6, 1000)) is CONFIRMED


@pytest.mark.each("discordant", [5, 9, 20, 57])
@pytest.mark.each("level", [0.9, 0.95, 0.995])
def test_equal_agents_are_told_apart_no_more_often_than_allowed(discordant: int, level: float) -> None:
    # Exact: with equal errors the discordant runs fall to A as Binomial(discordant, 1/2).
    wrong = sum(
        binom.pmf(b, discordant, 0.5)
        for b in range(discordant + 1)
        if lower_error(paired_test(b, discordant - b, 500, level)) is not UNDECIDED
    )
    assert wrong <= 1 - level + 1e-12


def test_below_and_above() -> None:
    # 10 errors of 200: the exact 95 % interval is about (0.024, 0.090).
    assert [below(10, 200, threshold) for threshold in (0.1, 0.05, 0.02)] == [CONFIRMED, UNDECIDED, REFUTED]
    assert [above(10, 200, threshold) for threshold in (0.1, 0.05, 0.02)] == [REFUTED, UNDECIDED, CONFIRMED]
    assert below(10, 200, 0.1, 0.999) is UNDECIDED


@pytest.mark.each("p", [0.01, 0.1, 0.5])
def test_thresholds_at_the_truth_are_decided_no_more_often_than_allowed(p: float) -> None:
    runs, level = 80, 0.95
    confirmed = sum(binom.pmf(x, runs, p) for x in range(runs + 1) if below(x, runs, p, level) is CONFIRMED)
    refuted = sum(binom.pmf(x, runs, p) for x in range(runs + 1) if below(x, runs, p, level) is REFUTED)
    assert 0 < confirmed + refuted
    assert confirmed <= (1 - level) / 2 and refuted <= (1 - level) / 2


@given(st.lists(st.sampled_from(list(Verdict)), min_size=1))
def test_all_of_follows_the_three_rules(parts: list[Verdict]) -> None:
    whole = all_of(iter(parts))
    assert (whole is REFUTED) == any(part is REFUTED for part in parts)
    assert (whole is CONFIRMED) == all(part is CONFIRMED for part in parts)


def test_bonferroni_by_hand() -> None:
    assert bonferroni(0.95, 1) == pytest.approx(0.95)
    assert bonferroni(0.95, 10) == pytest.approx(0.995)


@pytest.mark.each("threshold", [-0.1, 1.1, float("nan")])
def test_thresholds_outside_the_unit_interval_are_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        below(1, 10, threshold)


def test_empty_conjunctions_are_refused() -> None:
    with pytest.raises(ParameterError, match="needs parts"):
        all_of([])


def test_no_parts_are_refused() -> None:
    with pytest.raises(ParameterError, match="parts is 0"):
        bonferroni(0.95, 0)


def test_shares_of_two_samples_by_fishers_test() -> None:
    # 1 of 10 against 9 of 10: P(X <= 1) = (10 x 10 + 1) / C(20, 10), 101 / 184,756 = 0.00055.
    assert lower_share((1, 10), (9, 10)) is Verdict.CONFIRMED
    assert lower_share((9, 10), (1, 10)) is Verdict.REFUTED
    assert lower_share((1, 10), (9, 10), bonferroni(0.95, 45)) is Verdict.CONFIRMED  # 0.025 / 45 = 0.000556
    assert lower_share((1, 10), (9, 10), bonferroni(0.95, 46)) is Verdict.UNDECIDED
    assert lower_share((5, 10), (5, 10)) is Verdict.UNDECIDED
    for wrong in ((-1, 10), (11, 10), (0, 0)):
        with pytest.raises(ParameterError, match="give at least 1 run, and errors in 0..runs"):
            lower_share(wrong, (1, 10))


# Of 0, -1, -2 the mean is -1 and its standard error 1 / sqrt(3). Student's 97.5 % quantile with two degrees of freedom
# is 4.303, that of 87.5 % is 1.604: at level 0.95 the interval is -1 +- 2.48, at level 0.75 it is -1 +- 0.926.
THREE = np.array([0.0, -1.0, -2.0])


@pytest.mark.each(
    ("differences", "level", "expected"),
    [
        (THREE, 0.95, UNDECIDED),
        # t = -1.732 with two degrees of freedom has the p-value 0.2254.
        (THREE, 0.77, CONFIRMED),
        (THREE, 0.78, UNDECIDED),
        (THREE, 0.75, CONFIRMED),
        (-THREE, 0.75, REFUTED),
        (THREE, bonferroni(0.75, 5), UNDECIDED),  # 0.95
        (np.zeros(5), 0.95, UNDECIDED),
        (np.array([-3.0]), 0.95, UNDECIDED),
    ],
)
def test_lower_mean(differences: np.ndarray, level: float, expected: Verdict) -> None:
    assert lower_mean(differences, level) is expected


@pytest.mark.each("differences", [np.zeros(0), np.zeros((2, 2)), np.array([0.0, np.nan])])
def test_lower_mean_refuses_what_are_no_differences(differences: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="differences must be finite numbers"):
        lower_mean(differences)
