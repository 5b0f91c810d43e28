"""APGAI: an anytime, parameter-free rule for finding an arm above a threshold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.thresholding.good_arm import GoodArmAgent, GoodArmState
from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.widths import interval_width, pool_unknown
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule
from bai_gym.statistics import IntArray, Observation
from bai_gym.tasks import GoodArm

__all__ = ["APGAI"]


class APGAIState(GoodArmState):
    """What the rule of APGAI uses."""

    stops: bool  # whether it may stop


def pull_or_stop(e: Episode, s: APGAIState, w: APGAIState, rng: np.random.Generator) -> int:
    """Pull the arm of largest sqrt(T) (mean - threshold), or stop."""
    for arm in range(e.num_arms):
        w.index[arm] = np.sqrt(e.pulls[arm]) * (e.mean[arm] - s.threshold)
    chosen = arm_of_largest(w.index, e, rng)
    if s.stops and is_look(e, s):
        pool_unknown(e, s)
        largest_index = w.index[chosen]
        s.certain = e.num_arms if largest_index <= 0.0 else chosen
        lower = e.mean[chosen] - interval_width(e, s, chosen)
        if largest_index > 0.0 and lower >= s.threshold:
            return STOP
        if largest_index < 0.0 and largest_bound(e, s) < s.threshold:
            return STOP
    return chosen


def largest_bound(e: Episode, s: APGAIState) -> float:
    """Return the largest upper bound of an arm."""
    bound = -np.inf
    for arm in range(e.num_arms):
        bound = max(bound, e.mean[arm] + interval_width(e, s, arm))
    return bound


@dataclass(kw_only=True)
class APGAI(GoodArmAgent):
    """Pulls the arm of largest sqrt(T) (mean - threshold), which it recommends if its mean is above the threshold.

    If no mean is above the threshold it recommends none; the arm pulled is then the one with the least evidence of
    being below. With fixed confidence it stops when the interval of an arm lies above the threshold, or those of all
    arms below.

    Paper: Jourdan, Delahaye-Duriez and Reda, "An Anytime Algorithm for Good Arm Identification" (arXiv 2310.10359), as
    far as a description and a public implementation show it. Intervals are those of APT-G, which are
    proved; the paper's stopping threshold, of another form, could not be checked and is left out.

    ``b`` and ``sigma`` matter for stopping alone: the choice of arms does not depend on them.
    """

    name = "APGAI"
    anytime = True
    rule = Rule(choose=pull_or_stop, state=APGAIState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["stops"] = info.fixed_confidence

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm of largest index if a mean is above the threshold, else K."""
        assert isinstance(self.task, GoodArm)  # as tasks says
        pulls = np.asarray(observation["pulls"])
        above = np.where(pulls > 0, observation["means"] - self.task.threshold, -np.inf)
        index = np.sqrt(np.maximum(pulls, 1)) * above
        scale = np.full(len(pulls), abs(self.task.threshold))
        best = largest(index, scale, pulls, self.tie, self.rng)
        return np.where(above.max(axis=1) > 0.0, best, self.num_arms)[:, None]
