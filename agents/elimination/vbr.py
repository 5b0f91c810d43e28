"""VBR, variance-based rejects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_mean
from bai_gym.agents.tools.rejects import rejection_times
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import NEVER, Episode, Played, Rule, columns, section
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import choice, real

__all__ = ["VBR"]

GAMMA, BY_BOUND, EARLY, TIE_FIRST, TIMES = range(5)  # parameters


def radius(pulls: float, variance: float, gamma: float) -> float:
    """Return r = gamma sqrt(v / T)."""
    r: float = gamma * np.sqrt(variance / pulls)
    return r


def widest(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return v / T, which is largest where r is. Arms of radius 0 tie: the least pulled comes first."""
    ratio = variance / pulls
    return ratio if variance > 0.0 else -pulls


def separated(e: Episode) -> bool:
    """Return whether an active arm's interval lies entirely below another's."""
    upper, lower = np.inf, -np.inf
    for arm in range(e.pulls.size):
        if e.active[arm]:
            r = radius(e.pulls[arm], e.variance[arm], e.parameters[GAMMA])
            upper = min(upper, e.mean[arm] + r)
            lower = max(lower, e.mean[arm] - r)
    return upper < lower


def reject(e: Episode, rng: np.random.Generator) -> None:
    """Drop the active arm of smallest mean, or mean + r."""
    arms = e.pulls.size
    negative = section(e.memory, arms, arms)
    for arm in range(arms):
        r = radius(e.pulls[arm], e.variance[arm], e.parameters[GAMMA]) if e.parameters[BY_BOUND] > 0.0 else 0.0
        negative[arm] = -e.mean[arm] - r if e.active[arm] == 1 else -np.inf
    worst = arm_of_largest(negative, e.pulls, e.parameters[TIE_FIRST], rng)
    e.active[worst] = 0
    e.memory[worst] = 1.0


def reject_due(e: Episode, rng: np.random.Generator) -> int:
    """Drop an arm where the schedule, or an early separation, asks for it, then all others already due."""
    arms, rejected = e.pulls.size, 0
    for arm in range(arms):
        rejected += int(e.active[arm] == 0)
    early = e.parameters[EARLY] > 0.0 and e.pulled >= 0 and separated(e)
    while rejected < arms - 1 and (early or e.parameters[TIMES + rejected] <= e.made):
        reject(e, rng)
        rejected += 1
        early = False
    if rejected == arms - 1:
        return NEVER
    return e.made + 1 if e.parameters[EARLY] else int(e.parameters[TIMES + rejected])


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

    Requires no oracle knowledge. Minimum budget: 2 K.
    """

    gamma: float = 1.96
    reject: str = "mean"
    early: bool = False

    name: ClassVar[str] = "VBR"
    notes: ClassVar[tuple[str, ...]] = (
        "VBR: reading A of its schedule and rules; the paper of Faella et al. (2020) could not be consulted",
    )
    first_pulls: ClassVar[int] = 2
    anytime: ClassVar[bool] = False
    rule: ClassVar[Rule] = Rule(index=widest, refresh=reject_due, only_drops=True)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Whether each arm has been dropped; and a number for each."""
        return 2 * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        real(self.gamma, f"gamma of {self.name}", above=0)
        choice(self.reject, ("mean", "ucb"), f"reject of {self.name}")
        options = float(self.reject == "ucb"), float(self.early), float(self.tie == "first")
        times = rejection_times(self.num_arms, self.budget)
        self.parameters = columns(self.batch, self.gamma, *options, *times)

    def conclude(self, played: Played) -> IntArray:
        """Return the survivor of the rejections that are due at the end."""
        seen = played.statistics
        values = seen.means
        if self.reject == "ucb":
            values = values + self.gamma * np.sqrt(seen.variances / seen.pulls)
        pulls = np.where(played.memory[:, : self.num_arms] > 0.0, 0, seen.pulls)
        return best_mean(Statistics(pulls, values, seen.variances), self.tie, self.rng)
