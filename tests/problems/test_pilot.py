"""Instances drawn from the posterior given a pilot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import betaln, gamma, gammainc

from bai_gym.bandits import BernoulliBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.problems.pilot import PilotProblem
from bai_gym.rewards import BINARY, REAL, Rewards


def table(*arms: list[float], kind: Rewards | None = None) -> SampleTable:
    return SampleTable.of(np.concatenate(arms), np.cumsum([0, *map(len, arms)]), kind)


def pilot(means: list[float], pulls: int, seed: int = 0) -> SampleTable:
    rng = np.random.default_rng(seed)
    return table(*((mean + rng.standard_normal(pulls)).tolist() for mean in means))


def test_two_normal_arms_by_hand() -> None:
    """With equal errors s of the two means, d apart, the share B that the difference loses is uniform at first.

    So p(B | d) is proportional to sqrt(B) exp(-c B), with c = d^2 / (4 s^2): incomplete gamma functions.
    """
    rewards = [-1.0, 0.0, 1.0]  # sample variance 1, so s^2 = 1 / 3
    for apart in (0.5, 2.0, 8.0):
        problem = PilotProblem(table(rewards, [apart + reward for reward in rewards]))
        drawn = problem.draw(100_000, np.random.default_rng(0))
        assert isinstance(drawn, GaussianBandit)
        c = 0.75 * apart**2
        lost = gammainc(2.5, c) * gamma(2.5) / (c * gammainc(1.5, c) * gamma(1.5))
        difference = drawn.means[:, 1] - drawn.means[:, 0]
        assert difference.mean() == pytest.approx((1 - lost) * apart, abs=5 * difference.std() / 316), apart
        assert drawn.means.mean() == pytest.approx(apart / 2, abs=0.02), apart
        # Scaled inverse chi-square with 2 degrees of freedom: its median is 1 x 2 / 1.3863.
        assert np.median(drawn.variances[:, 0]) == pytest.approx(2 / 1.3863, rel=0.03)


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


def test_extreme_rates() -> None:
    """Draws are probabilities, and concentrate on the shares of large pilots."""
    for shares, pulls in (([0.0, 0.0], 2), ([1.0, 1.0, 1.0], 50), ([0.0, 1.0], 1000), ([0.2, 0.25, 0.9], 50_000)):
        arms = [[1.0] * round(share * pulls) + [0.0] * round((1 - share) * pulls) for share in shares]
        drawn = PilotProblem(table(*arms, kind=BINARY)).draw(2000, np.random.default_rng(0)).means
        assert (drawn >= 0).all() and (drawn <= 1).all()
        assert drawn.std(axis=0).min() > 0
        if pulls >= 1000:
            assert drawn.mean(axis=0) == pytest.approx(shares, abs=0.005)


@pytest.mark.slow
def test_deciding_now_errs_as_often_as_predicted() -> None:
    """Over truths of various spreads, of which the prior knows nothing; 800 logs each, tolerance 3 standard errors.

    With a flat prior of the spread, and of the difference of two arms, .18 was predicted for two normal arms; with
    normal rates .57 for ten rates.
    """

    def normal(arms: int, rng: np.random.Generator) -> tuple[np.ndarray, SampleTable]:
        truth = rng.normal(0.0, np.exp(rng.uniform(np.log(0.05), 0.0)), arms)
        return truth, table(*(truth[:, None] + rng.standard_normal((arms, 20))).tolist())

    def binary(arms: int, rng: np.random.Generator) -> tuple[np.ndarray, SampleTable]:
        centre, weight = np.exp(rng.uniform(np.log([0.01, 10]), np.log([0.3, 10_000])))
        truth = rng.beta(centre * weight, (1 - centre) * weight, arms)
        rewards = np.arange(300) < rng.binomial(300, truth)[:, None]
        return truth, table(*rewards.astype(float).tolist(), kind=BINARY)

    for make, arms in ((normal, 2), (normal, 3), (normal, 10), (binary, 2), (binary, 10)):
        rng, predicted, actual = np.random.default_rng(5), [], []
        for _ in range(800):
            truth, rewards = make(arms, rng)
            chosen = int(np.argmax(rewards.means))
            drawn = PilotProblem(rewards).draw(200, rng).means
            predicted.append((drawn[:, chosen] < drawn.max(axis=1)).mean())
            actual.append(truth[chosen] < truth.max())
        error = np.std(np.subtract(predicted, actual)) / 800**0.5
        assert np.mean(predicted) == pytest.approx(np.mean(actual), abs=3 * error), (make.__name__, arms)


def test_means_are_shrunk_as_far_as_the_data_support_it() -> None:
    """With arms that differ by chance alone, the spread of the drawn means is far below that of the sample means."""
    rng = np.random.default_rng(1)
    noise, signal = pilot([0.0] * 30, 20), pilot(np.linspace(0, 20, 30).tolist(), 20)
    for rewards, least, most in ((noise, 0.0, 0.75), (signal, 0.98, 1.02)):
        drawn = PilotProblem(rewards).draw(4000, rng).means
        expected, spread = drawn.mean(axis=0), np.std(drawn, axis=1).mean()
        assert least < np.std(expected) / np.std(rewards.means) < most
        assert spread > np.std(expected)  # single truths vary more than their average


def test_coverage_of_hierarchical_truths() -> None:
    """The posterior covers truths from a normal distribution as often as it says, or a little more often."""
    rng, ranks = np.random.default_rng(2), []
    for _ in range(150):
        truth = rng.normal(5.0, 1.0, 12)
        drawn = PilotProblem(pilot(truth.tolist(), 8, int(rng.integers(2**31)))).draw(200, rng).means
        ranks.append((drawn < truth).mean(axis=0))
    shares = np.quantile(np.concatenate(ranks), [0.1, 0.5, 0.9])
    assert shares == pytest.approx([0.1, 0.5, 0.9], abs=0.05)


def test_zeros_and_ones_stay_so() -> None:
    problem = PilotProblem(table([0.0] * 9 + [1.0], [0.0] * 10, [1.0] * 10))
    drawn = problem.draw(1000, np.random.default_rng(0))
    assert isinstance(drawn, BernoulliBandit)
    assert drawn.means.std(axis=0).min() > 0.01  # ten equal rewards are no certainty


def test_the_kind_of_rewards_decides_how_they_are_simulated() -> None:
    zeros_and_ones, ratings = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]], [[1.0, 4.0, 5.0], [2.0, 2.0, 3.0]]
    cases = [(zeros_and_ones, None, BINARY), (zeros_and_ones, REAL, REAL), (ratings, Rewards.of("bounded(1, 5)"), REAL)]
    for arms, declared, simulated in cases:
        problem = PilotProblem(table(*arms, kind=declared))
        assert problem.draw(2, np.random.default_rng(0)).rewards == simulated, (arms, declared)
        said = any("bounded(1, 5) in the pilot, and simulated as normal" in note for note in problem.notes)
        assert said == (arms is ratings), (arms, declared)


@pytest.mark.each("arms", [([1.0], [1.0, 2.0]), ([1.5, 1.5], [1.0, 2.0])])
def test_a_pilot_that_cannot_be_used(arms: tuple[list[float], ...]) -> None:
    with pytest.raises(DataError, match="in the pilot"):
        PilotProblem(table(*arms))
