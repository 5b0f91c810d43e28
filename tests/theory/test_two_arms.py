"""Errors and exponents of two Bernoulli arms with fixed shares, by hand, by simulation, and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import two_arm_error, two_arm_exponent

PAIRS = [(0.5, 0.45), (0.1, 0.08), (0.02, 0.015), (0.95, 0.93)]


def test_errors_by_hand() -> None:
    # One pull each: wrong if the better arm pays 0 and the other 1, or half of the time if both pay the same.
    assert two_arm_error((0.7, 0.4), (1, 1)) == pytest.approx(0.3 * 0.4 + (0.7 * 0.4 + 0.3 * 0.6) / 2)
    # Two pulls of the first arm, one of the second: means 0, 1/2, 1 against 0, 1; ties go to the first.
    wrong = 0.4 * (0.3**2 + 2 * 0.7 * 0.3)
    assert two_arm_error((0.7, 0.4), (2, 1)) == pytest.approx(wrong)
    assert two_arm_error((0.4, 0.7), (1, 2)) == pytest.approx(wrong)
    assert two_arm_error((0.4, 0.7), (2, 1)) == pytest.approx(1.0 - 0.7 * (0.6**2 + 2 * 0.4 * 0.6))


def test_errors_decay_by_their_exponent() -> None:
    for means in [(0.7, 0.4), (0.95, 0.8)]:
        assert two_arm_exponent(means) == pytest.approx(
            -math.log(math.sqrt(means[0] * means[1]) + math.sqrt((1 - means[0]) * (1 - means[1])))
        )
        for share in (0.3, 0.5, 0.6):
            errors = [two_arm_error(means, (round(share * n), round((1 - share) * n))) for n in (300, 600)]
            # The factor in front of the exponential is of order 1 / sqrt(n): log(2) / 2 over 300 pulls.
            rate = math.log(errors[0] / errors[1]) / 300
            assert rate == pytest.approx(two_arm_exponent(means, share) + math.log(2) / 600, rel=0.1)


def test_no_fixed_share_is_as_good_as_uniform_everywhere() -> None:
    # The same two means in the other order turn an advantage into a loss.
    for means in PAIRS:
        uniform = two_arm_exponent(means)
        for share in np.linspace(0.05, 0.95, 91):
            if abs(share - 0.5) > 1e-9:
                swapped = two_arm_exponent((means[1], means[0]), share)
                assert min(two_arm_exponent(means, share), swapped) < uniform


def test_hardly_anything_is_gained_over_uniform() -> None:
    # The best share is close to one half, and gains less than a hundredth in the exponent.
    for means in PAIRS:
        best = max(two_arm_exponent(means, share) for share in np.linspace(0.05, 0.95, 91))
        assert two_arm_exponent(means) > 0.99 * best


def test_errors_of_arguments() -> None:
    for call, message in (
        (lambda: two_arm_error((0.5, 0.5), (1, 1)), "the two means must differ, and both are 0.5"),
        (lambda: two_arm_error((0.5, 1.0), (1, 1)), "a mean must lie strictly between 0 and 1, not 1.0"),
        (lambda: two_arm_error((0.5, 0.4), (0, 1)), "pulls must be a whole number of at least 1, not 0"),
        (lambda: two_arm_exponent((0.5, 0.4), 1.0), "share must lie strictly between 0 and 1, not 1.0"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()
