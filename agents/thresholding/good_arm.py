"""APT-G, HDoC and LUCB-G: look for an arm above a threshold, and classify arms by confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Count, Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.batches import BatchState, is_look
from bai_gym.agents.tools.ranges import has_unknown_variances, interval_values, range_assumptions, range_choice
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.widths import IntervalState, interval_width, optimistic_width, pool_unknown
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Outcome, PerArm, Rule
from bai_gym.statistics import IntArray
from bai_gym.tasks import GoodArm

__all__ = ["APTG", "GoodArmAgent", "GoodArmState", "HDoC", "LUCBG"]


class GoodArmState(BatchState, IntervalState):
    """What the rules of APT-G, HDoC, LUCB-G and APGAI use."""

    threshold: float  # of the task
    certain: int  # the recommendation of an episode that has stopped: an arm, or K for none
    below: int  # number of arms that are below the threshold with confidence
    index: PerArm  # index of each arm
    lower: PerArm  # lower bounds of the arms that are classified


def pull_closest(e: Episode, s: GoodArmState, w: GoodArmState, rng: np.random.Generator) -> int:
    """Stop, or pull the unclassified arm of smallest sqrt(T) |mean - threshold| (APT-G)."""
    for arm in range(e.num_arms):
        w.index[arm] = -np.sqrt(e.pulls[arm]) * abs(e.mean[arm] - s.threshold)
    return pull_unless_certain(e, s, w, rng)


def pull_optimistically(e: Episode, s: GoodArmState, w: GoodArmState, rng: np.random.Generator) -> int:
    """Stop, or pull the unclassified arm of largest mean + b sqrt(log t / (2 T)) (HDoC)."""
    pool_unknown(e, s)
    for arm in range(e.num_arms):
        w.index[arm] = e.mean[arm] + optimistic_width(e, s, arm, math.log(e.made))
    return pull_unless_certain(e, s, w, rng)


def pull_largest_bound(e: Episode, s: GoodArmState, w: GoodArmState, rng: np.random.Generator) -> int:
    """Stop, or pull the unclassified arm of largest upper bound (LUCB-G)."""
    pool_unknown(e, s)
    for arm in range(e.num_arms):
        w.index[arm] = e.mean[arm] + interval_width(e, s, arm)
    return pull_unless_certain(e, s, w, rng)


def pull_unless_certain(e: Episode, s: GoodArmState, w: GoodArmState, rng: np.random.Generator) -> int:
    """Stop, or return the arm of largest index among those that are not classified."""
    if is_look(e, s) and classify(e, s, w, rng):
        return STOP
    for arm in range(e.num_arms):
        w.index[arm] = w.index[arm] if e.active[arm] == 1 else -np.inf
    return arm_of_largest(w.index, e, rng)


def classify(e: Episode, s: GoodArmState, w: GoodArmState, rng: np.random.Generator) -> bool:
    """Drop arms that are below the threshold with confidence; return whether the recommendation is certain."""
    pool_unknown(e, s)
    first, end = e.pulled, e.pulled + 1
    if e.pulled < 0 or s.batch_size > 1:  # other intervals are new, too
        first, end = 0, e.num_arms
    for arm in range(e.num_arms):
        is_new = first <= arm < end and e.active[arm] == 1
        w.lower[arm] = e.mean[arm] - interval_width(e, s, arm) if is_new else -np.inf
    best = arm_of_largest(w.lower, e, rng)
    if w.lower[best] >= s.threshold:
        s.certain = best
        return True
    for arm in range(first, end):
        if e.active[arm] == 1 and e.mean[arm] + interval_width(e, s, arm) < s.threshold:
            e.active[arm] = 0
            s.below += 1
    s.certain = e.num_arms
    return s.below == e.num_arms


@dataclass(kw_only=True)
class GoodArmAgent(SequentialAgent):
    """Base of agents that stop when the intervals show that an arm is above the threshold, or that none is.

    A subclass sets its rule.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        b: Length of an interval that contains the rewards. None (default): that of bounded rewards; others are taken
            for Gaussian ones of unknown variances.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma.
        batch_size: Pulls between two looks at the intervals, at least 1, the default: what is proved for a look after
            every pull holds for fewer.
    """

    delta: Probability = 0.1
    b: Positive | None = None
    sigma: Positive | None = None
    batch_size: Count = 1

    tasks = frozenset({GoodArm.name})
    uses_variances = property(has_unknown_variances)
    stops = True
    anytime = False
    choices = range_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        assert isinstance(self.task, GoodArm)  # as tasks says
        own = {**interval_values(self), "batch_size": self.batch_size}
        self.values = {"threshold": self.task.threshold, **own}

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the recommendations that are certain; in the other episodes, what the means say."""
        arms = outcome.states["certain"][:, None].astype(np.int64)
        return np.where(outcome.stopped[:, None], arms, super().conclude(outcome))

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the confidence guarantee does not cover the rewards of a bandit."""
        return range_assumptions(self, bandit)


@dataclass(kw_only=True)
class APTG(GoodArmAgent):
    """Pulls the arm of smallest sqrt(T) |mean - threshold| until intervals show one to be above it, or all below.

    Intervals hold at all times with probability 1 - delta (:mod:`bai_gym.agents.tools.mixtures`). An arm whose interval
    lies below the threshold is not pulled any more. The first one whose interval lies above is the recommendation; if
    no arm is left, it is none. With a fixed budget it may leave pulls unspent; if it does not stop, the arm of largest
    mean is recommended where that is at least the threshold.

    Paper: Kano, Honda, Sakamaki, Matsuura, Nakamura and Sugiyama (2019), "Good arm identification via bandit feedback",
    which lists all good arms; here the first one ends the episode.
    """

    name = "APT-G"
    rule = Rule(choose=pull_closest, state=GoodArmState)


@dataclass(kw_only=True)
class HDoC(GoodArmAgent):
    """Hybrid of two confidence bounds: as APT-G, but pulls the arm of largest mean + b sqrt(log t / (2 T)).

    For unknown variances that is mean + sqrt(v (t^(2 / T) - 1)), v the biased sample variance. It looks for a good arm
    as UCB looks for the best one, and stops as APT-G does.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.
    """

    name = "HDoC"
    rule = Rule(choose=pull_optimistically, state=GoodArmState)


@dataclass(kw_only=True)
class LUCBG(GoodArmAgent):
    """APT-G with another choice of arms: pulls the arm of largest upper bound, mean + radius.

    Paper: Kano et al. (2019), "Good arm identification via bandit feedback"; see APT-G.
    """

    name = "LUCB-G"
    rule = Rule(choose=pull_largest_bound, state=GoodArmState)
