"""FC-DSH: sequential halving with doubled budgets, until the winner of a phase is separated from all other arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    FIRST,
    LEVEL,
    OWN,
    ConfidenceAgent,
    is_separated,
    mean_of,
    own_term,
    variance_of,
)
from bai_gym.agents.tools.halving import num_stages
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Played, Rule, section
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import flag, real

__all__ = ["FCDSH"]

FACTOR, STAGES = OWN, OWN + 1  # parameters
# Memory: number of the phase, base pulls, arms of the stage, winner of the last phase + 1; then rows of K numbers:
# whether an arm is in the stage, scores; pulls and sum of rewards in the last stage that it was in.
PHASE, BASE, SIZE, WINNER, ROWS = range(5)
ALIVE, SCORES, PULLS, SUMS, ROW_COUNT = range(5)


def row(e: Episode, number: int) -> FloatArray:
    """Return a row of the memory."""
    return section(e.memory, ROWS + number * e.pulls.size, e.pulls.size)


def revive(e: Episode) -> None:
    """Begin a phase with all arms."""
    alive = row(e, ALIVE)
    for arm in range(alive.size):
        alive[arm] = 1.0
    e.memory[SIZE] = alive.size


def halve(e: Episode, values: FloatArray, rng: np.random.Generator) -> None:
    """Keep the better half of the arms of the stage, rounded up; of arms tied at the border random ones."""
    alive, kept = row(e, ALIVE), math.ceil(e.memory[SIZE] / 2.0)
    while e.memory[SIZE] > kept:
        worst, ties = -1, 1.0
        for arm in range(alive.size):
            if alive[arm] == 0.0:
                continue
            if worst < 0 or values[arm] < values[worst]:
                worst, ties = arm, 1.0
            elif values[arm] == values[worst]:
                ties += 1.0
                if e.parameters[FIRST] == 1.0 or rng.random() * ties < 1.0:  # `first` keeps the lowest arms
                    worst = arm
        alive[worst] = 0.0
        e.memory[SIZE] -= 1.0


def with_fewest(e: Episode, pulls: FloatArray, rng: np.random.Generator) -> int:
    """Return the arm of the stage with the fewest pulls."""
    scores, alive = row(e, SCORES), row(e, ALIVE)
    for arm in range(scores.size):
        scores[arm] = -pulls[arm] if alive[arm] == 1.0 else -np.inf
    return arm_of_largest(scores, e.pulls, e.parameters[FIRST], rng)


def with_all_samples(e: Episode, rng: np.random.Generator) -> int:
    """Return the next pull of the form that uses all samples in all stages and phases."""
    if e.pulled < 0:
        e.memory[BASE] = 1.0
        revive(e)
    while True:
        arm = with_fewest(e, e.pulls, rng)
        if e.pulls[arm] < math.ceil(e.memory[BASE] * e.pulls.size / e.memory[SIZE]):
            return arm
        halve(e, e.mean, rng)
        if e.memory[SIZE] == 1.0:
            e.memory[BASE] *= e.parameters[FACTOR]
            revive(e)


def is_winner_separated(e: Episode, winner: int) -> bool:
    """Return whether the winner's lower bound reaches the upper bounds of all others, each from its last stage."""
    pulls, means, p = row(e, PULLS), row(e, SCORES), e.parameters
    level = p[LEVEL] + math.log(6.0 * pulls.size * p[STAGES] * e.memory[PHASE] * e.memory[PHASE])
    for arm in range(pulls.size):
        means[arm] = row(e, SUMS)[arm] / pulls[arm]
    width = math.sqrt(2.0 * variance_of(e, winner) * level / pulls[winner])
    for arm in range(pulls.size):
        other = math.sqrt(2.0 * variance_of(e, arm) * level / pulls[arm])
        if arm != winner and means[winner] - width < means[arm] + other:
            return False
    return True


