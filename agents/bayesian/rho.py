"""RHO, residual-horizon optimisation: before each batch of pulls it plans all pulls that are left."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, softmax
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import Count, Finite, Positive
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_mean, shuffled_arms, whole_counts
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["RHO", "Belief", "believe", "best_shares", "value"]

SHRINKAGE = 4.0  # degrees of freedom with which the pooled noise variance enters that of an arm
SMALLEST = 1e-9  # of variances, relative to those that were seen
NARROWEST = 1e-70  # of standard deviations, relative to the largest one or difference of means
LARGEST = 2.0**500  # of means, relative to the same
STEPS, RATE = 30, 0.4  # of Adam
DECAYS = 0.9, 0.999  # of Adam's averages
FLAT = 1e-7  # slopes far below this do not move Adam
LEAST_SHARE = 1e-4  # of an arm, where a search starts
REACH = 5.0  # standard deviations at which a normal distribution ends
NODES = 20  # of each half of the integral
FARTHEST = 30.0  # standard deviations, where Phi(-z) is still positive
NUMBERS_AT_ONCE = 40_000  # fit into the cache


@dataclass(kw_only=True)
class RHO(Agent):
    """Residual-horizon optimisation: plans all remaining pulls, makes the first part of them, and plans again.

    The means have independent normal posteriors. Before each epoch, the agent looks for the shares of the arms that
    would be best if all remaining pulls were made with them, without looking at rewards in between: those of the
    largest expected posterior mean of the recommended arm. The epoch's pulls are made with these shares. The arm of
    largest posterior mean is recommended.

    Paper: Che and Namkoong (2023), "Adaptive Experimentation at Scale: A Computational Framework for Flexible Batches"
    (arXiv 2303.11582). Differences: prior and noise are estimated if they are not given; the objective is an integral,
    computed by quadrature, in place of a Monte Carlo average; counts are rounded shares in place of random draws.

    Args:
        epochs: Number of epochs, at least 1; default 10. The first one pulls all arms equally.
        prior_mean: Mean of the normal prior of all means; None (default): estimated.
        prior_sd: Its standard deviation, above 0; None (default): estimated.
        sigma: Standard deviation of all rewards, above 0; None (default): each arm's is estimated.
    """

    epochs: Count = 10
    prior_mean: Finite | None = None
    prior_sd: Positive | None = None
    sigma: Positive | None = None

    name = "RHO"
    anytime = True

    @override
    def plan(self) -> Plan:
        """Pull all arms equally in the first epoch, then plan and pull, epoch after epoch."""
        sizes = epoch_sizes(self.budget, self.num_arms, self.epochs)
        yield first_block(self, sizes[0])
        order = shuffled_arms(self.batch, self.num_arms, self.tie, self.rng)
        shares = np.full(order.shape, 1.0 / self.num_arms)
        left = self.budget - sizes[0]
        for size in filter(None, sizes[1:]):
            belief = self._believe(self.statistics.take(order))
            shares = best_shares(belief, left, shares)
            yield Block(whole_counts(size * shares, size, self.tie, self.rng), order)
            left -= size
        return self.recommend(self._seen)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arms of largest posterior mean, of those that have been pulled."""
        statistics = Statistics.of(observation)
        means = self._believe(statistics).mean if statistics.pulls.all() else statistics.means
        return best_mean(Statistics(statistics.pulls, means, statistics.variances), self.tie, self.rng)

    def _believe(self, statistics: Statistics) -> Belief:
        """Return the posteriors in a unit of each episode, in which no square vanishes or overflows.

        No choice depends on the unit.
        """
        unit = unit_of(statistics, self.prior_mean, self.prior_sd, self.sigma)
        statistics = Statistics(statistics.pulls, statistics.means / unit, statistics.variances / unit / unit)
        mean = None if self.prior_mean is None else self.prior_mean / unit
        prior_sd = None if self.prior_sd is None else np.maximum(self.prior_sd / unit, NARROWEST)
        sigma = None if self.sigma is None else np.maximum(self.sigma / unit, NARROWEST)
        return believe(statistics, mean, prior_sd, sigma)


class Belief(NamedTuple):
    """Independent normal posteriors of the means, each ``(N, K)``.

    Attributes:
        mean: Posterior means.
        variance: Posterior variances.
        noise: Variances of the rewards.
    """

    mean: FloatArray
    variance: FloatArray
    noise: FloatArray


