"""Arms with features."""

from __future__ import annotations

from typing import Self

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits.base import Bandit, check_num_arms
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import ROWS

__all__ = ["FeatureBandit", "check_features"]


class FeatureBandit(WrappedBandit):
    """Arms of another model, each with a vector of features.

    Features change nothing about rewards. Agents may read them: arms with similar features may have similar means.

    Args:
        inner: The N instances of K arms; taken over, not copied.
        features: ``(K, d)`` for all instances, or ``(N, K, d)``; finite. Copied.

    Attributes:
        inner: The reward model.

    Raises:
        InstanceError: Features that are not finite numbers, or of another shape.
    """

    def __init__(self, inner: Bandit, features: object) -> None:
        """Check and copy the features."""
        self._take(inner, check_features(features, inner.num_arms))
        if len(self._matrices) not in (1, inner.batch):
            raise InstanceError(
                f"features are given for {len(self._matrices)} instances, and there are {inner.batch}: give (K, d), "
                "or one matrix for each"
            )

    def _take(self, inner: Bandit, matrices: FloatArray) -> None:
        self.wrap(inner)
        self._matrices = matrices  # (N, K, d), or (1, K, d) for all instances

    @property
    @override
    def features(self) -> FloatArray:
        """``(N, K, d)`` features, read-only; one matrix for all instances takes the memory of one."""
        return np.broadcast_to(self._matrices, (self.batch, *self._matrices.shape[1:]))

    @override
    def select(self, rows: IntArray) -> Self:
        chosen = object.__new__(type(self))
        shared = len(self._matrices) == 1  # never written to while two bandits share it
        chosen._take(self.inner.select(rows), self._matrices if shared else self._matrices[rows])
        return chosen

    @override
    def replace(self, rows: IntArray, other: Self) -> None:
        self.inner.replace(rows, other.inner)
        if len(self._matrices) == len(other._matrices) == 1:
            if self._matrices is other._matrices or np.array_equal(self._matrices, other._matrices):
                return
        if len(self._matrices) < max(self.batch, 2):  # possibly shared with another bandit
            self._matrices = self.features.copy()
        self._matrices[rows] = other.features


def check_features(features: object, num_arms: int | None = None) -> FloatArray:
    """Return features as new ``(N, K, d)`` floats; N is 1 for a single matrix.

    Args:
        features: ``(K, d)`` or ``(N, K, d)``.
        num_arms: K, where it is known.

    Raises:
        InstanceError: If they are not finite numbers of such a shape, or fewer than two arms.
    """
    array = validation.array(features, "features", finite=False, kind=ROWS, error=InstanceError)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise InstanceError(f"features must have shape (K, d) or (N, K, d), not {array.shape}")
    if array.ndim == 2:
        array = array[None]
    check_num_arms(array.shape[1])
    if num_arms is not None and array.shape[1] != num_arms:
        raise InstanceError(f"features are given for {array.shape[1]} arms, and there are {num_arms}")
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, arm, part = bad[0]
        raise InstanceError(
            f"features: arm {arm} has {array[row, arm, part]} in dimension {part}; every value must be a finite number"
        )
    return array
