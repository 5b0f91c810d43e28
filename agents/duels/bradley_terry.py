"""Duels by strengths: the chances of all pairs follow from one number for each item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.parameters import Positive
from bai_gym.bandits import Bandit
from bai_gym.duels.strengths import SPREAD, differences, fitted, reductions, strongest
from bai_gym.duels.tasks import count_items
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray, IntArray, Observation, Statistics

__all__ = ["BradleyTerryChallenger"]

EXACT = 1e-6


@dataclass(kw_only=True)
class BradleyTerryChallenger(Agent):
    """Fits strengths to all duels, and plays the duel that tells most about the strongest item and its challenger.

    Item i beats j with probability 1 / (1 + exp(s_j - s_i)) (Bradley and Terry 1952). The strengths s maximise their
    posterior for a normal prior, and their covariance C is that of Laplace's approximation. The challenger of the
    strongest item i is the item j of least (s_i - s_j)^2 / (2 var(s_i - s_j)) + log(1 + N_j), N_j the duels that it has
    played, so that an unlucky item is not forgotten. Of all pairs (a, b) that one is played after which the variance of
    s_i - s_j is the smallest: it falls by v c^2 / (1 + v V), where v = p (1 - p) with the chance p of a,
    c = (e_i - e_j)' C (e_a - e_b), and V is the variance of s_a - s_b.

    The algorithm is ours: EB-TCI for a model in which n strengths explain n (n - 1) / 2 pairs. A tie counts as half a
    win. If the chances do not follow from strengths, the recommendation may be wrong however many duels are played.

    Args:
        spread: Standard deviation of the strengths in the prior, above 0. Default 1.5.

    Requires no oracle knowledge. Minimum budget: 1.
    """

    spread: Positive = SPREAD

    name = "BT-EB"
    tasks = frozenset({"condorcet"})
    uses_variances = False
    anytime = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: strengths are fitted to any number of duels."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        self._differences = differences(*self.task.sizes(self.num_arms))

    @override
    def plan(self) -> Plan:
        strengths, rows = np.zeros((self.batch, self._differences.shape[1])), np.arange(self.batch)
        for _ in range(self.budget):
            seen = self.statistics
            strengths, covariance = fitted(seen.pulls, seen.means, strengths, self.spread, 2)
            counts = np.zeros((self.batch, self.num_arms), np.int64)
            duels = seen.pulls @ np.abs(self._differences)
            counts[rows, self.next_duel(strengths, covariance, duels)] = 1
            yield Block(counts)
        return self.recommend(self._seen)

    def next_duel(self, strengths: FloatArray, covariance: FloatArray, duels: FloatArray) -> IntArray:
        """Return the arm that is played in each episode; ties are broken at random.

        Args:
            strengths: ``(N, n)`` s.
            covariance: ``(N, n, n)`` C.
            duels: ``(N, n)`` duels that each item has played.
        """
        rows, items = np.arange(len(strengths)), strengths.shape[1]
        keys = self.rng.random((len(strengths), items)) * 1e-9 * (self.tie == "random")
        best = (strengths + keys).argmax(axis=1)
        own = np.diagonal(covariance, axis1=1, axis2=2)
        variance = own + own[rows, best][:, None] - 2.0 * covariance[rows, best]
        variance[rows, best] = 1.0
        evidence = 0.5 * (strengths[rows, best][:, None] - strengths) ** 2 / variance + np.log1p(duels)
        evidence[rows, best] = np.inf
        rival = (evidence + keys).argmin(axis=1)
        return np.asarray(reductions(strengths, covariance, best, rival).argmax(axis=1))

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the strongest item."""
        statistics = Statistics.of(observation)
        strengths, _ = fitted(statistics.pulls, statistics.means, spread=self.spread)
        return strongest(strengths, self.tie, self.rng)

    def unmet_assumptions(self, bandit: Bandit) -> tuple[str, ...]:
        """Return a note if the chances do not follow from strengths."""
        inside = np.clip(bandit.means, 1e-12, 1.0 - 1e-12)
        odds = np.log(inside / (1.0 - inside))
        pairs = differences(count_items(odds.shape[1]))
        left = odds - odds @ np.linalg.pinv(pairs).T @ pairs.T
        if np.abs(left).max() <= EXACT * max(1.0, float(np.abs(odds).max())):
            return ()
        return (f"{self.name}: it assumes that chances follow from strengths (Bradley-Terry), and here they do not",)
