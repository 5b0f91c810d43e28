"""FC-DSH: sequential halving with doubled budgets, until the winner of a phase is separated from all other arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    FAMILIES,
    STUDENT,
    ConfidenceAgent,
    ConfidenceState,
    is_separated,
    mean_of,
)
from bai_gym.agents.tools.batches import is_look
from bai_gym.agents.tools.divergences import TINY, variance_of
from bai_gym.agents.tools.halving import num_stages
from bai_gym.agents.tools.mixtures import student_width
from bai_gym.agents.tools.scanning import active_arm_of_smallest, drop_smallest
from bai_gym.agents.tools.variances import average_variance, floored
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Outcome, PerArm, Rule
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import flag, real

__all__ = ["FCDSH"]


class HalvingState(ConfidenceState):
    """What the rules of FC-DSH use."""

    factor: float  # by which the base grows, where all samples are used
    stages: int  # L
    phase: int = 1  # m
    base_pulls: float = 1.0  # base pulls of a phase, where all samples are used
    in_stage: int  # number of arms in the stage, the active ones
    winner: int = -1  # winner of the last phase
    score: PerArm  # what is compared
    pulls: PerArm  # pulls of each arm in the last stage that it was in
    sums: PerArm  # and its sum of rewards there
    squares: PerArm  # and the sum of squared deviations from their mean


def pull_with_fresh_samples(e: Episode, s: HalvingState, w: HalvingState, rng: np.random.Generator) -> int:
    """Return the next pull of the form in which every stage has its own samples; stop at the end of a phase."""
    if e.pulled < 0:
        begin_phase(e, s)
        for arm in range(e.num_arms):
            w.pulls[arm], w.sums[arm] = e.pulls[arm], e.pulls[arm] * e.mean[arm]
            w.squares[arm] = (e.pulls[arm] - 1.0) * e.variance[arm]
    else:
        arm, n = e.pulled, w.pulls[e.pulled]
        if n > 0.0:
            w.squares[arm] += (e.reward - w.sums[arm] / n) ** 2 * n / (n + 1.0)
        w.pulls[arm] += 1.0
        w.sums[arm] += e.reward
    while True:
        arm = active_arm_of_smallest(w.pulls, e, w.score, rng)
        if w.pulls[arm] < math.ceil(e.num_arms * 2.0 ** (s.phase - 1.0) / s.in_stage):
            return arm
        for k in range(e.num_arms):
            w.score[k] = w.sums[k] / w.pulls[k]
        halve(e, s, w.score, rng)
        if s.in_stage == 1:
            s.winner = active_arm_of_smallest(w.score, e, w.score, rng)  # the only one
            if is_look(e, s) and is_winner_separated(e, s, w):
                return STOP
            s.phase += 1
            begin_phase(e, s)
        for k in range(e.num_arms):  # a new stage
            if e.active[k] == 1:
                w.pulls[k] = w.sums[k] = w.squares[k] = 0.0


def pull_with_all_samples(e: Episode, s: HalvingState, w: HalvingState, rng: np.random.Generator) -> int:
    """Return the next pull of the form that uses all samples in all stages and phases."""
    if e.pulled < 0:
        begin_phase(e, s)
    while True:
        arm = active_arm_of_smallest(e.pulls, e, w.score, rng)
        if e.pulls[arm] < math.ceil(s.base_pulls * e.num_arms / s.in_stage):
            return arm
        halve(e, s, e.mean, rng)
        if s.in_stage == 1:
            s.base_pulls *= s.factor
            begin_phase(e, s)


def is_winner_separated(e: Episode, s: HalvingState, w: HalvingState) -> bool:
    """Return whether the winner's lower bound reaches the upper bounds of all others, each from its last stage."""
    level = s.level + math.log(6.0 * e.num_arms * s.stages * s.phase**2.0)
    for arm in range(e.num_arms):
        w.score[arm] = w.sums[arm] / w.pulls[arm]
    width = stage_width(e, s, w, s.winner, level)
    for arm in range(e.num_arms):
        other = stage_width(e, s, w, arm, level)
        if arm != s.winner and w.score[s.winner] - width < w.score[arm] + other:
            return False
    return True


