"""Posterior probabilities of being the best arm."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory.beta_arms import BetaArms, check_prior

PRIORS = [(2.0, 3.0), (0.1, 0.1), (20.5, 0.1), (999.5, 3.0), (400.0, 400.0)]


@pytest.mark.each(("alpha", "beta"), PRIORS)
@pytest.mark.each("parts", [(), (7, 1), (3, 3, 2)])
def test_one_arm_is_the_best(alpha: float, beta: float, parts: tuple[int, ...]) -> None:
    found = BetaArms(4, 8, alpha, beta).best_probabilities(parts)
    assert len(found) == len(parts) + 1
    assert all(box.shape == tuple(part + 1 for part in parts) for box in found)
    total = sum(found[:-1]) + (4 - len(parts)) * found[-1]
    np.testing.assert_allclose(total, 1.0, atol=1e-10)


def test_both_quadratures_agree() -> None:
    # A hair beside integers the other rule is used.
    exact, other = BetaArms(3, 30, 2.0, 1.0), BetaArms(3, 30, 2.0, 1.0 + 1e-13)
    for parts in [(30,), (15, 15), (16, 9, 5)]:
        for one, two in zip(exact.best_probabilities(parts), other.best_probabilities(parts), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-12)
    assert exact.expected_best == pytest.approx(other.expected_best, abs=1e-12)


def test_means_and_the_expected_best() -> None:
    arms = BetaArms(3, 2, 1.0, 1.0)
    assert arms.success(2).tolist() == [0.25, 0.5, 0.75]
    assert [mean.tolist() for mean in arms.means((2,))] == [[0.25, 0.5, 0.75], [0.5]]
    assert len(arms.means((1, 1, 0))) == 3
    assert arms.expected_best == pytest.approx(3 / 4)  # of three uniform variables


@pytest.mark.each("value", [0.05, 1001, float("nan"), "a", [1.0, 2.0]])
def test_priors_are_checked(value: float) -> None:
    with pytest.raises(ParameterError, match="alpha must be a"):
        check_prior(value, 1.0)
    with pytest.raises(ParameterError, match="beta must be a"):
        check_prior(1.0, value)