Values = tuple[FloatArray, FloatArray]


def epoch_sizes(budget: int, num_arms: int, epochs: int) -> list[int]:
    """Return the pulls of each epoch: equally many, but in the first one at least two of each arm."""
    first = min(max(2 * num_arms, -(-budget // epochs)), budget)
    ends = np.rint(np.linspace(first, budget, epochs)).astype(np.int64)
    ends[-1] = budget
    return [int(size) for size in np.diff(ends, prepend=0)]


def unit_of(
    statistics: Statistics, prior_mean: float | None, prior_sd: float | None, sigma: float | None
) -> FloatArray:
    """Return ``(N, 1)`` units, powers of 2: the largest difference of means or standard deviation is 1 to 2 of them.

    Where means are more than ``LARGEST`` times as large, these are.
    """
    means = statistics.means
    centre = means[:, :1] if prior_mean is None else prior_mean
    sizes = np.concatenate([np.abs(means - centre), np.sqrt(statistics.variances), np.abs(means) / LARGEST], axis=1)
    unit = max(prior_sd or 0.0, sigma or 0.0)
    largest = np.maximum(sizes.max(axis=1, keepdims=True), unit)
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(largest > 0.0, largest, 1.0))[1] - 1))


def believe(
    statistics: Statistics,
    prior_mean: float | FloatArray | None = None,
    prior_sd: float | FloatArray | None = None,
    sigma: float | FloatArray | None = None,
) -> Belief:
    """Return the posteriors; what is None is estimated from the data of all arms (empirical Bayes).

    What is given is one number, or ``(N, 1)``.

    Args:
        statistics: ``(N, K)``, at least one pull of each arm.
        prior_mean: Mean of the prior. Estimate: the average of the sample means.
        prior_sd: Standard deviation of the prior. Estimate: what the variance of the sample means exceeds that of their
            noise by (method of moments), but at least the standard error of that difference where all means are equal.
        sigma: Standard deviation of the rewards. Estimate of an arm's variance: its sample variance, and the pooled one
            with the weight of 4 degrees of freedom.
    """
    pulls, means = statistics.pulls, statistics.means
    num_arms = pulls.shape[1]
    centre = means.mean(axis=1, keepdims=True) if prior_mean is None else np.broadcast_to(prior_mean, (len(pulls), 1))
    spread = ((means - centre) ** 2).sum(axis=1, keepdims=True) / (num_arms - (prior_mean is None))
    if sigma is None:
        freedom = pulls - 1
        pooled = (freedom * statistics.variances).sum(axis=1, keepdims=True)
        pooled /= np.maximum(freedom.sum(axis=1, keepdims=True), 1)
        seen = spread + pooled
        least = SMALLEST * np.where(seen > 0.0, seen, 1.0)
        noise = (freedom * statistics.variances + SHRINKAGE * pooled) / (freedom + SHRINKAGE)
        noise = np.maximum(noise, np.maximum(least, NARROWEST**2))
    else:
        noise = np.broadcast_to(sigma**2, pulls.shape)
    if prior_sd is None:
        of_noise = (noise / pulls).mean(axis=1, keepdims=True)
        prior = np.maximum(spread - of_noise, math.sqrt(2.0 / (num_arms - 1)) * of_noise)
    else:
        prior = np.broadcast_to(prior_sd**2, centre.shape)
    weight = pulls * prior / (pulls * prior + noise)
    return Belief(centre + weight * (means - centre), prior * noise / (pulls * prior + noise), noise)


def best_shares(belief: Belief, left: int, last: FloatArray) -> FloatArray:
    """Return the ``(N, K)`` shares of largest value if all remaining pulls are made with them.

    The value is not concave, so the ascent has three starts: shares that fall with an arm's distance from the best one,
    those of the last epoch, and equal shares.

    Args:
        belief: The posteriors, ``(N, K)``.
        left: Number of remaining pulls.
        last: ``(N, K)`` shares of the last epoch.
    """
    unit = np.sqrt(belief.variance.max(axis=1, keepdims=True))
    belief = Belief(belief.mean / unit, belief.variance / unit**2, belief.noise / unit**2)
    behind = belief.mean.max(axis=1, keepdims=True) - belief.mean
    starts = np.stack([np.exp(-0.5 * behind**2), last, np.ones(last.shape)], axis=1)  # (N, S, K)
    batch, tries, num_arms = starts.shape
    found = np.empty(last.shape)
    for part in parts(batch, tries * num_arms * 2 * NODES):
        rows = Belief(*(np.repeat(array[part], tries, axis=0) for array in belief))
        shares, values = ascend(rows, left, starts[part].reshape(-1, num_arms))
        best = values.reshape(-1, tries).argmax(axis=1)
        found[part] = shares.reshape(-1, tries, num_arms)[np.arange(len(best)), best]
    return found


