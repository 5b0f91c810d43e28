"""Rewards that have not arrived yet, where pulls are made in rounds or rewards are delayed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bai_gym.rounds import Rounds
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["PendingRewards"]


class PendingRewards:
    """Rewards of N episodes that have been drawn, and whose time has not come.

    Args:
        batch: N.
        num_arms: K.
        budget: Pulls of an episode.
        rounds: When rewards arrive.

    Attributes:
        counts: ``(N, K)`` pulls whose rewards have not arrived, updated in place.
    """

    def __init__(self, batch: int, num_arms: int, budget: int, rounds: Rounds) -> None:
        """Allocate the arrays."""
        self._budget, self._rounds = budget, rounds
        self._room = min(rounds.most_pending, budget)
        self.counts: IntArray = np.zeros((batch, num_arms), np.int64)
        self._flat: IntArray = np.zeros((batch, self._room), np.int64)  # pull t is in column t modulo the room
        self._rewards: FloatArray = np.zeros((batch, self._room))
        self._made: IntArray = np.zeros(batch, np.int64)
        self._arrived: IntArray = np.zeros(batch, np.int64)

    def clear(self, rows: IntArray) -> None:
        """Begin new episodes."""
        self.counts[rows] = self._made[rows] = self._arrived[rows] = 0

    def add(self, rows: IntArray, flat: IntArray, rewards: FloatArray, statistics: Statistics) -> None:
        """Keep a reward of each of the ``(R,)`` rows, and add to the statistics all those whose time has come.

        Args:
            rows: ``(R,)`` episodes.
            flat: ``(R,)`` positions ``episode * K + arm``.
            rewards: ``(R,)`` rewards.
            statistics: ``(N, K)`` statistics of the rewards that have arrived, updated in place.
        """
        column = self._made[rows] % self._room
        self._flat[rows, column], self._rewards[rows, column] = flat, rewards
        self.counts.reshape(-1)[flat] += 1
        self._made[rows] += 1
        made = self._made[rows]
        for now in np.unique(made[self._ends_round(made)]).tolist():
            ending = rows[made == now]
            until = self._rounds.arrived(now, self._budget)
            for pull in range(int(self._arrived[ending[0]]), until):
                there = self._flat[ending, pull % self._room]
                statistics.add(there, self._rewards[ending, pull % self._room])
                self.counts.reshape(-1)[there] -= 1
            self._arrived[ending] = until

    def _ends_round(self, made: IntArray) -> npt.NDArray[np.bool_]:
        return np.asarray((made % self._rounds.batch_size == 0) | (made == self._budget))
