"""FWS: Frank-Wolfe steps towards the optimal proportions of pulls, one step for each pull."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.stopping import (
    ConfidenceAgent,
    ConfidenceState,
    Question,
    best_arm,
    is_settled,
)
from bai_gym.agents.tools.divergences import divergence_inside, inside_of
from bai_gym.agents.tools.games import solve_game
from bai_gym.agents.tools.questions import answer, gap, set_errors, two_means
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Scratch, Vector

__all__ = ["FWS"]


class FWSState(ConfidenceState):
    """What the rule of FWS uses."""

    x: PerArm  # proportions
    z: PerArm  # proportions that the step moves towards
    by_first: Scratch  # derivative of f by the proportion of the first arm, for each contrast
    by_second: Scratch  # by that of the second
    score: PerArm  # x_k / N_k
    basis: PerArm  # of the linear program
    tableau: Vector  # of the linear program


def frank_wolfe(e: Episode, s: FWSState, w: FWSState, rng: np.random.Generator, question: Question) -> int:
    """Move x by a step towards z, and pull the arm of largest x_k / N_k."""
    t = float(e.made)
    set_errors(e, s, w)
    n = answer(e, s, w, question)
    for arm in range(e.num_arms):
        w.x[arm] = 1.0 / e.num_arms if e.pulled < 0 else w.x[arm]
        w.z[arm] = 1.0 / e.num_arms
    if not is_square(e.made // e.num_arms) and is_clear(e, w, n):  # else it explores
        find_direction(e, s, w, n, t**-0.9 / e.num_arms)
    for arm in range(e.num_arms):
        w.x[arm] = w.x[arm] * (t - 1.0) / t + w.z[arm] / t
        w.score[arm] = w.x[arm] / e.pulls[arm]
    return arm_of_largest(w.score, e, rng)


def is_clear(e: Episode, w: FWSState, n: int) -> bool:
    """Return whether all contrasts hold for the sample means, as they do not where arms are tied."""
    for k in range(n):
        if gap(e.mean, w, k) <= 0.0:
            return False
    return True


def find_direction(e: Episode, s: FWSState, w: FWSState, n: int, r: float) -> None:
    """Set z to the proportions that maximise the least <z - x, gradient of f> over the contrasts with f < min f + r.

    At most K contrasts are considered.
    """
    width, least = 2 * e.num_arms + 1, np.inf
    for k in range(n):  # f(x) = x_i d(m_i, p) + x_j d(m_j, q), with the p and q that minimise it
        i, j = int(w.first[k]), int(w.second[k])
        p, q = two_means(e, s, w, k, w.x)
        w.by_first[k] = divergence_inside(e, s, w, i, inside_of(s, p)) if i >= 0 else 0.0
        w.by_second[k] = divergence_inside(e, s, w, j, inside_of(s, q)) if j >= 0 else 0.0
        w.strength[k] = (w.x[i] * w.by_first[k] if i >= 0 else 0.0) + (w.x[j] * w.by_second[k] if j >= 0 else 0.0)
        least = min(least, w.strength[k])
    count, nearest = 0, 0
    for k in range(n):  # the nearest one in any case, although r may be lost in rounding
        if w.strength[k] <= least + r and count < e.num_arms:
            for arm in range(e.num_arms):
                slope = w.by_first[k] if arm == w.first[k] else w.by_second[k] if arm == w.second[k] else 0.0
                w.tableau[arm * width + count] = slope - w.strength[k]
            count, nearest = count + 1, k
    for arm in range(e.num_arms):
        w.z[arm] = 0.0
    if count == 1:
        w.z[int(w.first[nearest] if w.by_first[nearest] > w.by_second[nearest] else w.second[nearest])] = 1.0
    else:
        solve_game(w.tableau, e.num_arms, count, width, w.basis, w.z)


def is_square(number: int) -> bool:
    """Return whether an integer is a square."""
    root = int(math.sqrt(float(number)))
    return root * root == number or (root + 1) * (root + 1) == number


@dataclass(kw_only=True)
class FWS(ConfidenceAgent):
    """Moves the proportions of pulls by a Frank-Wolfe step at each pull, towards those that are optimal for the means.

    The function to maximise is the smallest evidence per pull f over the contrasts of the answer, so it is not smooth:
    the step maximises the least slope of all f within t^-0.9 / K of the smallest, by a small linear program. Where
    floor(t / K) is a square, or arms are tied, the step goes towards equal proportions.

    Paper: Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via Frank-Wolfe", which proves asymptotic
    optimality. Difference: Bernoulli means are kept 1e-6 from 0 and 1 in the steps; the authors first pull each arm
    until its mean is neither.
    """

    name = "FWS"
    rule = Rule(choose=frank_wolfe, stops=is_settled, state=FWSState, question=best_arm)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values |= {name: np.zeros_like(self.values["first"]) for name in ("by_first", "by_second")}
        self.values["tableau"] = np.zeros((self.num_arms + 1) * (2 * self.num_arms + 1))
