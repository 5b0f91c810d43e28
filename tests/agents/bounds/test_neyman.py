"""GNA and NA-AIPW: shares by hand, the estimator against a plain transcription, and the gain over equal shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents import GNA, NAAIPW
from bai_gym.agents.bounds.neyman import set_shares
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo

Play = Callable[..., Any]


class Seen:
    """What `set_shares` reads of an episode."""

    def __init__(self, deviations: list[float]) -> None:
        self.variance = np.array(deviations) ** 2


def shares(deviations: list[float], best: int) -> list[float]:
    w = np.empty(len(deviations))
    seen: Any = Seen(deviations)
    set_shares(seen, best, w)
    return w.tolist()


def test_shares_by_hand() -> None:
    assert shares([1.0, 3.0], 0) == pytest.approx([0.25, 0.75])  # two arms: by their deviations, whichever is better
    assert shares([1.0, 3.0], 1) == pytest.approx([0.25, 0.75])
    # S = 9 + 16: 2 / (2 + 5) of the best, the rest 9 : 16.
    assert shares([2.0, 3.0, 4.0], 0) == pytest.approx([2 / 7, 9 / 35, 16 / 35])
    root = math.sqrt(3)  # equal deviations, four arms: 1 / (1 + sqrt(3)) of the best
    assert shares([0.0] * 4, 2) == pytest.approx([root / (3 + 3 * root)] * 2 + [1 / (1 + root), root / (3 + 3 * root)])
    # Deviations 0 and 1: 0.001 and 1, so shares below 0.05, which are raised.
    assert shares([0.0, 1.0], 0) == pytest.approx([0.05 / (0.05 + 1 / 1.001), 1 / 1.001 / (0.05 + 1 / 1.001)])


def test_shares_minimise_the_largest_variance() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        deviations = rng.uniform(0.5, 2.0, 4)
        best = int(rng.integers(4))

        def worst(w: Any, s: Any = deviations, b: int = best) -> float:
            v = s**2 / w
            return float(v[b] + np.delete(v, b).max())

        w = np.array(shares(deviations.tolist(), best))
        others = rng.dirichlet(200 * w, size=2000)
        assert worst(w) <= min(worst(one) for one in others) + 1e-12


def test_tracking_follows_its_transcription(trace: Play) -> None:
    rng = np.random.default_rng(3)
    for num_arms in (2, 3, 5):
        rewards = rng.normal(0.0, rng.uniform(0.5, 2.0, (num_arms, 1)), (num_arms, 60))
        played = trace(GNA(sampling="track", estimator="mean", tie="first"), rewards, 60)
        seen: list[list[float]] = [[] for _ in range(num_arms)]
        for t, arm in enumerate(played.arms):
            if t >= 2 * num_arms:
                means = [np.mean(one) for one in seen]
                w = shares([np.std(one, ddof=1) for one in seen], int(np.argmax(means)))
                assert arm == int(np.argmax([t * w[a] - len(seen[a]) for a in range(num_arms)]))
            seen[arm].append(rewards[arm][len(seen[arm]) % 60])
        assert played.recommendation == int(np.argmax([np.mean(one) for one in seen]))


def test_the_estimate_is_that_of_the_transcription(trace: Play) -> None:
    # The arms drawn are random; given them, the weights and the estimates follow.
    for seed in range(20):
        rewards = np.random.default_rng(seed).normal(0.0, [[1.0], [2.0], [0.7]], (3, 50))
        played = trace(GNA(), rewards, 40, seed=seed)
        seen: list[list[float]] = [[], [], []]
        psi = np.zeros(3)
        for t, arm in enumerate(played.arms):
            reward = rewards[arm][len(seen[arm])]
            if t >= 6:
                means = np.array([np.mean(one) for one in seen])
                w = shares([np.std(one, ddof=1) for one in seen], int(means.argmax()))
                psi += means
                psi[arm] += (reward - means[arm]) / w[arm]
            seen[arm].append(reward)
        assert played.recommendation == int(psi.argmax())


def test_draws_have_the_shares() -> None:
    # Deviations 1 and 3 estimated from many pulls: a quarter of the draws are of the first arm.
    runs, budget = 400, 1000
    bandit = GaussianBandit(np.tile([0.1, 0.0], (runs, 1)), np.tile([1.0, 9.0], (runs, 1)))
    for agent in (NAAIPW(), GNA(), NAAIPW(sampling="track", estimator="mean")):
        agent.reset(ProblemInfo(2, budget, runs), np.random.default_rng(0))
        pulls = play_blocks(agent, bandit, budget, np.random.default_rng(1)).pulls
        assert pulls[:, 0].mean() / budget == pytest.approx(0.25, abs=0.01)


def test_neyman_allocation_beats_equal_shares_where_variances_differ() -> None:
    # s = (1, 3), 200 pulls, gap 0.5: Phi(-0.5 / sqrt(1/100 + 9/100)) = 0.0569 of equal shares, and of Neyman's
    # Phi(-0.5 / sqrt(16 / 200)) = 0.0385.
    runs = 8000
    bandit = GaussianBandit(np.tile([0.5, 0.0], (runs, 1)), np.tile([1.0, 9.0], (runs, 1)))
    agent = NAAIPW(sampling="track", estimator="mean")
    agent.reset(ProblemInfo(2, 200, runs), np.random.default_rng(0))
    wrong = np.count_nonzero(play_blocks(agent, bandit, 200, np.random.default_rng(1)).recommendation)
    assert wrong / runs == pytest.approx(0.0385, abs=5 * math.sqrt(0.0385 / runs))


def test_errors() -> None:
    for agent, error, message in (
        (NAAIPW(), AgentError, "NA-AIPW is for 2 arms, and there are 3: use an agent for any number of arms"),
        (GNA(sampling="all"), ParameterError, "sampling of GNA must be 'random' or 'track', not 'all'"),
        (GNA(estimator="ipw"), ParameterError, "estimator of GNA must be 'aipw' or 'mean', not 'ipw'"),
        (GNA(sampling="track"), ParameterError, "GNA with sampling='track' draws no random arms"),
    ):
        with pytest.raises(error, match=message):
            agent.reset(ProblemInfo(3, 100))
