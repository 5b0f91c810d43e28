"""The measured probability of error is not above the proved bound, at a budget where that is below 0.9.

Over all agents and instances, the chance that a bound which holds is called violated is at most ``FALSE_ALARM``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.analysis.intervals import clopper_pearson
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm
from bai_gym.theory import BOUNDS

FALSE_ALARM = 1e-6


def bernoulli(rng: np.random.Generator) -> Bandit:
    """Two to five arms; the best is better by a tenth at least."""
    means = rng.random(int(rng.integers(2, 6)))
    means[0] = max(means.max(), 0.1)
    means[1:] = np.minimum(means[1:], means[0] - 0.1).clip(0.0)
    return BernoulliBandit(rng.permutation(means))


def clear(rng: np.random.Generator) -> Bandit:
    """Two arms, one nearly always 1, one nearly always 0, in any order."""
    return BernoulliBandit(rng.permutation([rng.uniform(0.95, 1.0), rng.uniform(0.0, 0.05)]))


def gaussian(rng: np.random.Generator) -> Bandit:
    """Two to nine arms of unequal variances; the best is better by a quarter at least."""
    means = rng.random(int(rng.integers(2, 10)))
    means[rng.integers(means.size)] = 1.25
    return GaussianBandit(means, rng.uniform(0.1, 1.0, means.size))


# How instances are drawn, their number, and episodes on each.
TABLE: dict[str, tuple[Callable[[np.random.Generator], Bandit], int, int]] = {
    "SH": (bernoulli, 5, 20_000),
    "SHVar": (gaussian, 5, 20_000),
    "SR": (bernoulli, 5, 20_000),
    "UCB-E": (clear, 2, 2000),
    "UGapEb": (clear, 5, 2000),
    "GapE": (clear, 2, 1000),
}
COMPARISONS = sum(instances for _, instances, _ in TABLE.values())


@pytest.mark.parametrize("name", TABLE)
def test_measured_errors_are_not_above_the_bound(name: str) -> None:
    draw, instances, runs = TABLE[name]
    bound, rng = BOUNDS[name], np.random.default_rng(20240)
    for _ in range(instances):
        bandit, budget = draw(rng), 16
        while (limit := float(bound(bandit.means[0], bandit.variances[0], budget))) >= 0.9 or np.isnan(limit):
            budget += 1 + budget // 20
        agent, batch = agents.make(name, **bound.parameters), bandit.select(np.zeros(runs, np.int64))
        agent.reset(ProblemInfo(batch.num_arms, budget, runs, truth=batch, knows=agent.knows), rng)
        recommended = play_blocks(agent, batch, budget, rng).recommendation
        count = runs - int(BestArm().correct(batch.means, recommended).sum())
        # Only the lower limit is used: half of the complement of the level is the chance of one false alarm.
        lower, _ = clopper_pearson(count, runs, 1 - 2 * FALSE_ALARM / COMPARISONS)
        assert lower <= limit, (bandit.means[0], budget, count)
