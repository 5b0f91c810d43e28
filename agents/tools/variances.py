"""Estimates of variances by which pulls are decided: no arm is certain because its first rewards were equal.

Named by the parameter ``variance`` of agents:

- ``"jeffreys"``, for rewards 0 and 1: p (1 - p) with p = (S + 1/2) / (N + 1), S ones in N pulls, the posterior mean of
  p with Jeffreys' prior. After two zeros it is 5/36, and about 1 / (2 N) after N.
- ``"floor"``, for other rewards: the sample variance; while all rewards of an arm are equal, the average sample
  variance of the arms, divided by N. That is ((N - 1) v + w) / N, where the average w counts as one degree of freedom
  and v is 0. Rewards with a density are never equal, so nothing changes for them.
- ``"sample"``: the unbiased sample variance, as in papers.

None, the default, is ``"jeffreys"`` for binary rewards, else ``"floor"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.rewards import Rewards
from bai_gym.sampling import Episode, State, larger, total
from bai_gym.statistics import FloatArray, Statistics
from bai_gym.validation import choice

__all__ = [
    "VarianceState",
    "average_variance",
    "estimate_variances",
    "estimated_variance",
    "estimated_variances",
    "floored",
    "is_flat",
    "normal_assumption",
    "pool",
    "variance_choice",
    "variance_estimate",
]

ESTIMATES = ("sample", "floor", "jeffreys")
SAMPLE, FLOOR, JEFFREYS = range(3)
FLAT = 1e-20  # variances that are smaller than the average by such a factor are 0, but for rounding


class VarianceState(State):
    """What :func:`estimated_variance` uses."""

    estimate: int  # its place among ESTIMATES
    pooled: float  # average sample variance of the arms, for FLOOR


def estimated_variance(pulls: float, mean: float, variance: float, s: VarianceState) -> float:
    """Return the estimate of an arm's variance, given its sample mean and variance."""
    if s.estimate == JEFFREYS:
        p = (pulls * mean + 0.5) / (pulls + 1.0)
        return p * (1.0 - p)
    return floored(pulls, variance, s.pooled)


def floored(pulls: float, variance: float, pooled: float) -> float:
    """Return a sample variance, or a part of the average one if it is 0."""
    return pooled / pulls if is_flat(variance, pooled) else variance


def is_flat(variance: float, pooled: float) -> bool:
    """Return whether all rewards of an arm were equal, up to rounding: whether its sample variance is 0."""
    return variance <= FLAT * pooled


def pool(e: Episode, s: VarianceState) -> None:
    """Compute the average sample variance of all arms, for :func:`estimated_variance`."""
    if s.estimate == FLOOR:
        s.pooled = average_variance(e)


def average_variance(e: Episode) -> float:
    """Return the average sample variance of all arms."""
    return total(e.variance) / e.num_arms


def estimate_variances(e: Episode, s: VarianceState, least: float, variances: FloatArray) -> None:
    """Set the estimates of the variances of all arms, at least a bound, in loops that become vector instructions."""
    pool(e, s)
    estimate, pooled = s.estimate, s.pooled
    if estimate == JEFFREYS:
        for arm in range(e.num_arms):
            p = (e.pulls[arm] * e.mean[arm] + 0.5) / (e.pulls[arm] + 1.0)
            variances[arm] = larger(p * (1.0 - p), least)
    else:
        for arm in range(e.num_arms):
            variances[arm] = larger(floored(e.pulls[arm], e.variance[arm], pooled), least)


def estimated_variances(statistics: Statistics, estimate: int) -> FloatArray:
    """Return the ``(N, K)`` estimates of :func:`estimated_variance`, for arms with at least one pull."""
    pulls, variances = statistics.pulls, statistics.variances
    if estimate == JEFFREYS:
        p = (pulls * statistics.means + 0.5) / (pulls + 1.0)
        return np.asarray(p * (1.0 - p))
    pooled = variances.mean(axis=-1, keepdims=True) * (estimate == FLOOR)
    return np.where(variances <= FLAT * pooled, pooled / pulls, variances)


def variance_choice(agent: Any, rewards: Rewards) -> dict[str, Any]:
    """Return the choice of ``variance``, where it is another one than that of rewards of which nothing is known."""
    return {"variance": "jeffreys"} if rewards.kind == "binary" else {}


def normal_assumption(agent: Any, bandit: Bandit) -> tuple[str, ...]:
    """Return a note where the allocation of an agent is derived for normal rewards, and those of a bandit are not."""
    if bandit.rewards.kind == "real":
        return ()
    return (f"{agent.name}: its allocation is derived for normal rewards, and these are {bandit.rewards}",)


def variance_estimate(agent: Any) -> int:
    """Return the place of the agent's ``variance`` among ESTIMATES, checked."""
    word = agent.setting("variance")
    return FLOOR if word is None else ESTIMATES.index(choice(word, ESTIMATES, f"variance of {agent.name}"))
