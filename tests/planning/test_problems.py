"""Instances drawn from the posterior given a pilot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import betaln, gamma, gammainc

from bai_gym.bandits import BernoulliBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.planning.problems import PilotProblem
from bai_gym.rewards import BINARY, REAL, Rewards


def table(*arms: list[float], kind: Rewards | None = None) -> SampleTable:
    return SampleTable.of(np.concatenate(arms), np.cumsum([0, *map(len, arms)]), kind)


def test_two_normal_arms_by_hand() -> None:
    """With equal errors s of the two means, d apart, the share B that the difference loses is uniform at first.

    So p(B | d) is proportional to sqrt(B) exp(-c B), with c = d^2 / (4 s^2): incomplete gamma functions.
    """
    rewards = [-10.0, 0.0, 10.0] * 100  # sample variance 66.9, so s^2 = 0.223
    for apart in (0.5, 2.0, 8.0):
        problem = PilotProblem(table(rewards, [apart + reward for reward in rewards]))
        drawn = problem.draw(100_000, np.random.default_rng(0))
        assert isinstance(drawn, GaussianBandit)
        c = apart**2 / (4 * 0.223)
        lost = gammainc(2.5, c) * gamma(2.5) / (c * gammainc(1.5, c) * gamma(1.5))
        difference = drawn.means[:, 1] - drawn.means[:, 0]
        assert difference.mean() == pytest.approx((1 - lost) * apart, abs=5 * difference.std() / 316), apart
        assert drawn.means.mean() == pytest.approx(apart / 2, abs=0.02), apart
        assert np.median(drawn.variances[:, 0]) == pytest.approx(66.9, rel=0.02)


def test_rates_of_three_arms_are_those_of_the_double_integral() -> None:
    """The posterior means, by quadrature over the centre m and the share B that rates lose, both on (0, 1)."""
    good, bad = np.array([0.0, 2.0, 3.0]), np.array([4.0, 2.0, 1.0])

    def integral(arm: int | None) -> float:
        def density(m: float, lost: float) -> float:
            a, b = m * 4 * lost / (1 - lost), (1 - m) * 4 * lost / (1 - lost)  # four pulls of each arm
            log = (betaln(a + good, b + bad) - betaln(a, b)).sum() - 0.5 * np.log(m * (1 - m))
            return float(np.exp(log) * (1.0 if arm is None else (a + good[arm]) / (a + b + 4)))

        return float(dblquad(density, 1e-6, 1 - 1e-6, 1e-9, 1 - 1e-9, epsabs=1e-7, epsrel=1e-5)[0])

    expected = [integral(arm) / integral(None) for arm in range(3)]
    problem = PilotProblem(table(*([0.0] * int(b) + [1.0] * int(g) for g, b in zip(good, bad, strict=True))))
    drawn = problem.draw(100_000, np.random.default_rng(0))
    assert isinstance(drawn, BernoulliBandit)
    assert drawn.means.mean(axis=0) == pytest.approx(expected, abs=0.004)


def test_zeros_and_ones_stay_so() -> None:
    problem = PilotProblem(table([0.0] * 9 + [1.0], [0.0] * 10, [1.0] * 10))
    drawn = problem.draw(1000, np.random.default_rng(0))
    assert isinstance(drawn, BernoulliBandit)
    assert drawn.means.std(axis=0).min() > 0.01  # ten equal rewards are no certainty
    large = [[1.0] * (50 * share) + [0.0] * (50 * (100 - share)) for share in (20, 25, 90)]
    means = PilotProblem(table(*large)).draw(2000, np.random.default_rng(0)).means.mean(axis=0)
    assert means == pytest.approx([0.2, 0.25, 0.9], abs=0.01)


def test_the_kind_of_rewards_decides_how_they_are_simulated() -> None:
    zeros_and_ones, ratings = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], [[1.0, 4.0, 5.0], [2.0, 2.0, 3.0]]
    cases = [(zeros_and_ones, None, BINARY), (zeros_and_ones, REAL, REAL), (ratings, Rewards.of("bounded(1, 5)"), REAL)]
    for arms, declared, simulated in cases:
        problem = PilotProblem(table(*arms, kind=declared))
        drawn = problem.draw(200, np.random.default_rng(0))
        assert drawn.rewards == simulated, (arms, declared)
        low, high = (0, 1) if arms is zeros_and_ones else (1, 5)
        assert drawn.means.min() >= low and drawn.means.max() <= high, (arms, declared)
        said = any("bounded(1, 5) in the pilot, and simulated as normal" in note for note in problem.notes)
        assert said == (arms is ratings), (arms, declared)


def test_a_pilot_that_cannot_be_used() -> None:
    PilotProblem(table([1.0], [1.0, 2.0]))  # the variance of the other arm
    for arms in ([[1.0], [2.0]], [[1.5, 1.5], [2.0]]):
        with pytest.raises(DataError, match="no arm of the pilot has two rewards that differ"):
            PilotProblem(table(*arms))
