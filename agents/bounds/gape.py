"""Gap-based exploration: GapE and GapE-V, given the complexity, and A-GapE and A-GapE-V, which estimate it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent, reward_bounds
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.widths import bernstein, hoeffding
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, columns, leader, renew, section, total
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, BestOfEach
from bai_gym.theory import gape_complexity, gape_v_complexity
from bai_gym.validation import real

__all__ = ["AGapE", "AGapEV", "GapE", "GapEV"]

TASKS = frozenset({BestArm.name, BestOfEach.name})

# Parameters of the rules: the exploration a (or a H, where H is estimated), the bound b, whether variances count, the
# number of bandits, whether ties go to the first, and for one bandit the second-largest mean, or the largest where H is
# estimated.
A, B, AWARE, BANDITS, FIRST, CAP = range(6)
# Memory for one bandit: the two arms of largest means, and a bound on the means of all others.
BEST, SECOND, BOUND = range(3)
OWN = 8  # where each arm's numbers begin: in the next cache line


def width(pulls: float, variance: float, parameters: FloatArray) -> float:
    """Return the width of an arm's interval, by its variance or without."""
    if parameters[AWARE]:
        return bernstein(parameters[A], parameters[B], pulls, variance)
    return hoeffding(parameters[A], parameters[B], pulls)


