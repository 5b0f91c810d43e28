"""PI-BAI by a warm-up: choices worked by hand, shares that follow from one, what is discarded, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from bai_gym import agents, evaluate
from bai_gym.agents.correlated.pi_bai import PIBAI
from bai_gym.agents.correlated.warm_up import SAMPLERS
from bai_gym.bandits import GaussianBandit, GaussianPrior
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.correlated import GaussianPosterior, PriorBandit
from bai_gym.problems import ProblemInfo

RUNS = 4000
TWO = GaussianPrior(np.diag([0.09, 0.16]), [0.0, 0.5])


def reset(bandit: PriorBandit, budget: int, **parameters: Any) -> PIBAI:
    agent = PIBAI(**parameters)
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return agent


def drawn(prior: GaussianPrior, noise: Any = 1.0, runs: int = RUNS) -> PriorBandit:
    means = prior.draw(runs, np.random.default_rng(1))
    return PriorBandit(GaussianBandit(means, np.broadcast_to(noise, means.shape)), prior)


def played(bandit: PriorBandit, budget: int, **parameters: Any) -> Any:
    agent = reset(bandit, budget, **parameters)
    return play_blocks(agent, bandit, budget, np.random.default_rng(2))


def chosen(sampler: str, noise: Any) -> list[float]:
    """How often each of three arms with 1, 4, 1 pulls and means of 1, 0.5, -1.35 is chosen; the prior is flat."""
    prior = GaussianPrior(1e8 * np.eye(3))
    agent = reset(drawn(prior, noise), 100)
    posterior = GaussianPosterior(prior, 1.0, RUNS)
    posterior.add(np.tile([1, 4, 1], (RUNS, 1)), np.tile([1.0, 0.5, -1.35], (RUNS, 1)))
    arms = SAMPLERS[sampler][0](agent, posterior)
    return list(np.bincount(arms, minlength=3) / RUNS)


def test_the_challenger_by_hand() -> None:
    """The costs are 0.25 / (2 (1 + 1/4)) = 0.1 and 5.52 / (2 (1 + 1)) = 1.38; and 0.1 + log 4 = 1.49 and 1.38.

    With a variance of 0.01 of arm 1 and of 25 of arm 2 it is 0.25 / (2 (1 + 0.0025)) = 0.125 and 5.52 / (2 (1 + 25)) =
    0.106.
    """
    for sampler, noise, challenger in (
        ("T3C", 1.0, 1),
        ("TSTCI", 1.0, 2),
        ("T3C", [1.0, 0.01, 25.0], 2),
    ):
        found = chosen(sampler, noise)
        expected = [0.5 * (arm in (0, challenger)) for arm in range(3)]
        assert found == pytest.approx(expected, abs=4.9 * 0.5 / np.sqrt(RUNS)), (sampler, noise)


def test_one_draw_decides_all_pulls() -> None:
    """With one pull of warm-up the arm of largest draw gets all others, and that is arm 1 with chance Phi(0.5 / 0.5).

    Means that move together are drawn together: their difference is certain, and so is the arm.
    """
    together = GaussianPrior(np.ones((2, 2)), [0.0, 0.5])
    for prior, chance in ((TWO, norm.cdf(1.0)), (together, 1.0)):
        counts = played(drawn(prior), 9, weights="TS", warm_up=1).statistics.pulls
        assert set(counts.ravel().tolist()) <= {0, 9}
        assert np.mean(counts[:, 1] == 9) == pytest.approx(chance, abs=4.9 * 0.366 / np.sqrt(RUNS))


def test_shares_are_those_of_the_warm_up() -> None:
    """A top-two rule begins with every arm: a warm-up of K pulls makes equal shares, one of fewer leaves arms out."""
    bandit = drawn(GaussianPrior(np.eye(4)))
    for sampler in ("T3C", "TSTCI"):
        assert (played(bandit, 40, weights=sampler, warm_up=4).statistics.pulls == 10).all(), sampler
        counts = played(bandit, 40, weights=sampler, warm_up=2).statistics.pulls
        assert (np.sort(counts, axis=1) == [0, 0, 20, 20]).all(), sampler


def test_length_of_the_warm_up() -> None:
    dependent = GaussianPrior(np.eye(4) + 0.5)
    for prior, budget, parameters, pulls in (
        (GaussianPrior(np.eye(4)), 40, {"weights": "TS"}, 8),
        (dependent, 40, {"weights": "T3C"}, 4),
        (dependent, 40, {"weights": "T3C", "warm_up": 30}, 30),
        (dependent, 3, {"weights": "T3C"}, 3),
        (dependent, 40, {"weights": "A-optimal", "warm_up": 30}, 0),
    ):
        assert reset(drawn(prior), budget, **parameters).warm_up_pulls == pulls, (budget, parameters)


def test_what_is_discarded() -> None:
    """Without the samples of a warm-up of the whole budget the prior alone decides; with them, the samples do."""
    bandit = drawn(GaussianPrior(np.eye(2), [0.0, 0.1]), noise=1e-6)
    found = played(bandit, 8, weights="T3C", warm_up=8, discard=True).recommendation
    assert (found == 1).all()
    found = played(bandit, 8, weights="T3C", warm_up=8).recommendation
    assert np.mean(found == bandit.means.argmax(axis=1)) > 0.99
    found = played(bandit, 8, weights="T3C", warm_up=2, discard=True).recommendation
    assert np.mean(found == bandit.means.argmax(axis=1)) > 0.99


@pytest.mark.slow
def test_errors() -> None:
    """BAI-GaussianPrior10-v0; computed independently of this library from 100,000 instances (counted in the margin)."""
    for parameters, budget, error in (
        ({"weights": "TS"}, 300, 0.1881),
        ({"weights": "T3C"}, 100, 0.2784),
        ({"weights": "TSTCI", "discard": True}, 100, 0.3135),
    ):
        agent = agents.make("PI-BAI", **parameters)
        result = evaluate(agent, "BAI-GaussianPrior10-v0", runs=20_000, budget=budget)
        margin = 4.8 * np.sqrt(error * (1.0 - error) * (1 / 20_000 + 1 / 100_000))
        assert result.error_probability == pytest.approx(error, abs=margin), (parameters, budget)
