"""PI-BAI: weights and bounds against known numbers, derivatives against differences, posterior means, errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from bai_gym import agents, evaluate
from bai_gym.agents.correlated.normal_prior import posterior_means
from bai_gym.agents.correlated.pi_bai import LOSSES, PIBAI, best_weights, error_bound, sampled_value
from bai_gym.bandits import GaussianBandit, GaussianPrior
from bai_gym.correlated import PriorBandit
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, Statistics

MEANS, DEVIATIONS = np.linspace(0.0, 1.0, 10), np.linspace(0.1, 0.5, 10)  # those of BAI-GaussianPrior10-v0


def independent_prior(deviations: Any, means: Any = 0.0) -> GaussianPrior:
    return GaussianPrior(np.diag(np.square(deviations)), means)


def dependent_prior(num_arms: int = 5) -> GaussianPrior:
    factor = np.random.default_rng(0).standard_normal((num_arms, num_arms)) / 2.0
    return GaussianPrior(factor @ factor.T, np.linspace(0.0, 1.0, num_arms))


def reset(agent: PIBAI, bandit: Any, budget: int, seed: int = 0) -> PIBAI:
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(seed))
    return agent


def shares_of(weights: str, budget: int, prior: GaussianPrior, noise: Any = 1.0, **given: Any) -> FloatArray:
    """The weights that the agent chooses."""
    means = np.zeros(prior.num_arms)
    bandit = PriorBandit(GaussianBandit(means, np.broadcast_to(noise, means.shape)), prior)
    found: FloatArray = reset(PIBAI(weights=weights, **given), bandit, budget).shares[0]
    return found


def test_waterfilling_by_hand() -> None:
    """Two arms, equal noise: w_1 = 1/2 + (sigma^2 / 2n) (1 / s_2^2 - 1 / s_1^2), within [0, 1]."""
    for deviations, budget in (([0.5, 0.4], 20), ([0.5, 0.3], 50), ([0.5, 0.2], 12)):
        first, second = np.square(deviations)
        expected = np.clip(0.5 + (1.0 / second - 1.0 / first) / (2.0 * budget), 0.0, 1.0)
        for weights in ("A-optimal", "D-optimal"):
            found = shares_of(weights, budget, independent_prior(deviations))
            assert found == pytest.approx([expected, 1.0 - expected], abs=2e-4), (deviations, weights)


def test_weights_of_the_paper() -> None:
    """D-optimal: printed in the authors' notebook, n = 20. "value": computed independently of this library, n = 100."""
    prior = independent_prior(DEVIATIONS, MEANS)
    printed = [0.0, 0.0, 0.0, 0.0, 0.0, 0.04, 0.15, 0.22, 0.28, 0.32]
    assert shares_of("D-optimal", 20, prior) == pytest.approx(printed, abs=0.006)
    found = shares_of("value", 100, prior)
    assert found == pytest.approx([0.0] * 6 + [0.177, 0.241, 0.281, 0.301], abs=0.003)


def test_unequal_noise_enters_by_its_deviation() -> None:
    """Of a wide prior, the smallest sum of the variances sigma_i^2 / n_i has n_i proportional to sigma_i."""
    found = shares_of("A-optimal", 60, independent_prior([1e3] * 3), [1.0, 4.0, 9.0])
    assert found == pytest.approx([1 / 6, 2 / 6, 3 / 6], abs=1e-4)


def test_the_bound_of_two_arms() -> None:
    """s = (0.5, 0.3), 50 pulls each: the bound is 0.1602."""
    prior = independent_prior([0.5, 0.3])
    assert error_bound(prior, np.ones(2), np.full(2, 50.0))[0] == pytest.approx(0.1602, abs=5e-5)


def test_derivatives_are_those_of_differences() -> None:
    rng = np.random.default_rng(1)
    for prior in (independent_prior(np.linspace(0.2, 1.0, 5), np.linspace(0.0, 1.0, 5)), dependent_prior()):
        centred, errors = prior.draw_centred(50, rng), rng.standard_normal((50, 5))
        losses: dict[str, Any] = {**LOSSES, "sampled": partial(sampled_value, centred=centred, errors=errors)}
        pulls, noise, step = rng.uniform(1.0, 9.0, 5), rng.uniform(0.5, 2.0, 5), 1e-5
        for name, loss in losses.items():
            slope = loss(prior, noise, pulls)[1]
            for arm in range(5):
                ends = [pulls * np.exp(sign * step * (np.arange(5) == arm)) for sign in (1, -1)]
                high, low = (loss(prior, noise, end)[0] for end in ends)
                assert slope[arm] == pytest.approx((high - low) / (2.0 * step), abs=2e-5), (name, arm)