def capped_bound(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return B + the largest mean: mean + width, but for the best arm second-largest mean + width."""
    return min(mean, parameters[CAP]) + width(pulls, variance, parameters)


def find_two_best(e: Episode) -> None:
    """Update the two best arms in the memory; all arms are scanned only if one of them falls below the bound."""
    best, second, bound, pulled = int(e.memory[BEST]), int(e.memory[SECOND]), e.memory[BOUND], e.pulled
    if pulled >= 0 and pulled != best and pulled != second:
        bound = max(bound, min(e.mean[pulled], e.mean[second]))
        second = pulled if e.mean[pulled] > e.mean[second] else second
    elif pulled < 0 or min(e.mean[best], e.mean[second]) < bound:
        best, second, bound = 0, 1, -np.inf
        for arm in range(2, e.pulls.size):
            least = best if e.mean[best] < e.mean[second] else second
            bound = max(bound, min(e.mean[arm], e.mean[least]))
            if e.mean[arm] > e.mean[least]:
                best, second = best + second - least, arm
    is_ordered = e.mean[best] >= e.mean[second]
    e.memory[BEST], e.memory[SECOND] = best if is_ordered else second, second if is_ordered else best
    e.memory[BOUND] = bound


def largest_b(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest B = -gap + width, after an update of those whose gap has changed."""
    find_two_best(e)
    second = e.mean[int(e.memory[SECOND])]
    if second != e.parameters[CAP]:
        e.parameters[CAP] = second
        for place in (BEST, SECOND):
            arm = int(e.memory[place])
            value = capped_bound(e.pulls[arm], e.mean[arm], e.variance[arm], e.parameters)
            renew(e.first, arm, value, rng)
    return leader(e.first)


def set_gaps(e: Episode, gaps: FloatArray) -> None:
    """Set the distances of the means to the best other mean of the same bandit."""
    size = gaps.size // int(e.parameters[BANDITS])
    for start in range(0, gaps.size, size):
        best, second = start, -np.inf
        for arm in range(start + 1, start + size):
            if e.mean[arm] > e.mean[best]:
                best, second = arm, e.mean[best]
            else:
                second = max(second, e.mean[arm])
        for arm in range(start, start + size):
            gaps[arm] = e.mean[best] - e.mean[arm]
        gaps[best] = e.mean[best] - second


def largest_b_of_many(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest B over all arms of several bandits."""
    arms = e.pulls.size
    index = e.memory
    set_gaps(e, index)
    for arm in range(arms):
        index[arm] = width(e.pulls[arm], e.variance[arm], e.parameters) - index[arm]
    return arm_of_largest(index, e.pulls, e.parameters[FIRST], rng)


def hardness(gap: float, margin: float, deviation: float, b: float, aware: bool) -> float:
    """Return an arm's term in the estimate of H, with its gap increased and its deviation decreased by a margin."""
    upper = gap + margin
    root = deviation + np.sqrt(deviation * deviation + (16.0 / 3.0) * b * upper) if aware else b
    return (root / upper) * (root / upper)


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory, of a number for each arm."""
    return section(e.memory, OWN + number * e.pulls.size, e.pulls.size)


def largest_estimated_b(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest B, where H is estimated.

    Terms that depend on one arm are cached; the terms of H are cached as long as no gap of another arm changes.
    """
    arms, b, aware = e.pulls.size, e.parameters[B], e.parameters[AWARE] > 0.0
    gaps, terms, index = row(e, 0), row(e, 1), row(e, 2)
    margins, deviations, roots, corrections = row(e, 3), row(e, 4), row(e, 5), row(e, 6)
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(arms):
        margins[arm] = hoeffding(0.5, b, e.pulls[arm])
        roots[arm] = hoeffding(1.0, b, e.pulls[arm])
        if aware:
            deviations[arm] = max(np.sqrt(e.variance[arm]) - hoeffding(2.0, b, e.pulls[arm] - 1.0), 0.0)
            roots[arm] = np.sqrt(2.0 * e.variance[arm] / e.pulls[arm])
            corrections[arm] = 7.0 * b / (3.0 * (e.pulls[arm] - 1.0))
    changed = True  # whether the gaps of all arms have changed
    if e.parameters[BANDITS] > 1.0:
        set_gaps(e, gaps)
    else:
        find_two_best(e)
        best, second = int(e.memory[BEST]), e.mean[int(e.memory[SECOND])]
        top = e.mean[best]
        changed = e.parameters[CAP] != top
        e.parameters[CAP] = top
        if not changed:
            terms[e.pulled] = hardness(top - e.mean[e.pulled], margins[e.pulled], deviations[e.pulled], b, aware)
            terms[best] = hardness(top - second, margins[best], deviations[best], b, aware)
        for arm in range(arms):
            gaps[arm] = top - (second if arm == best else e.mean[arm])
    if changed:
        for arm in range(arms):
            terms[arm] = hardness(gaps[arm], margins[arm], deviations[arm], b, aware)
    h = total(terms)  # a = A / h
    root = np.sqrt(e.parameters[A] * h)
    for arm in range(arms):  # B times h, which saves a division
        index[arm] = root * roots[arm] + e.parameters[A] * corrections[arm] - h * gaps[arm]
    return arm_of_largest(index, e.pulls, e.parameters[FIRST], rng)


ONE_BANDIT = Rule(index=capped_bound, choose=largest_b)
MANY_BANDITS = Rule(choose=largest_b_of_many)
ADAPTIVE = Rule(choose=largest_estimated_b)


def rescaling(constant: float, num_arms: int, rescaled: bool) -> float:
    """Return c'/c, by which section 5 of Lalitha et al. divides H: c' = 1/(4 log2 K), with the real log2.

    Args:
        constant: 1/c in the error bound exp(-c n / H).
        num_arms: K.
        rescaled: False: no change.
    """
    return constant / (4.0 * math.log2(num_arms)) if rescaled else 1.0


def rule_parameters(agent: GapE | GapEV | AGapE | AGapEV, a: FloatArray | float) -> FloatArray:
    """Return the parameters of an agent's rule."""
    aware, first = float(agent.uses_variances), float(agent.tie == "first")
    return columns(agent.batch, a, agent.bound, aware, agent.task.num_bandits, first, np.inf)


def checked_bound(agent: GapE | GapEV | AGapE | AGapEV, info: ProblemInfo) -> FloatArray:
    """Check the parameters, and return the ``(N,)`` bounds of the rewards."""
    real(agent.scale, f"scale of {agent.name}", least=0)
    return reward_bounds(agent.b, info, agent.name)


def complexity_bound(agent: GapE | GapEV) -> FloatArray:
    """Return the ``(N,)`` bounds b of the complexity H."""
    return agent.bound if agent.b_in_complexity else np.ones(agent.batch)


@dataclass(kw_only=True)
class GapE(SequentialAgent):
    """Pulls the arm of largest B = -gap + b sqrt(a / T), with the estimated gap to the best other arm.

    The exploration a = (4/9) (n - K) / H is the largest that the theory covers; H is the true complexity, the sum of
    b^2 / gap^2. It recommends the arm of largest mean.

    Paper: Gabillon, Ghavamzadeh, Lazaric and Bubeck (2011), "Multi-Bandit Best Arm Identification"; for one bandit with
    the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 36 / log2 K, as in Lalitha et al., so that the error bound is
            comparable to that of SHVar. False: the original constant.
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, which lie in [0, b]; None (default): max over arms of mean + sigma sqrt(log n), as in
            Lalitha et al. (2023), section 5, which takes knowledge of the range.
        b_in_complexity: True (default): H as in Theorem 1 of Gabillon et al., so that b cancels in the width. False:
            H is the sum of 1 / gap^2, which makes the width b times as large.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    b: float | None = None
    scale: float = 1.0
    rescaled: bool = True
    b_in_complexity: bool = True

    name: ClassVar[str] = "GapE"
    uses_variances: ClassVar[bool] = False
    tasks: ClassVar[frozenset[str]] = TASKS

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """Complexity, and the range unless ``b`` is given."""
        return frozenset({"complexity"} if self.b is not None else {"complexity", "range"})

    @property
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule for one bandit, or for several."""
        return ONE_BANDIT if self.task.num_bandits == 1 else MANY_BANDITS

    @property
    def memory(self) -> int:  # type: ignore[override]
        """The two best arms and a bound; or for several bandits B of each arm."""
        return OWN if self.task.num_bandits == 1 else self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration from the true complexity."""
        self.bound: FloatArray = checked_bound(self, info)
        complexity = gape_complexity(info.means, complexity_bound(self), self.task.num_bandits)
        complexity /= rescaling(144.0, self.num_arms, self.rescaled)
        self.exploration: FloatArray = self.scale * (4.0 / 9.0) * max(self.budget - self.num_arms, 0) / complexity
        self.parameters = rule_parameters(self, self.exploration)


@dataclass(kw_only=True)
class GapEV(SequentialAgent):
    """GapE with empirical Bernstein widths: B = -gap + sqrt(2 a v / T) + 7 a b / (3 (T - 1)), v the sample variance.

    The exploration a = (8/9) (n - 2K) / H uses the variance-aware complexity H, the sum of
    (sigma + sqrt(sigma^2 + (16/3) b gap))^2 / gap^2.

    Paper: Gabillon et al. (2011); for one bandit with the changes of Lalitha et al. (2023), section 5.

    Args:
        rescaled: True (default): H is divided by 128 / log2 K, as in Lalitha et al. False: the original constant.
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, as for GapE.
        b_in_complexity: True (default): H as in Theorem 2 of Gabillon et al. False: H as for b = 1.

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    b: float | None = None
    scale: float = 1.0
    rescaled: bool = True
    b_in_complexity: bool = True

    name: ClassVar[str] = "GapE-V"
    first_pulls: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = TASKS
    knows = GapE.knows
    rule = GapE.rule
    memory = GapE.memory

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration from the true complexity."""
        self.bound: FloatArray = checked_bound(self, info)
        complexity = gape_v_complexity(info.means, info.variances, complexity_bound(self), self.task.num_bandits)
        complexity /= rescaling(512.0, self.num_arms, self.rescaled)
        self.exploration: FloatArray = self.scale * (8.0 / 9.0) * max(self.budget - 2 * self.num_arms, 0) / complexity
        self.parameters = rule_parameters(self, self.exploration)


@dataclass(kw_only=True)
class AGapE(SequentialAgent):
    """GapE with an estimated complexity: before each pull, H is replaced by a lower estimate.

    H is the sum of b^2 / (gap + b sqrt(1 / (2 T)))^2 with the estimated gaps, and a = (4/9) (n - K) / H.

    Paper: Gabillon et al. (2011), adaptive version. Differences: stated there for b = 1; the factor b is by scaling.
    The constants are from a secondary description and could not be checked against the paper.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, as for GapE.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    b: float | None = None
    scale: float = 1.0

    name: ClassVar[str] = "A-GapE"
    uses_variances: ClassVar[bool] = False
    tasks: ClassVar[frozenset[str]] = TASKS
    rule: ClassVar[Rule] = ADAPTIVE

    @property
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The range, unless ``b`` is given."""
        return frozenset() if self.b is not None else frozenset({"range"})

    @property
    def memory(self) -> int:  # type: ignore[override]
        """The two best arms and a bound; seven numbers of each arm."""
        return OWN + 7 * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration times H."""
        self.bound: FloatArray = checked_bound(self, info)
        self.parameters = rule_parameters(self, self.scale * (4.0 / 9.0) * (self.budget - self.num_arms))


@dataclass(kw_only=True)
class AGapEV(SequentialAgent):
    """GapE-V that estimates the variance-aware complexity before each pull.

    With the estimated gaps increased by b sqrt(1 / (2 T)) and the standard deviations decreased by b sqrt(2 / (T - 1)),
    but not below 0, in the formula of GapE-V; a = (8/9) (n - 2K) / H.

    Paper: Gabillon et al. (2011), adaptive version. Differences: as for A-GapE.

    Args:
        scale: Multiplies a; at least 0, default 1.
        b: Bound of the rewards, as for GapE.

    Knows the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    b: float | None = None
    scale: float = 1.0

    name: ClassVar[str] = "A-GapE-V"
    first_pulls: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = TASKS
    rule: ClassVar[Rule] = ADAPTIVE
    knows = AGapE.knows
    memory = AGapE.memory

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration times H."""
        self.bound: FloatArray = checked_bound(self, info)
        self.parameters = rule_parameters(self, self.scale * (8.0 / 9.0) * (self.budget - 2 * self.num_arms))
