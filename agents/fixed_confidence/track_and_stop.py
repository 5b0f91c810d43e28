"""Track-and-Stop: the pulls follow the proportions that would be optimal if the sample means were the true ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

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
from bai_gym.agents.tools.spending import PricedState, can_pay
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, PerArm, Rule
from bai_gym.theory.proportions import optimal_proportions
from bai_gym.validation import choice, real

__all__ = ["TrackAndStop"]

SMALLEST = 1e-9  # variances in units of the largest squared gap, for w*


class TrackingState(ConfidenceState):
    """What the rules of Track-and-Stop use."""

    lazy: float  # share by which t grows before w* is computed again
    due: float  # t at which w* is computed next
    y: float  # where the search for w* starts, see `optimal_proportions`
    share: PerArm  # of the arm in the pulls: w* of the sample means
    total: PerArm  # sums of the weights over time (C-tracking)
    behind: PerArm  # how far the pulls of an arm lag behind
    mean: PerArm  # means and variances for which w* is computed
    variance: PerArm


def d_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Pull an arm of at most sqrt(t) - K/2 pulls, or else the arm furthest behind t w* (section 3.1)."""
    find_proportions(e, s, w)
    return furthest_behind(e, s, w, rng)


def furthest_behind(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Return the arm of D-tracking."""
    few = math.sqrt(float(e.made)) - 0.5 * e.num_arms
    for arm in range(e.num_arms):
        w.behind[arm] = -e.pulls[arm]
    if -largest(w.behind) > few:
        for arm in range(e.num_arms):
            w.behind[arm] = e.made * w.share[arm] - e.pulls[arm]
    return arm_of_largest(w.behind, e, rng)


def c_tracking(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Pull the arm furthest behind the sum over time of w*, moved to at least 1 / (2 sqrt(K^2 + t)) (section 3.1)."""
    find_proportions(e, s, w)
    return furthest_behind_sums(e, s, w, rng)


def furthest_behind_sums(e: Episode, s: TrackingState, w: TrackingState, rng: np.random.Generator) -> int:
    """Return the arm of C-tracking."""
    least = 0.5 / math.sqrt(e.num_arms**2 + e.made)
    above = 0.0
    for arm in range(e.num_arms):
        above += max(w.share[arm] - least, 0.0)
    for arm in range(e.num_arms):
        w.total[arm] = w.total[arm] if e.pulled >= 0 else e.pulls[arm]
        w.total[arm] += least + max(w.share[arm] - least, 0.0) * (1.0 - e.num_arms * least) / above
        w.behind[arm] = w.total[arm] - e.pulls[arm]
    return arm_of_largest(w.behind, e, rng)


def find_proportions(e: Episode, s: TrackingState, w: TrackingState) -> None:
    """Compute w* of the sample means (Theorem 5), if t has grown enough since the last time."""
    if e.made < s.due:
        return
    s.due = e.made * (1.0 + s.lazy)
    top, widest = largest(e.mean), 0.0
    for arm in range(e.num_arms):
        w.share[arm] = w.share[arm] if s.y > 0.0 else 1.0 / e.num_arms
        w.mean[arm] = inside(e.mean[arm]) if s.family == BERNOULLI else e.mean[arm]
        widest = max(widest, (top - e.mean[arm]) ** 2)
    for arm in range(e.num_arms):
        w.variance[arm] = max(variance_of(e, s, w, arm), SMALLEST * widest)
    s.y = optimal_proportions(w.mean, w.variance, s.family == BERNOULLI, 0.0, w.share, s.y)


class PricedTrackingState(TrackingState, PricedState):
    """What the rules of Track-and-Stop use where arms have costs."""

    money_share: PerArm  # of the arm in the money spent


def priced_d_tracking(e: Episode, s: PricedTrackingState, w: PricedTrackingState, rng: np.random.Generator) -> int:
    """Pull as :func:`d_tracking`, with proportions that are optimal for the money; end where it is spent."""
    find_priced_proportions(e, s, w)
    arm = furthest_behind(e, s, w, rng)
    return arm if can_pay(e, s, w, arm) else STOP


def priced_c_tracking(e: Episode, s: PricedTrackingState, w: PricedTrackingState, rng: np.random.Generator) -> int:
    """Pull as :func:`c_tracking`, with proportions that are optimal for the money; end where it is spent."""
    find_priced_proportions(e, s, w)
    arm = furthest_behind_sums(e, s, w, rng)
    return arm if can_pay(e, s, w, arm) else STOP


def find_priced_proportions(e: Episode, s: PricedTrackingState, w: PricedTrackingState) -> None:
    """Compute the shares of the money w* for variances c_a v_a, and pulls in proportion to w*_a / c_a, if due."""
    if e.made < s.due:
        return
    s.due = e.made * (1.0 + s.lazy)
    top, widest, total = largest(e.mean), 0.0, 0.0
    for arm in range(e.num_arms):
        w.money_share[arm] = w.money_share[arm] if s.y > 0.0 else 1.0 / e.num_arms
        widest = max(widest, (top - e.mean[arm]) ** 2)
    for arm in range(e.num_arms):
        m = inside(e.mean[arm])
        variance = m * (1.0 - m) if s.family == BERNOULLI else variance_of(e, s, w, arm)
        w.mean[arm], w.variance[arm] = e.mean[arm], w.cost[arm] * max(variance, SMALLEST * widest)
    s.y = optimal_proportions(w.mean, w.variance, False, 0.0, w.money_share, s.y)
    for arm in range(e.num_arms):
        total += w.money_share[arm] / w.cost[arm]
    for arm in range(e.num_arms):
        w.share[arm] = w.money_share[arm] / w.cost[arm] / total


PRICED_D = Rule(index=mean_of, choose=priced_d_tracking, stops=is_separated, state=PricedTrackingState)
PRICED_C = Rule(index=mean_of, choose=priced_c_tracking, stops=is_separated, state=PricedTrackingState)
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
    other_rules: ClassVar[dict[str, Rule]] = {
        'tracking="C"': C_TRACKING,
        "different costs": PRICED_D,
        'tracking="C" and different costs': PRICED_C,
    }

    @property
    @override
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the form of tracking."""
        if self.arm_costs is not None:
            return PRICED_C if self.tracking == "C" else PRICED_D
        return C_TRACKING if self.tracking == "C" else D_TRACKING

    @override
    def begin(self, info: ProblemInfo) -> None:
        choice(self.tracking, ("D", "C"), f"tracking of {self.name}")
        real(self.lazy, f"lazy of {self.name}", least=0)
        super().begin(info)
        self.values["lazy"] = self.lazy
