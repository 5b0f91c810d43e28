"""Gap-based exploration: GapE and GapE-V, told the complexity, and A-GapE and A-GapE-V, which estimate it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent
from bai_gym.agents.choosing import best_mean, spread_evenly
from bai_gym.agents.gape_rules import EveryIndexRule, GapRule
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import Request, SamplingRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["AGapE", "AGapEV", "GapE", "GapEV", "bernstein_width", "estimated_gaps", "hoeffding_width"]

SMALLEST_BOUND = 1e-9  # of rewards, in their unit
THEORY_CONSTANTS = {"GapE": 144.0, "GapE-V": 512.0}  # 1/c in the error bounds exp(-c n / H)


def hoeffding_width(a: FloatArray, bound: FloatArray, pulls: FloatArray) -> FloatArray:
    """Return b sqrt(a / T), elementwise, for T of at least 1."""
    return np.asarray(bound * np.sqrt(a) / np.sqrt(pulls))


def bernstein_width(a: FloatArray, bound: FloatArray, pulls: FloatArray, variances: FloatArray) -> FloatArray:
    """Return sqrt(2 a v / T) + 7 a b / (3 (T - 1)), elementwise, for T of at least 2."""
    width = variances / pulls
    width *= 2.0 * a
    np.sqrt(width, out=width)
    width += (7.0 / 3.0) * a * bound / (pulls - 1.0)
    return width


@dataclass(kw_only=True)
class _GapAgent(Agent):
    """What the four have in common: the first pulls, then a sampling rule to the end, then the best mean.

    Args:
        b: Bound of the rewards, which lie in [0, b]; None (default): max over arms of mean + sigma sqrt(log n), as in
            Lalitha et al. (2023), section 5, which takes knowledge of the range.
    """

    b: float | None = None

    first_pulls: ClassVar[int]

    def minimum_budget(self, num_arms: int) -> int:
        """Return one pull per arm, or two where a variance is estimated."""
        return self.first_pulls * num_arms

    def begin(self, briefing: Briefing) -> None:
        """Find the bound of the rewards."""
        if self.b is not None and not (math.isfinite(self.b) and self.b > 0):
            raise ParameterError(f"b of {self.name} must be a positive number, not {self.b}")
        if self.b is None:
            # Rewards that are all negative have no bound of this form; a tiny one leaves the widths to the variances.
            self.bound: FloatArray = np.maximum(briefing.reward_bound, SMALLEST_BOUND)
        else:
            self.bound = np.full(self.batch, float(self.b))

    def allocate(self, observation: Observation) -> Request | IntArray:
        """Pull every arm once or twice, then one arm at a time."""
        remaining = int(observation["remaining"].flat[0])
        if remaining < self.budget:
            return self.rule(remaining)
        first = min(self.first_pulls * self.num_arms, self.budget)
        return spread_evenly(self.batch, self.num_arms, first, self.tie, self.rng)

    @abstractmethod
    def rule(self, steps: int) -> SamplingRule:
        """Return the sampling rule for the remaining pulls."""

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest mean."""
        return best_mean(Statistics.of(observation), self.tie, self.rng)


def _rescaling(name: str, num_arms: int, rescaled: bool) -> float:
    """Return c'/c, by which section 5 of Lalitha et al. divides H: c' = 1/(4 log2 K), with the real log2."""
    return THEORY_CONSTANTS[name] / (4.0 * math.log2(num_arms)) if rescaled else 1.0


