"""Tests of all pairs: by hand, by enumeration, and the joint level by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bai_gym.analysis.paired import mcnemar_exact
from bai_gym.analysis.ranks import holm, random_signs, rank_intervals, unpaired
from bai_gym.errors import ParameterError


def test_holm_by_hand() -> None:
    # Three comparisons are six one-sided hypotheses: 0.01 * 6/2, 0.03 * 5/2, 0.04 * 4/2.
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.08, 0.075])
    # 0.021 * 5/2 would be less than 0.02 * 6/2, and an adjusted p-value never falls in the order of the p-values.
    assert holm([0.021, 0.02, 0.9]).tolist() == pytest.approx([0.06, 0.06, 1.0])
    assert holm([]).size == 0


@pytest.mark.each(
    ("differences", "expected"),
    [
        # The sums of +-2 +-1 +-1 are 4, 2, 2, 0, 0, -2, -2, -4, each with probability 1/8.
        ([2, 1, 1], 2 / 8),
        ([2, -1, 1], 6 / 8),
        ([2, -1, -1], 1.0),
        ([0, 0], 1.0),
        ([], 1.0),
        ([0, -3], 1.0),
    ],
)
def test_random_signs_by_hand(differences: list[int], expected: float) -> None:
    assert random_signs(np.array(differences, dtype=int)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.each(("b", "c"), [(0, 5), (3, 9), (400, 500), (4000, 4200)])
def test_for_differences_of_one_it_is_the_mcnemar_test(b: int, c: int) -> None:
    differences = np.repeat([1, -1, 0], [b, c, 100])
    assert random_signs(differences) == pytest.approx(mcnemar_exact(b, c), abs=1e-10)


def test_many_runs_by_convolution() -> None:
    rng = np.random.default_rng(3)
    differences = rng.integers(-3, 4, 400)
    law = np.ones(1)
    for size in np.abs(differences):
        step = np.zeros(2 * size + 1)
        step[0] += 0.5
        step[-1] += 0.5
        law = np.convolve(law, step)
    centre = law.size // 2
    expected = min(1.0, 2 * law[: centre - abs(differences.sum()) + 1].sum())
    assert random_signs(differences) == pytest.approx(expected, abs=1e-11)


def test_unpaired_by_hand() -> None:
    # Of the C(10, 5) = 252 ways in which 5 errors fall on 10 runs, one leaves the first five free of them.
    assert unpaired(0, 5, 5, 5) == pytest.approx(2 / 252)
    assert unpaired(5, 5, 0, 5) == pytest.approx(2 / 252)
    assert unpaired(3, 10, 3, 10) == 1.0
    # 1 of 2 against 0 of 4: one error falls on the first two runs with probability 1/3.
    assert unpaired(1, 2, 0, 4) == pytest.approx(2 / 3)
    # 2 of 2 against 3 of 10, fewer errors but a larger share: both runs are among the 5 of 12 with C(5, 2) / C(12, 2).
    assert unpaired(2, 2, 3, 10) == pytest.approx(20 / 66)


def test_rank_intervals_by_hand() -> None:
    # a beats b and c; d is like all.
    better = np.zeros((4, 4), dtype=bool)
    better[0, 1] = better[0, 2] = True
    assert rank_intervals(better) == [(1, 2), (2, 4), (2, 4), (1, 4)]


def test_what_is_no_p_value_or_no_integer_is_refused() -> None:
    for values in ([[0.1]], [1.1], [-0.1], [math.nan]):
        with pytest.raises(ParameterError, match=r"\[0, 1\]"):
            holm(values)
    for differences in ([0.5], [[1]], [True]):
        with pytest.raises(ParameterError, match="integers"):
            random_signs(differences)  # type: ignore[arg-type]
