"""Gap-based exploration: GapE and GapE-V, given the complexity, and A-GapE and A-GapE-V, which estimate it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.parameters import check_not_negative, check_positive
from bai_gym.agents.scanning import LANES, arm_of_largest, total
from bai_gym.agents.sequential import SequentialAgent, reward_bounds
from bai_gym.agents.widths import bernstein, hoeffding
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, best_without, columns, leader
from bai_gym.sampling.tournament import ONE, Tournament, arm_of, larger
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, BestOfEach

__all__ = ["AGapE", "AGapEV", "GapE", "GapEV"]

TASKS = frozenset({BestArm.name, BestOfEach.name})

# Parameters of the rules: the exploration a (or a H, where H is estimated), the bound b, whether variances count, the
# number of bandits, and whether ties go to the first.
A, B, AWARE, BANDITS, FIRST = range(5)


def width(pulls: float, variance: float, parameters: FloatArray) -> float:
    """Return the width of an arm's interval, by its variance or without."""
    if parameters[AWARE]:
        return bernstein(parameters[A], parameters[B], pulls, variance)
    return hoeffding(parameters[A], parameters[B], pulls)


def upper_bound(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return mean + width."""
    return mean + width(pulls, variance, parameters)


def sample_mean(pulls: float, mean: float, variance: float, parameters: FloatArray) -> float:
    """Return the mean."""
    return mean


def leader_with(tree: Tournament, arm: int, value: float, rng: np.random.Generator) -> int:
    """Return the arm that would have the largest value if one arm had another value."""
    node = np.uint64(tree.value.size >> 1) + np.uint64(arm)
    holder = tree.holder[node]
    while node > ONE:
        value, holder = larger(value, holder, tree.value[node ^ ONE], tree.holder[node ^ ONE], rng)
        node >>= ONE
    return arm_of(holder)


def largest_b(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest B = -gap + width.

    Adding the best mean to all B changes no comparison. It leaves mean + width for all arms but the best, and
    second-best mean + width for the best.
    """
    best = leader(e.second)
    own = upper_bound(e.pulls[best], best_without(e.second, best), e.variance[best], e.parameters)
    return leader_with(e.first, best, own, rng)


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
    index, lanes = e.memory[:arms], e.memory[arms:]
    set_gaps(e, index)
    for arm in range(arms):
        index[arm] = width(e.pulls[arm], e.variance[arm], e.parameters) - index[arm]
    return arm_of_largest(index, e.pulls, lanes, e.parameters[FIRST], rng)


def hardness(gap: float, margin: float, deviation: float, b: float, aware: bool) -> float:
    """Return what an arm adds to the estimate of H: its gap is taken larger by a margin, its deviation smaller."""
    upper = gap + margin
    root = deviation + np.sqrt(deviation * deviation + (16.0 / 3.0) * b * upper) if aware else b
    return (root / upper) * (root / upper)


def largest_estimated_b(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest B, where H is estimated.

    What an arm's own statistics give is kept; the terms of H are kept as long as no gap of another arm changes.
    """
    arms, b, aware = e.pulls.size, e.parameters[B], e.parameters[AWARE] > 0.0
    gaps, terms, index = e.memory[:arms], e.memory[arms : 2 * arms], e.memory[2 * arms : 3 * arms]
    margins, deviations = e.memory[3 * arms : 4 * arms], e.memory[4 * arms : 5 * arms]
    roots, corrections = e.memory[5 * arms : 6 * arms], e.memory[6 * arms : 7 * arms]
    lanes, before = e.memory[7 * arms : 7 * arms + LANES], e.memory[7 * arms + LANES :]
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(arms):
        margins[arm] = hoeffding(0.5, b, e.pulls[arm])
        roots[arm] = hoeffding(1.0, b, e.pulls[arm])
        if aware:
            deviations[arm] = max(np.sqrt(e.variance[arm]) - hoeffding(2.0, b, e.pulls[arm] - 1.0), 0.0)
            roots[arm] = np.sqrt(2.0 * e.variance[arm] / e.pulls[arm])
            corrections[arm] = 7.0 * b / (3.0 * (e.pulls[arm] - 1.0))
    changed = e.pulled < 0
    if e.parameters[BANDITS] > 1.0:
        set_gaps(e, gaps)
        changed = True
    else:
        best = leader(e.first)
        top, second = e.mean[best], best_without(e.first, best)
        changed = changed or best != before[0] or top != before[1] or second != before[2]
        before[0], before[1], before[2] = best, top, second
        for arm in range(arms):
            gaps[arm] = top - e.mean[arm]
        gaps[best] = top - second
    if changed:
        for arm in range(arms):
            terms[arm] = hardness(gaps[arm], margins[arm], deviations[arm], b, aware)
    else:
        arm = e.pulled
        terms[arm] = hardness(gaps[arm], margins[arm], deviations[arm], b, aware)
    a = e.parameters[A] / total(terms, lanes)
    root = np.sqrt(a)
    for arm in range(arms):
        index[arm] = root * roots[arm] + a * corrections[arm] - gaps[arm]
    return arm_of_largest(index, e.pulls, lanes, e.parameters[FIRST], rng)


ONE_BANDIT = Rule(index=upper_bound, second=sample_mean, choose=largest_b)
MANY_BANDITS = Rule(choose=largest_b_of_many)
ADAPTIVE = Rule(index=sample_mean, choose=largest_estimated_b)


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
    return columns(
        agent.batch, a, agent.bound, agent.uses_variances, agent.task.num_bandits, float(agent.tie == "first")
    )


def checked_bound(agent: GapE | GapEV | AGapE | AGapEV, info: ProblemInfo) -> FloatArray:
    """Check the parameters, and return the ``(N,)`` bounds of the rewards."""
    check_not_negative(agent.scale, "scale", agent.name)
    check_positive(agent.b, "b", agent.name)
    return reward_bounds(agent.b, info)


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

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: K.
    """

    b: float | None = None
    scale: float = 1.0
    rescaled: bool = True

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
        """B of each arm, for several bandits."""
        return 0 if self.task.num_bandits == 1 else self.num_arms + LANES

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration from the true complexity."""
        self.bound: FloatArray = checked_bound(self, info)
        complexity = info.gape_complexity(self.bound) / rescaling(144.0, self.num_arms, self.rescaled)
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

    Knows the complexity H, and the range of the rewards unless ``b`` is given. Minimum budget: 2 K.
    """

    b: float | None = None
    scale: float = 1.0
    rescaled: bool = True

    name: ClassVar[str] = "GapE-V"
    first_pulls: ClassVar[int] = 2
    tasks: ClassVar[frozenset[str]] = TASKS
    knows = GapE.knows
    rule = GapE.rule
    memory = GapE.memory

    def begin(self, info: ProblemInfo) -> None:
        """Compute the exploration from the true complexity."""
        self.bound: FloatArray = checked_bound(self, info)
        complexity = info.gape_v_complexity(self.bound) / rescaling(512.0, self.num_arms, self.rescaled)
        self.exploration: FloatArray = self.scale * (8.0 / 9.0) * max(self.budget - 2 * self.num_arms, 0) / complexity
        self.parameters = rule_parameters(self, self.exploration)


@dataclass(kw_only=True)
class AGapE(SequentialAgent):
    """GapE that estimates the complexity: before each pull, H is replaced by an estimate from below.

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
        """Seven numbers of each arm; the best arm, its mean and the second-best mean."""
        return 7 * self.num_arms + LANES + 3

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
