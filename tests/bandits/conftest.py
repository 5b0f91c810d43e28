"""Bandits of every kind of the core, and the ways to play them, for the tests that all of them must pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from bai_gym.bandits import (
    Bandit,
    BernoulliBandit,
    EmpiricalBandit,
    FeatureBandit,
    GaussianBandit,
    PoissonBandit,
    SampleTable,
)
from bai_gym.sampling import Rule, Sequential, State
from bai_gym.sampling.engine import Engine
from bai_gym.statistics import FloatArray, Statistics

Play = Callable[[Bandit, Sequence[Sequence[int]], np.random.Generator], Statistics]


def gaussian() -> GaussianBandit:
    return GaussianBandit([[0.0, 5.0, -1.0], [2.0, 0.5, 1.0]], [[1.0, 0.25, 4.0], [0.5, 0.0, 9.0]])


def bernoulli() -> BernoulliBandit:
    return BernoulliBandit([[0.5, 0.9, 0.05], [0.3, 1.0, 0.0]])


def empirical() -> EmpiricalBandit:
    rewards = np.array([1.0, 2.0, 2.0, 5.0, 7.5, 7.5, 0.0, 1.0, 100.0], np.float32)
    table = SampleTable.of(rewards, np.array([0, 4, 6, 8, 9]))  # arms 1 2 2 5, 7.5 7.5, 0 1, 100
    return EmpiricalBandit(table, np.array([[0, 1, 2], [2, 3, 0]]))


def poisson() -> PoissonBandit:
    return PoissonBandit([[0.2, 3.0, 40.0], [1.0, 0.0, 500.0]])


def with_features() -> FeatureBandit:
    return FeatureBandit(
        GaussianBandit([[1.0, 0.5, 2.0], [-2.0, 1.0, 0.0]], 2.5), [[1.0, 0.0], [-0.6, 0.8], [0.5, 2.0]]
    )


@pytest.fixture(params=[gaussian, bernoulli, empirical, poisson, with_features], ids=lambda make: make.__name__)
def make_bandit(request: pytest.FixtureRequest) -> Callable[[], Bandit]:
    """A function that makes a bandit of two instances of three arms, some of them without variance."""
    return request.param


def by_blocks(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    total = Statistics.zeros(bandit.means.shape)
    for block in blocks:
        part = bandit.pull_block(np.tile(block, (bandit.batch, 1)), rng)
        made = np.flatnonzero(part.pulls)
        total.merge(made, Statistics(part.pulls.take(made), part.means.take(made), part.variances.take(made)))
    return total


def by_pulls(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    total = Statistics.zeros(bandit.means.shape)
    for block in blocks:
        for arm, count in enumerate(block):
            flat = np.arange(bandit.batch) * bandit.num_arms + arm
            for _ in range(count):
                total.add(flat, bandit.pull(flat, rng))
    return total


def fewest_pulls(pulls: float, mean: float, variance: float, s: State) -> float:
    return -pulls


def by_loops(bandit: Bandit, blocks: Sequence[Sequence[int]], rng: np.random.Generator) -> Statistics:
    """Play the first block at once, if the arms have equal counts, and the others by compiled code, arm by arm."""

    def never(rows: object, slots: object) -> FloatArray:
        raise AssertionError("rewards are drawn in compiled code")

    at_once = 1 if len({*blocks[0]}) == 1 else 0
    total = by_blocks(bandit, blocks[:at_once], rng)
    for block in blocks[at_once:]:
        for arm, count in enumerate(block):
            arms = np.full((bandit.batch, 1), arm)
            request = Sequential(Rule(index=fewest_pulls), count, "first", rng, arms=arms)
            engine = Engine(request, total.take(arms), int(total.pulls[0].sum()), None, variances=True)
            engine.advance(bandit.draws(), rng, count, never)
            for name in ("pulls", "means", "variances"):
                getattr(total, name)[:, arm] = getattr(engine.statistics, name)[:, 0]
    return total


@pytest.fixture
def ways(compiled: None) -> dict[str, Play]:
    """Functions that pull blocks of an arm's pulls in every episode, and return the statistics of all of them."""
    return {"blocks": by_blocks, "pulls": by_pulls, "loops": by_loops}
