"""Track-and-Stop: the pulls follow the proportions that would be optimal if the sample means were the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

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
from bai_gym.agents.parameters import NotNegative
from bai_gym.agents.tools.divergences import inside
from bai_gym.agents.tools.questions import answer, gap, set_errors, weakest_group
from bai_gym.agents.tools.scanning import arm_of_largest, largest
from bai_gym.agents.tools.spending import PricedState, affordable, prices
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Sequential
from bai_gym.tasks import BestArm
from bai_gym.theory.proportions import optimal_proportions

__all__ = ["TrackAndStop"]

SMALLEST = 1e-9  # variances in units of the largest squared gap, for w*
REMEMBERED = 100.0  # steps for each arm that the approach to w* remembers


class TrackingState(ConfidenceState, PricedState):
    """What the rules of Track-and-Stop use."""

    bernoulli: bool  # whether w* is that of Bernoulli arms, which is known for equal costs
    is_known: bool  # whether w* is computed; else it is approached
    lazy: float  # share by which t grows before w* is computed again
    due: float  # t at which w* is computed next
    y: float  # where the search for w* starts, see `optimal_proportions`
    money_share: PerArm  # of the arm in the money: w* of the sample means
    share: PerArm  # of the arm in the pulls; the same for equal costs
    total: PerArm  # sums of the weights over time (C-tracking)
    behind: PerArm  # how far the pulls of an arm lag behind
    mean: PerArm  # means and variances for which w* is computed
    variance: PerArm
    step: PerArm  # steps towards w*, for which the money shares stand


def d_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator, question: Question) -> int:
    """Pull an arm of at most sqrt(t) - K/2 pulls, or else the arm furthest behind t w* (section 3.1)."""
    find_proportions(e, s, w, rng, question)
    made = e.made / s.metrics
    few = math.sqrt(made) - 0.5 * e.num_arms / s.metrics
    for arm in range(e.num_arms):
        w.behind[arm] = -e.pulls[arm]
    if -largest(w.behind) > few:
        for arm in range(e.num_arms):
            w.behind[arm] = made * w.share[arm] - e.pulls[arm]
    return affordable(e, s, w, arm_of_largest(w.behind, e, rng))


def c_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator, question: Question) -> int:
    """Pull the arm furthest behind the sum over time of w*, moved to at least 1 / (2 sqrt(K^2 + t)) (section 3.1)."""
    find_proportions(e, s, w, rng, question)
    arms, above = e.num_arms // s.metrics, 0.0
    least = 0.5 / math.sqrt(arms**2 + e.made / s.metrics)
    for arm in range(0, e.num_arms, s.metrics):
        above += max(w.share[arm] - least, 0.0)
    for arm in range(e.num_arms):
        w.total[arm] = w.total[arm] if e.pulled >= 0 else e.pulls[arm]
        if arm % s.metrics == 0:
            w.total[arm] += least + max(w.share[arm] - least, 0.0) * (1.0 - arms * least) / above
        w.behind[arm] = w.total[arm] - e.pulls[arm]
    return affordable(e, s, w, arm_of_largest(w.behind, e, rng))


def find_proportions(
    e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator, question: Question
) -> None:
    """Compute w* of the sample means (Theorem 5), or approach it, if t has grown enough since the last time.

    They are shares of the money, for variances c_a v_a; pulls are in proportion to w*_a / c_a.
    """
    if e.made < s.due:
        return
    s.due = e.made * (1.0 + s.lazy)
    set_errors(e, s, w)
    top, widest = largest(e.mean), 0.0
    for arm in range(e.num_arms):
        w.money_share[arm] = w.money_share[arm] if s.y > 0.0 else 1.0 / e.num_arms
        w.mean[arm] = inside(e.mean[arm]) if s.bernoulli else e.mean[arm]
        widest = max(widest, (top - e.mean[arm]) ** 2)
    for arm in range(e.num_arms):
        m = inside(e.mean[arm])
        variance = m * (1.0 - m) if s.family == BERNOULLI else w.error[arm] * e.pulls[arm]
        w.variance[arm] = w.cost[arm] * max(variance, SMALLEST * widest)
    if s.is_known:
        s.y = optimal_proportions(w.mean, w.variance, s.bernoulli, 0.0, w.money_share, s.y)
    else:
        approach(e, s, w, answer(e, s, w, question), rng)
    money, pulls = 0.0, 0.0
    for arm in range(e.num_arms):
        money += w.money_share[arm]
        pulls += w.money_share[arm] / w.cost[arm]
    for arm in range(e.num_arms):
        w.share[arm] = w.money_share[arm] / w.cost[arm] / (pulls / money)  # by 1 where all costs are 1


def approach(e: Episode, s: TrackingState, w: TrackingState, n: int, rng: np.random.Generator) -> None:
    """Take K steps towards w* of n contrasts: each divides itself between the arms of the weakest one, by their parts.

    Its fixed point is w* (Qin and You, arXiv 2310.19319), with normal rewards. What overturns a group overturns all its
    contrasts, which are about different metrics or different arms: their costs add up.
    """
    arms, total = e.num_arms // s.metrics, 0.0
    for arm in range(e.num_arms):  # of those that get numbers by the same pulls, the first one has the steps
        w.step[arm] = max(w.step[arm], 1.0) if arm % s.metrics == 0 else 0.0
        total += w.step[arm]
    for _ in range(arms):
        for k in range(n):
            g, own, other = max(gap(e.mean, w, k), 0.0), error(s, w, w.first[k]), error(s, w, w.second[k])
            w.strength[k] = g * g / (own + other) + before(w, k)
        k = weakest_group(w, n, False, rng)
        group, cost = w.group[k], w.strength[k]
        while k >= 0 and w.group[k] == group:
            share = (w.strength[k] - before(w, k)) / cost if cost > 0.0 else 1.0
            i, j = int(w.first[k]), int(w.second[k])
            part = error(s, w, i) / (error(s, w, i) + error(s, w, j))
            if i >= 0:
                w.step[i - i % s.metrics] += share * part
            if j >= 0:
                w.step[j - j % s.metrics] += share * (1.0 - part)
            k -= 1
        total += 1.0
    for arm in range(e.num_arms):
        w.money_share[arm] = w.step[arm] / total
        w.step[arm] *= min(REMEMBERED * arms / total, 1.0)


def before(w: TrackingState, k: int) -> float:
    """Return the cost of the contrasts of a group before this one."""
    return float(w.strength[k - 1]) if k > 0 and w.group[k - 1] == w.group[k] else 0.0


def error(s: TrackingState, w: TrackingState, arm: float) -> float:
    """Return the variance of an arm by its steps, 0 for no arm."""
    return float(w.variance[int(arm)] / w.step[int(arm) - int(arm) % s.metrics]) if arm >= 0.0 else 0.0


D_TRACKING = Rule(choose=d_tracking, stops=is_settled, state=TrackingState, question=best_arm)
C_TRACKING = Rule(choose=c_tracking, stops=is_settled, state=TrackingState, question=best_arm)


@dataclass(kw_only=True)
class TrackAndStop(ConfidenceAgent):
    """Pulls arms in the proportions w* that are optimal for the sample means, until the answer is proved.

    D-tracking pulls an arm with at most sqrt(t) - K/2 pulls, if there is one (the one with fewest), else the arm of
    largest t w*_a - N_a. C-tracking pulls the arm whose sum of weights over time exceeds its pulls by most; the weights
    are w*, moved to at least 1 / (2 sqrt(K^2 + t)).

    Paper: Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", sections 3 and 4. With
    a threshold of order log(1 / delta) the mean number of pulls is T* log(1 / delta) for small delta, the least
    possible. Differences: C-tracking moves weights towards equal ones, rather than to the nearest point in the maximum
    norm; ``lazy``; Bernoulli means are kept 1e-6 from 0 and 1 in w*; unknown variances are replaced by estimates. For
    other questions than the best arm w* is not computed at each pull, but approached by K steps (Qin and You, arXiv
    2310.19319), with normal rewards, for Bernoulli arms of the variances m (1 - m).

    Where arms have different costs c_a, an arm has the variance c_a sigma_a^2 per unit of money: w* of these variances
    are the shares of the money that minimise its expected amount (Gaussian arms; this library's derivation), and pulls
    are in proportion to w*_a / c_a. Kanarios, Zhang and Ying (2024, arXiv 2402.16710) track such weights as well. For
    Bernoulli arms they are an approximation, with variances m (1 - m); the error probability does not depend on it.

    Args:
        tracking: ``"D"`` (default) or ``"C"``.
        lazy: w* is computed again when t has grown by this share since the last time; default 0: at every pull. With
            0.01 it is much faster. The error probability does not depend on it.
    """

    tracking: Literal["D", "C"] = "D"
    lazy: NotNegative = 0.0

    name = "TrackAndStop"
    uses_costs = True
    other_rules = {'tracking="C"': C_TRACKING}

    @property
    @override
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the form of tracking."""
        return C_TRACKING if self.tracking == "C" else D_TRACKING

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values.update(lazy=self.lazy, is_known=type(self.task) is BestArm and self.task.epsilon == 0)
        self.values["bernoulli"] = self.values["family"] == BERNOULLI and info.costs is None

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        self.values |= prices(self)
        return super().sequential(steps, **options)
