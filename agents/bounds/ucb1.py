"""UCB1, which minimises cumulative regret: a baseline that shows the value of pure exploration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.parameters import Positive
from bai_gym.agents.sequential import SequentialAgent, recommend_most_pulled
from bai_gym.agents.tools.ranges import range_choice, range_of
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, PerArm, Rule, State

__all__ = ["UCB1"]


class UCB1State(State):
    """What the rule of UCB1 uses."""

    b: float  # range of the rewards
    width: PerArm  # b sqrt(2 / T), which changes with an arm's own pulls alone
    bound: PerArm  # upper confidence bounds


def pull_largest_bound(e: Episode, s: UCB1State, w: UCB1State, rng: np.random.Generator) -> int:
    """Pull the arm of largest mean + b sqrt(2 log t / T)."""
    b, width, bound, growth = s.b, w.width, w.bound, np.sqrt(np.log(e.made))
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(e.num_arms):
        width[arm] = b * np.sqrt(2.0 / e.pulls[arm])
    for arm in range(e.num_arms):
        bound[arm] = e.mean[arm] + growth * width[arm]
    return arm_of_largest(bound, e, rng)


@dataclass(kw_only=True)
class UCB1(SequentialAgent):
    """Pulls the arm of largest mean + b sqrt(2 log t / T) after t pulls, and recommends the arm pulled most often.

    Paper: Auer, Cesa-Bianchi and Fischer (2002), "Finite-time Analysis of the Multiarmed Bandit Problem", Figure 1,
    where b = 1. It recommends nothing there; the most played arm is the recommendation of Bubeck, Munos and Stoltz
    (2009), "Pure Exploration in Multi-Armed Bandits Problems". Ties in pulls are broken by sample means.

    Args:
        b: Factor of the width, the length of an interval that contains the rewards. None (default): that of bounded
            rewards; for others 1.
    """

    b: Positive | None = None

    name = "UCB1"
    uses_variances = False
    rule = Rule(choose=pull_largest_bound, state=UCB1State)
    choices = range_choice

    @override
    def begin(self, info: ProblemInfo) -> None:
        self.values = {"b": range_of(self)}

    recommend = recommend_most_pulled
