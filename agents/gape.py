"""Gap-based exploration: GapE and GapE-V, told the complexity, and A-GapE and A-GapE-V, which estimate it."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.gape_rules import AdaptiveGapRule, ManyBanditsRule, gap_rule
from bai_gym.agents.one_by_one import OneByOneAgent, reward_bounds
from bai_gym.agents.parameters import check_not_negative, check_positive
from bai_gym.problems import Briefing
from bai_gym.sampling import SamplingRule
from bai_gym.statistics import FloatArray, Statistics
from bai_gym.tasks import BestArm, BestOfEach
from bai_gym.theory import top_gaps

__all__ = ["AGapE", "AGapEV", "GapE", "GapEV", "bernstein_width", "hoeffding_width"]

THEORY_CONSTANTS = {"GapE": 144.0, "GapE-V": 512.0}  # 1/c in the error bounds exp(-c n / H)


def hoeffding_width(a: FloatArray, bound: FloatArray, pulls: FloatArray) -> FloatArray:
    """Return b sqrt(a / T), elementwise, for T of at least 1."""
    width = np.sqrt(pulls)
    return np.divide(bound * np.sqrt(a), width, out=width)


def bernstein_width(a: FloatArray, bound: FloatArray, pulls: FloatArray, variances: FloatArray) -> FloatArray:
    """Return sqrt(2 a v / T) + 7 a b / (3 (T - 1)), elementwise, for T of at least 2."""
    width = variances / pulls
    width *= 2.0 * a
    np.sqrt(width, out=width)
    width += (7.0 / 3.0) * a * bound / (pulls - 1.0)
    return width


@dataclass(kw_only=True)
class _GapAgent(OneByOneAgent):
    """What the four have in common: the first pulls, then a sampling rule to the end, then the best mean.

    Args:
        scale: Multiplies the exploration a; at least 0, default 1.
        b: Bound of the rewards, which lie in [0, b]; None (default): max over arms of mean + sigma sqrt(log n), as in
            Lalitha et al. (2023), section 5, which takes knowledge of the range.
    """

    b: float | None = None
    scale: float = 1.0

    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, BestOfEach.name})

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and find the bound of the rewards."""
        check_not_negative(self.scale, "scale", self.name)
        check_positive(self.b, "b", self.name)
        self.bound: FloatArray = reward_bounds(self.b, briefing)


def _rescaling(name: str, num_arms: int, rescaled: bool) -> float:
    """Return c'/c, by which section 5 of Lalitha et al. divides H: c' = 1/(4 log2 K), with the real log2."""
    return THEORY_CONSTANTS[name] / (4.0 * math.log2(num_arms)) if rescaled else 1.0


@dataclass(kw_only=True)
class GapE(_GapAgent):
    """Pulls the arm of largest B = -gap + b sqrt(a / T), with the estimated gap to the best other arm.

    The exploration a = (4/9) (n - K) / H is the largest that the theory covers; H is the true complexity, the sum of
    b^2 / gap^2. It recommends the arm of largest mean.

    Paper: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification", for one bandit;
    with the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 36 / log2 K, as in Lalitha et al., so that the error bound is
            comparable to that of SHVar. False: the original constant.
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, see above.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    rescaled: bool = True

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
        return gap_rule(steps, self._width, self.task.num_bandits, tie=self.tie, rng=self.rng)

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
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, see above.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    rescaled: bool = True

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
        return gap_rule(steps, self._width, self.task.num_bandits, tie=self.tie, rng=self.rng)

    def _width(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        return bernstein_width(self.exploration, self.bound, pulls, variances)


@dataclass(kw_only=True)
class _AdaptiveGapAgent(_GapAgent):
    """What the two that estimate the complexity have in common."""

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The range, unless ``b`` is given."""
        return frozenset() if self.b is not None else frozenset({"range"})

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule that estimates H at each step."""
        if self.task.num_bandits > 1:
            return ManyBanditsRule(steps, self._all_indices, tie=self.tie, rng=self.rng)
        return AdaptiveGapRule(steps, self._margin, self._terms, self._index, tie=self.tie, rng=self.rng)

    def _all_indices(self, window: Statistics) -> FloatArray:
        """Return B of the arms of several bandits, up to a constant of the episode."""
        margin = self._margin(window.pulls)
        gaps = top_gaps(window.means.T, 1, self.task.num_bandits).T
        index = np.empty(gaps.shape)
        self._index(gaps + margin, -gaps - margin, self._terms(window.pulls, window.variances), index)
        return index

    def _margin(self, pulls: FloatArray) -> FloatArray:
        """Return b sqrt(1 / (2 T)), by which the estimated gaps are increased in H."""
        return np.asarray(self.bound * np.sqrt(0.5 / pulls))

    @abstractmethod
    def _terms(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return what H and the width need of an arm's own statistics, see :class:`AdaptiveGapRule`."""

    @abstractmethod
    def _index(self, upper: FloatArray, lowered: FloatArray, terms: FloatArray, out: FloatArray) -> None:
        """Set ``out`` to B, see :class:`AdaptiveGapRule`."""


