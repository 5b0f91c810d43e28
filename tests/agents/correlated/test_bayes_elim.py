"""BayesElim: a stage by hand, sequential halving under a flat prior, shares of pulls, budgets below the minimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym import agents
from bai_gym.agents.correlated.bayes_elim import BayesElim
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import Rollout, play_blocks
from bai_gym.problems import ProblemInfo


def play(agent: Any, bandit: GaussianBandit, budget: int) -> Rollout:
    info = ProblemInfo(bandit.num_arms, budget, bandit.batch, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(0))
    return play_blocks(agent, bandit, budget, np.random.default_rng(1))


def test_a_stage_by_hand() -> None:
    """Two pulls per arm, noise 4, prior variances 2 and 1/2: posterior means are a half and a fifth of the way.

    Arms have no noise, so sample means are 4, 3, 2, 5. Let the prior mean of arm 1 be m. Stage 1: 4 / 2, (m + 3) / 2,
    1 + 1 / 5 and 5 / 5, so that for m near 2 arms 0 and 1 survive, not the best one. Stage 2 has four pulls per arm,
    two thirds of the way: 8 / 3, and m / 3 + 2, which is larger if m > 2.
    """
    bandit = GaussianBandit([4.0, 3.0, 2.0, 5.0], 0.0)
    keywords: dict[str, Any] = {"prior_sd": np.sqrt([2.0, 2.0, 0.5, 0.5]), "sigma": 2.0}
    for second, winner in ((1.9, 0), (2.1, 1)):
        agent = BayesElim(prior_mean=[0.0, second, 1.0, 0.0], **keywords)
        played = play(agent, bandit, 16)
        assert played.pulls.tolist() == [[6, 6, 2, 2]]
        assert played.recommendation.tolist() == [winner], second


def test_a_flat_prior_makes_sequential_halving() -> None:
    """The same pulls and recommendations on the same rewards, where all stages divide evenly."""
    bandit = GaussianBandit(np.random.default_rng(2).normal(size=(500, 8)))
    for samples, name in (("stage", "SH"), ("all", "SH-Reuse")):
        flat = BayesElim(prior_mean=0.0, prior_sd=1e7, sigma=1.0, samples=samples)
        found, other = (play(agent, bandit, 72) for agent in (flat, agents.make(name)))
        assert found.pulls.tolist() == other.pulls.tolist()
        assert found.recommendation.tolist() == other.recommendation.tolist()


def test_of_an_odd_number_of_arms_the_larger_half_survives() -> None:
    agent = BayesElim(prior_mean=0.0, prior_sd=1e7, sigma=1.0)
    played = play(agent, GaussianBandit([5.0, 4.0, 3.0, 2.0, 1.0], 0.0), 45)  # three stages of 15 pulls
    assert played.pulls[0, 2:].tolist() == [3 + 5, 3, 3]


def test_pulls_are_in_proportion_to_the_variances() -> None:
    bandit = GaussianBandit([[1.0, 0.0, -50.0, -60.0]], [[1.0, 3.0, 2.0, 4.0]])
    agent = BayesElim(prior_mean=0.0, prior_sd=10.0)
    assert agent.knows == {"variances"}
    assert play(agent, bandit, 80).pulls.tolist() == [[4 + 10, 12 + 30, 8, 16]]


def test_arms_without_a_pull_are_judged_by_their_prior() -> None:
    """One pull, of an arm without noise, which takes half of the way from its prior mean 0 to 1."""
    agent = BayesElim(prior_mean=[0.0, 0.0, 0.6, 0.0], prior_sd=1.0, sigma=1.0, allow_small_budget=True)
    played = play(agent, GaussianBandit([[1.0, 1.0, -9.0, 1.0]] * 50, 0.0), 1)
    pulled = played.pulls.argmax(axis=1)
    assert (played.pulls.sum(axis=1) == 1).all() and set(pulled) == {0, 1, 2, 3}
    assert (played.recommendation[pulled != 2] == 2).all() and (played.recommendation[pulled == 2] != 2).all()
