"""APT-G, HDoC and LUCB-G: look for an arm above a threshold, and classify arms by confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.scanning import arm_of_largest
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.sets import SetAgent, range_of
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Played, Rule, columns, section
from bai_gym.statistics import IntArray
from bai_gym.tasks import GoodArm
from bai_gym.validation import probability

__all__ = ["APTG", "HDoC", "LUCBG", "certain", "radius"]

THRESHOLD, B, DELTA, FIRST, INDEX = range(5)  # parameters
BY_DISTANCE, BY_OPTIMISM, BY_UPPER_BOUND = range(3)  # of APT-G, HDoC and LUCB-G
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


def set_parameters(agent: APTG | HDoC | LUCBG, info: ProblemInfo) -> None:
    """Check the parameters, and set those of the rule."""
    probability(agent.delta, f"delta of {agent.name}")
    b = range_of(agent.b, agent.sigma, agent.name)
    assert isinstance(agent.task, GoodArm)  # as tasks says
    kind = BY_DISTANCE if isinstance(agent, APTG) else BY_OPTIMISM if isinstance(agent, HDoC) else BY_UPPER_BOUND
    agent.parameters = columns(agent.batch, agent.task.threshold, b, agent.delta, float(agent.tie == "first"), kind)


def certain(agent: SequentialAgent, played: Played) -> IntArray:
    """Return the recommendations that are certain; in the other episodes, what the means say."""
    arms = played.memory[:, [agent.num_arms]].astype(np.int64)
    return np.where(played.stopped[:, None], arms, SequentialAgent.conclude(agent, played))


@dataclass(kw_only=True)
class APTG(SequentialAgent):
    """Pulls the arm of smallest sqrt(T) |mean - threshold|, until one is above the threshold with confidence, or none.

    Intervals have the radius b sqrt(log(4 K T^2 / delta) / (2 T)). An arm whose interval lies below the threshold is
    not pulled any more. The first one whose interval lies above is the recommendation; if there is none left, that is.
    With a fixed budget it may leave pulls unspent; if it does not stop, the arm of largest mean is recommended where
    that is at least the threshold.

    Paper: Kano, Honda, Sakamaki, Matsuura, Nakamura and Sugiyama (2019), "Good arm identification via bandit feedback",
    which lists all good arms; here the first one ends the episode.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.

    Requires no oracle knowledge. Minimum budget: K.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None

    name: ClassVar[str] = "APT-G"
    tasks: ClassVar[frozenset[str]] = frozenset({GoodArm.name})
    uses_variances: ClassVar[bool] = False
    anytime: ClassVar[bool] = False
    stops: ClassVar[bool] = True
    rule: ClassVar[Rule] = Rule(choose=choose)
    begin = set_parameters
    conclude = certain
    doubts = SetAgent.doubts
    _uncovered = SetAgent._uncovered

    @property
    def memory(self) -> int:  # type: ignore[override]
        """An index of each arm, the recommendation, and a count."""
        return self.num_arms + 2


@dataclass(kw_only=True)
class HDoC(SequentialAgent):
    """Hybrid of two confidence bounds: APT-G that pulls the arm of largest mean + b sqrt(log t / (2 T)).

    It looks for a good arm as UCB looks for the best one, and stops as APT-G does.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.

    Requires no oracle knowledge. Minimum budget: K.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None

    name: ClassVar[str] = "HDoC"
    tasks = APTG.tasks
    uses_variances: ClassVar[bool] = False
    anytime: ClassVar[bool] = False
    stops: ClassVar[bool] = True
    rule = APTG.rule
    begin = set_parameters
    conclude = certain
    doubts = SetAgent.doubts
    _uncovered = SetAgent._uncovered
    memory = APTG.memory


@dataclass(kw_only=True)
class LUCBG(SequentialAgent):
    """APT-G with another choice of arms: pulls the arm of largest upper bound, mean + radius.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards; default 1.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.

    Requires no oracle knowledge. Minimum budget: K.
    """

    delta: float = 0.1
    b: float = 1.0
    sigma: float | None = None

    name: ClassVar[str] = "LUCB-G"
    tasks = APTG.tasks
    uses_variances: ClassVar[bool] = False
    anytime: ClassVar[bool] = False
    stops: ClassVar[bool] = True
    rule = APTG.rule
    begin = set_parameters
    conclude = certain
    doubts = SetAgent.doubts
    _uncovered = SetAgent._uncovered
    memory = APTG.memory
