"""AdaHedge-BR: pure exploration as a game, in which a learner of proportions plays against best responses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.fws import mean_divergence, meeting_mean
from bai_gym.agents.fixed_confidence.kl_lucb import bernoulli_upper_bound
from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    FAMILY,
    FIRST,
    ConfidenceAgent,
    bernoulli_divergence,
    is_separated,
    mean_of,
    own_term,
    variance_of,
)
from bai_gym.agents.fixed_confidence.track_and_stop import inside
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.sampling import Episode, Rule, leader, noinline, section
from bai_gym.statistics import FloatArray

__all__ = ["AdaHedgeBR"]

# Rows of the memory: w, sums of w, scores, gains, D of the learner of each recommendation; then K rows of cumulated
# losses.
W, TOTALS, SCORES, GAINS, D, ROW_COUNT = range(6)
FIRST_D = 0.01


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, number * e.pulls.size, e.pulls.size)


def least(values: FloatArray) -> float:
    """Return the smallest value."""
    smallest = np.inf
    for k in range(values.size):
        smallest = min(smallest, values[k])
    return smallest


def exponential_weights(losses: FloatArray, rate: float, w: FloatArray) -> None:
    """Write the weights in proportion to exp(-rate loss)."""
    lowest, total = least(losses), 0.0
    for k in range(w.size):
        w[k] = math.exp(-rate * (losses[k] - lowest))
        total += w[k]
    for k in range(w.size):
        w[k] /= total


def mix_loss(losses: FloatArray, rate: float) -> float:
    """Return -log(mean of exp(-rate loss)) / rate."""
    lowest, total = least(losses), 0.0
    for k in range(losses.size):
        total += math.exp(-rate * (losses[k] - lowest))
    return lowest - math.log(total / losses.size) / rate


@noinline
def optimistic_gain(e: Episode, arm: int, q: float, level: float) -> float:
    """Return the largest of d(U, q), d(L, q) and log(t) / N, with the bounds U and L of the arm at level log t."""
    n, m = e.pulls[arm], e.mean[arm]
    if e.parameters[FAMILY] == BERNOULLI:
        q = inside(q)
        high, low = bernoulli_upper_bound(m, level / n), 1.0 - bernoulli_upper_bound(1.0 - m, level / n)
        return max(bernoulli_divergence(high, q), bernoulli_divergence(low, q), level / n)
    width = math.sqrt(2.0 * variance_of(e, arm) * level / n)
    far = abs(m - q) + width
    return max(0.5 * far * far / variance_of(e, arm), level / n)


def play(e: Episode, rng: np.random.Generator) -> int:
    """Play one round of the game, and return the arm that its proportions are furthest ahead of."""
    arms, best, level = e.pulls.size, leader(e.first), math.log(float(e.made))
    w, totals, scores, gains, d = row(e, W), row(e, TOTALS), row(e, SCORES), row(e, GAINS), row(e, D)
    if e.pulled < 0:
        for arm in range(arms):
            totals[arm], d[arm] = e.pulls[arm], FIRST_D
    losses = row(e, ROW_COUNT + best)  # of the learner for the recommendation of the moment
    rate = math.log(float(arms)) / d[best]
    exponential_weights(losses, rate, w)
    rival, cost, meeting = -1, np.inf, 0.0
    for j in range(arms):
        if j != best:
            p = meeting_mean(e, best, j, w[best] + 1e-300, w[j] + 1e-300)
            value = w[best] * mean_divergence(e, best, p) + w[j] * mean_divergence(e, j, p)
            if value < cost:
                rival, cost, meeting = j, value, p
    before, gain = mix_loss(losses, rate), 0.0
    for k in range(arms):
        gains[k] = optimistic_gain(e, k, meeting if k == best or k == rival else e.mean[k], level)
        gain += w[k] * gains[k]
    for k in range(arms):
        losses[k] -= gains[k]
    d[best] += max(before - mix_loss(losses, rate) - gain, 0.0)
    for arm in range(arms):
        totals[arm] += w[arm]
        scores[arm] = totals[arm] - e.pulls[arm]
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


@dataclass(kw_only=True)
class AdaHedgeBR(ConfidenceAgent):
    """Learns the proportions of pulls by AdaHedge, against the instance that is the hardest to tell apart with them.

    There is one learner for each possible recommendation. In each round that of the current one gives weights w; the
    best response to w is the closest instance with another best arm; and the learner gains for each arm the divergence
    to it, at the most optimistic mean of the arm's confidence interval. Pulls follow the sums of the weights
    (C-tracking).

    Paper: Degenne, Koolen and Menard (2019), "Non-Asymptotic Pure Exploration by Solving Games", section 3.1, which
    proves asymptotic optimality. Difference: Bernoulli means are kept 1e-6 from 0 and 1 in the divergences.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "AdaHedge-BR"
    rule: ClassVar[Rule] = Rule(index=mean_of, second=own_term, choose=play, stops=is_separated)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Rows of numbers of all arms, and the losses of K learners."""
        return (ROW_COUNT + self.num_arms) * self.num_arms
