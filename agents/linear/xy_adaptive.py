"""XY-adaptive: linear best-arm identification with fixed confidence, in phases of greedy pulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.linear.linear_models import linear_values
from bai_gym.agents.linear.linear_rounds import SAME, LinearRoundsAgent, LinearRoundState, proved_worse, root_of
from bai_gym.agents.tools.choosing import SLACK, largest
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, WAIT, Episode, Outcome, PerArm, Rule, States, Vector
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.tasks import BestArm
from bai_gym.validation import choice, real

__all__ = ["XYAdaptive"]

ESTIMATES = ("least-squares", "ridge")
INSIDE = 1e-9  # share of a difference of arms outside the span of the pulls that is rounding


class AdaptiveState(LinearRoundState):
    """What the phases use; V = I + sum x x^T over the pulls of the phase."""

    remains: PerArm  # 1, or 0 for arms that have been dropped
    pulls: PerArm  # pulls and sums of rewards of each arm before the phase
    sums: PerArm
    gram: Vector  # x_i^T V^-1 x_j, row by row
    line: PerArm  # the row of the arm that is pulled
    after: PerArm  # the largest variance of a difference after one more pull of each arm; then how it is chosen
    most: float  # the largest variance of a difference now
    rho: float  # the same at the last pull, if of the last phase
    played: float  # r, and pulls of the phase
    ratio: float  # the phase goes on while rho / played is at least this


def pull_greedily(e: Episode, s: AdaptiveState, w: AdaptiveState, rng: np.random.Generator) -> int:
    """Make the pull after which the largest variance of a difference is least; wait at the end of the phase."""
    if s.over:
        return STOP
    if s.rho / s.played < s.ratio:
        return WAIT
    least = s.most
    for arm in range(e.num_arms):
        w.after[arm] = variance_after(e, s, w, arm, least * (1.0 + 4.0 * SLACK))
        least = min(least, w.after[arm])
    for arm in range(e.num_arms):  # where no pull helps, those of the phase are spread
        w.after[arm] = w.pulls[arm] - e.pulls[arm] if w.after[arm] <= least * (1.0 + 2.0 * SLACK) else -np.inf
    arm = arm_of_largest(w.after, e, rng)
    s.rho = s.most = least
    s.played += 1.0
    add_to_gram(e, s, w, arm)
    return arm


def variance_after(e: Episode, s: AdaptiveState, w: AdaptiveState, arm: int, enough: float) -> float:
    """Return the largest y^T (V + x x^T)^-1 y over the y of two arms that remain, or one that is ``enough``."""
    k, gram, most = e.num_arms, w.gram, 0.0
    length = 1.0 + gram[arm * k + arm]
    for i in range(k):
        for j in range(i if w.remains[i] == 1.0 else 0):
            if w.remains[j] == 1.0:
                product = gram[arm * k + i] - gram[arm * k + j]
                square = gram[i * k + i] + gram[j * k + j] - 2.0 * gram[i * k + j] - product * product / length
                most = max(most, square)
        if most >= s.most * (1.0 - 0.5 * SLACK):  # the pull does not help
            return s.most
        if most >= enough:
            return most
    return most


def add_to_gram(e: Episode, s: AdaptiveState, w: AdaptiveState, arm: int) -> None:
    """Add a pull of the arm to V."""
    k, gram = e.num_arms, w.gram
    length = 1.0 + gram[arm * k + arm]
    for i in range(k):
        w.line[i] = gram[arm * k + i]
    for i in range(k):
        for j in range(k):
            gram[i * k + j] -= w.line[i] * w.line[j] / length


@dataclass(kw_only=True)
class XYAdaptive(LinearRoundsAgent):
    """Pulls greedily for the differences of the arms that remain, in phases, each of which forgets the earlier ones.

    The pull is that after which the largest rho = y^T V^-1 y is least, y the differences of two remaining arms, V = I +
    sum x x^T over the pulls of the phase, in coordinates with sum x x^T = (K / r) I over the arms. With n = r + pulls
    of the phase, it ends once rho / n < alpha rho' / n', the values at the end of the one before (at first 1 and r (r +
    1) + 1). Then x is dropped if for another x' that remains (x' - x)^T theta >= sigma ||x' - x|| sqrt(2 log(pi^2 K^2
    p^2 / (3 delta))) after phase p, theta estimated from it alone. The last arm is recommended; at the cap, of those
    that remain the best estimate from all rewards.

    Paper: Soare, Lazaric and Munos (2014), "Best-Arm Identification in Linear Bandits", Algorithm 2, with constants of
    the code of Fiez, Jain, Jamieson and Ratliff (2019). Differences: the coordinates; r and not d; the identity in V
    counts for the design, and not as pulls; of pulls that help equally, that of the arm that the phase has pulled least
    is made, since often none helps, as with unit vectors. ``estimate`` is proved as least squares: pulls of a phase do
    not depend on its rewards, so an arm proves the best one worse after phase p with probability at most 3 delta /
    (pi^2 K^2 p^2), which sums to delta / (2 K). In the paper theta = V^-1 sum (reward) x with the identity in V; that
    is biased by up to the length of theta, for which the test does not allow. Other public versions keep the rewards of
    earlier phases, or begin with p = 0, so that their first phase drops nothing: neither is done here.

    A pull costs at most K m^2 operations, m arms remaining, and seldom more than K^2 + m^2; memory is K^2 numbers in
    each episode.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1; 0.05 in experiments of Fiez et al.
        sigma: Standard deviation of the noise, see above.
        alpha: How much more accurate each phase is, in (0, 1]; default 0.1.
        estimate: ``"least-squares"`` (default), of the phase alone; while its pulls do not span the differences of the
            arms that remain, none is dropped. ``"ridge"``: as published, not proved.
    """

    alpha: float = 0.1
    estimate: str = "least-squares"

    name: ClassVar[str] = "XY-adaptive"
    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name})
    rule: ClassVar[Rule] = Rule(choose=pull_greedily, state=AdaptiveState)

    @property
    @override
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """A sentence for tables if the test is not proved."""
        if self.estimate == ESTIMATES[0]:
            return ()
        return (f"{self.name}: the estimate is biased by its ridge, its error probability may exceed delta",)

    @override
    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return notes if the confidence guarantee does not cover a bandit."""
        return () if self.notes else super().unmet_assumptions(bandit)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        real(self.alpha, f"alpha of {self.name}", above=0, most=1)
        choice(self.estimate, ESTIMATES, f"estimate of {self.name}")
        self._ranks = np.maximum(((self._x**2).sum(axis=1) > 0.5).sum(axis=1), 1).astype(float)  # of columns not 0

    @override
    def initial_values(self) -> dict[str, FloatArray | float]:
        """Return what the state begins with."""
        ranks = np.broadcast_to(self._ranks, self.batch)
        return {
            "remains": np.ones(self.num_arms),
            "gram": np.zeros(self.num_arms**2),
            "rho": 1.0,
            "played": ranks * (ranks + 1.0) + 1.0,
            "ratio": np.inf,
        }

    @override
    def line_up(self, rows: IntArray, states: States, statistics: Statistics, left: IntArray) -> None:
        """Begin a phase, of which the rule decides when it ends."""
        states["pulls"][rows], states["sums"][rows] = statistics.pulls[rows], statistics.sums[rows]
        for row in rows.tolist():
            x = self.pulled(row)
            states["gram"][row] = (x @ x.T).ravel()
            remaining = x[states["remains"][row] == 1.0]
            states["most"][row] = max(((remaining - one) ** 2).sum(axis=1).max() for one in remaining)
        states["ratio"][rows] = self.alpha * states["rho"][rows] / states["played"][rows]
        states["played"][rows] = self._ranks[rows % len(self._ranks)]

    @override
    def decide(self, rows: IntArray, states: States, statistics: Statistics) -> None:
        """Drop arms after a phase; one that is left ends the episode."""
        for row in rows[states["rounds"][rows] > 0].tolist():
            self._drop(row, states, statistics.pulls[row], statistics.sums[row])

    def _drop(self, row: int, states: States, pulls: IntArray, sums: FloatArray) -> None:
        x, number = self.pulled(row), float(states["rounds"][row])
        counts, earned = pulls - states["pulls"][row], sums - states["sums"][row]
        v = x.T @ (counts[:, None] * x)
        arms = np.flatnonzero(states["remains"][row] == 1.0)
        if self.estimate == "ridge":
            inverse = np.linalg.inv(v + np.eye(len(v)))
        else:
            inverse = np.linalg.pinv(v, hermitian=True, rcond=INSIDE)
            y = x[arms] - x[arms[0]]
            if np.abs(y - y @ v @ inverse).max() > math.sqrt(INSIDE):
                return
        values = x[arms] @ (inverse @ (x.T @ earned))
        level = math.log(math.pi**2 * self.num_arms**2 * number**2 / (3.0 * self.delta))
        worse = proved_worse(x[arms] @ root_of(inverse), values, 2.0 * self._noise[row] ** 2 * level)
        states["remains"][row, arms[worse]] = 0.0
        states["over"][row] = np.ptp(x[arms[~worse]], axis=0).max() < SAME  # one arm, or several of the same

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the best estimate from all rewards among the arms that remain."""
        pulls = outcome.statistics.pulls
        features = np.broadcast_to(self._x, (self.batch, *self._x.shape[1:]))
        candidates = np.where(outcome.states["remains"] == 1.0, linear_values(features, outcome.statistics), -np.inf)
        return largest(candidates, np.zeros(self.batch), pulls, self.tie, self.rng)
