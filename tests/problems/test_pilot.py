"""Instances drawn from the posterior given a pilot."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.bandits import BernoulliBandit, GaussianBandit, SampleTable
from bai_gym.errors import DataError
from bai_gym.problems.pilot import PilotProblem
from bai_gym.rewards import BINARY, REAL, Rewards


def table(*arms: list[float], kind: Rewards | None = None) -> SampleTable:
    return SampleTable.of(np.concatenate(arms), np.cumsum([0, *map(len, arms)]), kind)


def pilot(means: list[float], pulls: int, seed: int = 0) -> SampleTable:
    rng = np.random.default_rng(seed)
    return table(*((mean + rng.standard_normal(pulls)).tolist() for mean in means))


def test_two_arms_have_the_posterior_of_a_flat_prior() -> None:
    # Means 1 and 3, sample variances 2 and 8, three and two rewards.
    problem = PilotProblem(table([1 - 2**0.5, 1.0, 1 + 2**0.5], [1.0, 5.0]))
    drawn = problem.draw(40_000, np.random.default_rng(0))
    assert isinstance(drawn, GaussianBandit)
    assert drawn.means.mean(axis=0) == pytest.approx([1.0, 3.0], abs=0.04)
    assert drawn.means.std(axis=0) == pytest.approx([(2 / 3) ** 0.5, (8 / 2) ** 0.5], rel=0.02)
    # Scaled inverse chi-square with 2 degrees of freedom: its median is 2 x 2 / 1.3863.
    assert np.median(drawn.variances[:, 0]) == pytest.approx(2 * 2 / 1.3863, rel=0.03)


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
