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
    ConfidenceAgent,
    ConfidenceState,
    bernoulli_divergence,
    is_separated,
    mean_of,
    variance_of,
)
from bai_gym.agents.fixed_confidence.track_and_stop import inside
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector, leader, noinline, section
from bai_gym.statistics import FloatArray

__all__ = ["AdaHedgeBR"]

FIRST_D = 0.01
POSITIVE = 1e-300  # added to weights, which may be 0


class AdaHedgeState(ConfidenceState):
    """What the rule of AdaHedge-BR uses."""

    w: PerArm  # weights
    total: PerArm  # their sums over time
    behind: PerArm  # how far the pulls of an arm lag behind
    gain: PerArm  # gains of the round
    mix_gap: PerArm  # D of the learner of each recommendation, the sum of its mixability gaps
    losses: Vector  # K rows: the cumulated losses of the learner of each recommendation


def play_round(e: Episode, s: AdaHedgeState, rng: np.random.Generator) -> int:
    """Play one round of the game, and return the arm whose pulls are furthest behind the weights (C-tracking)."""
    best = leader(e.tournament)
    if e.pulled < 0:
        for arm in range(e.num_arms):
            s.total[arm], s.mix_gap[arm] = e.pulls[arm], FIRST_D
    losses = section(s.losses, best * e.num_arms, e.num_arms)  # of the learner of the current recommendation
    rate = math.log(e.num_arms) / s.mix_gap[best]
    exponential_weights(losses, rate, s.w)
    rival, meeting = best_response(e, s, best)
    before, gain = mix_loss(losses, rate), 0.0
    for k in range(e.num_arms):
        s.gain[k] = optimistic_gain(e, s, k, meeting if k == best or k == rival else e.mean[k])
        gain += s.w[k] * s.gain[k]
    for k in range(e.num_arms):
        losses[k] -= s.gain[k]
    s.mix_gap[best] += max(before - mix_loss(losses, rate) - gain, 0.0)
    for arm in range(e.num_arms):
        s.total[arm] += s.w[arm]
        s.behind[arm] = s.total[arm] - e.pulls[arm]
    return arm_of_largest(s.behind, e, rng)


def best_response(e: Episode, s: AdaHedgeState, best: int) -> tuple[int, float]:
    """Return the arm j of smallest w_B d(m_B, p) + w_j d(m_j, p), and the p that minimises it."""
    rival, cost, meeting = -1, np.inf, 0.0
    for j in range(e.num_arms):
        if j != best:
            p = meeting_mean(e, s, best, j, s.w[best] + POSITIVE, s.w[j] + POSITIVE)
            value = s.w[best] * mean_divergence(e, s, best, p) + s.w[j] * mean_divergence(e, s, j, p)
            if value < cost:
                rival, cost, meeting = j, value, p
    return rival, meeting


@noinline
def optimistic_gain(e: Episode, s: AdaHedgeState, arm: int, q: float) -> float:
    """Return the largest of d(U, q), d(L, q) and log(t) / N, with the bounds U and L of the arm at level log t."""
    n, m, level = e.pulls[arm], e.mean[arm], math.log(float(e.made))
    if s.family == BERNOULLI:
        q = inside(q)
        high, low = bernoulli_upper_bound(m, level / n), 1.0 - bernoulli_upper_bound(1.0 - m, level / n)
        return max(bernoulli_divergence(high, q), bernoulli_divergence(low, q), level / n)
    far = abs(m - q) + math.sqrt(2.0 * variance_of(e, s, arm) * level / n)
    return float(max(0.5 * far * far / variance_of(e, s, arm), level / n))


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


def least(values: FloatArray) -> float:
    """Return the smallest value."""
    smallest = np.inf
    for k in range(values.size):
        smallest = min(smallest, values[k])
    return smallest


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
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=play_round, stops=is_separated, state=AdaHedgeState)

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        super().begin(info)
        self.values["losses"] = np.zeros(self.num_arms**2)
