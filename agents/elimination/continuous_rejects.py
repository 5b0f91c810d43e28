"""Continuous rejects: CR-A and CR-C, which may reject an arm after any pull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import best_mean
from bai_gym.agents.tools.sets import range_of
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Played, Rule, best_without, columns, leader, noinline, renew, section, total
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.theory.complexity import log_bar

__all__ = ["CRA", "CRC"]

# Parameters of the rules: the bound b, the tie rule, then log~(1), ..., log~(K).
B, FIRST, LOG_BARS = range(3)
# Memory: the number of active arms, the pulls of rejected arms, the most pulls of one of them, and how many active arms
# have been pulled in this round. Then the active arms, first those of this round, and the mean of each arm, or 0 if it
# is rejected.
ACTIVE, SPENT, MOST, ROUND, OWN = range(5)


def lowest_mean(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return -mean: the tournament finds the arm that may be rejected."""
    return -mean


def may_reject(e: Episode, low: int) -> bool:
    """Return whether there are more than two active arms, and the lowest has more pulls than any rejected one."""
    return e.memory[ACTIVE] > 2.0 and e.pulls[low] > e.memory[MOST]


def is_large(e: Episode, gap: float) -> bool:
    """Return whether gap / b > 1 / sqrt(beta) - 1, without roots."""
    spent, relative = e.memory[SPENT], 1.0 + gap / e.parameters[B]
    share = e.parameters[LOG_BARS + int(e.memory[ACTIVE]) - 1] * (e.made - spent)  # beta (n - R)
    return bool(relative * relative * share > e.end - spent)


@noinline
def reject(e: Episode, low: int, rng: np.random.Generator) -> None:
    """Drop an arm."""
    m, active = e.memory, int(e.memory[ACTIVE])
    order = section(m, OWN, e.pulls.size)
    place = 0
    while order[place] != low:
        place += 1
    if place < m[ROUND]:
        m[ROUND] -= 1.0
    for later in range(place, active - 1):
        order[later] = order[later + 1]
    order[active - 1] = low
    m[ACTIVE] -= 1.0
    m[SPENT] += e.pulls[low]
    m[MOST] = e.pulls[low]
    m[OWN + e.pulls.size + low] = 0.0
    e.active[low] = 0
    renew(e.first, low, -np.inf, rng)


def least_pulled(e: Episode, rng: np.random.Generator) -> int:
    """Return an active arm without a pull in this round, in random order, or in ascending one."""
    m, place, active = e.memory, int(e.memory[ROUND]), int(e.memory[ACTIVE])
    order = section(m, OWN, e.pulls.size)
    if place == active:
        place = 0
    m[ROUND] = place + 1.0
    if e.parameters[FIRST] == 0.0:
        other = place + int(rng.random() * (active - place))
        order[place], order[other] = order[other], order[place]
    return int(order[place])


def begin_rounds(e: Episode) -> None:
    """Fill the memory: all arms are active."""
    arms = e.pulls.size
    e.memory[ACTIVE] = arms
    for arm in range(arms):
        e.memory[OWN + arm] = arm
        e.memory[OWN + arms + arm] = e.mean[arm]


def compare_with_next(e: Episode, rng: np.random.Generator) -> int:
    """Reject the lowest arm if it is far below the next (CR-C), then return the least pulled one."""
    if e.pulled < 0:
        begin_rounds(e)
    low = leader(e.first)
    if may_reject(e, low) and is_large(e, -best_without(e.first, low) - e.mean[low]):
        reject(e, low, rng)
    return least_pulled(e, rng)


def compare_with_average(e: Episode, rng: np.random.Generator) -> int:
    """Reject the lowest arm if it is far below the average of the others (CR-A), then return the least pulled one."""
    arms = e.pulls.size
    means = section(e.memory, OWN + arms, arms)
    if e.pulled < 0:
        begin_rounds(e)
    else:
        means[e.pulled] = e.mean[e.pulled]
    low = leader(e.first)
    if may_reject(e, low):
        means[low] = 0.0
        gap = total(means) / (e.memory[ACTIVE] - 1.0) - e.mean[low]
        means[low] = e.mean[low]
        if is_large(e, gap):
            reject(e, low, rng)
    return least_pulled(e, rng)


@dataclass(kw_only=True)
class ContinuousRejects(SequentialAgent):
    """Base of both forms, which differ in what the lowest mean is compared with.

    Args:
        b: Bound of the rewards, which lie in [0, b]; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.
    """

    b: float = 1.0
    sigma: float | None = None

    uses_variances: ClassVar[bool] = False
    anytime: ClassVar[bool] = False

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Four counts, and two numbers of each arm."""
        return OWN + 2 * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the bound, and set the parameters of the rule."""
        b = range_of(self.b, self.sigma, self.name)
        bars = [log_bar(arms) for arms in range(1, self.num_arms + 1)]
        self.parameters = columns(self.batch, b, float(self.tie == "first"), *bars)

    def conclude(self, played: Played) -> IntArray:
        """Return the active arm of largest mean."""
        order = played.memory[:, OWN : OWN + self.num_arms].astype(np.int64)
        active = np.zeros(order.shape, bool)
        np.put_along_axis(active, order, np.arange(self.num_arms) < played.memory[:, [ACTIVE]], 1)
        statistics = played.statistics
        pulls = np.where(active, statistics.pulls, 0)
        return best_mean(Statistics(pulls, statistics.means, statistics.variances), self.tie, self.rng)


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

    name: ClassVar[str] = "CR-A"
    rule: ClassVar[Rule] = Rule(index=lowest_mean, choose=compare_with_average)


@dataclass(kw_only=True)
class CRC(ContinuousRejects):
    """Continuous rejects, conservative: as CR-A, but the lowest mean is compared with the second-lowest one.

    Paper: Wang, Tzeng and Proutiere (2023), "Best Arm Identification with Fixed Budget: A Large Deviation Perspective";
    the rule as in the authors' code, see CR-A.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name: ClassVar[str] = "CR-C"
    rule: ClassVar[Rule] = Rule(index=lowest_mean, choose=compare_with_next)
