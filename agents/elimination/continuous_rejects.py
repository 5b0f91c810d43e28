"""Continuous rejects: CR-A and CR-C, which may reject an arm after any pull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.agents.tools.ranges import range_choice, range_of
from bai_gym.agents.tools.scanning import active_arm_of_smallest, pull_in_turn
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Outcome, PerArm, Rule, State, Vector
from bai_gym.statistics import IntArray
from bai_gym.theory.complexity import log_bar

__all__ = ["CRA", "CRC"]


class RejectsState(State):
    """What the rules of continuous rejects use."""

    b: float  # bound of the rewards
    log_bar: Vector  # log~(1), ..., log~(K)
    remaining: int  # j, number of active arms
    spent: float  # R, pulls of the rejected arms
    most: float  # pulls of the rejected arm that has most of them
    score: PerArm  # minus the means of the active arms


def compare_with_next(e: Episode, s: RejectsState, w: RejectsState, rng: np.random.Generator) -> int:
    """Reject the arm of lowest mean, l, if it is far below the second-lowest one (CR-C); then pull."""
    low, second = active_arm_of_smallest(e.mean, e, w.score, rng), np.inf
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and arm != low:
            second = min(second, e.mean[arm])
    reject_if_large(e, s, w, low, second - e.mean[low])
    return pull_in_turn(e, s, w, rng)


def compare_with_average(e: Episode, s: RejectsState, w: RejectsState, rng: np.random.Generator) -> int:
    """Reject the arm of lowest mean, l, if it is far below the average of the others (CR-A); then pull."""
    low, others = active_arm_of_smallest(e.mean, e, w.score, rng), 0.0
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and arm != low:
            others += e.mean[arm]
    reject_if_large(e, s, w, low, others / (s.remaining - 1) - e.mean[low])
    return pull_in_turn(e, s, w, rng)


def reject_if_large(e: Episode, s: RejectsState, w: RejectsState, low: int, gap: float) -> None:
    """Reject arm l if gap / b > 1 / sqrt(beta) - 1, j > 2, and it has more pulls than each rejected arm."""
    beta = w.log_bar[s.remaining - 1] * (e.made - s.spent) / (e.end - s.spent)
    if s.remaining > 2 and e.pulls[low] > s.most and gap / s.b > 1.0 / np.sqrt(beta) - 1.0:
        e.active[low] = 0
        s.remaining -= 1
        s.spent += e.pulls[low]
        s.most = e.pulls[low]


@dataclass(kw_only=True)
class ContinuousRejects(SequentialAgent):
    """Base of both forms, which differ in what the lowest mean is compared with.

    Args:
        b: Length of an interval that contains the rewards. None (default): that of bounded rewards; for others 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.
    """

    b: Positive | None = None
    sigma: Positive | None = None

    uses_variances = False
    anytime = False
    choices = range_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Check the bound, and set the values of the state."""
        bars = np.array([log_bar(arms) for arms in range(1, self.num_arms + 1)])
        self.values = {"b": range_of(self), "log_bar": bars, "remaining": self.num_arms}

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the active arm of largest mean."""
        return best_remaining(outcome.statistics, outcome.active, self.tie, self.rng)


@dataclass(kw_only=True)
class CRA(ContinuousRejects):
    """Continuous rejects, aggressive: rejects an arm as soon as its mean is far enough below the average of the others.

    Before each pull, the active arm of lowest mean is compared with the average of the other j - 1 active arms. It is
    rejected if the difference exceeds b (1 / sqrt(beta) - 1), provided that j > 2 and that it has more pulls than each
    rejected arm. Here beta = log~(j) S / (n - R), with S and R the pulls of the active and of the rejected arms, and
    log~(j) = 1/2 + 1/2 + 1/3 + ... + 1/j. Then the least pulled active arm is pulled. The active arm of largest mean is
    recommended.

    Paper: Wang, Tzeng and Proutiere (2023), "Best Arm Identification with Fixed Budget: A Large Deviation Perspective";
    the rule as in the authors' code (github.com/rctzeng/NeurIPS2023-CR), whose initial phase is over after one pull of
    each arm. The code is for b = 1; the factor b is by scaling.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name = "CR-A"
    rule = Rule(choose=compare_with_average, state=RejectsState)


@dataclass(kw_only=True)
class CRC(ContinuousRejects):
    """Continuous rejects, conservative: as CR-A, but the lowest mean is compared with the second-lowest one.

    Paper: Wang, Tzeng and Proutiere (2023), "Best Arm Identification with Fixed Budget: A Large Deviation Perspective";
    the rule as in the authors' code, see CR-A.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name = "CR-C"
    rule = Rule(choose=compare_with_next, state=RejectsState)
