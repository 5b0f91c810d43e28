"""FWS: Frank-Wolfe steps towards the optimal proportions of pulls, one step for each pull."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import ConfidenceAgent, ConfidenceState, is_separated, mean_of
from bai_gym.agents.tools.divergences import divergence_inside, meeting_mean
from bai_gym.agents.tools.games import solve_game
from bai_gym.agents.tools.scanning import arm_of_largest, is_tied, smallest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector

__all__ = ["FWS"]


class FWSState(ConfidenceState):
    """What the rule of FWS uses."""

    x: PerArm  # proportions
    z: PerArm  # proportions that the step moves towards
    f: PerArm  # f_j(x), the evidence per pull against arm j
    by_best: PerArm  # derivative of f_j by x_B
    by_other: PerArm  # derivative of f_j by x_j
    score: PerArm  # x_k / N_k
    basis: PerArm  # of the linear program
    tableau: Vector  # of the linear program


def frank_wolfe(e: Episode, s: FWSState, w: FWSState, rng: np.random.Generator) -> int:
    """Move x by a step towards z, and pull the arm of largest x_k / N_k."""
    t, best = float(e.made), e.leader
    for arm in range(e.num_arms if e.pulled < 0 else 0):
        w.x[arm] = 1.0 / e.num_arms
    if is_square(e.made // e.num_arms) or is_tied(e, best):  # forced exploration
        for arm in range(e.num_arms):
            w.z[arm] = 1.0 / e.num_arms
    else:
        find_direction(e, s, w, best, t**-0.9 / e.num_arms)
    for arm in range(e.num_arms):
        w.x[arm] = w.x[arm] * (t - 1.0) / t + w.z[arm] / t
        w.score[arm] = w.x[arm] / e.pulls[arm]
    return arm_of_largest(w.score, e, rng)


def find_direction(e: Episode, s: FWSState, w: FWSState, best: int, r: float) -> None:
    """Set z to the proportions that maximise the least <z - x, gradient of f_j> over the j with f_j < min f + r."""
    x, z, by_best, by_other, width = w.x, w.z, w.by_best, w.by_other, 2 * e.num_arms + 1
    for j in range(e.num_arms):  # f_j(x) = x_B d(m_B, p) + x_j d(m_j, p), with the p that minimises it
        p = meeting_mean(e, s, w, best, j, x[best], x[j])
        by_best[j], by_other[j] = divergence_inside(e, s, w, best, p), divergence_inside(e, s, w, j, p)
        w.f[j] = x[best] * by_best[j] + x[j] * by_other[j] if j != best else np.inf
        z[j] = 0.0
    count, nearest, most = 0, 0, smallest(w.f) + r
    for j in range(e.num_arms):
        if w.f[j] <= most:  # the nearest one in any case, although r may be lost in rounding
            for k in range(e.num_arms):
                slope = by_best[j] if k == best else by_other[j] if k == j else 0.0
                w.tableau[k * width + count] = slope - w.f[j]
            count, nearest = count + 1, j
    if count == 1:
        z[best if by_best[nearest] > by_other[nearest] else nearest] = 1.0
    else:
        solve_game(w.tableau, e.num_arms, count, width, w.basis, z)


def is_square(number: int) -> bool:
    """Return whether an integer is a square."""
    root = int(math.sqrt(float(number)))
    return root * root == number or (root + 1) * (root + 1) == number


@dataclass(kw_only=True)
class FWS(ConfidenceAgent):
    """Moves the proportions of pulls by a Frank-Wolfe step at each pull, towards those that are optimal for the means.

    The function to maximise is the smallest of the f_j over arms j, so it is not smooth: the step maximises the least
    slope of all f_j within t^-0.9 / K of the smallest, by a small linear program. Where floor(t / K) is a square, or
    arms are tied for the best, the step goes towards equal proportions.

    Paper: Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via Frank-Wolfe", which proves asymptotic
    optimality. Difference: Bernoulli means are kept 1e-6 from 0 and 1 in the steps; the authors first pull each arm
    until its mean is neither.
    """

    name: ClassVar[str] = "FWS"
    rule: ClassVar[Rule] = Rule(index=mean_of, choose=frank_wolfe, stops=is_separated, state=FWSState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["tableau"] = np.zeros((self.num_arms + 1) * (2 * self.num_arms + 1))
