"""UCB1, which minimises cumulative regret: a baseline that shows the value of pure exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.sequential import SequentialAgent
from bai_gym.agents.tools.choosing import most_pulled
from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Episode, Rule, columns, section
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.validation import real

__all__ = ["UCB1"]


def largest_bound(e: Episode, rng: np.random.Generator) -> int:
    """Return the arm of largest mean + b sqrt(2 log t / T); b sqrt(2 / T) is kept of each arm."""
    arms = e.pulls.size
    widths, bounds = section(e.memory, 0, arms), section(e.memory, arms, arms)
    for arm in range(e.pulled, e.pulled + 1) if e.pulled >= 0 else range(arms):
        widths[arm] = e.parameters[0] * np.sqrt(2.0 / e.pulls[arm])
    growth = np.sqrt(np.log(e.made))
    for arm in range(arms):
        bounds[arm] = e.mean[arm] + growth * widths[arm]
    return arm_of_largest(bounds, e.pulls, e.parameters[1], rng)


@dataclass(kw_only=True)
class UCB1(SequentialAgent):
    """Pulls the arm of largest mean + b sqrt(2 log t / T) after t pulls, and recommends the arm pulled most often.

    Paper: Auer, Cesa-Bianchi and Fischer (2002), "Finite-time Analysis of the Multiarmed Bandit Problem", Figure 1,
    where b = 1. It recommends nothing there; the most played arm is the recommendation of Bubeck, Munos and Stoltz
    (2009), "Pure Exploration in Multi-Armed Bandits Problems". Ties in pulls are broken by sample means.

    Args:
        b: Factor of the width, the range of the rewards; default 1.

    Requires no oracle knowledge. Minimum budget: K.
    """

    b: float = 1.0

    name: ClassVar[str] = "UCB1"
    uses_variances: ClassVar[bool] = False
    rule: ClassVar[Rule] = Rule(choose=largest_bound)

    @property
    def memory(self) -> int:  # type: ignore[override]
        """Widths and bounds of the arms."""
        return 2 * self.num_arms

    def begin(self, info: ProblemInfo) -> None:
        """Check the parameter."""
        real(self.b, f"b of {self.name}", above=0)
        self.parameters = columns(self.batch, self.b, float(self.tie == "first"))

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)
