"""APT-G, HDoC and LUCB-G: look for an arm above a threshold, and classify arms by confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.sets import range_doubts, range_of
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Played, Rule, columns, section
from bai_gym.statistics import IntArray
from bai_gym.tasks import GoodArm
from bai_gym.validation import probability

__all__ = ["APTG", "GoodArmAgent", "HDoC", "LUCBG", "radius"]

THRESHOLD, B, DELTA, FIRST, INDEX = range(5)  # parameters
BY_DISTANCE, BY_OPTIMISM, BY_UPPER_BOUND = range(3)  # the indices of APT-G, HDoC and LUCB-G
# The memory holds the index of each arm, then the recommendation, and the number of arms below the threshold.


def radius(pulls: float, arms: int, b: float, delta: float) -> float:
    """Return b sqrt(log(4 K T^2 / delta) / (2 T)): all true means are within it, at all times, but for delta."""
    return b * math.sqrt(math.log(4.0 * arms * pulls * pulls / delta) / (2.0 * pulls))


def index_of(e: Episode, arm: int) -> float:
    """Return the index of an arm."""
    p, pulls, mean = e.parameters, float(e.pulls[arm]), float(e.mean[arm])
    if p[INDEX] == BY_DISTANCE:
        return -math.sqrt(pulls) * abs(mean - float(p[THRESHOLD]))
    if p[INDEX] == BY_OPTIMISM:
        return mean + float(p[B]) * math.sqrt(math.log(e.made) / (2.0 * pulls))
    return mean + radius(pulls, e.pulls.size, p[B], p[DELTA])


def classify(e: Episode, rng: np.random.Generator) -> bool:
    """Drop arms that are below the threshold with confidence; return whether the recommendation is certain."""
    p, m, arms = e.parameters, e.memory, e.pulls.size
    newest = e.pulled
    first, end = newest, newest + 1
    if e.pulled < 0:
        newest = arm_of_largest(e.mean, e.pulls, p[FIRST], rng)  # all arms have been pulled equally often
        first, end = 0, arms
    if e.mean[newest] - radius(e.pulls[newest], arms, p[B], p[DELTA]) >= p[THRESHOLD]:
        m[arms] = newest
        return True
    for arm in range(first, end):
        if e.mean[arm] + radius(e.pulls[arm], arms, p[B], p[DELTA]) < p[THRESHOLD]:
            e.active[arm] = 0
            m[arms + 1] += 1.0
    m[arms] = arms
    return bool(m[arms + 1] == arms)


def choose(e: Episode, rng: np.random.Generator) -> int:
    """Stop, or return the arm of largest index among those that are not classified."""
    if classify(e, rng):
        return STOP
    index = section(e.memory, 0, e.pulls.size)
    for arm in range(e.pulls.size):
        index[arm] = index_of(e, arm) if e.active[arm] == 1 else -np.inf
    return arm_of_largest(index, e.pulls, e.parameters[FIRST], rng)


@dataclass(kw_only=True)
class GoodArmAgent(SequentialAgent):
    """Base of agents that stop when the intervals show that an arm is above the threshold, or that none is.

    A subclass sets :attr:`index`, or its own rule and parameters.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None

    tasks: ClassVar[frozenset[str]] = frozenset({GoodArm.name})
    uses_variances: ClassVar[bool] = False
    stops: ClassVar[bool] = True
    anytime: ClassVar[bool] = False
    rule: ClassVar[Rule] = Rule(choose=choose)
    index: ClassVar[int]

    @property
    def memory(self) -> int:  # type: ignore[override]
        """An index of each arm, the recommendation, and a count."""
        return self.num_arms + 2

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        self.set_parameters(float(self.index))

    def set_parameters(self, last: float) -> None:
        """Check the parameters, and set those of the rule, of which the last one is the agent's own."""
        probability(self.delta, f"delta of {self.name}")
        b = range_of(self.b, self.sigma, self.name)
        assert isinstance(self.task, GoodArm)  # as tasks says
        self.parameters = columns(self.batch, self.task.threshold, b, self.delta, float(self.tie == "first"), last)

    def conclude(self, played: Played) -> IntArray:
        """Return the recommendations that are certain; in the other episodes, what the means say."""
        arms = played.memory[:, [self.num_arms]].astype(np.int64)
        return np.where(played.stopped[:, None], arms, super().conclude(played))

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the confidence guarantee does not cover the rewards of a bandit."""
        return range_doubts(self, bandit)


@dataclass(kw_only=True)
class APTG(GoodArmAgent):
    """Pulls the arm of smallest sqrt(T) |mean - threshold|, until one is above the threshold with confidence, or none.

    Intervals have the radius b sqrt(log(4 K T^2 / delta) / (2 T)). An arm whose interval lies below the threshold is
    not pulled any more. The first one whose interval lies above is the recommendation; if there is none left, that is.
    With a fixed budget it may leave pulls unspent; if it does not stop, the arm of largest mean is recommended where
    that is at least the threshold.

    Paper: Kano, Honda, Sakamaki, Matsuura, Nakamura and Sugiyama (2019), "Good arm identification via bandit feedback",
    which lists all good arms; here the first one ends the episode.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name: ClassVar[str] = "APT-G"
    index: ClassVar[int] = BY_DISTANCE


@dataclass(kw_only=True)
class HDoC(GoodArmAgent):
    """Hybrid of two confidence bounds: APT-G that pulls the arm of largest mean + b sqrt(log t / (2 T)).

    It looks for a good arm as UCB looks for the best one, and stops as APT-G does.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name: ClassVar[str] = "HDoC"
    index: ClassVar[int] = BY_OPTIMISM


@dataclass(kw_only=True)
class LUCBG(GoodArmAgent):
    """APT-G with another choice of arms: pulls the arm of largest upper bound, mean + radius.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name: ClassVar[str] = "LUCB-G"
    index: ClassVar[int] = BY_UPPER_BOUND
