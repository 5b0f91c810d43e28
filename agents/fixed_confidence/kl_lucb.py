"""KL-LUCB: the arm of largest mean and its strongest challenger are pulled until their intervals separate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.intervals import INTERVALS, IntervalState, arm_of_largest_upper_end, excess
from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent, fits, mean_of
from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.posteriors import pool_variances
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Rule

__all__ = ["KLLUCB"]

NONE = -1


class KLLUCBState(IntervalState):
    """What the rule of KL-LUCB uses."""

    epsilon: float  # accuracy of the task
    challenger: int = NONE  # C, which is pulled next


def pull_pair(e: Episode, s: KLLUCBState, w: KLLUCBState, rng: np.random.Generator) -> int:
    """Pull B at the beginning of a round, or stop; then pull C."""
    pool_variances(e, s)
    if not fits(e, s):
        return STOP
    if s.challenger != NONE:
        other, s.challenger = s.challenger, NONE
        return other
    best = e.leader
    other, bound = arm_of_largest_upper_end(e, s, w, best, rng)
    goal = bound - s.epsilon
    # L_B is at least U_C - epsilon where that is not inside the interval of B.
    if is_look(e, s) and goal <= e.mean[best] and excess(e, s, w, best, goal) >= 0.0:
        return STOP
    s.challenger = other
    return best


@dataclass(kw_only=True)
class KLLUCB(ConfidenceAgent):
    """In each round pulls B, the arm of largest mean, and C, the arm of largest upper bound among the others.

    It stops when the lower bound of B is at least the upper bound of C, less epsilon, and recommends B. On some
    instances there is a positive probability that it never stops (Balagopalan, Nguyen, Zhao and Jun 2025).

    Paper: Kaufmann and Kalyanakrishnan (2013), "Information Complexity in Bandit Subset Selection", for one best arm.
    Differences: the intervals are compared before the first pair is pulled, and the default intervals are ours.

    Args:
        threshold: The intervals, see :mod:`bai_gym.agents.fixed_confidence.intervals`: ``"mixture"`` (default, also
            for None); ``"union"``, all q with N d(m, q) at most log(4 K N^2 / delta), proved by Chernoff's inequality;
            or ``"gk16"``, log((1 + log t) / delta) in its place, a heuristic that is usual in experiments.
        family: ``"bernoulli"``, which holds for all rewards in [0, 1], ``"gaussian"``, or ``"student"`` for unknown
            variances. None (default): by the kind of rewards.
    """

    name = "KL-LUCB"
    thresholds = INTERVALS
    rule = Rule(index=mean_of, choose=pull_pair, state=KLLUCBState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["epsilon"] = self.task.epsilon

    @override
    def check_task(self) -> None:
        """Accept any accuracy."""
