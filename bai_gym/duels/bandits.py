"""Duels of two items, which one of them wins, or neither."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.base import check_means
from bai_gym.bandits.draws import Draws
from bai_gym.duels.tasks import count_items, pairs
from bai_gym.errors import InstanceError
from bai_gym.rewards import BINARY, UNIT, Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["DuelBandit"]


class DuelArms(NamedTuple):
    """``(N, K)`` chances that a duel is won, and that it is a tie."""

    wins: FloatArray
    ties: FloatArray


def draw_duel(arms: DuelArms, n: int, arm: int, rng: np.random.Generator) -> float:
    """Return the outcome of a duel of instance n."""
    place = rng.random() - arms.wins[n, arm]
    return 1.0 if place < 0.0 else (0.5 if place < arms.ties[n, arm] else 0.0)


class DuelBandit(Bandit):
    """Each pull is a duel: 1 if it is won, 1/2 if it is a tie, 0 if it is lost.

    Args:
        wins: ``(K,)`` or ``(N, K)`` chances that the first item of an arm wins.
        ties: The same, that neither wins; None: there are no ties.

    Raises:
        InstanceError: Chances that are below 0 or exceed 1 together.
    """

    def __init__(self, wins: object, ties: object = None) -> None:
        """Check the chances."""
        self.wins = check_means(wins, "wins")
        self.ties = np.zeros(self.wins.shape) if ties is None else check_means(ties, "ties")
        if self.ties.shape != self.wins.shape:
            raise InstanceError(f"ties are of shape {self.ties.shape}, and wins of shape {self.wins.shape}")
        if min(self.wins.min(), self.ties.min()) < 0.0 or (self.wins + self.ties).max() > 1.0 + 1e-9:
            raise InstanceError("the chances of a duel, to be won and to be a tie, lie in [0, 1] and sum to at most 1")
        self.means = self.wins + 0.5 * self.ties
        self.variances = np.maximum(self.wins + 0.25 * self.ties - self.means**2, 0.0)
        self._binary = not self.ties.any()

    @property
    @override
    def rewards(self) -> Rewards:
        """Rewards 0 and 1 or, with ties, from 0 to 1."""
        return BINARY if self._binary else UNIT

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        place = rng.random(len(flat)) - self.wins.take(flat)
        return np.where(place < 0.0, 1.0, np.where(place < self.ties.take(flat), 0.5, 0.0))

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the numbers of duels that are won and tied: multinomial; they determine the variances, too."""
        wins, ties = self.wins.reshape(-1)[flat], self.ties.reshape(-1)[flat]
        won = rng.binomial(counts, np.minimum(wins, 1.0))
        rest = np.where(wins < 1.0, ties / np.where(wins < 1.0, 1.0 - wins, 1.0), 0.0)
        tied = rng.binomial(counts - won, np.minimum(rest, 1.0)) if ties.any() else np.zeros(won.shape)
        means = (won + 0.5 * tied) / counts
        spread = np.maximum((won + 0.25 * tied) / counts - means**2, 0.0) * counts / np.maximum(counts - 1, 1)
        return Statistics(counts, means, spread if variances else np.zeros(means.shape))

    @override
    def draws(self) -> Draws:
        return Draws(draw_duel, DuelArms(self.wins, self.ties))

    def arranged(self, order: IntArray, items: IntArray | None) -> Self:
        """Return the instances with their arms, or with their items, in another order.

        Args:
            order: ``(N, K)`` the arm that each arm stands for.
            items: ``(N, n)`` the item that each item stands for; where that turns a pair, its duels are won by the
                other one. None: arms are no pairs.
        """
        wins, ties = (np.take_along_axis(array, order, 1) for array in (self.wins, self.ties))
        if items is not None:
            left, right = pairs(count_items(self.num_arms))
            wins = np.where(items[:, left] > items[:, right], 1.0 - wins - ties, wins)
        return type(self)(wins.clip(0.0, 1.0), ties)

    @override
    def select(self, rows: IntArray) -> Self:
        return type(self)(self.wins[rows], self.ties[rows])

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        for name in ("wins", "ties", "means", "variances"):
            getattr(self, name)[rows] = getattr(other, name)
