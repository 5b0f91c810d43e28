"""The measured probability of error is not above the proved bound.

``TABLE`` has a line for each agent: how to make it, its bound, and the instances to measure on. The budget is about the
smallest at which the bound is below ``TARGET``, so that the comparison says something.

Over all lines and instances, the chance that a bound which holds is called violated is at most ``FALSE_ALARM``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from bai_gym.agents import UCBE, Agent, GapE, SequentialHalving, SHVar, SuccessiveRejects, UGapEb
from bai_gym.analysis.intervals import clopper_pearson
from bai_gym.bandits import Bandit, BernoulliBandit, GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.problems import ProblemInfo
from bai_gym.tasks import BestArm
from bai_gym.theory import BOUNDS
from bai_gym.theory.bounds import Bound

FALSE_ALARM = 1e-6
TARGET = 0.9
Sampler = Callable[[np.random.Generator], Bandit]


@dataclass(frozen=True)
class Line:
    """One agent.

    Attributes:
        make: Makes the agent, with the parameters that its bound is for.
        bound: Called with means, variances and budget.
        sample: Draws an instance.
        instances: How many.
        runs: Episodes on each.
    """

    make: Callable[[], Agent]
    bound: Bound | Callable[..., object]
    sample: Sampler
    instances: int = 5
    runs: int = 20_000


def bernoulli(rng: np.random.Generator) -> Bandit:
    """Two to five arms; the best is better by a tenth at least."""
    means = rng.random(int(rng.integers(2, 6)))
    best = means.argmax()
    others = np.delete(means, best)
    return BernoulliBandit(np.insert(np.minimum(others, means[best] - 0.1).clip(0.0), best, max(means[best], 0.1)))


def clear(rng: np.random.Generator) -> Bandit:
    """Two arms, one nearly always 1, one nearly always 0, in any order."""
    return BernoulliBandit(rng.permutation([rng.uniform(0.95, 1.0), rng.uniform(0.0, 0.05)]))


def gaussian(rng: np.random.Generator) -> Bandit:
    """Two to nine arms of unequal variances; the best is better by a quarter at least."""
    size = int(rng.integers(2, 10))
    means = rng.random(size)
    means[rng.integers(size)] = 1.25
    return GaussianBandit(means, rng.uniform(0.1, 1.0, size))


TABLE = {
    "SH": Line(lambda: SequentialHalving(rounding="equal"), BOUNDS["SH"], bernoulli),
    "SHVar": Line(SHVar, BOUNDS["SHVar"], gaussian),
    "SR": Line(SuccessiveRejects, BOUNDS["SR"], bernoulli),
    "UCB-E": Line(lambda: UCBE(**BOUNDS["UCB-E"].parameters), BOUNDS["UCB-E"], clear, 2, 5000),
    "UGapEb": Line(lambda: UGapEb(**BOUNDS["UGapEb"].parameters), BOUNDS["UGapEb"], clear, 5, 5000),
    "GapE": Line(lambda: GapE(**BOUNDS["GapE"].parameters), BOUNDS["GapE"], clear, 2, 1000),
}
COMPARISONS = sum(line.instances for line in TABLE.values())


def smallest_budget(line: Line, bandit: Bandit) -> tuple[int, float]:
    """Return a budget at which the bound is below ``TARGET``, within a tenth of the smallest such, and the bound."""
    budget = 16  # in steps of 16, for integer numbers of pulls in two stages of up to four arms
    while budget < 10**6:
        value = float(line.bound(bandit.means[0], bandit.variances[0], budget))  # type: ignore[arg-type]
        if value < TARGET:
            return budget, value
        budget += max(budget // 10 // 16, 1) * 16
    raise AssertionError("no budget below a million")


def errors(agent: Agent, bandit: Bandit, budget: int, runs: int, seed: int) -> int:
    """Return the number of wrong recommendations in ``runs`` episodes on one instance."""
    batch = bandit.select(np.zeros(runs, np.int64))
    rewards, own = (np.random.default_rng([seed, stream]) for stream in range(2))
    agent.reset(ProblemInfo(batch.num_arms, budget, runs, truth=batch, knows=agent.knows), own)
    recommended = play_blocks(agent, batch, budget, rewards).recommendation
    return runs - int(BestArm().correct(batch.means, recommended).sum())


@pytest.mark.parametrize("name", TABLE)
def test_measured_errors_are_not_above_the_bound(name: str) -> None:
    line, rng = TABLE[name], np.random.default_rng(20240)
    for instance in range(line.instances):
        bandit = line.sample(rng)
        budget, bound = smallest_budget(line, bandit)
        count = errors(line.make(), bandit, budget, line.runs, 20241 + instance)
        # Only the lower limit is used: half of the complement of the level is the chance of one false alarm.
        lower, _ = clopper_pearson(count, line.runs, 1 - 2 * FALSE_ALARM / COMPARISONS)
        assert lower <= bound, (bandit.means[0], budget, count)
