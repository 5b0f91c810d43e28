"""APE and PSI-Elimination: the arms that no other dominates, with fixed confidence, by bounds of pairs of arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive, Probability
from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.scanning import pull_in_turn
from bai_gym.bandits import Bandit
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import STOP, Episode, Outcome, Rule, State, Vector
from bai_gym.statistics import IntArray
from bai_gym.theory.deviations import gaussian_c

__all__ = ["APE", "PSIElimination"]


class ParetoState(State):
    """What the rules of APE and PSI-Elimination use."""

    sigma: float
    level: float  # C^g(log(K (K - 1) D / (2 delta)) / 2)
    signs: Vector  # of each metric: 1 where means are to be large, -1 where small
    accepted: Vector  # 1: the arm is in the set
    logs: Vector  # log(4 + log T) of each arm
    parts: Vector  # 1 / T


def lead(e: Episode, w: ParetoState, i: int, j: int) -> float:
    """Return M(i, j), by how much arm i is better than arm j in its best metric."""
    d, most = w.signs.size, -np.inf
    for metric in range(d):
        most = max(most, w.signs[metric] * (e.mean[i * d + metric] - e.mean[j * d + metric]))
    return most


def width(s: ParetoState, w: ParetoState, i: int, j: int) -> float:
    """Return beta_ij, which differences of arms i and j differ by from those of their true means, at most."""
    return 2.0 * s.sigma * math.sqrt((s.level + (w.logs[i] + w.logs[j])) * (w.parts[i] + w.parts[j]))


def look(e: Episode, w: ParetoState) -> None:
    """Set what widths are computed from."""
    for i in range(w.accepted.size):
        pulls = e.pulls[i * w.signs.size]
        w.logs[i], w.parts[i] = math.log(4.0 + math.log(pulls)), 1.0 / pulls


def least_leads(e: Episode, s: ParetoState, w: ParetoState, i: int) -> tuple[float, float, int]:
    """Return the least M(i, j) - beta_ij and M(i, j) + beta_ij over other arms j not dropped, and j of the former."""
    lower, upper, rival = np.inf, np.inf, -1
    for j in range(w.accepted.size):
        if j != i and e.active[j * w.signs.size] == 1:
            mean, reach = lead(e, w, i, j), width(s, w, i, j)
            upper = min(upper, mean + reach)
            if mean - reach < lower:
                lower, rival = mean - reach, j
    return lower, upper, rival


def arm_or_rival(e: Episode, s: ParetoState, w: ParetoState, rng: np.random.Generator) -> int:
    """Return the arm that may well be in the set, or the one that is closest to dominating it: the less pulled one.

    If each arm is surely in the set or surely dominated, the episode ends.
    """
    look(e, w)
    most, arm, rival = -np.inf, -1, -1
    for i in range(w.accepted.size):
        lower, upper, other = least_leads(e, s, w, i)
        if lower <= 0.0 and (arm < 0 or upper > most):
            most, arm, rival = upper, i, other
    if most < 0.0:
        return STOP
    first, second = arm * w.signs.size, rival * w.signs.size
    return first if e.pulls[first] <= e.pulls[second] else second


def accept_and_drop(e: Episode, s: ParetoState, w: ParetoState, rng: np.random.Generator) -> int:
    """Drop arms that are surely dominated, take those surely in the set that need not dominate another any more."""
    d, arms = w.signs.size, w.accepted.size
    for cell in range(e.num_arms):  # pulls of the first metric are pulls of all
        e.active[cell] = int(cell % d == 0 and e.active[cell] == 1)
    look(e, w)
    lower, upper = np.full(arms, np.inf), np.full(arms, np.inf)
    for i in range(arms):
        upper[i] = least_leads(e, s, w, i)[1]
    for i in range(arms):
        e.active[i * d] = int(e.active[i * d] == 1 and upper[i] >= 0.0)
    for i in range(arms):
        lower[i] = least_leads(e, s, w, i)[0]
    for j in range(arms):
        needed = lower[j] < 0.0
        for i in range(arms):
            if e.active[i * d] == 1 and lower[i] < 0.0:
                needed = needed or lead(e, w, i, j) <= width(s, w, i, j)
        if e.active[j * d] == 1 and not needed:
            w.accepted[j] = 1.0
    for i in range(arms):
        e.active[i * d] = int(e.active[i * d] == 1 and w.accepted[i] == 0.0)
    return e.made + max(e.active.sum(), 1) * d


def none_is_left(e: Episode, s: ParetoState, w: ParetoState) -> bool:
    """Return whether all arms are decided."""
    return e.active.sum() == 0


@dataclass(kw_only=True)
class APE(SequentialAgent):
    """Pulls an arm that may well be in the set, or the arm that is closest to dominating it.

    M(i, j) is by how much arm i is better than arm j in its best metric; where it is negative, j dominates i. An arm is
    surely in the set if M(i, j) - beta_ij > 0 for all j. Of the others, b has the largest least M(b, j) + beta_bj, and
    c the least M(b, c) - beta_bc. The less pulled of the two is pulled, until each arm is surely in the set or surely
    dominated.

    Paper: Kone, Kaufmann and Richert (2023), "Adaptive Algorithms for Relaxed Pareto Set Identification" (arXiv
    2307.00424), Algorithm 1 for the whole set, epsilon_1 = 0, and its bonus beta_ij.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        sigma: Rewards of all metrics are assumed to be sigma-sub-Gaussian. Default 1.

    Requires no oracle knowledge.
    """

    delta: Probability = 0.1
    sigma: Positive = 1.0

    name = "APE"
    tasks = frozenset({"pareto"})
    stops = True
    uses_variances = False
    rule = Rule(choose=arm_or_rival, state=ParetoState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        task: Any = self.task  # a ParetoSet
        arms, pairs = self.num_arms // task.metrics, task.overturned(self.num_arms)
        self.values = {
            "sigma": self.sigma,
            "level": gaussian_c(math.log(pairs / self.delta) / 2.0),
            "signs": np.array(task.numbers(self.num_arms)[1 : 1 + task.metrics]),
            **{name: np.zeros(arms) for name in ("accepted", "logs", "parts")},
        }

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the standard deviation of a metric is above sigma."""
        if (bandit.variances <= self.sigma**2 * (1 + 1e-9)).all():
            return ()
        return (f"{self.name}: it assumes standard deviations of at most sigma={self.sigma:g}",)


@dataclass(kw_only=True)
class PSIElimination(APE):
    """Pulls all arms in turn but for those that are decided: surely dominated, or surely in the set and needed no more.

    An arm in the set is needed as long as it may dominate another one that is not decided.

    Paper: Auer, Chiang, Ortner and Drugan (2016), "Pareto Front Identification from Stochastic Bandit Feedback",
    Algorithm 1, with the bonus of :class:`APE`.

    Args:
        delta: Allowed error probability, in (0, 1). Default 0.1.
        sigma: Rewards of all metrics are assumed to be sigma-sub-Gaussian. Default 1.

    Requires no oracle knowledge.
    """

    name = "PSI-Elimination"
    anytime = False  # what has been decided is not part of the observation
    rule = Rule(choose=pull_in_turn, refresh=accept_and_drop, stops=none_is_left, state=ParetoState)

    @override
    def conclude(self, outcome: Outcome) -> IntArray:
        """Return the set; where the budget ended before, that of the sample means."""
        found = outcome.states["accepted"].astype(np.int64)
        return np.where(outcome.stopped[:, None], found, super().conclude(outcome))
