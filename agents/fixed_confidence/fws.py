"""FWS: Frank-Wolfe steps towards the optimal proportions of pulls, one step for each pull."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.fixed_confidence.stopping import (
    BERNOULLI,
    ConfidenceAgent,
    ConfidenceState,
    bernoulli_divergence,
    is_separated,
    mean_of,
    variance_of,
)
from bai_gym.agents.fixed_confidence.track_and_stop import inside
from bai_gym.agents.tools.games import solve_game
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector, leader, noinline

__all__ = ["FWS"]


class FWSState(ConfidenceState):
    """What the rule of FWS uses."""

    x: PerArm  # proportions
    z: PerArm  # proportions that the step moves towards
    f: PerArm  # f_j(x), the evidence per pull against arm j
    by_best: PerArm  # derivative of f_j by x_B
    by_other: PerArm  # derivative of f_j by x_j
    near: PerArm  # 1 for arms j in J, those of nearly smallest f_j, else 0
    score: PerArm  # x_k / N_k
    basis: PerArm  # of the linear program
    tableau: Vector  # of the linear program


def frank_wolfe(e: Episode, s: FWSState, rng: np.random.Generator) -> int:
    """Move x by a step towards z, and pull the arm of largest x_k / N_k."""
    t, best = float(e.made), leader(e.tournament)
    if e.pulled < 0:
        for arm in range(e.num_arms):
            s.x[arm] = 1.0 / e.num_arms
    if is_square(e.made // e.num_arms) or is_tied(e, best):  # forced exploration
        for arm in range(e.num_arms):
            s.z[arm] = 1.0 / e.num_arms
    else:
        find_evidence(e, s, best)
        least = np.inf
        for j in range(e.num_arms):
            least = min(least, s.f[j])
        for j in range(e.num_arms):
            s.near[j] = 1.0 if s.f[j] < least + t**-0.9 / e.num_arms else 0.0
        find_direction(e, s, best)
    for arm in range(e.num_arms):
        s.x[arm] = s.x[arm] * (t - 1.0) / t + s.z[arm] / t
        s.score[arm] = s.x[arm] / e.pulls[arm]
    return arm_of_largest(s.score, e, rng)


def find_evidence(e: Episode, s: FWSState, best: int) -> None:
    """Set f_j(x) = x_B d(m_B, p) + x_j d(m_j, p), with the p that minimises it, and its derivatives."""
    for j in range(e.num_arms):
        p = meeting_mean(e, s, best, j, s.x[best], s.x[j])
        s.by_best[j], s.by_other[j] = mean_divergence(e, s, best, p), mean_divergence(e, s, j, p)
        s.f[j] = s.x[best] * s.by_best[j] + s.x[j] * s.by_other[j]
    s.f[best] = np.inf


@noinline
def find_direction(e: Episode, s: FWSState, best: int) -> None:
    """Set z to the proportions that maximise the least <z - x, gradient of f_j> over j in J: a matrix game."""
    x, z, by_best, by_other, tableau = s.x, s.z, s.by_best, s.by_other, s.tableau
    count, nearest, width = 0, 0, 2 * e.num_arms + 1
    low, high = np.inf, -np.inf
    for j in range(e.num_arms):
        z[j] = 0.0
        if s.near[j] == 0.0:
            continue
        at_x = x[best] * by_best[j] + x[j] * by_other[j]
        for k in range(e.num_arms):
            value = (by_best[j] if k == best else by_other[j] if k == j else 0.0) - at_x
            tableau[k * width + count] = value
            low, high = min(low, value), max(high, value)
        count, nearest = count + 1, j
    if count == 1:
        z[best if by_best[nearest] > by_other[nearest] else nearest] = 1.0
        return
    for k in range(e.num_arms):
        for c in range(count):  # a game has the same strategies after a shift and a change of scale
            tableau[k * width + c] = 1.0 + (tableau[k * width + c] - low) / (high - low)
    solve_game(tableau, e.num_arms, count, width, s.basis, z)


def mean_divergence(e: Episode, s: ConfidenceState, arm: int, q: float) -> float:
    """Return d(m, q) of an arm."""
    if s.family == BERNOULLI:
        return bernoulli_divergence(inside(e.mean[arm]), q)
    return float(0.5 * (e.mean[arm] - q) * (e.mean[arm] - q) / variance_of(e, s, arm))


def meeting_mean(e: Episode, s: ConfidenceState, best: int, other: int, x: float, y: float) -> float:
    """Return the p that minimises x d(m_best, p) + y d(m_other, p)."""
    if s.family == BERNOULLI:
        return (x * inside(e.mean[best]) + y * inside(e.mean[other])) / (x + y)
    a, b = x / variance_of(e, s, best), y / variance_of(e, s, other)
    return float((a * e.mean[best] + b * e.mean[other]) / (a + b))


def is_square(number: int) -> bool:
    """Return whether an integer is a square."""
    root = int(math.sqrt(float(number)))
    return root * root == number or (root + 1) * (root + 1) == number


def is_tied(e: Episode, best: int) -> bool:
    """Return whether another arm shares the largest mean."""
    for arm in range(e.num_arms):
        if arm != best and e.mean[arm] == e.mean[best]:
            return True
    return False


@dataclass(kw_only=True)
class FWS(ConfidenceAgent):
    """Moves the proportions of pulls by a Frank-Wolfe step at each pull, towards those that are optimal for the means.

    The function to maximise is the smallest of the f_j over arms j, so it is not smooth: the step maximises the least
    slope of all f_j within t^-0.9 / K of the smallest, by a small linear program. Where floor(t / K) is a square, or
    arms are tied for the best, the step goes towards equal proportions.

    Paper: Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via Frank-Wolfe", which proves asymptotic
    optimality. Difference: Bernoulli means are kept 1e-6 from 0 and 1 in the steps; the authors first pull each arm
    until its mean is neither.

    Requires no oracle knowledge, unless ``sigma`` is None. Minimum budget: K, or 2 K for ``"student"``.
    """

    name: ClassVar[str] = "FWS"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=frank_wolfe, stops=is_separated, state=FWSState)

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameters."""
        super().begin(info)
        self.values["tableau"] = np.zeros((self.num_arms + 1) * (2 * self.num_arms + 1))
