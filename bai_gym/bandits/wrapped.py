"""A wrapper that delegates rewards to another bandit and adds facts about its arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics

if TYPE_CHECKING:
    from bai_gym.bandits.gaussian_prior import GaussianPrior

__all__ = ["WrappedBandit"]


class WrappedBandit(Bandit):
    """Delegates everything to the inner model; a subclass defines ``select`` and ``replace``.

    Attributes:
        inner: The reward model.
    """

    inner: Bandit

    def wrap(self, inner: Bandit) -> None:
        """Adopt the reward model."""
        self.inner = inner
        self.means, self.variances, self.known = inner.means, inner.variances, inner.known
        self.paired = inner.paired
        self.state_size = inner.state_size

    @property
    @override
    def rewards(self) -> Rewards:
        return self.inner.rewards

    @property
    @override
    def num_items(self) -> int | None:
        """How many pulls of an arm are without replacement."""
        return self.inner.num_items

    @property
    @override
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, read-only, where they have any."""
        return self.inner.features

    @property
    @override
    def prior(self) -> GaussianPrior | None:
        """The distribution of the means, if it is a known normal one."""
        return self.inner.prior

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return self.inner.pull(flat, rng)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the statistics of the blocks."""
        return self.inner.draw_blocks(flat, counts, rng, variances=variances)

    @override
    def keep_items(self) -> None:
        """Let the rewards of items be found again."""
        self.inner.keep_items()

    @override
    def take_items(self, flat: IntArray, rng: np.random.Generator) -> IntArray:
        return self.inner.take_items(flat, rng)

    @override
    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        """Return the rewards of all arms on items."""
        return self.inner.item_rewards(rows, items)

    @override
    def limits(self) -> tuple[float, float]:
        """Return the limits of the rewards."""
        return self.inner.limits()

    @override
    def scale(self) -> float:
        """Return the sub-Gaussian scale of the rewards."""
        return self.inner.scale()

    @override
    def draws(self) -> Draws | None:
        return self.inner.draws()
