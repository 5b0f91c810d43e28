"""Arms in another order: what they are called changes, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from bai_gym.bandits.base import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.statistics import FloatArray, IntArray, Statistics

if TYPE_CHECKING:
    from bai_gym.bandits.gaussian_prior import GaussianPrior

__all__ = ["ArrangedBandit", "rotated"]


class ArrangedBandit(WrappedBandit):
    """Arms of another model in an order of each instance's own, with rotated features.

    A rotation multiplies the features of all arms by one orthogonal matrix, which keeps their inner products: means
    that are linear in the features, or functions of such means, stay so, for a parameter that is rotated likewise.

    Args:
        inner: The N instances of K arms; taken over, not copied.
        order: ``(N, K)`` the arm of ``inner`` that each arm is, a permutation in each row.
        rotation: ``(N, d, d)`` orthogonal matrices; None: features stay as they are.

    Attributes:
        inner: The model with its arms in the order of the instance.
        order: ``(N, K)``, as given.
    """

    def __init__(self, inner: Bandit, order: IntArray, rotation: FloatArray | None = None) -> None:
        """Put what is known of the arms into their order."""
        self.wrap(inner)
        self.order = order
        flat = order if len(order) == 1 else inner.positions(order)
        self._flat = flat.reshape(-1)
        self.means, self.variances = inner.means.take(flat), inner.variances.take(flat)
        features = inner.features
        self._features: FloatArray | None = None
        if features is not None:
            self._features = features[np.arange(len(order))[:, None], order]
            if rotation is not None:
                self._features = rotated(self._features, rotation)

    @property
    @override
    def features(self) -> FloatArray | None:
        """``(N, K, d)`` features of the arms, read-only, where they have any."""
        if self._features is None:
            return None
        view = self._features.view()
        view.flags.writeable = False
        return view

    @property
    @override
    def prior(self) -> GaussianPrior | None:
        """The distribution of the means of each instance, if it is a known normal one."""
        prior = self.inner.prior
        return None if prior is None else prior.arranged(self.order)

    @override
    def pull(self, flat: IntArray, rng: np.random.Generator) -> FloatArray:
        return self.inner.pull(self._flat.take(flat), rng)

    @override
    def draw_blocks(
        self, flat: IntArray | slice, counts: IntArray, rng: np.random.Generator, *, variances: bool = True
    ) -> Statistics:
        """Draw the statistics of the blocks."""
        return self.inner.draw_blocks(self._flat[flat], counts, rng, variances=variances)

    @override
    def take_items(self, flat: IntArray, rng: np.random.Generator) -> IntArray:
        return self.inner.take_items(self._flat.take(flat), rng)

    @override
    def item_rewards(self, rows: IntArray, items: IntArray) -> FloatArray:
        """Return the rewards of all arms on items."""
        return np.take_along_axis(self.inner.item_rewards(rows, items), self.order[rows], -1)

    @override
    def draws(self) -> Draws | None:
        draws = self.inner.draws()
        return None if draws is None else draws._replace(order=self.order)

    @override
    def select(self, rows: IntArray) -> ArrangedBandit:
        chosen = ArrangedBandit(self.inner.select(rows), self.order[rows])
        chosen._features = None if self._features is None else self._features[rows]
        return chosen

    @override
    def replace(self, rows: IntArray, other: Bandit) -> None:
        assert isinstance(other, ArrangedBandit)
        self.inner.replace(rows, other.inner)
        self.order[rows] = other.order
        self._flat = self.positions(self.order).reshape(-1)
        self.means[rows], self.variances[rows] = other.means, other.variances
        if self._features is not None:
            self._features[rows] = other._features


def rotated(features: FloatArray, rotation: FloatArray) -> FloatArray:
    """Return ``(N, K, d)`` rows times ``(N, d, d)`` matrices; equal rows stay equal, bit for bit.

    A matrix product of a library may sum each row in another order.
    """
    return np.einsum("nkd,nde->nke", features, rotation)
