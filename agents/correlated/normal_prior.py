"""Agents that are given a normal prior of the means, and the posterior means that follow from pulls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.agents.base import Agent
from bai_gym.agents.parameters import Oracle, Positive
from bai_gym.agents.tools.choosing import largest
from bai_gym.agents.tools.ranges import ORACLE
from bai_gym.bandits import GaussianPrior
from bai_gym.errors import AgentError, ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.validation import ROWS

__all__ = ["PriorAgent", "independent", "posterior_covariance", "posterior_means", "shrunk_means"]

NUMBERS_AT_ONCE = 2_000_000  # of matrices that are solved at a time


@dataclass(kw_only=True)
class PriorAgent(Agent):
    """Knows a normal prior of the means and the variances of the rewards.

    Args:
        prior_mean: Prior means: a number, or ``(K,)``. None (default): those of the environment's prior.
        prior_sd: Standard deviations of independent prior means, at least 0: a number, or ``(K,)``. None (default): the
            environment's prior, whose means may depend on each other. It is given where ``prior_mean`` is.
        sigma: Standard deviation of all rewards, above 0. ``"oracle"``: the true one of each arm. None (default): 1/2,
            the largest possible one, for binary rewards; for others ``"oracle"``.

    Attributes:
        prior: One distribution of the K means.
        noise: ``(N, K)`` variances of the rewards.
    """

    prior_mean: Any = None
    prior_sd: Any = None
    sigma: Positive | Oracle | None = None

    uses_variances = False

    @property
    @override
    def knows(self) -> frozenset[str]:  # type: ignore[override]
        """The prior unless it is given, and the variances if ``sigma`` is the oracle's."""
        knowledge = {"prior"} if self.prior_mean is None else set()
        return frozenset(knowledge | ({"variances"} if self.setting("sigma") == ORACLE else set()))

    @override
    def choices(self, rewards: Rewards) -> dict[str, Any]:
        """Return the deviation of rewards of a kind: a bound of bounded ones would be far too large for most."""
        return {"sigma": 0.5 if rewards.kind == "binary" else ORACLE}

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Look up the prior and the noise."""
        if (self.prior_mean is None) != (self.prior_sd is None):
            raise ParameterError(f"{self.name} needs both prior_mean and prior_sd, or neither of them")
        self.prior = self._prior(info)
        sigma = self.setting("sigma")
        shape = (self.batch, self.num_arms)
        self.noise: FloatArray = info.variances if sigma == ORACLE else np.full(shape, sigma**2)
        # Arms without noise are known after a pull; a little noise keeps the formulas regular.
        self.noise = np.maximum(self.noise, self.prior.noise_floor[:, None])

    def _prior(self, info: ProblemInfo) -> GaussianPrior:
        if self.prior_mean is None:
            prior = info.prior
            if prior is None:
                raise AgentError(
                    f"{self.name} has no prior here: the environment provides none. Give prior_mean= and prior_sd=, "
                    "each a number, or one for each arm"
                )
            if prior.rows > 1:
                raise AgentError(
                    f"{self.name} plans for one prior, and each episode of this batch has its arms in another order: "
                    "play one episode at a time, or make the batch with shuffle=False"
                )
            return prior
        for parameter in ("prior_mean", "prior_sd"):
            if np.ndim(getattr(self, parameter)):
                info.check_order(f"{parameter} of {self.name}")
        mean = self._per_arm(self.prior_mean, "prior_mean")
        return GaussianPrior(np.diag(self._per_arm(self.prior_sd, "prior_sd", least=0) ** 2), mean)

    def _per_arm(self, values: object, parameter: str, *, least: float | None = None) -> FloatArray:
        name = f"{parameter} of {self.name}"
        numbers = validation.array(values, name, least=least, kind=ROWS)
        if numbers.shape not in ((), (self.num_arms,)):
            raise ParameterError(
                f"{name} must be a number, or one for each of {self.num_arms} arms, not of shape {numbers.shape}"
            )
        return np.broadcast_to(numbers, (self.num_arms,))

    def best_posterior(self, statistics: Statistics) -> IntArray:
        """Return the arms of largest posterior mean, ``(N,)``."""
        means = posterior_means(self.prior, self.noise, statistics)
        sizes = np.where(statistics.pulls > 0, np.abs(statistics.means), 0.0).max(axis=1)
        scale = np.abs(self.prior.mean).max() + np.sqrt(self.prior.scale) + sizes
        return largest(means, scale, statistics.pulls, self.tie, self.rng)


def posterior_covariance(covariance: FloatArray, precision: FloatArray) -> FloatArray:
    """Return the covariance of the means after pulls, (C^-1 + diag(precision))^-1, where C may be singular.

    Args:
        covariance: C, ``(K, K)``.
        precision: ``(..., K)`` pulls / variance of the rewards of each arm.

    Returns:
        ``(..., K, K)``.
    """
    root = np.sqrt(precision)
    gain = covariance * root[..., None, :]
    inner = np.eye(len(covariance)) + root[..., :, None] * gain
    return np.asarray(covariance - gain @ np.linalg.solve(inner, np.swapaxes(gain, -1, -2)))


def posterior_means(prior: GaussianPrior, noise: FloatArray, statistics: Statistics) -> FloatArray:
    """Return the ``(N, K)`` posterior means given sample means.

    Args:
        prior: One distribution of the K means.
        noise: ``(N, K)`` variances of the rewards, above 0.
        statistics: ``(N, K)`` pulls and sample means, any finite numbers for arms without a pull.
    """
    if independent(prior):
        return shrunk_means(prior.mean, prior.variance, noise, statistics)
    precision = statistics.pulls / noise
    excess = np.where(statistics.pulls > 0, statistics.means - prior.mean, 0.0) * precision
    means = np.empty(excess.shape)
    size = max(1, NUMBERS_AT_ONCE // prior.num_arms**2)
    for at in range(0, len(excess), size):
        part = slice(at, at + size)
        distinct, which = np.unique(precision[part], axis=0, return_inverse=True)  # often all episodes have the same
        covariances = posterior_covariance(prior.covariance[0], distinct)
        means[part] = prior.mean + np.einsum("nk,nkj->nj", excess[part], covariances[which.reshape(-1)])
    return means


def shrunk_means(centre: FloatArray, variance: FloatArray, noise: FloatArray, statistics: Statistics) -> FloatArray:
    """Return the ``(N, k)`` posterior means of independent arms.

    Args:
        centre: Prior means, which broadcast to ``(N, k)``.
        variance: Prior variances, likewise, at least 0.
        noise: Variances of the rewards, likewise, above 0.
        statistics: ``(N, k)`` pulls and sample means, any finite numbers for arms without a pull.
    """
    scaled = statistics.pulls * variance
    return np.asarray(centre + scaled * (statistics.means - centre) / (scaled + noise))


def independent(prior: GaussianPrior) -> bool:
    """Whether the means do not depend on each other."""
    covariance = prior.covariance[0]
    return bool(np.count_nonzero(covariance) == np.count_nonzero(np.diag(covariance)))
