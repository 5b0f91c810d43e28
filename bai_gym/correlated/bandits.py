"""Arms whose means were drawn from a known prior."""

from __future__ import annotations

from typing import Self

from typing_extensions import override

from bai_gym.bandits import GaussianPrior
from bai_gym.bandits.base import Bandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.errors import InstanceError
from bai_gym.statistics import IntArray

__all__ = ["PriorBandit"]


class PriorBandit(WrappedBandit):
    """Arms of another model, with a normal prior of their means, true or assumed.

    It does not affect rewards. Agents that declare to know the prior are given it.

    Args:
        inner: The N instances of K arms; taken over, not copied.
        prior: One distribution of K means, for all instances.

    Raises:
        InstanceError: If the prior is for another number of arms, or holds one distribution per instance.
    """

    def __init__(self, inner: Bandit, prior: GaussianPrior) -> None:
        """Check the sizes."""
        if prior.num_arms != inner.num_arms:
            raise InstanceError(f"the prior is of {prior.num_arms} arms, and there are {inner.num_arms}")
        if prior.rows != 1:
            raise InstanceError(f"the prior must be one distribution for all instances, not {prior.rows} of them")
        self.wrap(inner)
        self._prior = prior

    @property
    @override
    def prior(self) -> GaussianPrior:
        """The prior of the means."""
        return self._prior

    @override
    def select(self, rows: IntArray) -> Self:
        return type(self)(self.inner.select(rows), self._prior)

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        self.inner.replace(rows, other.inner)
