"""Samplers that choose one arm at a time from a known prior: PI-BAI can take its weights from their first pulls."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from bai_gym.agents.correlated.normal_prior import PriorAgent
from bai_gym.agents.tools.choosing import largest, spread_evenly
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["SAMPLERS", "leader_or_challenger", "warm_up"]

BETA = 0.5  # probability of pulling the leader


def thompson(agent: PriorAgent, posterior: GaussianPosterior) -> IntArray:
    """Return the ``(N,)`` arms of largest draw from the joint posterior of the means."""
    return largest(posterior.draw(agent.rng), np.zeros(agent.batch), posterior.pulls, agent.tie, agent.rng)


def t3c(agent: PriorAgent, posterior: GaussianPosterior) -> IntArray:
    """Return leaders, or the challengers of smallest transportation cost."""
    return leader_or_challenger(agent, posterior, np.zeros(posterior.mean.shape))


def tstci(agent: PriorAgent, posterior: GaussianPosterior) -> IntArray:
    """Return leaders, or the challengers of smallest transportation cost + log N_j."""
    return leader_or_challenger(agent, posterior, np.log(posterior.pulls))


def leader_or_challenger(agent: PriorAgent, posterior: GaussianPosterior, extra: FloatArray) -> IntArray:
    """Return the arm I of largest posterior mean m or, with probability 1/2, a challenger j, in each episode.

    The challenger is the other arm of smallest (m_I - m_j)^2 / (2 (sigma_I^2 / N_I + sigma_j^2 / N_j)) + extra_j.

    Args:
        agent: Whose noise, rule for ties and generator count.
        posterior: At least one pull N of every arm.
        extra: ``(N, K)``, added to the costs.

    Returns:
        ``(N,)``.
    """
    mean, rows = posterior.mean, np.arange(agent.batch)
    best = largest(mean, posterior.scale, posterior.pulls, agent.tie, agent.rng)
    spread = agent.noise / posterior.pulls
    cost = (mean[rows, best, None] - mean) ** 2 / (2.0 * (spread[rows, best, None] + spread)) + extra
    cost[rows, best] = np.inf
    other = largest(-cost, np.ones(agent.batch), posterior.pulls, agent.tie, agent.rng)
    return np.where(agent.rng.random(agent.batch) < BETA, best, other)


Sampler = Callable[[PriorAgent, GaussianPosterior], IntArray]

SAMPLERS = {"TS": (thompson, False), "T3C": (t3c, True), "TSTCI": (tstci, True)}
"""By name, and whether every arm is pulled before."""


def warm_up(agent: PriorAgent, sampler: str, pulls: int) -> Generator[Any, Any, IntArray]:
    """Make pulls one at a time by a sampler, and return ``(N, K)`` how often each arm was pulled.

    Args:
        agent: Its prior and noise make the posterior; where arms differ in their noise, the largest one counts.
        sampler: A key of :data:`SAMPLERS`.
        pulls: Their number, at least 1.
    """
    choose, each_first = SAMPLERS[sampler]
    first = min(agent.num_arms, pulls) if each_first else 0
    noise = agent.noise.max(axis=1)
    posterior = GaussianPosterior(agent.prior, noise, agent.batch, budget=pulls, draws=sampler == "TS")
    if first:
        counts = spread_evenly(agent.batch, agent.num_arms, first, agent.tie, agent.rng)
        statistics = yield Block(counts)
        posterior.add(counts, statistics.means)
    for _ in range(pulls - first):
        arms = choose(agent, posterior)
        statistics = yield Block.single(arms)
        posterior.observe(arms, statistics.means[:, 0])
    return posterior.pulls
