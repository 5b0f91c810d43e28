"""UCB1, made for small regret: a baseline for how much is lost by not exploring purely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bai_gym.agents.choosing import most_pulled
from bai_gym.agents.one_by_one import OneByOneAgent
from bai_gym.agents.parameters import check_positive
from bai_gym.problems import Briefing
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["UCB1", "UCB1Rule"]


@dataclass(kw_only=True)
class UCB1(OneByOneAgent):
    """Pulls the arm of largest mean + b sqrt(2 log t / T) after t pulls, and recommends the arm pulled most often.

    Paper: Auer, Cesa-Bianchi and Fischer (2002), "Finite-time Analysis of the Multiarmed Bandit Problem", Figure 1,
    where b = 1. It recommends nothing there; the most played arm is the recommendation of Bubeck, Munos and Stoltz
    (2009), "Pure Exploration in Multi-Armed Bandits Problems". Arms pulled equally often are told apart by their means.

    Args:
        b: Factor of the width, the range of the rewards; default 1.

    Knows nothing. Minimum budget: K.
    """

    b: float = 1.0

    name: ClassVar[str] = "UCB1"
    uses_variances: ClassVar[bool] = False

    def begin(self, briefing: Briefing) -> None:
        """Check the parameter."""
        check_positive(self.b, "b", self.name)

    def rule(self, steps: int) -> SamplingRule:
        """Return the rule of all remaining pulls."""
        return UCB1Rule(steps, self.b, tie=self.tie, rng=self.rng)

    def recommend(self, observation: Observation) -> IntArray:
        """Return the arm pulled most often."""
        return most_pulled(Statistics.of(observation), self.tie, self.rng)


class UCB1Rule(SamplingRule):
    """Pulls the arm of largest mean + b sqrt(2 log t / T).

    All indices grow with t, but by a common factor of the widths: what an arm contributes is kept, b sqrt(2 / T), and
    a step is one multiplication and one addition for all arms.
    """

    def __init__(self, steps: int, b: float, *, tie: TieRule, rng: np.random.Generator) -> None:
        """Remember the factor b and the tie rule."""
        self.steps = steps
        self._b = b
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Compute what each arm contributes; every arm has been pulled."""
        self._window = window
        self._made = int(window.pulls[:, 0].sum())
        self._widths = self._b * np.sqrt(2.0 / window.pulls)
        self._flat = self._widths.reshape(-1)
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Return the arms of largest index."""
        index = self._table.values
        np.multiply(self._widths, math.sqrt(math.log(self._made)), out=index)
        index += self._window.means
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the contribution of the pulled arms."""
        self._flat[flat] = self._b * np.sqrt(2.0 / pulls)
        self._made += 1