def test_sampled_and_integrated_values_agree() -> None:
    prior = independent_prior(np.linspace(0.2, 1.0, 5), np.linspace(0.0, 1.0, 5))
    rng = np.random.default_rng(2)
    centred, errors = prior.draw_centred(40_000, rng), rng.standard_normal((40_000, 5))
    noise, pulls = np.ones(5), np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found, slope = sampled_value(prior, noise, pulls, centred, errors)
    truth, direction = LOSSES["value"](prior, noise, pulls)
    assert found == pytest.approx(truth, abs=4.9 / np.sqrt(40_000))
    assert slope == pytest.approx(direction, abs=0.01)


def test_dependent_arms_are_pulled_by_what_they_say_of_all() -> None:
    """Arms 0 and 1 have one mean, and arm 2 that of opposite sign, but more noise: all pulls go to the first two."""
    effect = np.array([[1.0], [1.0], [-1.0]])
    found = shares_of("value", 8, GaussianPrior(effect @ effect.T), [1.0, 1.0, 9.0])
    assert found[:2].sum() > 0.999


def test_posterior_means_are_those_of_regression() -> None:
    """Against (C^-1 + D)^-1 (C^-1 m0 + D y), episodes of equal and of different counts, an arm without a pull."""
    prior, noise = dependent_prior(), np.array([[1.0, 2.0, 0.5, 1.0, 3.0]] * 3)
    pulls = np.array([[3, 0, 1, 2, 9], [3, 0, 1, 2, 9], [1, 1, 0, 4, 2]])
    means = np.random.default_rng(3).standard_normal((3, 5))
    found = posterior_means(prior, noise, Statistics(pulls, means, np.zeros((3, 5))))
    inverse = np.linalg.inv(prior.covariance[0])
    for row in range(3):
        data = np.diag(pulls[row] / noise[row])
        expected = np.linalg.solve(inverse + data, inverse @ prior.mean[0] + data @ means[row])
        np.testing.assert_allclose(found[row], expected, rtol=1e-9)


def test_a_certain_arm_needs_no_pulls() -> None:
    prior = independent_prior([0.0, 1.0, 1.0], [0.2, 0.0, 0.0])
    for weights in ("value", "A-optimal", "D-optimal"):
        assert shares_of(weights, 30, prior) == pytest.approx([0.0, 0.5, 0.5], abs=1e-4), weights


def test_the_mixture() -> None:
    prior = independent_prior([0.3, 0.4], [1.0, 2.0])
    favour = np.array([0.09, 0.32]) / np.hypot(0.09, 0.32)
    mixed = 0.2 * best_weights(partial(error_bound, prior, np.ones(2)), 30, [np.zeros(2)]) + 0.8 * favour
    assert shares_of("mixed", 30, prior, alpha=0.2) == pytest.approx(mixed / mixed.sum(), abs=1e-6)


def test_the_prior_can_be_given_in_place_of_the_environments() -> None:
    keywords: dict[str, Any] = {"prior_mean": MEANS.tolist(), "prior_sd": DEVIATIONS.tolist(), "sigma": 1.0}
    given = PIBAI(**keywords)
    assert given.knows == frozenset() and PIBAI().knows == {"prior", "variances"}
    bandit = PriorBandit(GaussianBandit(np.zeros(10)), independent_prior(DEVIATIONS, MEANS))
    shares = [reset(agent, bandit, 50).shares[0].tolist() for agent in (given, PIBAI())]
    assert shares[0] == shares[1]


def test_errors_name_the_way_out() -> None:
    bandit = GaussianBandit([0.0, 1.0])
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({}, AgentError, "no prior"),
        ({"prior_mean": 0.0}, ParameterError, "prior_sd"),
        ({"prior_mean": [0.0] * 3, "prior_sd": 1.0}, ParameterError, "2 arms"),
        ({"prior_mean": 0.0, "prior_sd": -1.0}, ParameterError, "at least 0"),
        ({"prior_mean": -1.0, "prior_sd": 1.0, "weights": "mixed"}, ParameterError, "take 'value'"),
    ]
    for keywords, error, message in cases:
        with pytest.raises(error, match=message):
            reset(PIBAI(**keywords), bandit, 10)


@pytest.mark.slow
def test_errors_of_the_default_weights() -> None:
    """BAI-GaussianPrior10-v0; computed independently of this library from 200,000 instances (counted in the margin)."""
    agent = agents.make("PI-BAI")
    for budget, error in ((20, 0.3926), (100, 0.2515), (300, 0.1678)):
        result = evaluate(agent, "BAI-GaussianPrior10-v0", runs=20_000, budget=budget)
        margin = 4.4 * np.sqrt(error * (1.0 - error) * (1 / 20_000 + 1 / 200_000))  # two-sided 1e-5
        assert result.error_probability == pytest.approx(error, abs=margin), budget
