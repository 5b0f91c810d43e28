"""Borda counting: all pairs are compared equally often, and the item of most wins is recommended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.bandits import Bandit
from bai_gym.duels.strengths import differences, strongest
from bai_gym.duels.tasks import Condorcet, count_items
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["BordaCounting"]


@dataclass(kw_only=True)
class BordaCounting(Agent):
    """Compares all pairs equally often, and recommends the item that has won the most duels.

    Paper: Shah and Wainwright (2018), "Simple, Robust and Optimal Ranking from Pairwise Comparisons", with k = 1. There
    the number of duels of each pair is random; here they differ by one at most. A tie counts as half a win.

    The item of most wins need not be the one that beats every other one; it is if chances follow from strengths.

    Requires no oracle knowledge. Minimum budget: K.
    """

    name = "Borda-Counting"
    tasks = frozenset({"condorcet"})
    uses_variances = False
    anytime = True
    quick = True

    @override
    def plan(self) -> Plan:
        yield first_block(self, self.budget)
        return self.recommend(self._seen)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the item of most wins."""
        statistics = Statistics.of(observation)
        return strongest(wins(statistics.pulls, statistics.means), self.tie, self.rng)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the item of most wins is not the one that beats all others."""
        if Condorcet().correct(bandit.means, wins(np.ones(bandit.means.shape), bandit.means).argmax(axis=1)).all():
            return ()
        return (f"{self.name}: it finds the item of most wins, and here that does not beat every other one",)


def wins(pulls: FloatArray, means: FloatArray) -> FloatArray:
    """Return ``(N, n)`` how many duels each item has won: of ``(N, K)`` duels of all pairs, and their means."""
    x = differences(count_items(means.shape[1]))
    won = pulls * means
    return np.asarray(won @ (x > 0) + (pulls - won) @ (x < 0))
