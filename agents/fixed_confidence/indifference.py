"""Selection with an indifference zone, for normal rewards of unknown variances: Rinott's two stages, and KN.

The best mean is assumed to exceed all others by at least the width of the zone; nothing else about the means is
needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import confidence_note
from bai_gym.agents.parameters import Count, Positive, Probability, Several, check_parameters
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.batches import BatchState, is_look
from bai_gym.agents.tools.choosing import best_remaining
from bai_gym.agents.tools.ranges import dependence_note
from bai_gym.agents.tools.scanning import arm_of_largest, pull_in_turn
from bai_gym.agents.tools.variances import (
    VarianceState,
    estimated_variance,
    estimated_variances,
    pool,
    variance_choice,
    variance_estimate,
)
from bai_gym.bandits import Bandit
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Outcome, PerArm, Rule, Sequential, Values, Vector
from bai_gym.statistics import ROUNDING, IntArray, Statistics
from bai_gym.theory import rinott_constant

__all__ = ["KN", "Rinott"]


class ZoneState(VarianceState, BatchState):
    """What the rules of Rinott and KN use."""

    zone: float  # width of the indifference zone
    square: float  # h^2
    remaining: int  # number of arms that are still pulled


class RinottState(ZoneState):
    """What the rule of Rinott uses."""

    target: PerArm  # pulls of each arm after both stages


def second_stage(e: Episode, s: RinottState, w: RinottState, rng: np.random.Generator) -> int:
    """Drop the arms that have all their pulls; return when the next one will have."""
    if e.pulled < 0:
        pool(e, s)
        for arm in range(e.num_arms):
            variance = estimated_variance(e.pulls[arm], e.mean[arm], e.variance[arm], s)
            w.target[arm] = max(math.ceil(s.square * variance / (s.zone * s.zone)), e.pulls[arm])
        total = 0.0
        for arm in range(e.num_arms):
            total += w.target[arm]
        if total % s.batch_size > 0.0:
            w.target[arm_of_largest(w.target, e, rng)] += s.batch_size - total % s.batch_size
    missing = float(e.end)
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and e.pulls[arm] >= w.target[arm]:
            drop(e, s, arm)
        elif e.active[arm] == 1:
            missing = min(missing, w.target[arm] - e.pulls[arm])
    # All arms that remain have been pulled equally often.
    return e.made + max(int(missing * s.remaining), 1)


def has_all_pulls(e: Episode, s: RinottState, w: RinottState) -> bool:
    """Return whether every arm has all its pulls."""
    return s.remaining == 0


class KNState(ZoneState):
    """What the rule of KN uses."""

    lost: PerArm  # 1 for arms that have lost
    variance: Vector  # K x K variances of the differences of two arms, from the first stage


def screen(e: Episode, s: KNState, w: KNState, rng: np.random.Generator) -> int:
    """Drop all arms that have lost against another one; return when the next round ends."""
    if s.remaining == 1:  # nothing is left to decide before the next look
        return e.end
    for i in range(e.num_arms):
        for j in range(e.num_arms):
            if e.active[i] == 0 or e.active[j] == 0:  # arms that lose in this round still compete in it
                continue
            if i != j and e.mean[i] < e.mean[j] - margin(e, s, w, i, j):
                w.lost[i] = 1.0
    for arm in range(e.num_arms):
        if e.active[arm] == 1 and w.lost[arm] == 1.0:
            drop(e, s, arm)
    widest = 0.0
    for i in range(e.num_arms):
        for j in range(i):
            if e.active[i] == 1 and e.active[j] == 1:
                widest = max(widest, margin(e, s, w, i, j))
    if widest == 0.0:  # the arms that remain have exactly the same mean
        s.remaining = 1
    return e.made + s.remaining


def margin(e: Episode, s: KNState, w: KNState, i: int, j: int) -> float:
    """Return how far an arm may fall behind another one without being dropped, per pull."""
    square = w.variance[i * e.num_arms + j]
    return float(max(0.5 * (s.square * square / (s.zone * e.pulls[i]) - s.zone), 0.0))


def is_decided(e: Episode, s: KNState, w: KNState) -> bool:
    """Return whether one arm remains."""
    return is_look(e, s) and s.remaining == 1


def drop(e: Episode, s: ZoneState, arm: int) -> None:
    """Stop pulling an arm."""
    e.active[arm] = 0
    s.remaining -= 1


@dataclass(kw_only=True)
class IndifferenceAgent(SequentialAgent):
    """Base of agents with an indifference zone: first pulls estimate the variances, then a rule takes over.

    With a fixed budget they may leave pulls unspent.

    Args:
        delta: Allowed error probability, in (0, 1 - 1/K). Default 0.1.
        indifference: Width of the zone, positive, in the unit of the reward. Default 0.1. On a task with an accuracy
            epsilon, give epsilon.
        first_pulls: n_0, first pulls of each arm, at least 2. Default 10.
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default.
    """

    delta: Probability = 0.1
    indifference: Positive = 0.1
    first_pulls: Several = 10  # type: ignore[misc]
    variance: str | None = None
    batch_size: Count = 1

    stops = True
    choices = variance_choice

    @override
    def reset(self, info: ProblemInfo, rng: np.random.Generator | None = None) -> None:
        """Check the parameters, on which the minimum budget depends, and begin new episodes."""
        guess = 1.0 - 1.0 / info.num_arms
        check_parameters(self)
        if self.delta >= guess:
            raise ParameterError(f"delta of {self.name} must be below {guess:g}, that of a guess, not {self.delta:g}")
        super().reset(info, rng)

    def zone_values(self, square: float) -> Values:
        """Return the values of the state, with the square of the constant h."""
        own = {"square": square, "estimate": variance_estimate(self), "batch_size": self.batch_size}
        return {"zone": self.indifference, "remaining": self.num_arms, **own}

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover the rewards or the means of a bandit."""
        second, best = np.sort(bandit.means, axis=-1)[..., -2:].T
        rewards = confidence_note(self.name, "student", None, bandit)
        rewards += dependence_note(self.name, bandit, by_pairs=not self.uses_pairs)
        if (best - second >= self.indifference * (1.0 - ROUNDING)).all():
            return rewards
        lead = f"{self.name}: its confidence is proved for a best mean that exceeds the others by at least"
        return (*rewards, f"{lead} {self.indifference:g}, and here it need not")


