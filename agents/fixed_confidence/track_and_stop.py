"""Track-and-Stop: the pulls follow the proportions that would be optimal if the sample means were the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    ConfidenceAgent,
    ConfidenceState,
    is_separated,
    mean_of,
)
from bai_gym.agents.tools.divergences import inside, variance_of
from bai_gym.agents.tools.scanning import arm_of_largest, largest
from bai_gym.agents.tools.spending import PricedState, affordable, prices
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Sequential
from bai_gym.theory.proportions import optimal_proportions
from bai_gym.validation import choice, real

__all__ = ["TrackAndStop"]

SMALLEST = 1e-9  # variances in units of the largest squared gap, for w*


class TrackingState(ConfidenceState, PricedState):
    """What the rules of Track-and-Stop use."""

    bernoulli: bool  # whether w* is that of Bernoulli arms, which is known for equal costs

    lazy: float  # share by which t grows before w* is computed again
    due: float  # t at which w* is computed next
    y: float  # where the search for w* starts, see `optimal_proportions`
    money_share: PerArm  # of the arm in the money: w* of the sample means
    share: PerArm  # of the arm in the pulls; the same for equal costs
    total: PerArm  # sums of the weights over time (C-tracking)
    behind: PerArm  # how far the pulls of an arm lag behind
    mean: PerArm  # means and variances for which w* is computed
    variance: PerArm


def d_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Pull an arm of at most sqrt(t) - K/2 pulls, or else the arm furthest behind t w* (section 3.1)."""
    find_proportions(e, s, w)
    few = math.sqrt(float(e.made)) - 0.5 * e.num_arms
    for arm in range(e.num_arms):
        w.behind[arm] = -e.pulls[arm]
    if -largest(w.behind) > few:
        for arm in range(e.num_arms):
            w.behind[arm] = e.made * w.share[arm] - e.pulls[arm]
    return affordable(e, s, w, arm_of_largest(w.behind, e, rng))


def c_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Pull the arm furthest behind the sum over time of w*, moved to at least 1 / (2 sqrt(K^2 + t)) (section 3.1)."""
    find_proportions(e, s, w)
    least = 0.5 / math.sqrt(e.num_arms**2 + e.made)
    above = 0.0
    for arm in range(e.num_arms):
        above += max(w.share[arm] - least, 0.0)
    for arm in range(e.num_arms):
        w.total[arm] = w.total[arm] if e.pulled >= 0 else e.pulls[arm]
        w.total[arm] += least + max(w.share[arm] - least, 0.0) * (1.0 - e.num_arms * least) / above
        w.behind[arm] = w.total[arm] - e.pulls[arm]
    return affordable(e, s, w, arm_of_largest(w.behind, e, rng))


def find_proportions(e: Episode, s: TrackingState, w: TrackingState) -> None:
    """Compute w* of the sample means (Theorem 5), if t has grown enough since the last time.

    They are shares of the money, for variances c_a v_a; pulls are in proportion to w*_a / c_a.
    """
    if e.made < s.due:
        return
    s.due = e.made * (1.0 + s.lazy)
    top, widest = largest(e.mean), 0.0
    for arm in range(e.num_arms):
        w.money_share[arm] = w.money_share[arm] if s.y > 0.0 else 1.0 / e.num_arms
        w.mean[arm] = inside(e.mean[arm]) if s.bernoulli else e.mean[arm]
        widest = max(widest, (top - e.mean[arm]) ** 2)
    for arm in range(e.num_arms):
        m = inside(e.mean[arm])
        variance = m * (1.0 - m) if s.family == BERNOULLI else variance_of(e, s, w, arm)
        w.variance[arm] = w.cost[arm] * max(variance, SMALLEST * widest)
    s.y = optimal_proportions(w.mean, w.variance, s.bernoulli, 0.0, w.money_share, s.y)
    money, pulls = 0.0, 0.0
    for arm in range(e.num_arms):
        money += w.money_share[arm]
        pulls += w.money_share[arm] / w.cost[arm]
    for arm in range(e.num_arms):
        w.share[arm] = w.money_share[arm] / w.cost[arm] / (pulls / money)  # by 1 where all costs are 1


D_TRACKING = Rule(index=mean_of, choose=d_tracking, stops=is_separated, state=TrackingState)
C_TRACKING = Rule(index=mean_of, choose=c_tracking, stops=is_separated, state=TrackingState)


@dataclass(kw_only=True)
class TrackAndStop(ConfidenceAgent):
    """Pulls arms in the proportions w* that are optimal for the sample means, until the best arm is separated.

    D-tracking pulls an arm with at most sqrt(t) - K/2 pulls, if there is one (the one with fewest), else the arm of
    largest t w*_a - N_a. C-tracking pulls the arm whose sum of weights over time exceeds its pulls by most; the weights
    are w*, moved to at least 1 / (2 sqrt(K^2 + t)).

    Paper: Garivier and Kaufmann (2016), "Optimal Best Arm Identification with Fixed Confidence", sections 3 and 4. With
    a threshold of order log(1 / delta) the mean number of pulls is T* log(1 / delta) for small delta, the least
    possible. Differences: C-tracking moves weights towards equal ones, rather than to the nearest point in the maximum
    norm; ``lazy``; Bernoulli means are kept 1e-6 from 0 and 1 in w*; unknown variances are replaced by the sample
    variances.

    Where arms have different costs c_a, an arm has the variance c_a sigma_a^2 per unit of money: w* of these variances
    are the shares of the money that minimise its expected amount (Gaussian arms; this library's derivation), and pulls
    are in proportion to w*_a / c_a. Kanarios, Zhang and Ying (2024, arXiv 2402.16710) track such weights as well. For
    Bernoulli arms they are an approximation, with variances m (1 - m); the error probability does not depend on it.

    Args:
        tracking: ``"D"`` (default) or ``"C"``.
        lazy: w* is computed again when t has grown by this share since the last time; default 0: at every pull. With
            0.01 it is much faster. The error probability does not depend on it.
    """

    tracking: str = "D"
    lazy: float = 0.0

    name: ClassVar[str] = "TrackAndStop"
    uses_costs: ClassVar[bool] = True
    other_rules: ClassVar[dict[str, Rule]] = {'tracking="C"': C_TRACKING}

    @property
    @override
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the form of tracking."""
        return C_TRACKING if self.tracking == "C" else D_TRACKING

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.tracking, ("D", "C"), f"tracking of {self.name}")
        real(self.lazy, f"lazy of {self.name}", least=0)
        super().begin(info)
        self.values["lazy"] = self.lazy
        self.values["bernoulli"] = self.values["family"] == BERNOULLI and info.costs is None

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        self.values |= prices(self)
        return super().sequential(steps, **options)
