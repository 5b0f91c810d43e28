"""VBR, variance-based rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.agents.tools.rejects import rejection_times
from bai_gym.agents.tools.scanning import active_arm_of_smallest
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    estimated_variances,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, Episode, Outcome, PerArm, Rule, Vector
from bai_gym.statistics import IntArray, Statistics

__all__ = ["VBR"]


class VBRState(VarianceState):
    """What the rule of VBR uses."""

    gamma: float  # width of the intervals in standard errors
    by_bound: bool  # whether the smallest mean + r is rejected, not the smallest mean
    early: bool  # whether an arm is also rejected when its interval is separated from another's
    times: Vector  # t_1, ..., t_(K-1): pulls at which arms are rejected
    phase: int  # k - 1, the number of arms that have been rejected
    value: PerArm  # of which the smallest is rejected


def widest(pulls: float, mean: float, variance: float, s: VBRState) -> float:
    """Return v / T, which is largest where r is; arms of radius 0 come last, the least pulled one first."""
    v = estimated_variance(pulls, mean, variance, s)
    return v / pulls if v > 0.0 else -pulls


def reject_due(e: Episode, s: VBRState, w: VBRState, rng: np.random.Generator) -> int:
    """Reject an arm if t_k pulls are made, or two intervals are separated early; return when the next one is due."""
    pool(e, s)
    early = s.early and e.pulled >= 0 and is_separated(e, s)
    while s.phase < e.num_arms - 1 and (early or w.times[s.phase] <= e.made):
        reject(e, s, w, rng)
        early = False
    if s.phase == e.num_arms - 1:
        return NEVER
    return e.made + 1 if s.early else int(w.times[s.phase])


def reject(e: Episode, s: VBRState, w: VBRState, rng: np.random.Generator) -> None:
    """Reject the active arm of smallest mean, or mean + r."""
    for arm in range(e.num_arms):
        w.value[arm] = e.mean[arm] + radius(e, s, arm) if s.by_bound else e.mean[arm]
    e.active[active_arm_of_smallest(w.value, e, w.value, rng)] = 0
    s.phase += 1


def is_separated(e: Episode, s: VBRState) -> bool:
    """Return whether mean + r of an active arm is below mean - r of another one."""
    upper, lower = np.inf, -np.inf
    for arm in range(e.num_arms):
        if e.active[arm] == 1:
            upper = min(upper, e.mean[arm] + radius(e, s, arm))
            lower = max(lower, e.mean[arm] - radius(e, s, arm))
    return upper < lower


def radius(e: Episode, s: VBRState, arm: int) -> float:
    """Return r = gamma sqrt(v / T)."""
    return s.gamma * np.sqrt(estimated_variance(e.pulls[arm], e.mean[arm], e.variance[arm], s) / e.pulls[arm])


@dataclass(kw_only=True)
class VBR(SequentialAgent):
    """Pulls the arm of widest confidence interval, and rejects arms on the schedule of successive rejects.

    Every arm is pulled twice. Then each pull goes to the active arm of largest r = gamma sqrt(v / T), from all samples
    so far; at the times at which successive rejects would drop an arm, the active arm of smallest mean is dropped. The
    survivor is recommended.

    Paper: Faella, Finzi and Sauro (2020), "Rapidly Finding the Best Arm Using Variance". **The paper could not be
    consulted.** That one arm goes in each of about K stages, by intervals of gamma empirical standard errors, is known
    from Lalitha et al. (2023); schedule, pull rule and rejection rule are this library's reading ("reading A"), so the
    curve of the paper is not claimed to be reproduced.

    Args:
        gamma: Width of the intervals in standard errors, positive. Default 1.96, as in Lalitha et al. Without
            ``early`` it has almost no effect.
        reject: ``"mean"`` (default): drop the smallest mean. ``"ucb"``: drop the smallest mean + r.
        early: If True, an arm is also dropped, by the same rule, after every pull that leaves some active arm's
            mean + r below another's mean - r; the schedule moves on. Default False. Pulls after the last rejection go
            to the survivor.
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.

    Requires no oracle knowledge. Minimum budget: 2 K.
    """

    gamma: Positive = 1.96
    reject: Literal["mean", "ucb"] = "mean"
    early: bool = False
    variance: str | None = None

    name = "VBR"
    notes = ("VBR: reading A of its schedule and rules; the paper of Faella et al. (2020) could not be consulted",)
    first_pulls = 2
    anytime = False
    rule = Rule(index=widest, refresh=reject_due, state=VBRState)
    choices = variance_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {
            "gamma": self.gamma,
            "by_bound": self.reject == "ucb",
            "early": self.early,
            "estimate": variance_estimate(self),
            "times": rejection_times(self.num_arms, self.budget).astype(float),
        }

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the survivor of the rejections that are due at the end."""
        seen = outcome.statistics
        values = seen.means
        if self.reject == "ucb":
            values = values + self.gamma * np.sqrt(estimated_variances(seen, variance_estimate(self)) / seen.pulls)
        bounds = Statistics(seen.pulls, values, seen.variances)
        return best_remaining(bounds, outcome.active, self.tie, self.rng)
