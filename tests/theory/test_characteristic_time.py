"""T* and w*: published values, closed forms, and the maximum that defines them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.theory import characteristic_time, fixed_confidence_bound, optimal_weights
from bai_gym.theory.proportions import optimal_proportions

GK1, GK2 = (0.5, 0.45, 0.43, 0.4), (0.3, 0.21, 0.2, 0.19, 0.18)
BRAKE = (1.0, 0.9, 0.9, 0.9)


@pytest.mark.each(
    ("means", "variances", "time", "weights", "half"),
    [  # w* of the first two: Garivier and Kaufmann (2016), section 6, to three digits
        (GK1, None, 989.79, [0.4165, 0.3903, 0.1362, 0.0570], 1019.37),
        (GK2, None, 326.64, [0.3359, 0.2515, 0.1766, 0.1324, 0.1036], 362.57),
        (BRAKE, 1.0, 1492.82, [0.3660, 0.2113, 0.2113, 0.2113], 1600.00),
    ],
)
def test_known_instances(means: tuple, variances: float | None, time: float, weights: list, half: float) -> None:
    assert characteristic_time(means, variances) == pytest.approx(time, abs=0.006)
    assert optimal_weights(means, variances) == pytest.approx(weights, abs=6e-5)
    assert characteristic_time(means, variances, beta=0.5) == pytest.approx(half, abs=0.006)


def test_closed_forms() -> None:
    # Two Gaussian arms: shares proportional to the deviations, T* = 2 (s_1 + s_2)^2 / gap^2.
    assert characteristic_time([0.2, 0.5], [1.0, 4.0]) == pytest.approx(200.0, rel=1e-12)
    assert optimal_weights([0.2, 0.5], [1.0, 4.0]) == pytest.approx([1 / 3, 2 / 3], rel=1e-12)
    # One best arm and k equal others: w_1 = 1 / (1 + sqrt(k)), T* = 2 (1 + sqrt(k))^2 / gap^2.
    assert characteristic_time([0.0] * 9 + [0.5], 1.0) == pytest.approx(2 * 16 / 0.25, rel=1e-12)
    assert characteristic_time([0.0] * 9 + [0.5], 1.0, beta=0.25) == pytest.approx(128.0, rel=1e-12)


def test_arrays_give_what_their_rows_give() -> None:
    rng = np.random.default_rng(0)
    means, order = rng.random((3, 2, 6)), rng.permutation(6)
    variances = rng.random((3, 2, 6)) + 0.1
    for beta in (None, 0.3):
        times, weights = characteristic_time(means, variances, beta), optimal_weights(means, variances, beta)
        assert times.shape == (3, 2) and weights.shape == means.shape
        for row in np.ndindex(3, 2):
            assert characteristic_time(means[row][order], variances[row][order], beta) == pytest.approx(
                times[row], 1e-12
            )
        np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-14)
        if beta is not None:
            np.testing.assert_allclose(weights[means == means.max(-1)[..., None]], beta)


def test_tied_best_arms_and_means_of_0_and_1() -> None:
    assert characteristic_time([0.5, 0.5, 0.2]) == math.inf == characteristic_time([0.5, 0.5, 0.2], 1.0)
    assert optimal_weights([0.5, 0.5, 0.2]).tolist() == [0.5, 0.5, 0.0]
    assert 0 < characteristic_time([1.0, 0.9]) < math.inf and 0 < characteristic_time([0.0, 0.1]) < math.inf


def test_bernoulli_means_that_are_equal_but_for_rounding_share_their_pulls() -> None:
    for gap in (1e-17, 1e-11, 1e-4):
        w = np.full(3, 1.0 / 3.0)
        optimal_proportions(np.array([0.019, 0.019 + gap, 0.0185]), np.ones(3), True, 0.0, w, 0.0)
        assert np.isfinite(w).all() and w.sum() == pytest.approx(1.0), gap
        assert w[0] == pytest.approx(w[1], rel=0.1) and w[2] < 0.1 * w[0], gap


def test_a_start_near_the_solution_leads_to_the_same_proportions() -> None:
    rng = np.random.default_rng(0)
    for arms in (2, 20):
        means, cold = rng.choice(np.arange(1, 100), arms, replace=False) / 100, np.full(arms, 1.0 / arms)
        y = optimal_proportions(means, np.ones(arms), True, 0.0, cold, 0.0)
        for start in (1.001 * y, 1e-9, 1e3):  # near the solution, and far from it
            w = rng.dirichlet(np.ones(arms))
            assert optimal_proportions(means, np.ones(arms), True, 0.0, w, start) == pytest.approx(y, rel=1e-9)
            np.testing.assert_allclose(w, cold, rtol=1e-7)


def test_the_lower_bound() -> None:
    assert fixed_confidence_bound(GK1, [0.1, 0.01, 0.0001]) == pytest.approx([1739.8, 4457.2, 9114.4], abs=0.06)
    # kl(delta, 1 - delta) = (1 - 2 delta) log((1 - delta) / delta); no bound where guessing is good enough.
    assert fixed_confidence_bound([0.0, 1.0], 0.2, 1.0) == pytest.approx(8 * 0.6 * math.log(4))
    assert fixed_confidence_bound(GK1, [0.5, 0.9]).tolist() == [0.0, 0.0]


@pytest.mark.each(
    ("arguments", "error", "message"),
    [
        (([0.5, 1.2],), InstanceError, "means of Bernoulli arms"),
        (([0.5, 0.2], 0.0), InstanceError, "variances"),
        (([0.5],), InstanceError, "at least 2"),
        (([0.5, 0.2], None, 1.0), ParameterError, "beta"),
    ],
)
def test_bad_arguments(arguments: tuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        characteristic_time(*arguments)