def ascend(belief: Belief, left: int, start: FloatArray) -> Values:
    """Return ``(R, K)`` shares of a large value and these ``(R,)`` values, by Adam on the logits of the shares."""
    logits = np.log(np.maximum(start / start.sum(axis=1, keepdims=True), LEAST_SHARE))
    average, square = np.zeros(logits.shape), np.zeros(logits.shape)
    for step in range(1, STEPS + 1):
        shares = softmax(logits, axis=1)
        _, slope = value(belief, left * shares)
        slope -= shares * slope.sum(axis=1, keepdims=True)
        average += (1.0 - DECAYS[0]) * (slope - average)
        square += (1.0 - DECAYS[1]) * (slope**2 - square)
        size = np.sqrt(square / (1.0 - DECAYS[1] ** step)) + FLAT
        logits += RATE * (1.0 - (step - 1) / STEPS) * average / ((1.0 - DECAYS[0] ** step) * size)
    shares = softmax(logits, axis=1)
    return shares, value(belief, left * shares)[0]


def value(belief: Belief, pulls: FloatArray) -> Values:
    """Return the ``(R,)`` expected largest posterior means after more pulls, and their derivatives.

    Args:
        belief: The posteriors, ``(R, K)``.
        pulls: ``(R, K)`` real numbers of pulls, positive.

    Returns:
        The values, and their ``(R, K)`` derivatives by the logarithms of the pulls.
    """
    resolved = belief.variance * pulls / (belief.noise + belief.variance * pulls)  # the share of a variance
    change = np.sqrt(belief.variance * resolved)
    largest, slope = expected_maximum(belief.mean, change)
    return largest, 0.5 * (1.0 - resolved) * change * slope


def expected_maximum(mean: FloatArray, change: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``(R,)`` V = E max_a (m_a + tau_a Z_a), Z_a independent standard normal, and ``(R, K)`` dV / dtau_a.

    V = high - integral from low to high of prod_a Phi((x - m_a) / tau_a) dx. Below low one factor is 0, above high all
    are 1. Where tau_a is small, a factor is almost a step; the largest m, where the two halves of the integral meet,
    and low are the only places at which such a step matters, and there the nodes crowd.

    Args:
        mean: ``(R, K)`` m.
        change: ``(R, K)`` tau, positive.
    """
    nodes, masses = crowded_nodes(NODES)
    top = mean.max(axis=1, keepdims=True)
    low = (mean - REACH * change).max(axis=1, keepdims=True)
    high = (mean + REACH * change).max(axis=1, keepdims=True)
    x = np.concatenate([low + (top - low) * nodes, top + (high - top) * nodes], axis=1)  # (R, X)
    weights = np.concatenate([(top - low) * masses, (high - top) * masses], axis=1)
    z = np.clip((x[:, None] - mean[..., None]) / change[..., None], -FARTHEST, FARTHEST)  # (R, K, X)
    cdf = ndtr(z)
    weights *= cdf.prod(axis=1)
    slope = (z * hazard(z, cdf) * weights[:, None]).sum(axis=2) / change
    return high[:, 0] - weights.sum(axis=1), slope


@cache
def crowded_nodes(number: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of an integral from 0 to 1: Gauss-Legendre, in u with x = u^2 (3 - 2 u)."""
    nodes, weights = np.polynomial.legendre.leggauss(number)
    u = 0.5 * (1.0 + nodes)
    return u * u * (3.0 - 2.0 * u), 3.0 * u * (1.0 - u) * weights


def parts(rows: int, numbers: int) -> Iterator[slice]:
    """Yield slices of rows with so many numbers each, that fit into the cache."""
    size = max(1, NUMBERS_AT_ONCE // numbers)
    for at in range(0, rows, size):
        yield slice(at, at + size)


def hazard(z: FloatArray, cdf: FloatArray) -> FloatArray:
    """Return phi(z) / Phi(z), the derivative of log Phi(z)."""
    return np.asarray(np.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * cdf))
