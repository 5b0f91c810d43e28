"""Observation and action spaces of best-arm identification."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

__all__ = ["action_space", "observation_space"]


def observation_space(num_arms: int, budget: int) -> spaces.Dict:
    """Return the space of one episode's observations.

    ============ ======== ======= ==================================================================
    key          shape    dtype   meaning
    ============ ======== ======= ==================================================================
    ``pulls``     (K,)     int64   pulls of each arm so far, 0 to the budget
    ``means``     (K,)     float64 mean of each arm's rewards; 0 without a pull
    ``variances`` (K,)     float64 unbiased variance of each arm's rewards; 0 below two pulls
    ``remaining`` (1,)     int64   pulls left; 0 means that the next action is the recommendation
    ============ ======== ======= ==================================================================
    """
    arms = (num_arms,)
    return spaces.Dict(
        {
            "pulls": spaces.Box(0, budget, arms, np.int64),
            "means": spaces.Box(-np.inf, np.inf, arms, np.float64),
            "variances": spaces.Box(0.0, np.inf, arms, np.float64),
            "remaining": spaces.Box(0, budget, (1,), np.int64),
        }
    )


def action_space(num_arms: int) -> spaces.Discrete:
    """Return the space of one episode's actions: an arm, to pull or (at the end) to recommend."""
    return spaces.Discrete(num_arms)