def stage_width(e: Episode, s: HalvingState, w: HalvingState, arm: int, level: float) -> float:
    """Return the width of an arm's interval by its last stage, which misses with probability 2 exp(-level) at most."""
    if s.family == STUDENT:
        variance = floored(w.pulls[arm], w.squares[arm] / max(w.pulls[arm] - 1.0, 1.0), average_variance(e))
        return student_width(w.pulls[arm], max(variance * (1.0 - 1.0 / w.pulls[arm]), TINY), level)
    return math.sqrt(2.0 * variance_of(e, s, w, arm) * level / w.pulls[arm])


def begin_phase(e: Episode, s: HalvingState) -> None:
    """Begin a phase with all arms."""
    for arm in range(e.num_arms):
        e.active[arm] = 1
    s.in_stage = e.num_arms


def halve(e: Episode, s: HalvingState, values: FloatArray, rng: np.random.Generator) -> None:
    """Keep the better half of the arms of the stage, rounded up."""
    drop_smallest(values, s.in_stage // 2, e, rng)
    s.in_stage -= s.in_stage // 2


PROVED = Rule(index=mean_of, choose=pull_with_fresh_samples, state=HalvingState)
PRACTICAL = Rule(index=mean_of, choose=pull_with_all_samples, stops=is_separated, state=HalvingState)


@dataclass(kw_only=True)
class FCDSH(ConfidenceAgent):
    """Runs sequential halving again and again with growing budgets, until the winner is separated from all other arms.

    The number of pulls has an exponential tail: unlike agents that may drop the best arm for good, it stops with
    probability 1.

    As proved (``reuse=False``), phase m has a budget of K L 2^(m - 1), L = ceil(log2 K), and every stage has fresh
    samples. The width of an arm, from the last stage in which it took part, is sigma sqrt(2 log(6 K L m^2 / delta) /
    N); for unknown variances the interval has the means x with log E(x) at most log(6 K L m^2 / delta), E the mixture
    of :mod:`bai_gym.agents.tools.mixtures` for the rewards of that stage. The agent stops when m - width of the winner
    reaches m + width of every other arm. With ``reuse=True``, as in the authors' experiments, samples are kept over
    stages and phases: stages pull arms up to ceil(base K / arms in the stage) times, base is multiplied by ``factor``
    after each phase, and it stops by likelihood ratios after any pull.

    Paper: Balagopalan, Nguyen, Zhao and Jun (2025), "Fixing the Loose Brake: Exponential-Tailed Stopping Time in Best
    Arm Identification". The width is from a comment in the authors' code, and proved by a union bound: over phases,
    arms, stages and two sides the errors sum to 0.55 delta. The first budget is ours: one pull of each arm in the first
    stage.

    Args:
        reuse: False (default): the proved form, not for the ``"bernoulli"`` family and without ``threshold``. True: the
            practical one; the authors' threshold is ``"tt-bounded"``.
        factor: By which the budget grows with ``reuse=True``, above 1; default 1.01, as in the paper's figures.
        batch_size: As in other agents; with ``reuse=False`` a look comes at the first end of a phase after that of a
            batch.
    """

    reuse: bool = False
    factor: float = 1.01

    name: ClassVar[str] = "FC-DSH"
    other_rules: ClassVar[dict[str, Rule]] = {"reuse=True": PRACTICAL}
    anytime: ClassVar[bool] = False

    @property
    @override
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the form."""
        return PRACTICAL if self.reuse else PROVED

    @property
    @override
    def families(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the form."""
        return FAMILIES if self.reuse else ("gaussian", "student")

    @override
    def begin(self, info: ProblemInfo) -> None:
        flag(self.reuse, f"reuse of {self.name}")
        growth = real(self.factor, f"factor of {self.name}", above=1)
        if not self.reuse and (self.setting("family") == "bernoulli" or self.threshold is not None):
            raise ParameterError(
                f"family='bernoulli' and threshold of {self.name} need reuse=True: the proved form has its own widths"
            )
        super().begin(info)
        self.values.update(factor=growth, stages=num_stages(self.num_arms))

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the winner of the last phase; with all samples, or without a phase, the arm of largest mean."""
        best = super().conclude(outcome)
        winner = outcome.states["winner"].astype(np.int64)
        return np.where(winner >= 0, winner, best)
