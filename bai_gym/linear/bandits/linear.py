"""Arms with features: any reward distribution, and linear and generalized linear models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, ndtr

from bai_gym import validation
from bai_gym.bandits.base import Bandit
from bai_gym.bandits.bernoulli import BernoulliBandit
from bai_gym.bandits.features import FeatureBandit, check_features
from bai_gym.bandits.gaussian import GaussianBandit
from bai_gym.bandits.poisson import PoissonBandit
from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray
from bai_gym.validation import ROWS, choice, real

__all__ = ["LINKS", "check_link", "linear_bandit"]


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
