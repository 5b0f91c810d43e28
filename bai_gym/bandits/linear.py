"""Arms with features: any reward distribution, and linear and generalized linear models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy.special import expit, ndtr
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits.base import Bandit, check_num_arms
from bai_gym.bandits.bernoulli import BernoulliBandit
from bai_gym.bandits.gaussian import GaussianBandit
from bai_gym.bandits.poisson import PoissonBandit
from bai_gym.bandits.wrapped import WrappedBandit
from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import ROWS, choice, real

__all__ = ["LINKS", "FeatureBandit", "check_features", "check_link", "linear_bandit"]


def _exp(scores: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # the reward model rejects an infinite mean
        return np.exp(scores)


LINKS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "identity": lambda scores: scores,
    "logit": expit,
    "probit": ndtr,
    "log": _exp,
}
"""The inverse of each link: the mean reward h(z) of an arm with score z, the product of its features and theta."""


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


def linear_bandit(
    features: object, theta: object, *, link: str = "identity", noise_variance: float = 1.0
) -> FeatureBandit:
    """Return a (generalized) linear bandit: the arm with features x has mean h(x @ theta), by the link.

    ======== ======================= ================================================
    link     mean of score z         rewards
    ======== ======================= ================================================
    identity z                       Gaussian, all arms with variance noise_variance
    logit    1 / (1 + exp(-z))       0 and 1 (logistic regression)
    probit   normal cdf of z         0 and 1
    log      exp(z)                  counts 0, 1, 2, ..., Poisson
    ======== ======================= ================================================

    Outcomes of blocks are drawn from their exact distribution.

    Args:
        features: ``(K, d)`` for all instances, or ``(N, K, d)``.
        theta: ``(d,)`` for all instances, or ``(N, d)``.
        link: ``"identity"``, ``"logit"``, ``"probit"`` or ``"log"``.
        noise_variance: Variance of the Gaussian noise, above 0; read with the identity alone.

    Raises:
        InstanceError: Features or parameters that are not finite numbers, or of incompatible shapes; fewer than two
            arms; a mean outside the range of the reward model.
        ParameterError: An unknown link, or a variance that is not above 0.
    """
    mean = LINKS[check_link(link)]
    matrices = check_features(features)
    vectors = _check_theta(theta, matrices.shape[2])
    if len(vectors) != len(matrices) and 1 not in (len(vectors), len(matrices)):
        raise InstanceError(
            f"features are given for {len(matrices)} instances, and theta for {len(vectors)}: give as many of both"
        )
    # Summed in one order for all rows, unlike a matrix product: arms with equal features have equal means, bit for bit.
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are rejected below
        scores = (matrices * vectors[:, None, :]).sum(axis=-1)
    means = mean(scores)
    rewards: Bandit
    if link == "identity":
        rewards = GaussianBandit(means, real(noise_variance, "noise_variance", above=0))
    elif link == "log":
        rewards = PoissonBandit(means)
    else:
        rewards = BernoulliBandit(means)
    return FeatureBandit(rewards, matrices)


def check_link(link: object) -> str:
    """Return the name of a link.

    Raises:
        ParameterError: If there is none of that name.
    """
    return choice(link, LINKS, "link")


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


def _check_theta(theta: object, dimension: int) -> FloatArray:
    """Return parameters as ``(N, d)`` floats."""
    array = np.atleast_1d(validation.array(theta, "theta", kind=ROWS, error=InstanceError))
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[0] == 0:
        raise InstanceError(f"theta must have shape (d,) or (N, d), not {array.shape}")
    if array.shape[1] != dimension:
        raise InstanceError(f"theta has {array.shape[1]} entries, and the features have dimension {dimension}")
    return array
