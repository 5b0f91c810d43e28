"""LinFWS: Frank-Wolfe steps towards the optimal proportions of pulls of linear arms, one step for each pull."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.fixed_confidence.fws import is_square
from bai_gym.agents.linear.least_squares import is_separated
from bai_gym.agents.linear.linear_confidence import LinearConfidenceAgent
from bai_gym.agents.linear.linear_games import GameState, distance_of, has_equal, invert_design, set_slopes
from bai_gym.agents.tools.games import solve_game
from bai_gym.agents.tools.scanning import arm_of_largest, smallest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, Vector

__all__ = ["LinFWS"]


class LinFWSState(GameState):
    """What the rule of LinFWS uses."""

    z: PerArm  # proportions that the step moves towards
    f: PerArm  # f_j(w), the evidence per pull against arm j
    basis: PerArm  # of the linear program
    tableau: Vector  # of the linear program


def frank_wolfe(e: Episode, s: LinFWSState, w: LinFWSState, rng: np.random.Generator) -> int:
    """Move w by a step towards z, and pull the arm of largest w_k / N_k."""
    t = float(e.made)
    for arm in range(e.num_arms if e.pulled < 0 else 0):
        w.design[arm] = 1.0 / e.num_arms
    if is_square(e.made // e.num_arms) or has_equal(e, s, w):  # forced exploration
        for arm in range(e.num_arms):
            w.z[arm] = 1.0 / e.num_arms
    else:
        find_direction(e, s, w, t**-0.9 / e.num_arms)
    for arm in range(e.num_arms):
        w.design[arm] = w.design[arm] * (t - 1.0) / t + w.z[arm] / t
        w.behind[arm] = w.design[arm] / e.pulls[arm]
    return arm_of_largest(w.behind, e, rng)


def find_direction(e: Episode, s: LinFWSState, w: LinFWSState, r: float) -> None:
    """Set z to the proportions that maximise the least <z - w, gradient of f_j> over the j with f_j < min f + r."""
    count, steepest, width = 0, 0, 2 * e.num_arms + 1
    invert_design(s, w, w.design, e.num_arms)
    for j in range(e.num_arms):
        w.f[j] = distance_of(s, w, j) / s.noise if j != s.best else np.inf
        w.z[j] = 0.0
    most = smallest(w.f) + r
    for j in range(e.num_arms):
        if w.f[j] <= most and w.f[j] < np.inf:
            distance_of(s, w, j)
            set_slopes(e, s, w, j)
            for k in range(e.num_arms):
                w.tableau[k * width + count] = 0.5 * w.slope[k] * w.slope[k] / s.noise - w.f[j]
                steepest = k if abs(w.slope[k]) > abs(w.slope[steepest]) else steepest
            count += 1
    if count == 1:
        w.z[steepest] = 1.0
    elif count > 1:
        solve_game(w.tableau, e.num_arms, count, width, w.basis, w.z)
    else:  # all arms have the same features
        w.z[s.best] = 1.0


@dataclass(kw_only=True)
class LinFWS(LinearConfidenceAgent):
    """Moves the proportions of pulls by a Frank-Wolfe step at each pull, towards those that are optimal for theta.

    As :class:`bai_gym.agents.FWS`, with the f_j of a linear model: the step maximises the least slope of all f_j within
    t^-0.9 / K of the smallest, by a small linear program. Where floor(t / K) is a square, or estimates are tied
    for the best, the step goes towards equal proportions.

    Paper: Wang, Tzeng and Proutiere (2021), "Fast Pure Exploration via Frank-Wolfe", which proves asymptotic
    optimality. Differences: f_j in units of sigma^2, and the threshold.
    """

    name = "LinFWS"
    rule = Rule(choose=frank_wolfe, stops=is_separated, state=LinFWSState)

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        self.values["spread"] = np.zeros(self.rank**2)
        self.values["tableau"] = np.zeros((self.num_arms + 1) * (2 * self.num_arms + 1))
