"""UCB-E, told the complexity, and adaptive UCB-E, which estimates it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Plan, PlannedAgent
from bai_gym.agents.choosing import best_mean
from bai_gym.agents.one_by_one import OneByOneAgent, first_block, reward_bounds
from bai_gym.agents.parameters import check_positive
from bai_gym.agents.rejects import phase_ends
from bai_gym.errors import ParameterError
from bai_gym.problems import Briefing
from bai_gym.sampling import IndexRule, SamplingRule
from bai_gym.statistics import ROUNDING, FloatArray, IntArray

__all__ = ["UCBE", "AdaptiveUCBE", "plug_in_complexity"]


@dataclass(kw_only=True)
class UCBE(OneByOneAgent):
    """Pulls the arm of largest mean + b sqrt(a / T), and recommends the arm of largest mean.

    The exploration is a = c n / H_1, with the true complexity H_1, the sum of 1 / gap^2.

    Paper: Audibert, Bubeck and Munos (2010), "Best Arm Identification in Multi-Armed Bandits", Figure 1, where rewards
    lie in [0, 1] and b = 1. Difference: the factor b, by which wider rewards explore more. H_1 has no factor b^2, as it
    has in GapE; so rewards in another unit change more than the unit of b.

    Args:
        c: Factor of the exploration, positive; default 1. The paper's experiments have 1, 2, 4 and 8.
        a: ``None`` (default): the exploration is c n / H_1. ``"theory"``: (25/36) (n - K) / H_1, the largest that the
            theory covers (for b = 1). A number of at least 0: the exploration itself, and nothing need be told.
        b: Factor of the width, the range of the rewards; None (default): max over arms of mean + sigma sqrt(log n), as
            in GapE, which takes knowledge of the range.

    Knows the complexity H_1 unless ``a`` is a number, and the range of the rewards unless ``b`` is given. Minimum
    budget: K.
    """

    c: float = 1.0
    a: float | str | None = None
    b: float | None = None

    name: ClassVar[str] = "UCB-E"
    uses_variances: ClassVar[bool] = False

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity unless ``a`` is a number, and the range unless ``b`` is given."""
        complexity = {"complexity"} if self.a is None or isinstance(self.a, str) else set()
        return frozenset(complexity if self.b is not None else complexity | {"range"})

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters and compute the exploration."""
        check_positive(self.c, "c", self.name)
        check_positive(self.b, "b", self.name)
        self.exploration: FloatArray = self._exploration(briefing)
        self._width = reward_bounds(self.b, briefing) * np.sqrt(self.exploration)

    def _exploration(self, briefing: Briefing) -> FloatArray:
        if self.a is None:
            return self.c * self.budget / briefing.h1_complexity()
        if self.c != 1.0:
            raise ParameterError(f"c of {self.name} has no effect where a is given: leave one of them out")
        if self.a == "theory":
            return (25.0 / 36.0) * max(self.budget - self.num_arms, 0) / briefing.h1_complexity()
        if isinstance(self.a, str) or not (math.isfinite(self.a) and self.a >= 0):
            raise ParameterError(f"a of {self.name} must be None, 'theory' or a number of at least 0, not {self.a!r}")
        return np.full(self.batch, float(self.a))

    def rule(self, steps: int) -> SamplingRule:
        """Return the index rule."""
        return _index_rule(self, steps, self._width)


@dataclass(kw_only=True)
class AdaptiveUCBE(PlannedAgent):
    """UCB-E that estimates the complexity, at the times at which successive rejects drops an arm.

    In phase k = 0, ..., K - 1 it pulls the arm of largest mean + b sqrt(c n / (H_k T)). H_0 = K, and H_k for k >= 1 is
    the largest i / gap_(i)^2 over i = K - k + 1, ..., K, where gap_(1) <= ... <= gap_(K) are the distances of the means
    at the beginning of the phase to the largest. Gaps of 0 are left out; without any other, H stays what it was.

    Paper: Audibert, Bubeck and Munos (2010), Figure 4, where b = 1. The details are from a secondary description; that
    gaps of 0 are left out is this library's choice.

    Args:
        c: Factor of the exploration, positive; default 1.
        b: Factor of the width, the range of the rewards; default 1.

    Knows nothing. Minimum budget: K.
    """

    c: float = 1.0
    b: float = 1.0

    name: ClassVar[str] = "A-UCB-E"
    uses_variances: ClassVar[bool] = False
    anytime: ClassVar[bool] = True

    def begin(self, briefing: Briefing) -> None:
        """Check the parameters."""
        check_positive(self.c, "c", self.name)
        check_positive(self.b, "b", self.name)

    def plan(self) -> Plan:
        """Run the phases."""
        made = min(self.num_arms, self.budget)
        yield first_block(self, made)
        self.complexity: FloatArray = np.full(self.batch, float(self.num_arms))
        ends = [*phase_ends(self.num_arms, self.budget).tolist(), self.budget]
        for phase, end in enumerate(ends):
            if end <= made:  # an empty phase; of several estimates at one time, the last one holds
                continue
            if phase > 0:
                self.complexity = plug_in_complexity(self.statistics.means, phase, self.complexity)
            yield _index_rule(self, end - made, self.b * np.sqrt(self.c * self.budget / self.complexity))
            made = end

    def answer(self) -> IntArray:
        """Return the arm of largest mean."""
        return best_mean(self.statistics, self.tie, self.rng)


def plug_in_complexity(means: FloatArray, phase: int, otherwise: FloatArray) -> FloatArray:
    """Return the largest i / gap_(i)^2 over the ``phase`` largest gaps, i being the rank from the smallest gap on.

    Gaps of 0, up to rounding, are left out: with the smallest difference of two floats in place of 0, H would be huge.

    Args:
        means: ``(N, K)`` sample means.
        phase: How many gaps, from 1 to K - 1.
        otherwise: ``(N,)`` values where all those gaps are 0.
    """
    num_arms = means.shape[-1]
    ordered = np.sort(means, axis=-1)
    best = ordered[:, -1:]
    gaps = best - ordered[:, phase - 1 :: -1]  # of rank K - phase + 1, ..., K
    ranks = np.arange(num_arms - phase + 1, num_arms + 1)
    known = gaps > np.maximum(ROUNDING * np.abs(best), 1e-150)  # its square is above 0
    terms = np.where(known, ranks / np.where(known, gaps, 1.0) ** 2, 0.0).max(axis=-1)
    return np.where(known.any(axis=-1), terms, otherwise)


def _index_rule(agent: UCBE | AdaptiveUCBE, steps: int, width: FloatArray) -> IndexRule:
    """Return the rule that pulls the arm of largest mean + width / sqrt(T)."""
    return IndexRule(steps, _upper_bound, width, tie=agent.tie, rng=agent.rng)


def _upper_bound(pulls: FloatArray, means: FloatArray, variances: FloatArray, width: FloatArray) -> FloatArray:
    values = np.sqrt(pulls)
    np.divide(width, values, out=values)
    values += means
    return values