@dataclass(kw_only=True)
class AGapE(_AdaptiveGapAgent):
    """GapE that estimates the complexity: before each pull, H is replaced by an estimate from below.

    H is the sum of b^2 / (gap + b sqrt(1 / (2 T)))^2 with the estimated gaps, and a = (4/9) (n - K) / H.

    Paper: Gabillon et al. (2011), adaptive version for one bandit. Differences: stated there for b = 1; the factor b is
    by scaling. The constants are from a secondary description and could not be checked against the paper.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, see above.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    name: ClassVar[str] = "A-GapE"
    uses_variances: ClassVar[bool] = False
    first_pulls: ClassVar[int] = 1

    def _terms(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return sqrt(1 / T), which the margin of a gap and the width have in common: ``(1, ...)``."""
        return np.sqrt(1.0 / pulls)[None]

    def _index(self, upper: FloatArray, lowered: FloatArray, terms: FloatArray, out: FloatArray) -> None:
        """Set ``out`` to B."""
        np.divide(self.bound, upper, out=out)
        complexity = np.einsum("kn,kn->n", out, out)
        exploration = self.scale * (4.0 / 9.0) * max(self.budget - self.num_arms, 0) / complexity
        # The lowered means are raised again by the margin, b sqrt(1 / (2 T)), and by the width, b sqrt(a / T).
        np.multiply(terms[0], self.bound * (math.sqrt(0.5) + np.sqrt(exploration)), out=out)
        out += lowered


@dataclass(kw_only=True)
class AGapEV(_AdaptiveGapAgent):
    """GapE-V that estimates the variance-aware complexity before each pull.

    With the estimated gaps increased by b sqrt(1 / (2 T)) and the standard deviations decreased by b sqrt(2 / (T - 1)),
    but not below 0, in the formula of GapE-V; a = (8/9) (n - 2K) / H.

    Paper: Gabillon et al. (2011), adaptive version for one bandit. Differences: as for A-GapE.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, see above.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    name: ClassVar[str] = "A-GapE-V"
    first_pulls: ClassVar[int] = 2

    def _terms(self, pulls: FloatArray, variances: FloatArray) -> FloatArray:
        """Return ``(5, ...)``: lower bound on sigma, its square, margin, and the width's factors of sqrt(a) and a."""
        lower = np.maximum(np.sqrt(variances) - self.bound * np.sqrt(2.0 / (pulls - 1.0)), 0.0)
        root = np.sqrt(2.0 * variances / pulls)
        return np.stack([lower, lower**2, self._margin(pulls), root, (7.0 / 3.0) * self.bound / (pulls - 1.0)])

    def _index(self, upper: FloatArray, lowered: FloatArray, terms: FloatArray, out: FloatArray) -> None:
        """Set ``out`` to B."""
        lower, square, margin, root, correction = terms
        np.multiply(upper, (16.0 / 3.0) * self.bound, out=out)
        out += square
        np.sqrt(out, out=out)
        out += lower
        out /= upper
        complexity = np.einsum("kn,kn->n", out, out)
        exploration = self.scale * (8.0 / 9.0) * max(self.budget - 2 * self.num_arms, 0) / complexity
        np.multiply(root, np.sqrt(exploration), out=out)
        out += np.multiply(correction, exploration, out=upper)
        out += margin
        out += lowered
