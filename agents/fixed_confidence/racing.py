"""Elimination with fixed confidence: in each round all remaining arms are pulled once, and worse ones are dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.intervals import INTERVALS, IntervalState, excess, overlap, upper_end
from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent, Question, best_arm, fits
from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.agents.tools.posteriors import pool_variances
from bai_gym.agents.tools.questions import answer, gap
from bai_gym.agents.tools.scanning import active_arm_of_smallest, pull_in_turn
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Outcome, PerArm, Rule
from bai_gym.statistics import IntArray

__all__ = ["KLRacing", "SuccessiveElimination"]


class RacingState(IntervalState):
    """What the rules of KL-Racing and SE use."""

    remaining: int  # number of arms that have not been dropped
    score: PerArm  # minus the means of the active arms


def race(e: Episode, s: RacingState, w: RacingState, rng: np.random.Generator) -> int:
    """Drop the worst arm if its upper bound is below the lower bound of the best; return when the next round ends."""
    pool_variances(e, s)
    best, worst = best_active(e), active_arm_of_smallest(e.mean, e, w.score, rng)
    if not overlap(e, s, w, best, worst):
        bound = upper_end(e, s, w, worst)
        if bound < e.mean[best] and excess(e, s, w, best, bound) > 0.0:
            drop(e, s, worst)
    return e.made + s.remaining


def eliminate(e: Episode, s: RacingState, w: RacingState, rng: np.random.Generator, question: Question) -> int:
    """Drop all arms whose contrasts are settled by the intervals, of a group one; return when the next round ends."""
    pool_variances(e, s)
    n = answer(e, s, w, question)
    for arm in range(e.num_arms):
        w.score[arm] = 1.0  # whether it is kept: it has an open contrast, or none
        if e.active[arm] == 1:
            w.upper[arm] = upper_end(e, s, w, arm)  # the other ends stay as they are
    for k in range(n):
        w.strength[k], both = 0.0, 0.0  # whether the group of this number is settled
        for arm in (int(w.first[k]), int(w.second[k])):
            if arm >= 0:
                w.score[arm] = 0.0
                both += w.upper[arm] - e.mean[arm]
        if gap(e.mean, w, k) >= both:
            w.strength[int(w.group[k])] = 1.0
    open_ones = 0
    for k in range(n):
        if w.strength[int(w.group[k])] == 0.0:
            open_ones += 1
            for arm in (int(w.first[k]), int(w.second[k])):
                if arm >= 0:
                    w.score[arm] = 1.0
    s.remaining = 0
    for arm in range(e.num_arms if open_ones > 0 else 0):
        w.score[arm] *= e.active[arm]
        s.remaining += int(w.score[arm])
    for arm in range(e.num_arms if s.remaining > 0 else 0):  # where none remains, a look is yet to come
        e.active[arm] = int(w.score[arm])
    return e.made + max(s.remaining, 1)


def is_all_settled(e: Episode, s: RacingState, w: RacingState, question: Question) -> bool:
    """Return whether no arm remains, or a reward does not fit the family."""
    return (is_look(e, s) and s.remaining == 0) or not fits(e, s)


def is_decided(e: Episode, s: RacingState, w: RacingState) -> bool:
    """Return whether one arm remains, or a reward does not fit the family."""
    return (is_look(e, s) and s.remaining == 1) or not fits(e, s)


def best_active(e: Episode) -> int:
    """Return an arm of largest mean among those that remain."""
    best = -1
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and (best < 0 or e.mean[arm] > e.mean[best]):
            best = arm
    return best


def drop(e: Episode, s: RacingState, arm: int) -> None:
    """Drop an arm."""
    e.active[arm] = 0
    s.remaining -= 1


@dataclass(kw_only=True)
class KLRacing(ConfidenceAgent):
    """Pulls all remaining arms once in each round, and drops the worst when its interval lies below that of the best.

    Intervals are those of KL-LUCB. An arm that was dropped by mistake does not return.

    Paper: Kaufmann and Kalyanakrishnan (2013), "Information Complexity in Bandit Subset Selection", for one best arm.
    Difference: the default intervals are ours.

    Args:
        threshold: The intervals, as in KL-LUCB: ``"mixture"`` (default), ``"union"`` or the heuristic ``"gk16"``.
        family: ``"bernoulli"``, which holds for all rewards in [0, 1], ``"gaussian"``, or ``"student"`` for unknown
            variances. None (default): by the kind of rewards.
    """

    name = "KL-Racing"
    anytime = False  # what has been dropped is not part of the observation
    thresholds = INTERVALS
    rule = Rule(choose=pull_in_turn, refresh=race, stops=is_decided, state=RacingState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["remaining"] = self.num_arms

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the arm of largest mean among those that remain."""
        super().conclude(outcome)
        return best_remaining(outcome.statistics, outcome.active, self.tie, self.rng)


@dataclass(kw_only=True)
class SuccessiveElimination(ConfidenceAgent):
    """Pulls all remaining arms once in each round, and drops every arm whose contrasts are all settled by two widths.

    For the best arm these are the arms that are worse than the best one by two widths, as published; for other
    questions, ours, those on which the answer no longer rests (:mod:`bai_gym.agents.tools.questions`).

    An arm that was dropped by mistake does not return; on some instances it then never stops (Balagopalan, Nguyen, Zhao
    and Jun 2025).

    Paper: Even-Dar, Mannor and Mansour (2006), "Action Elimination and Stopping Conditions for the Multi-Armed Bandit
    and Reinforcement Learning Problems". The intervals are ours.

    Args:
        threshold: The intervals: ``"mixture"`` (default), or ``"union"``, where the width after n rounds is
            sigma sqrt(2 log(4 K n^2 / delta) / n).
    """

    anytime = False  # what has been dropped is not part of the observation

    name = "SE"
    families = ("gaussian", "student")
    thresholds = {"gaussian": ("mixture", "union"), "student": ("mixture",)}
    rule = Rule(choose=pull_in_turn, refresh=eliminate, stops=is_all_settled, state=RacingState, question=best_arm)
