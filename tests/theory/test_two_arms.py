"""Exponents of two Bernoulli arms with fixed shares, against exact error probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from bai_gym.errors import ParameterError
from bai_gym.theory import two_arm_exponent


def error_probability(means: tuple[float, float], pulls: tuple[int, int]) -> float:
    """The probability that the first arm, which is the better one, has no larger sample mean; ties count by half."""
    first, second = (binom.pmf(np.arange(n + 1), n, mean) for n, mean in zip(pulls, means, strict=True))
    lead = np.subtract.outer(np.arange(pulls[0] + 1) * pulls[1], np.arange(pulls[1] + 1) * pulls[0])
    return float((np.outer(first, second) * (1.0 - np.sign(lead)) / 2.0).sum())


def test_errors_decay_by_their_exponent() -> None:
    means = (0.95, 0.5)
    assert two_arm_exponent(means) == pytest.approx(-math.log(math.sqrt(0.475) + math.sqrt(0.025)))
    for share in (0.3, 0.6):
        errors = [error_probability(means, (round(share * n), round((1 - share) * n))) for n in (300, 600)]
        # The factor in front of the exponential is of order 1 / sqrt(n): log(2) / 2 over 300 pulls.
        rate = math.log(errors[0] / errors[1]) / 300
        assert rate == pytest.approx(two_arm_exponent(means, share) + math.log(2) / 600, rel=0.05)


def test_errors_of_arguments() -> None:
    for call, message in (
        (lambda: two_arm_exponent((0.5, 0.5)), "the two means"),
        (lambda: two_arm_exponent((0.5, 1.0)), "a mean"),
        (lambda: two_arm_exponent((0.5, 0.4), 1.0), "share"),
    ):
        with pytest.raises(ParameterError, match=message):
            call()
