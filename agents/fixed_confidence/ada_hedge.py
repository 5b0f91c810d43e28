"""AdaHedge-BR: pure exploration as a game, in which a learner of proportions plays against best responses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    ConfidenceAgent,
    ConfidenceState,
    Question,
    best_arm,
    is_settled,
)
from bai_gym.agents.tools.divergences import (
    bernoulli_bound_near,
    bernoulli_divergence,
    divergence_inside,
    inside,
    inside_of,
    variance_of,
)
from bai_gym.agents.tools.questions import answer, set_errors, two_means, weakest_group
from bai_gym.agents.tools.scanning import arm_of_largest, smallest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm

__all__ = ["AdaHedgeBR"]

FIRST_D = 0.01
POSITIVE = 1e-300  # added to weights, which may be 0


class AdaHedgeState(ConfidenceState):
    """What the rule of AdaHedge-BR uses."""

    share: PerArm  # the weights
    total: PerArm  # their sums over time
    behind: PerArm  # how far the pulls of an arm lag behind
    gain: PerArm  # gains of the round
    upper: PerArm  # last ends of confidence intervals, for Bernoulli rewards
    lower: PerArm
    leads: bool  # whether there is a learner for each arm that may be the best one; else there is one in all
    mix_gap: PerArm  # D of the learner of each recommendation, the sum of its mixability gaps
    losses: Vector  # K rows: the cumulated losses of the learner of each recommendation


def play_round(e: Episode, s: AdaHedgeState, w: AdaHedgeState, rng: np.random.Generator, question: Question) -> int:
    """Play one round of the game, and return the arm whose pulls are furthest behind the weights (C-tracking)."""
    set_errors(e, s, w)
    n = answer(e, s, w, question)
    best = int(w.first[0]) if s.leads else 0
    if e.pulled < 0:
        for arm in range(e.num_arms):
            w.total[arm], w.mix_gap[arm] = e.pulls[arm], FIRST_D
    start = best * e.num_arms
    losses = w.losses[start : start + e.num_arms]  # of the learner of the current recommendation
    rate = math.log(e.num_arms) / w.mix_gap[best]
    before = exponential_weights(losses, rate, w.share)
    contrast = best_response(e, s, w, n, rng)
    p, q = two_means(e, s, w, contrast, w.share)
    gain, level = 0.0, math.log(float(e.made))
    for k in range(e.num_arms):
        to = p if k == w.first[contrast] else q if k == w.second[contrast] else e.mean[k]
        w.gain[k] = optimistic_gain(e, s, w, k, to, level)
        gain += w.share[k] * w.gain[k]
    for k in range(e.num_arms):
        losses[k] -= w.gain[k]
    w.mix_gap[best] += max(before - exponential_weights(losses, rate, w.behind) - gain, 0.0)
    for arm in range(e.num_arms):
        w.total[arm] += w.share[arm]
        w.behind[arm] = w.total[arm] - e.pulls[arm]
    return arm_of_largest(w.behind, e, rng)


def best_response(e: Episode, s: AdaHedgeState, w: AdaHedgeState, n: int, rng: np.random.Generator) -> int:
    """Return the contrast that is overturned at the least cost for the weights, w_i d(m_i, p) + w_j d(m_j, q)."""
    for arm in range(e.num_arms):
        w.share[arm] += POSITIVE
    for k in range(n):
        i, j = int(w.first[k]), int(w.second[k])
        p, q = two_means(e, s, w, k, w.share)
        w.strength[k] = w.share[i] * divergence_inside(e, s, w, i, inside_of(s, p)) if i >= 0 else 0.0
        w.strength[k] += w.share[j] * divergence_inside(e, s, w, j, inside_of(s, q)) if j >= 0 else 0.0
    return weakest_group(w, n, True, rng)


def optimistic_gain(e: Episode, s: AdaHedgeState, w: AdaHedgeState, arm: int, q: float, level: float) -> float:
    """Return the largest of d(U, q), d(L, q) and level / N, with the bounds U and L of the arm at this level, log t."""
    n, m = e.pulls[arm], e.mean[arm]
    if s.family == BERNOULLI:
        q = inside(q)
        w.upper[arm] = bernoulli_bound_near(m, level / n, w.upper[arm])
        w.lower[arm] = 1.0 - bernoulli_bound_near(1.0 - m, level / n, 1.0 - w.lower[arm])
        return float(max(bernoulli_divergence(w.upper[arm], q), bernoulli_divergence(w.lower[arm], q), level / n))
    far = abs(m - q) + math.sqrt(2.0 * variance_of(e, s, w, arm) * level / n)
    return float(max(0.5 * far * far / variance_of(e, s, w, arm), level / n))


def exponential_weights(losses: FloatArray, rate: float, w: FloatArray) -> float:
    """Set the weights to be in proportion to exp(-rate loss), and return their cumulated mix loss.

    That is -log(mean of exp(-rate loss)) / rate.

    Args:
        losses: ``(K,)`` cumulated losses, finite.
        rate: Learning rate, positive.
        w: ``(K,)``, which receive the weights; they sum to 1.
    """
    lowest, total = smallest(losses), 0.0
    for k in range(w.size):
        w[k] = math.exp(-rate * (losses[k] - lowest))
        total += w[k]
    for k in range(w.size):
        w[k] /= total
    return lowest - math.log(total / losses.size) / rate


@dataclass(kw_only=True)
class AdaHedgeBR(ConfidenceAgent):
    """Learns the proportions of pulls by AdaHedge, against the instance that is the hardest to tell apart with them.

    There is one learner for each possible recommendation. In each round that of the current one gives weights w; the
    best response to w is the closest instance with another best arm; and the learner gains for each arm the divergence
    to it, at the most optimistic mean of the arm's confidence interval. Pulls follow the sums of the weights
    (C-tracking).

    Paper: Degenne, Koolen and Menard (2019), "Non-Asymptotic Pure Exploration by Solving Games", section 3.1, which
    proves asymptotic optimality. Differences: Bernoulli means are kept 1e-6 from 0 and 1 in the divergences; for other
    questions than the best arm there is one learner for all recommendations.
    """

    name = "AdaHedge-BR"
    rule = Rule(choose=play_round, stops=is_settled, state=AdaHedgeState, question=best_arm)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        leads = self.task.name == BestArm.name
        self.values.update(leads=leads, losses=np.zeros(self.num_arms ** (2 if leads else 1)))