def with_fresh_samples(e: Episode, rng: np.random.Generator) -> int:
    """Return the next pull of the form in which every stage has its own samples; stop at the end of a phase."""
    alive, scores, pulls, sums = row(e, ALIVE), row(e, SCORES), row(e, PULLS), row(e, SUMS)
    if e.pulled < 0:
        e.memory[PHASE] = 1.0
        revive(e)
        for arm in range(pulls.size):
            pulls[arm], sums[arm] = 1.0, e.mean[arm]
    else:
        pulls[e.pulled] += 1.0
        sums[e.pulled] += e.reward
    while True:
        arm = with_fewest(e, pulls, rng)
        if pulls[arm] < math.ceil(pulls.size * 2.0 ** (e.memory[PHASE] - 1.0) / e.memory[SIZE]):
            return arm
        for k in range(pulls.size):
            scores[k] = sums[k] / pulls[k]
        halve(e, scores, rng)
        if e.memory[SIZE] == 1.0:
            winner = 0
            for k in range(pulls.size):
                winner = k if alive[k] == 1.0 else winner
            e.memory[WINNER] = winner + 1.0
            if is_winner_separated(e, winner):
                return STOP
            e.memory[PHASE] += 1.0
            revive(e)
        for k in range(pulls.size):  # a new stage
            if alive[k] == 1.0:
                pulls[k] = sums[k] = 0.0


PROVED = Rule(index=mean_of, choose=with_fresh_samples)
PRACTICAL = Rule(index=mean_of, second=own_term, choose=with_all_samples, stops=is_separated)


@dataclass(kw_only=True)
class FCDSH(ConfidenceAgent):
    """Runs sequential halving again and again with growing budgets, until the winner is separated from all other arms.

    The number of pulls has an exponential tail: unlike agents that may drop the best arm for good, it surely stops.

    As proved (``reuse=False``), phase m has a budget of K L 2^(m - 1), L = ceil(log2 K), and every stage has fresh
    samples. The width of an arm, from the last stage in which it took part, is sigma sqrt(2 log(6 K L m^2 / delta) /
    N); the agent stops when m - width of the winner reaches m + width of every other arm. With ``reuse=True``, as in
    the authors' experiments, samples are kept over stages and phases: stages pull arms up to ceil(base K / arms in the
    stage) times, base is multiplied by ``factor`` after each phase, and it stops by likelihood ratios after any pull.

    Paper: Balagopalan, Nguyen, Zhao and Jun (2025), "Fixing the Loose Brake: Exponential-Tailed Stopping Time in Best
    Arm Identification". The width is from a comment in the authors' code, and proved by a union bound: over phases,
    arms, stages and two sides the errors sum to 0.55 delta. The first budget is ours: one pull of each arm in the first
    stage.

    Args:
        reuse: False (default): the proved form, for the ``"gaussian"`` family and without ``threshold``. True: the
            practical one; the authors' threshold is ``"tt-bounded"``.
        factor: By which the budget grows with ``reuse=True``, above 1; default 1.01, as in the paper's figures.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    reuse: bool = False
    factor: float = 1.01

    name: ClassVar[str] = "FC-DSH"
    anytime: ClassVar[bool] = False

    @property
    def rule(self) -> Rule:  # type: ignore[override]
        """The rule of the form."""
        return PRACTICAL if self.reuse else PROVED

    @property
    def memory(self) -> int:  # type: ignore[override]
        """State of the phase, and rows of numbers of all arms."""
        return ROWS + ROW_COUNT * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        flag(self.reuse, f"reuse of {self.name}")
        growth = real(self.factor, f"factor of {self.name}", above=1)
        if not self.reuse and (self.family != "gaussian" or self.threshold is not None):
            raise ParameterError(
                f"family and threshold of {self.name} need reuse=True: the proved form has its own widths"
            )
        self.set_parameters(info, growth, num_stages(self.num_arms))

    def conclude(self, played: Played) -> IntArray:
        """Return the winner of the last phase; with all samples, or without a phase, the arm of largest mean."""
        best = super().conclude(played)
        winner = played.memory[:, WINNER].astype(np.int64) - 1
        return np.where(winner >= 0, winner, best)
