"""A kind of arms of one's own: one file outside the library, and agents play it like any other, in compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import pytest
from scipy.stats import ks_2samp

from bai_gym.agents import OCBA, SH, UCBE
from bai_gym.bandits import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.benchmark.rollout import play_blocks, play_steps
from bai_gym.envs.vector import BestArmVectorEnv
from bai_gym.problems import FixedProblem, ProblemInfo
from bai_gym.statistics import FloatArray, IntArray, Statistics

pytestmark = pytest.mark.usefixtures("compiled")


class LaplaceArms(NamedTuple):
    """Means and scales, ``(N, K)``."""

    means: FloatArray
    scales: FloatArray


def draw_laplace(arms: LaplaceArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward: a difference of exponential variables, unlike in :meth:`LaplaceBandit.pull`."""
    difference = rng.standard_exponential() - rng.standard_exponential()
    return arms.means[n, arm] + arms.scales[n, arm] * difference


class LaplaceBandit(Bandit):
    """Rewards of Laplace distributions, of variance 2 scale^2; ``means`` and ``scales`` are ``(N, K)``."""

    def __init__(self, means: FloatArray, scales: FloatArray) -> None:
        self.means, self.scales, self.variances = means, scales, 2.0 * scales**2

    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return rng.laplace(self.means.take(flat), self.scales.take(flat))

    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        rewards = self.pull(np.repeat(np.arange(self.means.size)[flat], counts), rng)
        first = np.cumsum(counts) - counts
        means = np.add.reduceat(rewards, first) / counts
        squares = np.add.reduceat((rewards - np.repeat(means, counts)) ** 2, first)
        return Statistics(counts, means, squares / np.maximum(counts - 1, 1))

    def draws(self) -> Draws | None:
        return Draws(draw_laplace, LaplaceArms(self.means, self.scales))

    def select(self, rows: IntArray) -> Self:
        return type(self)(self.means[rows], self.scales[rows])

    def replace(self, rows: IntArray, other: Self) -> None:
        for name in ("means", "scales", "variances"):
            getattr(self, name)[rows] = getattr(other, name)


class PulledLaplaceBandit(LaplaceBandit):
    """The same arms where loops cannot draw from them."""

    def draws(self) -> Draws | None:
        return None


EPISODES, BUDGET = 3000, 80
MEANS, SCALES = np.array([[1.0, 0.8, 0.6, -1.0]]), np.array([[1.0, 0.5, 1.5, 0.7]])
AGENTS: list[Any] = [UCBE(a=8.0, b=1.0), SH(), OCBA()]


def reset(agent: Any, bandit: Bandit) -> None:
    info = ProblemInfo(4, BUDGET, EPISODES, truth=bandit, knows=agent.knows)
    agent.reset(info, np.random.default_rng(1))


def by_blocks(agent: Any, kind: type[LaplaceBandit]) -> Statistics:
    bandit = kind(MEANS, SCALES).select(np.zeros(EPISODES, np.int64))
    reset(agent, bandit)
    # Rewards of their own: what is compared is independent.
    rng = np.random.default_rng([2, kind is LaplaceBandit])
    return play_blocks(agent, bandit, BUDGET, rng).statistics


def in_steps(agent: Any) -> Statistics:
    env = BestArmVectorEnv(FixedProblem(LaplaceBandit(MEANS, SCALES)), EPISODES, BUDGET, shuffle=False)
    observation, _ = env.reset(seed=3)
    reset(agent, LaplaceBandit(MEANS, SCALES).select(np.zeros(EPISODES, np.int64)))
    return play_steps(agent.act, env, observation).statistics


def test_agents_play_them_alike_in_loops_by_pulls_and_in_steps() -> None:
    names = ("pulls", "means", "variances")
    p_values: list[float] = []
    for agent in AGENTS:
        looped = by_blocks(agent, LaplaceBandit)
        for other in (by_blocks(agent, PulledLaplaceBandit), in_steps(agent)):
            assert (looped.pulls.sum(axis=1) == BUDGET).all() and (looped.means != other.means).any()
            for name in names if agent.uses_variances else names[:2]:
                for arm in range(4):
                    one, two = (np.round(getattr(part, name)[:, arm], 9) for part in (looped, other))
                    p_values.append(float(ks_2samp(one, two, method="asymp").pvalue))
    assert min(p_values) * len(p_values) > 0.001
