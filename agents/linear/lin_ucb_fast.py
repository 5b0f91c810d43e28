"""The fast form of LinUCB's rule for one regression, see :mod:`bai_gym.agents.linear.ridge`."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.linear.ridge import RegressionState, largest_place, update_regression
from bai_gym.sampling import WAIT, Episode, Rule

__all__ = ["SHARED"]


class SharedState(RegressionState):
    """What the rule uses."""

    alpha: float  # factor of the width


def pull_upper_bound(e: Episode, s: SharedState, w: SharedState, rng: np.random.Generator) -> int:
    """Return the arm of largest x^T theta + alpha sqrt(x^T A^-1 x), from squares that are kept up to date."""
    if not update_regression(e, s, w):
        return WAIT
    alpha, scores, squares, values = s.alpha, w.scores, w.squares, w.values
    for place in range(e.num_arms):
        values[place] = scores[place] + alpha * np.sqrt(squares[place])
    return int(w.order[largest_place(e, s, w, values, s.scale, rng)])


SHARED = Rule(choose=pull_upper_bound, state=SharedState)
