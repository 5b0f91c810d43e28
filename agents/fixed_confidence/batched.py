"""Tri-BBAI: the best arm with fixed confidence, in few batches of pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    ConfidenceAgent,
    ConfidenceState,
    common_term,
    fits,
    is_separated,
    mean_of,
    own_term,
)
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.agents.tools.divergences import inside, variance_of
from bai_gym.agents.tools.posteriors import pool_variances
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Outcome, PerArm, Rule
from bai_gym.statistics import IntArray
from bai_gym.theory.proportions import optimal_proportions

__all__ = ["TriBBAI"]

EPSILON = 0.01  # by which the means are moved towards each other before w* is computed
ALPHA = 1.001
PROVED, RUNS = "proved", "paper-runs"


class PlannedState(ConfidenceState):
    """What the rule of Tri-BBAI uses."""

    proved: bool  # whether only what is proved decides
    opening: float  # L1
    most: float  # L2
    last: float  # L3
    planned: int = 0  # batches planned so far
    batches: int = 0  # those of them that had pulls
    goal: PerArm  # pulls of each arm at the end of the batch
    left: PerArm  # those of them that have not been made
    mean: PerArm  # b, the means for which w* is computed
    variance: PerArm
    share: PerArm  # w* of these


def three_batches(e: Episode, s: PlannedState, w: PlannedState, rng: np.random.Generator) -> int:
    """Pull L1 times, then by w*; stop where the best arm is separated, or after a batch of up to L3 pulls."""
    if not fits(e, s):
        return STOP
    arm = next_of_batch(e, s, w, rng)
    while arm < 0:
        if s.planned >= (2 if s.proved else 3) and is_separated(e, s, w):
            return STOP
        if s.planned == 0:
            set_goals(e, s, w, s.opening)
        elif s.proved or s.planned < 3:
            follow_proportions(e, s, w, rng, 2.0 ** (s.planned - 1.0 if s.proved else s.planned))
        elif s.planned == 3:
            set_goals(e, s, w, s.last)
        else:
            return STOP
        arm = begin_batch(e, s, w, rng)
    return arm


def next_of_batch(e: Episode, s: PlannedState, w: PlannedState, rng: np.random.Generator) -> int:
    """Return the arm with the most pulls left in the batch, or -1 where none has any."""
    for arm in range(e.num_arms):
        w.left[arm] = w.goal[arm] - e.pulls[arm]
    arm = arm_of_largest(w.left, e, rng)
    return arm if w.left[arm] > 0.0 else -1


def begin_batch(e: Episode, s: PlannedState, w: PlannedState, rng: np.random.Generator) -> int:
    """Count the batch that has been planned, and return its first arm, or -1 where it has no pulls."""
    arm = next_of_batch(e, s, w, rng)
    s.planned += 1
    s.batches += 1 if arm >= 0 or s.planned == 1 else 0
    return arm


def set_goals(e: Episode, s: PlannedState, w: PlannedState, pulls: float) -> None:
    """Plan the same number of pulls for all arms."""
    for arm in range(e.num_arms):
        w.goal[arm] = pulls


def follow_proportions(e: Episode, s: PlannedState, w: PlannedState, rng: np.random.Generator, factor: float) -> None:
    """Plan pulls in the proportions w* of means that are EPSILON closer to each other, as many as T* says."""
    pool_variances(e, s)
    best = arm_of_largest(e.mean, e, rng)
    for arm in range(e.num_arms):
        b = e.mean[arm] + (-EPSILON if arm == best else EPSILON)
        w.mean[arm] = inside(b) if s.family == BERNOULLI else b
        w.variance[arm], w.share[arm] = variance_of(e, s, w, arm), 1.0 / e.num_arms
    y = optimal_proportions(w.mean, w.variance, s.family == BERNOULLI, 0.0, w.share, 0.0)
    top = 0
    for arm in range(e.num_arms):
        top = arm if w.mean[arm] > w.mean[top] else top
    scale = factor * ALPHA * (s.level if not s.proved else common_term(e, s) + 2.0 * own_term(e.pulls[best], s))
    for arm in range(e.num_arms):
        target = math.ceil(min(scale * w.share[arm] / (y * w.share[top]), 1e15)) if y > 0.0 else math.inf
        if s.proved:
            w.goal[arm] = max(e.pulls[arm], min(target, s.opening + factor * s.most))
        else:
            w.goal[arm] = e.pulls[arm] + min(target, s.most)


@dataclass(kw_only=True)
class TriBBAI(ConfidenceAgent):
    """Pulls all arms a few times, then in batches as large as w* and T* say, until the best one is separated.

    The first batch has L1 pulls of each arm. Then the best sample mean is lowered by 0.01, the others are raised by as
    much, and w* and T* of these means plan the next batch. As proved, batch q = 1, 2, ... of this kind brings arm i to
    2^(q - 1) 1.001 w*_i T* times the threshold, at most L1 + 2^(q - 1) L2 pulls, and the agent stops after the first
    batch at whose end the best arm is separated from all others.

    Paper: Jin, Yang, Tang, Xiao and Xu (2024), "Optimal Batched Best Arm Identification" (arXiv 2310.14129), as in
    the authors' code. It is asymptotically optimal, in 3 batches on average for small delta. Differences: unless the
    best arm is separated, the published form answers all the same, after a last batch that brings all arms to L3
    pulls; ours goes on, by this library's threshold. Where rewards are Gaussian, w* is that of Gaussian arms. Within a
    batch the arm with the most pulls left is pulled, and ties are broken at random: at a cap no arm has been preferred
    for its number.

    Args:
        constants: ``"proved"`` (default): as above, with L1 = 8 log(K) sqrt(l) and L2 = 80 l max(log l, 1) for
            l = log(1 / delta), which are this library's; the error probability is at most delta. ``"paper-runs"``: the
            authors' runs, with two batches of 2^q 1.001 w*_i T* l more pulls of arm i, at most L2, a test with the
            threshold ``"gk16"``, and a batch up to L3 pulls; L1 = 2 log(K) sqrt(l), L2 = 80 l log(l) / K, L3 = l^2.
            delta must be below 1/e there. What it recommends untested may err far more often than delta.
        batch_size: A look comes at the first end of a batch of the agent after that of a batch of this size.

    Attributes:
        batches: ``(N,)`` int64, the batches of each episode; there once the episodes have ended.
    """

    constants: Literal["proved", "paper-runs"] = "proved"

    name = "Tri-BBAI"
    rule = Rule(index=mean_of, choose=three_batches, state=PlannedState)
    anytime = False

    @property
    @override
    def by_pairs(self) -> bool:
        """Whether the evidence of two arms is added up: always."""
        return True

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables where the confidence is not proved."""
        if self.constants == PROVED:
            return super().notes
        return (f"{self.name}: with constants=paper-runs its error probability may exceed delta by far",)

    @override
    def check_threshold(self) -> str:
        """Return the name of the threshold; that of the authors' runs is ``"gk16"``."""
        return "gk16" if self.constants == RUNS and self.threshold is None else super().check_threshold()

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        level, arms = math.log(1.0 / self.delta), self.num_arms
        if self.constants == RUNS and level <= 1.0:
            raise ParameterError(f"constants='paper-runs' of {self.name} needs delta below 1/e, so that L2 is positive")
        growth = math.log(level) if self.constants == RUNS else max(math.log(max(level, 1.0)), 1.0)
        most = 80.0 * level * growth / (arms if self.constants == RUNS else 1.0)
        self.values.update(
            proved=self.constants == PROVED,
            opening=math.ceil((8.0 if self.constants == PROVED else 2.0) * math.log(arms) * math.sqrt(level)),
            most=math.ceil(most),
            last=math.ceil(level * level),
        )

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the arm of largest mean, and keep the numbers of batches."""
        super().conclude(outcome)  # checks the rewards
        self.batches = outcome.states["batches"].astype(np.int64)
        return best_remaining(outcome.statistics, outcome.active, self.tie, self.rng)
