"""Gap-based exploration: GapE and GapE-V, given the complexity, and A-GapE and A-GapE-V, which estimate it.

Paper: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.bounds import gape_fast
from bai_gym.agents.parameters import NotNegative, Oracle, Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.ranges import ORACLE, bound_or_oracle, complexity_and_range, reward_bounds
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.widths import WidthState, width
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Values
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, BestOfEach
from bai_gym.theory import gape_complexity, gape_v_complexity

__all__ = ["AGapE", "AGapEV", "GapE", "GapEV"]

TASKS = frozenset({BestArm.name, BestOfEach.name})


class GapEState(WidthState):
    """What the rules of GapE use."""

    bandits: int  # number of bandits, which have equally many arms
    gap: PerArm  # estimated gaps
    index: PerArm  # B


def pull_largest_b(e: Episode, s: GapEState, w: GapEState, rng: np.random.Generator) -> int:
    """Pull the arm of largest B = -gap + width, over the arms of all bandits."""
    set_gaps(e, s, w)
    for arm in range(e.num_arms):
        w.index[arm] = -w.gap[arm] + width(s, s.a, e.pulls[arm], e.variance[arm])
    return arm_of_largest(w.index, e, rng)


def pull_largest_estimated_b(e: Episode, s: GapEState, w: GapEState, rng: np.random.Generator) -> int:
    """Do the same with an estimate of H, from gaps that are increased and deviations that are decreased."""
    set_gaps(e, s, w)
    complexity = 0.0
    for arm in range(e.num_arms):
        gap = w.gap[arm] + s.b * np.sqrt(1.0 / (2.0 * e.pulls[arm]))
        if s.aware:
            sigma = max(np.sqrt(e.variance[arm]) - s.b * np.sqrt(2.0 / (e.pulls[arm] - 1.0)), 0.0)
            complexity += ((sigma + np.sqrt(sigma**2 + (16.0 / 3.0) * s.b * gap)) / gap) ** 2
        else:
            complexity += (s.b / gap) ** 2
    for arm in range(e.num_arms):
        w.index[arm] = -w.gap[arm] + width(s, s.a / complexity, e.pulls[arm], e.variance[arm])
    return arm_of_largest(w.index, e, rng)


def set_gaps(e: Episode, s: GapEState, w: GapEState) -> None:
    """Set the gap of each arm: the distance of its mean to the largest other mean of its bandit."""
    size = e.num_arms // s.bandits
    for start in range(0, e.num_arms, size):
        best, second = start, -np.inf
        for arm in range(start + 1, start + size):
            second = max(second, min(e.mean[arm], e.mean[best]))
            best = arm if e.mean[arm] > e.mean[best] else best
        for arm in range(start, start + size):
            w.gap[arm] = e.mean[best] - (second if arm == best else e.mean[arm])


def rescaling(constant: float, num_arms: int, rescaled: bool) -> float:
    """Return c'/c, by which section 5 of Lalitha et al. divides H: c' = 1/(4 log2 K), with the real log2.

    Args:
        constant: 1/c in the error bound exp(-c n / H).
        num_arms: K.
        rescaled: False: no change.
    """
    return constant / (4.0 * math.log2(num_arms)) if rescaled else 1.0


def initial_values(agent: GapE | AGapE, a: FloatArray | float) -> Values:
    """Return the values of the state at the start."""
    return {"a": a, "b": agent.bound, "aware": agent.uses_variances, "bandits": agent.task.num_bandits}


def checked_bound(agent: GapE | AGapE, info: ProblemInfo) -> FloatArray:
    """Check the parameters, and return the ``(N,)`` bounds of the rewards."""
    return reward_bounds(agent, info)


def exploration_rate(agent: GapE | AGapE) -> float:
    """Return a H: the scale times (4/9) (n - K), or (8/9) (n - 2K) with variances."""
    share = 8.0 / 9.0 if agent.uses_variances else 4.0 / 9.0
    return agent.scale * share * max(agent.budget - agent.first_pulls * agent.num_arms, 0)


@dataclass(kw_only=True)
class GapE(SequentialAgent):
    """Pulls the arm of largest B = -gap + b sqrt(a / T), with the estimated gap to the best other arm.

    The exploration a = (4/9) (n - K) / H is the largest that the theory covers; H is the true complexity, the sum of
    b^2 / gap^2. It recommends the arm of largest mean.

    Paper: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification"; for one bandit with
    the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 36 / log2 K, that of GapE-V by 128 / log2 K, as in Lalitha et al., so
            that the error bound is comparable to that of SHVar. False: the original constant.
        scale: Multiplies a; at least 0, default 1.
        b: Length of an interval that contains the rewards. ``"oracle"``: max over arms of mean + sigma sqrt(log n), as
            in Lalitha et al. (2023), section 5, which takes knowledge of the range. None (default): the length of the
            interval of bounded rewards; for others ``"oracle"``.
        b_in_complexity: True (default): H as in Theorem 1 of Gabillon et al., so that b cancels in the width; that of
            GapE-V as in Theorem 2. False: H as for b = 1, for GapE the sum of 1 / gap^2, which makes the width b times
            as large.

    Knows the complexity H, and the range of the rewards if ``b`` is the oracle's.
    """

    b: Positive | Oracle | None = None
    scale: NotNegative = 1.0
    rescaled: bool = True
    b_in_complexity: bool = True

    name = "GapE"
    uses_variances = False
    tasks = TASKS
    choices = bound_or_oracle
    knows = property(complexity_and_range)
    rule = Rule(choose=pull_largest_b, state=GapEState)

    @property
    @override
    def fast(self) -> Rule | None:  # type: ignore[override]
        return gape_fast.GIVEN if self.task.num_bandits == 1 else None

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.bound: FloatArray = checked_bound(self, info)
        b, bandits = self.bound if self.b_in_complexity else np.ones(self.batch), self.task.num_bandits
        if self.uses_variances:
            complexity, constant = gape_v_complexity(info.means, info.variances, b, bandits), 512.0
        else:
            complexity, constant = gape_complexity(info.means, b, bandits), 144.0
        complexity /= rescaling(constant, self.num_arms, self.rescaled)
        self.exploration: FloatArray = exploration_rate(self) / complexity
        self.values = initial_values(self, self.exploration)


@dataclass(kw_only=True)
class GapEV(GapE):
    """GapE with empirical Bernstein widths: B = -gap + sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    The exploration a = (8/9) (n - 2K) / H uses the variance-aware complexity H, the sum of
    (sigma + sqrt(sigma^2 + (16/3) b gap))^2 / gap^2.

    Paper: Gabillon et al. (2011); for one bandit with the changes of Lalitha et al. (2023), section 5.

    Knows the complexity H, and the range of the rewards if ``b`` is the oracle's. See :class:`GapE` for the parameters.
    """

    name = "GapE-V"
    first_pulls = 2
    uses_variances = True


@dataclass(kw_only=True)
class AGapE(SequentialAgent):
    """GapE with an estimated complexity: before each pull, H is replaced by a lower estimate.

    H is the sum of b^2 / (gap + b sqrt(1 / (2 T)))^2 with the estimated gaps, and a = (4/9) (n - K) / H.

    Paper: Gabillon et al. (2011), adaptive version. Differences: stated there for b = 1; the factor b is by scaling.
    The constants are from a secondary description and could not be checked against the paper.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Range of the rewards, as for GapE.

    Knows the range of the rewards if ``b`` is the oracle's.
    """

    b: Positive | Oracle | None = None
    scale: NotNegative = 1.0

    name = "A-GapE"
    uses_variances = False
    tasks = TASKS
    choices = bound_or_oracle
    rule = Rule(choose=pull_largest_estimated_b, state=GapEState)

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The range, if ``b`` is the oracle's."""
        return frozenset({"range"} if self.setting("b") == ORACLE else ())

    @property
    @override
    def fast(self) -> Rule | None:  # type: ignore[override]
        return gape_fast.ADAPTIVE if self.task.num_bandits == 1 else None

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.bound: FloatArray = checked_bound(self, info)
        self.values = initial_values(self, exploration_rate(self))


@dataclass(kw_only=True)
class AGapEV(AGapE):
    """GapE-V that estimates the variance-aware complexity before each pull.

    With the estimated gaps increased by b sqrt(1 / (2 T)) and the standard deviations decreased by b sqrt(2 / (T - 1)),
    but not below 0, in the formula of GapE-V; a = (8/9) (n - 2K) / H.

    Paper: Gabillon et al. (2011), adaptive version. Differences: as for A-GapE.

    Knows the range of the rewards if ``b`` is the oracle's. See :class:`AGapE` for the parameters.
    """

    name = "A-GapE-V"
    first_pulls = 2
    uses_variances = True