@dataclass(kw_only=True)
class GapE(_GapAgent):
    """Pulls the arm of largest B = -gap + b sqrt(a / T), with the estimated gap to the best other arm.

    The exploration a = (4/9) (n - K) / H is the largest that the theory covers; H is the true complexity, the sum of
    b^2 / gap^2. It recommends the arm of largest mean.

    Paper: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification", for one bandit; with
    the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 36 / log2 K, as in Lalitha et al., so that the error bound is
            comparable to that of SHVar. False: the original constant.
        scale: Multiplies a, default 1.
        b: Bound of the rewards, see above.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    rescaled: bool = True
    scale: float = 1.0

    name: ClassVar[str] = "GapE"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity, and the range unless ``b`` is given."""
        return frozenset({"complexity"} if self.b is not None else {"complexity", "range"})

    def begin(self, briefing: Briefing) -> None:
        """Compute the exploration from the true complexity."""
        super().begin(briefing)
        complexity = briefing.gape_complexity(self.bound) / _rescaling(self.name, self.num_arms, self.rescaled)
        self.exploration: FloatArray = self.scale * (4.0 / 9.0) * max(self.budget - self.num_arms, 0) / complexity

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule with Hoeffding widths."""
        return GapRule(steps, self._width, tie=self.tie, rng=self.rng)

    def _width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        return hoeffding_width(self.exploration, self.bound, pulls)


@dataclass(kw_only=True)
class GapEV(_GapAgent):
    """GapE with empirical Bernstein widths: B = -gap + sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    The exploration a = (8/9) (n - 2K) / H uses the variance-aware complexity H, the sum of
    (sigma + sqrt(sigma^2 + (16/3) b gap))^2 / gap^2.

    Paper: Gabillon et al. (2011), for one bandit; with the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 128 / log2 K, as in Lalitha et al. False: the original constant.
        scale: Multiplies a, default 1.
        b: Bound of the rewards, see above.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    rescaled: bool = True
    scale: float = 1.0

    name: ClassVar[str] = "GapE-V"
    first_pulls: ClassVar[int] = 2

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity, and the range unless ``b`` is given."""
        return frozenset({"complexity"} if self.b is not None else {"complexity", "range"})

    def begin(self, briefing: Briefing) -> None:
        """Compute the exploration from the true complexity."""
        super().begin(briefing)
        complexity = briefing.gape_v_complexity(self.bound) / _rescaling(self.name, self.num_arms, self.rescaled)
        self.exploration: FloatArray = self.scale * (8.0 / 9.0) * max(self.budget - 2 * self.num_arms, 0) / complexity

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule with Bernstein widths."""
        return GapRule(steps, self._width, tie=self.tie, rng=self.rng)

    def _width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        return bernstein_width(self.exploration, self.bound, pulls, variances)


def estimated_gaps(means: FloatArray) -> FloatArray:
    """Return each arm's distance to the best other sample mean, for ``(k, N)`` tables."""
    best = means.max(axis=0)
    gap = best - means
    is_best = gap == 0.0
    second = np.where(is_best, -np.inf, means).max(axis=0)
    tied = np.count_nonzero(is_best, axis=0) > 1
    gap[is_best] = np.broadcast_to(np.where(tied, 0.0, best - second), gap.shape)[is_best]
    return gap


@dataclass(kw_only=True)
class AGapE(_GapAgent):
    """GapE that estimates the complexity: before each pull, H is replaced by an estimate from below.

    H is the sum of b^2 / (gap + b sqrt(1 / (2 T)))^2 with the estimated gaps, and a = (4/9) (n - K) / H.

    Paper: Gabillon et al. (2011), adaptive version for one bandit. Differences: stated there for b = 1; the factor b is
    by scaling. The constants are from a secondary description and could not be checked against the paper.

    Args:
        scale: Multiplies a, default 1.
        b: Bound of the rewards, see above.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    scale: float = 1.0

    name: ClassVar[str] = "A-GapE"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The range, unless ``b`` is given."""
        return frozenset() if self.b is not None else frozenset({"range"})

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that recomputes every index at each step."""
        return EveryIndexRule(steps, self.index, tie=self.tie, rng=self.rng)

    def index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return B for ``(k, N)`` tables."""
        gap = estimated_gaps(means)
        upper = gap + self.bound * np.sqrt(0.5 / pulls)
        complexity = np.sum((self.bound / upper) ** 2, axis=0)
        exploration = self.scale * (4.0 / 9.0) * max(self.budget - self.num_arms, 0) / complexity
        return hoeffding_width(exploration, self.bound, pulls) - gap


@dataclass(kw_only=True)
class AGapEV(_GapAgent):
    """GapE-V that estimates the variance-aware complexity before each pull.

    With the estimated gaps increased by b sqrt(1 / (2 T)) and the standard deviations decreased by b sqrt(2 / (T - 1)),
    but not below 0, in the formula of GapE-V; a = (8/9) (n - 2K) / H.

    Paper: Gabillon et al. (2011), adaptive version for one bandit. Differences: as for A-GapE.

    Args:
        scale: Multiplies a, default 1.
        b: Bound of the rewards, see above.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    scale: float = 1.0

    name: ClassVar[str] = "A-GapE-V"
    first_pulls: ClassVar[int] = 2

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The range, unless ``b`` is given."""
        return frozenset() if self.b is not None else frozenset({"range"})

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that recomputes every index at each step."""
        return EveryIndexRule(steps, self.index, tie=self.tie, rng=self.rng)

    def index(self, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
        """Return B for ``(k, N)`` tables."""
        gap = estimated_gaps(means)
        upper = gap + self.bound * np.sqrt(0.5 / pulls)
        lower = np.maximum(np.sqrt(variances) - self.bound * np.sqrt(2.0 / (pulls - 1.0)), 0.0)
        root = lower + np.sqrt(lower**2 + (16.0 / 3.0) * self.bound * upper)
        complexity = np.sum((root / upper) ** 2, axis=0)
        exploration = self.scale * (8.0 / 9.0) * max(self.budget - 2 * self.num_arms, 0) / complexity
        return bernstein_width(exploration, self.bound, pulls, variances) - gap
