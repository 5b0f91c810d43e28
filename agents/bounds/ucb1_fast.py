"""The fast form of UCB1: the part of each width that only the arm's own pulls change is computed at these alone."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.sampling import Episode, PerArm, Rule, State

__all__ = ["RULE"]


class CachedState(State):
    """What the rule uses."""

    b: float  # range of the rewards
    width: PerArm  # b sqrt(2 / T)
    bound: PerArm  # upper confidence bounds


def pull_largest_bound(e: Episode, s: CachedState, w: CachedState, rng: np.random.Generator) -> int:
    """Pull the arm of largest mean + b sqrt(2 log t / T)."""
    b, width, bound = s.b, w.width, w.bound
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(e.num_arms):
        width[arm] = b * np.sqrt(2.0 / e.pulls[arm])
    growth = np.sqrt(np.log(e.made))
    for arm in range(e.num_arms):
        bound[arm] = e.mean[arm] + growth * width[arm]
    return arm_of_largest(bound, e, rng)


RULE = Rule(choose=pull_largest_bound, state=CachedState)
