"""NM and KN on common items: by hand, and errors and pulls where they are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtrit

from bai_gym.agents import KN, NM
from bai_gym.bandits import FeatureBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.paired import PairedGaussianBandit
from bai_gym.problems import ProblemInfo
from bai_gym.theory import nelson_matejcik_constant

Play = Callable[..., Any]


def rewards(episodes: int, arms: int, items: int) -> Any:
    rng = np.random.default_rng(arms)
    X = rng.normal(size=(episodes, items, arms)) + 2.0 * rng.normal(size=(episodes, items, 1))
    return X + np.linspace(0.6, 0.0, arms)


@pytest.mark.each("variance", ["spherical", "max"])
def test_two_stages_are_those_of_plain_python(both: Play, variance: str) -> None:
    # S^2 by the formula of a two-way table without interaction.
    K, n0, zone, delta = 3, 4, 1.0, 0.2
    X = rewards(15, K, 400)
    played = both(NM(delta=delta, indifference=zone, first_pulls=n0, variance=variance), X, 1200)
    lengths = set()
    for number, x in enumerate(X):
        first = x[:n0]
        if variance == "spherical":
            g = nelson_matejcik_constant(K, 1 - delta, n0)
            rest = first - first.mean(axis=0) - first.mean(axis=1, keepdims=True) + first.mean()
            square = 2.0 * (rest**2).sum() / ((K - 1) * (n0 - 1))
        else:
            g = -stdtrit(n0 - 1, delta / (K - 1))
            square = max(np.var(first[:, i] - first[:, j], ddof=1) for i in range(K) for j in range(i))
        items = max(n0, int(np.ceil(square * g**2 / zone**2)))
        assert played.pulls[number].tolist() == [items] * K, number
        assert played.recommendation[number] == x[:items].mean(axis=0).argmax(), number
        lengths.add(items)
    assert len(lengths) > 3


def test_constant_by_simulation() -> None:
    # The largest of nine differences from a common normal variable, over a chi-square estimate: 100,000 draws.
    rng, size = np.random.default_rng(0), 100_000
    largest = (rng.standard_normal((size, 9)).max(axis=1) - rng.standard_normal(size)) / np.sqrt(2.0)
    g = nelson_matejcik_constant(10, 0.9, 10)
    below = (largest / np.sqrt(rng.chisquare(81, size) / 81) <= g).mean()
    assert below == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / size))
    # With two arms it is a quantile of Student's t.
    assert nelson_matejcik_constant(2, 0.95, 10) == pytest.approx(-stdtrit(9, 0.05), abs=1e-6)


def test_a_note_says_that_variances_of_differences_are_unequal() -> None:
    means, cluster = [0.3, 0.0, 0.0, 0.0], np.full((4, 4), 0.9)
    cluster[0], cluster[:, 0] = 0.0, 0.0
    np.fill_diagonal(cluster, 1.0)
    assert not NM(indifference=0.3).unmet_assumptions(PairedGaussianBandit(means, 2.0, correlation=0.7))
    for bandit, ends in (
        (PairedGaussianBandit(means, correlation=cluster), "from 0.2 to 2;"),
        (PairedGaussianBandit([means, means], [[2.0] * 4, [2.0, 1.0, 1.0, 1.0]], correlation=0.0), "from 2 to 3;"),
    ):
        for seen in (bandit, FeatureBandit(bandit, np.eye(4))):
            (note,) = NM(indifference=0.3).unmet_assumptions(seen)
            assert ends in note
            assert not NM(indifference=0.3, variance="max").unmet_assumptions(seen)


@pytest.mark.slow
def test_errors_and_pulls_in_the_slippage_configuration() -> None:
    # Ten arms, a gap and a zone of 0.3, delta = 0.1, correlation 0.5; 4,000 runs, four standard errors.
    runs = 4000
    bandit = PairedGaussianBandit([0.3] + [0.0] * 9, 1.0, correlation=0.5).select(np.zeros(runs, np.int64))
    for agent, error, pulls, slack in (
        (NM(indifference=0.3), 0.100, 510, 8),
        (KN(indifference=0.3, paired=True), 0.061, 421, 12),
    ):
        agent.reset(ProblemInfo(10, 10**6, runs, truth=bandit), np.random.default_rng(0))
        played = play_blocks(agent, bandit, 10**6, np.random.default_rng(1))
        errors, spent = (played.recommendation != 0).mean(), played.pulls.sum(axis=1).mean()
        assert errors == pytest.approx(error, abs=4 * np.sqrt(0.09 / runs)), agent.name
        assert spent == pytest.approx(pulls, abs=slack), agent.name
