"""LinGapE-GLR: linear gap-based exploration, stopped by the likelihood ratio of a linear model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bai_gym.agents.linear.least_squares import (
    LeastSquaresState,
    arm_of,
    evidence,
    is_separated,
    set_difference,
    threshold,
)
from bai_gym.agents.linear.linear_confidence import LinearConfidenceAgent
from bai_gym.agents.linear.plain_ridge import product
from bai_gym.agents.tools.scanning import arm_of_nearly_largest, less_pulled
from bai_gym.sampling import Episode, PerArm, Rule

__all__ = ["LinGapEGLR"]


class GapState(LeastSquaresState):
    """What the rule of LinGapE-GLR uses."""

    index: PerArm  # what the arms are compared by


def pull_for_rival(e: Episode, s: GapState, w: GapState, rng: np.random.Generator) -> int:
    """Pull the arm after which x_i - x_j is known best, j the arm that could exceed the best one, i, by most."""
    beta = threshold(e, s, w, True)
    for arm in range(e.num_arms):
        w.index[arm] = -np.inf
        if arm != s.best and w.dropped[arm] == 0.0:
            set_difference(s, w, s.best, arm)
            width = np.sqrt(beta / max(evidence(s, w, 1.0), 1e-300)) if product(s, w, w.y, w.y) > 0.0 else 0.0
            w.index[arm] = w.scores[arm] - w.scores[s.best] + width
    j = arm_of_nearly_largest(w.index, s.scale, e, rng)
    set_difference(s, w, s.best, j)
    if product(s, w, w.y, w.y) == 0.0:
        return less_pulled(e, s.best, j, rng)
    for arm in range(e.num_arms):
        x = arm_of(s, w, arm)
        w.index[arm] = product(s, w, w.y, x) ** 2 / (1.0 + product(s, w, x, x))
    return arm_of_nearly_largest(w.index, 0.0, e, rng)


@dataclass(kw_only=True)
class LinGapEGLR(LinearConfidenceAgent):
    """Finds the arm j that could most exceed the best estimate i, and makes the pull that tells the two apart best.

    j has the largest (x_j - x_i)^T theta + width, the width being that for which the agent would stop. The arm a of
    largest (y^T V^-1 x_a)^2 / (1 + x_a^T V^-1 x_a) is pulled, y = x_i - x_j, after which the variance of y^T theta is
    least.

    Paper: Xu, Honda and Sugiyama (2018), "A fully adaptive algorithm for pure exploration in linear bandits", with the
    greedy choice of the pull and an accuracy of 0. Differences: least squares in place of ridge regression, and the
    threshold and width that all agents of this kind share.
    """

    name = "LinGapE-GLR"
    rule = Rule(choose=pull_for_rival, stops=is_separated, state=GapState)
