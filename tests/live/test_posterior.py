"""Probabilities of being best, and what further rewards would add, against integrals and simulations of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bai_gym.live.posterior import Posterior

TOLERANCE = 0.035  # four standard errors of 4,000 draws


def posterior(pulls: list[int], means: list[float], errors: list[float], *, binary: bool = False) -> Posterior:
    return Posterior(np.array(pulls), np.array(means), np.array(errors), binary=binary)


def test_rates_have_beta_posteriors() -> None:
    found = posterior([10, 40], [0.3, 0.25], [np.nan] * 2, binary=True)
    grid = np.linspace(0.0005, 0.9995, 1000)
    exact = (stats.beta.pdf(grid, 4, 8) * stats.beta.cdf(grid, 11, 31)).mean()
    assert found.known and found.best.sum() == pytest.approx(1.0)
    assert found.best[0] == pytest.approx(exact, abs=TOLERANCE) == found.better(0, 1)
    assert posterior([0, 5], [np.nan, 1.0], [np.nan] * 2, binary=True).known is False


def test_other_means_have_students_posteriors_with_a_pooled_deviation_where_there_is_none() -> None:
    # The difference of two Student's t of 3 and 20 degrees of freedom, and a third arm far below.
    rng = np.random.default_rng(0)
    difference = 1.0 + 0.8 * rng.standard_t(3, 200_000) - 0.4 * rng.standard_t(20, 200_000)
    found = posterior([4, 21, 4], [1.0, 0.0, -90.0], [0.8, 0.4, 0.5])
    assert found.best == pytest.approx([(difference > 0).mean(), (difference < 0).mean(), 0.0], abs=TOLERANCE)
    assert found.candidates.tolist() == [0, 1]
    assert posterior([50] * 3, [0.0, 0.0, -2.0], [1.0] * 3).candidates.size == 3  # the best with probability 0.05
    known = posterior([2, 10**6], [0.0, 3.0], [1.0, 1e-9])  # one degree of freedom
    assert known.best[0] == pytest.approx(stats.t.sf(3.0, 1), abs=TOLERANCE)
    # Arm 1 has one reward, so a deviation of sqrt(25) 0.4 = 2 with 24 degrees of freedom, as arm 0.
    found = posterior([25, 1], [0.0, 1.0], [0.4, np.nan])
    difference = 1.0 + 2.0 * rng.standard_t(24, 200_000) - 0.4 * rng.standard_t(24, 200_000)
    assert found.best[1] == pytest.approx((difference > 0).mean(), abs=TOLERANCE)
    # Half the mean of |difference|, which is that of a normal distribution but for 399 degrees of freedom.
    assert posterior([400] * 2, [7.0] * 2, [0.5] * 2).loss(0) == pytest.approx(0.5 / np.pi**0.5, abs=0.03)
    for unknown in (posterior([1, 1], [0.0, 1.0], [np.nan] * 2), posterior([3, 0], [0.0, np.nan], [1.0, np.nan])):
        assert not unknown.known and np.isnan(unknown.best).all()


def test_further_rewards_give_the_probability_that_they_promise() -> None:
    # Equal deviations 10, 400 rewards each, and a lead of half a standard error of the difference, 0.707.
    found = posterior([400, 400, 400], [0.35, 0.0, -50.0], [0.5, 0.5, 0.5])
    rng = np.random.default_rng(1)
    truth = np.array([0.35, 0.0]) + 0.5 * rng.standard_normal((100_000, 2))
    chances = {}
    for multiple in (1, 2, 4, 8, 16):
        each = multiple * 600
        means = (
            400 * np.array([0.35, 0.0]) + each * (truth + 10 / np.sqrt(each) * rng.standard_normal(truth.shape))
        ) / (400 + each)
        chances[1200 * multiple] = ((means[:, 0] > means[:, 1]) == (truth[:, 0] > truth[:, 1])).mean()
    for wanted in (0.8, 0.85, 0.9):
        more, reached = found.further(wanted)
        assert reached >= wanted and reached == pytest.approx(chances[more], abs=0.025)
        assert more == 1200 or chances[more // 2] < wanted + 0.025  # half as many are not enough
    more, reached = found.further(0.999)
    assert more == 16 * 1200 and reached == pytest.approx(chances[more], abs=0.025)
    rates = posterior([100, 100], [0.5, 0.45], [np.nan] * 2, binary=True)
    assert 0.9 <= rates.further(0.9)[1] <= 0.96