@dataclass(kw_only=True)
class Rinott(IndifferenceAgent):
    """Estimates the variances in a first stage, and from them how many pulls of each arm a second stage must add.

    After n_0 pulls of each arm, with sample variances S_a^2, arm a is pulled max(n_0, ceil(h^2 S_a^2 / delta^2)) times
    in all, whatever the means are. The arm of largest mean over both stages is recommended. For h see
    :func:`bai_gym.theory.rinott_constant`.

    Proved: with normal rewards the probability that the recommended mean is at least ``indifference`` below the best
    one is at most ``delta``. So if the best mean exceeds all others by ``indifference``, it is recommended with
    probability at least 1 - delta.

    Paper: Rinott (1978), "On Two-Stage Selection Procedures and Related Probability-Inequalities". The arms of the
    second stage take turns, which changes no distribution.

    Args:
        delta: Allowed error probability, above 0 and below 1 - 1/K. Default 0.1.
        indifference: Width of the zone, positive, in the unit of the reward. Default 0.1.
        first_pulls: n_0, first pulls of each arm, at least 2. Default 10; with few, h is large.
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.
        batch_size: The second stage takes as many more pulls, of the arm that has the most, as fill the last batch of
            so many pulls; at least 1, the default.
    """

    name = "Rinott"
    rule = Rule(choose=pull_in_turn, refresh=second_stage, stops=has_all_pulls, state=RinottState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        h = rinott_constant(self.num_arms, 1.0 - self.delta, self.first_pulls)
        self.values = self.zone_values(h * h)


@dataclass(kw_only=True)
class KN(IndifferenceAgent):
    """Pulls all remaining arms once in each round, and drops those whose sum of rewards has fallen too far behind.

    After r pulls of each, arm i is dropped if its sum is more than max(0, h^2 S_ij^2 / (2 delta) - delta r / 2) below
    that of a remaining arm j. S_ij^2 is the variance of a difference of rewards of the two, from the first stage of n_0
    pulls, and h^2 = (n_0 - 1) ((2 alpha / (K - 1))^(-2 / (n_0 - 1)) - 1), alpha the allowed error probability. The
    margin shrinks to 0, so it always stops.

    Proved: with normal rewards, if the best mean exceeds all others by ``indifference``, it is recommended with
    probability at least 1 - delta. Nothing is proved here about means within the zone.

    Paper: Kim and Nelson (2001), "A Fully Sequential Procedure for Indifference-Zone Selection in Simulation", with c =
    1. S_ij^2 is that of the paper with ``paired=True``, where arms are played on common items. Difference: for
    independent arms it is the sum of the two sample variances. Since (1 + 2 x a)(1 + 2 x (1 - a)) >= 1 + 2 x for a in
    [0, 1], the bound of the paper on the error probability holds for the sum as well.

    Args:
        delta: Allowed error probability alpha, above 0 and below 1 - 1/K. Default 0.1.
        indifference: delta in the formula, the width of the zone; positive, in the unit of the reward. Default 0.1.
        first_pulls: n_0, first pulls of each arm, at least 2. Default 10; with few, h is large.
        variance: Estimate of the variances: ``"jeffreys"``, ``"floor"``, ``"sample"`` or None (default), by the kind of
            rewards, see :mod:`bai_gym.agents.tools.variances`.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default. Arms are dropped after every
            round.
        paired: If True, S_ij^2 is the sample variance of the differences on the first n_0 common items; arms must be
            paired. If False (default), arms are taken for independent.
    """

    paired: bool = False

    name = "KN"
    anytime = False  # what has been dropped is not part of the observation
    rule = Rule(choose=pull_in_turn, refresh=screen, stops=is_decided, state=KNState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        freedom = self.first_pulls - 1
        square = freedom * ((2.0 * self.delta / (self.num_arms - 1)) ** (-2.0 / freedom) - 1.0)
        self.values = self.zone_values(square)

    @property
    @override
    def uses_pairs(self) -> bool:  # type: ignore[override]
        """Whether arms must be paired."""
        return self.paired

    @override
    def sequential(self, steps: int, **options: Any) -> Sequential:
        """Return the request for the rounds, with the variances of the first stage."""
        if self.paired:
            variances = self._seen["difference_variances"]
        else:
            alone = estimated_variances(Statistics.of(self._seen), variance_estimate(self))
            variances = alone[:, :, None] + alone[:, None, :]
        self.values["variance"] = variances.reshape(self.batch, -1)
        return super().sequential(steps, **options)

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the arm of largest mean among those that remain."""
        return best_remaining(outcome.statistics, outcome.active, self.tie, self.rng)
