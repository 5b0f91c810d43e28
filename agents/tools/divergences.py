"""Kullback-Leibler divergences d(m, q) of rewards with means m and q, and bounds that follow, for compiled rules.

Rewards are Bernoulli, or Gaussian of known or sample variances: :class:`bai_gym.agents.tools.posteriors.RewardFamily`.
Optimal proportions need Bernoulli means that are neither 0 nor 1: :func:`inside` moves them.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.tools.posteriors import BERNOULLI, STUDENT, RewardFamily
from bai_gym.agents.tools.variances import floored
from bai_gym.sampling import Episode
from bai_gym.theory.proportions import bernoulli_divergence

__all__ = [
    "bernoulli_bound_near",
    "bernoulli_divergence",
    "bernoulli_upper_bound",
    "divergence",
    "divergence_inside",
    "inside",
    "inside_of",
    "variance_of",
]

INTERIOR = 1e-6  # distance of Bernoulli means from 0 and 1
TINY = 1e-300


def variance_of(e: Episode, s: RewardFamily, w: RewardFamily, arm: int) -> float:
    """Return the known variance of an arm or, for the family of unknown ones, the biased sample variance."""
    if s.family == STUDENT:
        variance = floored(e.pulls[arm], e.variance[arm], s.pooled)
        return float(max(variance * (e.pulls[arm] - 1.0) / e.pulls[arm], TINY))
    return float(w.variances[arm])


def divergence(e: Episode, s: RewardFamily, w: RewardFamily, arm: int, q: float) -> float:
    """Return d(m, q) of an arm's sample mean m, for any q; infinite for Bernoulli rewards outside (0, 1)."""
    if s.family == BERNOULLI:
        if q <= 0.0 or q >= 1.0:
            return 0.0 if q == e.mean[arm] else np.inf
        return bernoulli_divergence(e.mean[arm], q)
    return gaussian_divergence(e, s, w, arm, q)


def gaussian_divergence(e: Episode, s: RewardFamily, w: RewardFamily, arm: int, q: float) -> float:
    """Return d(m, q) of an arm's sample mean m, for Gaussian rewards."""
    return float(0.5 * (e.mean[arm] - q) * (e.mean[arm] - q) / variance_of(e, s, w, arm))


def bernoulli_upper_bound(mean: float, level: float) -> float:
    """Return the largest q with kl(m, q) <= level, by Newton's method from above, where it stays.

    kl(m, q) is at least 2 (q - m)^2, and at least -H - (1 - m) log(1 - q) with the entropy H of m.
    """
    if mean >= 1.0:
        return 1.0
    entropy = -(1.0 - mean) * math.log(1.0 - mean) - (mean * math.log(mean) if mean > 0.0 else 0.0)
    q = min(mean + np.sqrt(0.5 * level), -math.expm1(-(level + entropy) / (1.0 - mean)))
    for _ in range(50):
        if q >= 1.0 or q <= mean:
            break
        step = (bernoulli_divergence(mean, q) - level) * q * (1.0 - q) / (q - mean)
        q -= step
        if step <= 1e-14:
            break
    return max(q, mean)


def bernoulli_bound_near(mean: float, level: float, start: float) -> float:
    """Return the q of :func:`bernoulli_upper_bound`, by Newton's method from a start near it, such as the last one.

    The error after a step is of the order of its square over (q - m) (1 - q): at the end, of 1e-10 times that.
    """
    q = start
    for _ in range(8):
        if not mean < q < 1.0:
            break
        step = (bernoulli_divergence(mean, q) - level) * q * (1.0 - q) / (q - mean)
        q -= step
        if abs(step) <= 1e-5 * (q - mean) * (1.0 - q):
            return q
    return bernoulli_upper_bound(mean, level)


def inside(mean: float) -> float:
    """Return a Bernoulli mean that is neither 0 nor 1."""
    return min(max(mean, INTERIOR), 1.0 - INTERIOR)


def inside_of(s: RewardFamily, mean: float) -> float:
    """Return a mean, moved inside for Bernoulli rewards."""
    return inside(mean) if s.family == BERNOULLI else mean


def divergence_inside(e: Episode, s: RewardFamily, w: RewardFamily, arm: int, q: float) -> float:
    """Return d(m, q) of an arm's sample mean m, which is moved inside, for a q inside."""
    if s.family == BERNOULLI:
        return bernoulli_divergence(inside(e.mean[arm]), q)
    return gaussian_divergence(e, s, w, arm, q)
