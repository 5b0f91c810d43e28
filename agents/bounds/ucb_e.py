"""UCB-E, given the complexity, and adaptive UCB-E, which estimates it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import NotNegative, Oracle, Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.ranges import ORACLE, range_choice, range_of, reward_bounds
from bai_gym.agents.tools.rejects import phase_ends
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, Episode, PerArm, Rule, State, Vector
from bai_gym.statistics import ROUNDING, FloatArray
from bai_gym.theory import best_arm_h1

__all__ = ["UCBE", "AdaptiveUCBE"]


class UCBEState(State):
    """What the rule of UCB-E uses."""

    width: float  # b sqrt(a)


def upper_bound(pulls: float, mean: float, variance: float, s: UCBEState) -> float:
    """Return mean + b sqrt(a / T), whose largest arm is pulled."""
    return mean + s.width / np.sqrt(pulls)


@dataclass(kw_only=True)
class UCBE(SequentialAgent):
    """Pulls the arm of largest mean + b sqrt(a / T), and recommends the arm of largest mean.

    The exploration is a = c n / H_1, with the true complexity H_1, the sum of 1 / gap^2.

    Paper: Audibert, Bubeck and Munos (2010), "Best Arm Identification in Multi-Armed Bandits", Figure 1, where rewards
    lie in [0, 1] and b = 1. Difference: the factor b, by which wider rewards explore more. H_1 has no factor b^2, as it
    has in GapE; so rewards in another unit change more than the unit of b.

    Args:
        c: Factor of the exploration, positive; default 1. The paper's experiments have 1, 2, 4 and 8.
        a: ``None`` (default): the exploration is c n / H_1. ``"theory"``: (25/36) (n - K) / H_1, the largest that the
            theory covers (for b = 1). A number of at least 0: the exploration itself, and no oracle knowledge is
            required.
        b: Factor of the width, the length of an interval that contains the rewards. ``"oracle"`` (default): max over
            arms of mean + sigma sqrt(log n), as in GapE, which takes knowledge of the range.

    Knows the complexity H_1 unless ``a`` is a number, and the range of the rewards if ``b`` is the oracle's.
    """

    c: Positive = 1.0
    a: NotNegative | Literal["theory"] | None = None
    b: Positive | Oracle = ORACLE

    name = "UCB-E"
    uses_variances = False
    rule = Rule(index=upper_bound, state=UCBEState)

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity unless ``a`` is a number, and the range if ``b`` is the oracle's."""
        complexity = {"complexity"} if self.a is None or isinstance(self.a, str) else set()
        return frozenset(complexity | ({"range"} if self.setting("b") == ORACLE else set()))

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.exploration: FloatArray = self._exploration(info)
        self.values = {"width": reward_bounds(self, info) * np.sqrt(self.exploration)}

    def _exploration(self, info: ProblemInfo) -> FloatArray:
        if self.a is None:
            return self.c * self.budget / best_arm_h1(info.means)
        if self.c != 1.0:
            raise ParameterError(f"c of {self.name} has no effect where a is given: leave one of them out")
        if self.a == "theory":
            return (25.0 / 36.0) * max(self.budget - self.num_arms, 0) / best_arm_h1(info.means)
        return np.full(self.batch, float(self.a))


class AdaptiveState(UCBEState):
    """What the rule of adaptive UCB-E uses."""

    exploration: float  # b sqrt(c n), which H divides
    complexity: float  # H
    phase: int  # k
    ends: Vector  # pulls at the ends of the phases 0, 1, ..., K - 1
    mean: PerArm  # sample means, the largest first


def next_phase(e: Episode, s: AdaptiveState, w: AdaptiveState, rng: np.random.Generator) -> int:
    """Estimate H at the beginning of phase k (Figure 4), set the width, and return when the next phase begins."""
    if e.pulled < 0:
        s.complexity = e.num_arms  # H_0 = K
    while s.phase < e.num_arms - 1 and w.ends[s.phase] <= e.made:
        s.phase += 1
    if s.phase > 0:
        sort_means(e, w.mean)
        best, estimate = w.mean[0], 0.0
        least = max(ROUNDING * abs(best), 1e-150)  # of gaps: smaller ones are left out; the squares are above 0
        for i in range(e.num_arms - s.phase + 1, e.num_arms + 1):
            gap = best - w.mean[i - 1]
            if gap > least:
                estimate = max(estimate, i / gap**2)
        s.complexity = estimate if estimate > 0.0 else s.complexity
    s.width = s.exploration / np.sqrt(s.complexity)
    return int(w.ends[s.phase]) if s.phase < e.num_arms - 1 else NEVER


def sort_means(e: Episode, mean: FloatArray) -> None:
    """Write the sample means in descending order."""
    for arm in range(e.num_arms):
        place = arm
        while place > 0 and mean[place - 1] < e.mean[arm]:
            mean[place] = mean[place - 1]
            place -= 1
        mean[place] = e.mean[arm]


@dataclass(kw_only=True)
class AdaptiveUCBE(SequentialAgent):
    """UCB-E with an estimated complexity, updated when successive rejects would drop an arm.

    In phase k = 0, ..., K - 1 it pulls the arm of largest mean + b sqrt(c n / (H_k T)). H_0 = K, and H_k for k >= 1 is
    the largest i / gap_(i)^2 over i = K - k + 1, ..., K, where gap_(1) <= ... <= gap_(K) are the distances of the means
    at the beginning of the phase to the largest. Gaps of 0 are left out; without any other, H stays what it was.

    Paper: Audibert, Bubeck and Munos (2010), Figure 4, where b = 1. The details are from a secondary description; that
    gaps of 0 are left out is this library's choice.

    Args:
        c: Factor of the exploration, positive; default 1.
        b: Factor of the width, the length of an interval that contains the rewards. None (default): that of bounded
            rewards; for others 1.
    """

    c: Positive = 1.0
    b: Positive | None = None

    name = "A-UCB-E"
    uses_variances = False
    rule = Rule(index=upper_bound, refresh=next_phase, state=AdaptiveState)
    choices = range_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        ends = phase_ends(self.num_arms, self.budget)
        exploration = range_of(self) * math.sqrt(self.c * self.budget)
        self.values = {"exploration": exploration, "ends": np.array([*ends, self.budget])}
