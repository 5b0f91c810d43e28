"""Gaussian arms whose means are drawn from a known normal prior: independent, linear or hierarchical."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from bai_gym import validation
from bai_gym.bandits import Bandit, FeatureBandit, GaussianBandit, GaussianPrior
from bai_gym.common.seeding import check_seed
from bai_gym.correlated.bandits import PriorBandit
from bai_gym.errors import ParameterError
from bai_gym.problems.base import Problem, arm_count
from bai_gym.statistics import FloatArray
from bai_gym.validation import ROWS, integer

__all__ = ["PriorProblem", "gaussian_prior_problem", "hierarchical_prior_problem", "linear_prior_problem"]

MEANS = 0.0, 1.0  # ranges of the evenly spaced defaults
DEVIATIONS = 0.1, 0.5
VARIANCES = 0.01, 0.25  # of the entries of a parameter
EFFECTS = 0.0, 2.0  # means of the effects of a hierarchy


class PriorProblem(Problem):
    """The means of an episode are drawn from a normal prior, which agents that declare to know it are given.

    The mean of an agent's 0/1 errors over episodes is its Bayes error for this prior.

    Args:
        prior: One distribution of K means.
        sigma: Standard deviation of the rewards, above 0: a number, or ``(K,)``.
        features: ``(K, d)``, or None where arms have none.

    Raises:
        ParameterError: If ``sigma`` is not above 0, or is given for another number of arms.
    """

    def __init__(self, prior: GaussianPrior, sigma: object, features: FloatArray | None = None) -> None:
        """Check the noise."""
        self.prior = prior
        self.num_arms = prior.num_arms
        self.num_features = None if features is None else features.shape[1]
        self._features = features
        self._variances = _per_arm(sigma, self.num_arms, "sigma", above=0) ** 2

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> PriorBandit:
        means = self.prior.draw(batch, rng)
        rewards: Bandit = GaussianBandit(means, np.broadcast_to(self._variances, means.shape))
        if self._features is not None:
            rewards = FeatureBandit(rewards, self._features)
        return PriorBandit(rewards, self.prior)


def gaussian_prior_problem(
    num_arms: int = 10, prior_means: object = None, prior_sds: object = None, sigma: object = 1.0
) -> PriorProblem:
    """Return the problem of independent means: that of arm i is normal, with its own prior mean and deviation.

    By default the prior says much: it is higher and wider for each next arm, so the last arms are often the best.

    Args:
        num_arms: K, at least 2.
        prior_means: A number, or ``(K,)``; None: evenly spaced from 0 to 1.
        prior_sds: Standard deviations, at least 0: a number, or ``(K,)``; None: evenly spaced from 0.1 to 0.5.
        sigma: Standard deviation of the rewards, above 0: a number, or ``(K,)``.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: Numbers outside their range, or for another number of arms.

    Source: Nguyen, Aouali, György and Vernade (2025), "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm
    Identification in Structured Bandits", the setting of its experiments with independent arms, by the authors' code.
    """
    arms = arm_count(num_arms)
    means = np.linspace(*MEANS, arms) if prior_means is None else _per_arm(prior_means, arms, "prior_means")
    sds = np.linspace(*DEVIATIONS, arms) if prior_sds is None else _per_arm(prior_sds, arms, "prior_sds", least=0)
    return PriorProblem(GaussianPrior(np.diag(sds**2), means), sigma)


def linear_prior_problem(
    num_arms: int = 30,
    num_features: int = 4,
    theta_mean: object = 1.0,
    theta_variances: object = None,
    sigma: object = 1.0,
    features_seed: int = 0,
) -> PriorProblem:
    """Return the problem of means that are linear in features, with a normal prior of the parameter.

    The mean of arm i is x_i @ theta. Features are standard normal numbers, drawn once from ``features_seed``: the prior
    of the means, which follows from them, is the same in all episodes. The entries of theta are independent.

    Args:
        num_arms: K, at least 2.
        num_features: d, at least 1.
        theta_mean: Prior mean of theta: a number, or ``(d,)``.
        theta_variances: Prior variances of its entries, at least 0: a number, or ``(d,)``; None: evenly spaced from
            0.01 to 0.25.
        sigma: Standard deviation of the rewards, above 0: a number, or ``(K,)``.
        features_seed: Seed of the features, at least 0.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: Numbers outside their range, or of a wrong size.

    Source: Nguyen, Aouali, György and Vernade (2025), "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm
    Identification in Structured Bandits", the setting of its linear experiments, by the authors' code, which draws
    fresh features for every prior.
    """
    entries = integer(num_features, "num_features", least=1)
    arms = arm_count(num_arms, num_features=entries, pair_bytes=16)
    features = np.random.default_rng(check_seed(features_seed)).standard_normal((arms, entries))
    deviations = np.sqrt(_variances(theta_variances, entries, "theta_variances"))
    centre = features @ _per_arm(theta_mean, entries, "theta_mean")
    prior = GaussianPrior.from_kernel(features * deviations, "linear", mean=centre)
    return PriorProblem(prior, sigma, features)


def hierarchical_prior_problem(
    num_arms: int = 60,
    num_effects: int = 10,
    effect_means: object = None,
    effect_variances: object = None,
    prior_sds: object = None,
    sigma: object = 1.0,
    features_seed: int = 0,
) -> PriorProblem:
    """Return the problem of arms that mix shared effects, and have a deviation of their own.

    The mean of arm i is normal with mean b_i @ effects and its own standard deviation, the effects being normal
    themselves. The weights b_i, which are the arm's features, are uniform on the simplex, drawn once from
    ``features_seed``: the prior of the means is the same in all episodes. Arms of similar weights have similar means.

    Args:
        num_arms: K, at least 2.
        num_effects: L, at least 1.
        effect_means: Prior means of the effects: a number, or ``(L,)``; None: evenly spaced from 0 to 2.
        effect_variances: Their prior variances, at least 0: a number, or ``(L,)``; None: evenly spaced from 0.01 to
            0.25.
        prior_sds: Standard deviations of the arms' own parts, at least 0: a number, or ``(K,)``; None: evenly spaced
            from 0.1 to 0.5.
        sigma: Standard deviation of the rewards, above 0: a number, or ``(K,)``.
        features_seed: Seed of the weights, at least 0.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: Numbers outside their range, or of a wrong size.

    Source: Nguyen, Aouali, György and Vernade (2025), "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm
    Identification in Structured Bandits", the setting of its hierarchical experiments, by the authors' code.
    """
    effects = integer(num_effects, "num_effects", least=1)
    arms = arm_count(num_arms, num_features=effects, pair_bytes=24)
    weights = np.random.default_rng(check_seed(features_seed)).dirichlet(np.ones(effects), arms)
    centre = np.linspace(*EFFECTS, effects)
    if effect_means is not None:
        centre = _per_arm(effect_means, effects, "effect_means")
    shared = weights * np.sqrt(_variances(effect_variances, effects, "effect_variances"))
    sds = np.linspace(*DEVIATIONS, arms) if prior_sds is None else _per_arm(prior_sds, arms, "prior_sds", least=0)
    return PriorProblem(GaussianPrior(shared @ shared.T + np.diag(sds**2), weights @ centre), sigma, weights)


def _variances(values: object, size: int, name: str) -> FloatArray:
    return np.linspace(*VARIANCES, size) if values is None else _per_arm(values, size, name, least=0)


def _per_arm(
    values: object, size: int, name: str, *, above: float | None = None, least: float | None = None
) -> FloatArray:
    """Return a number, or one for each of ``size``, as ``(size,)`` floats."""
    numbers = validation.array(values, name, above=above, least=least, kind=ROWS)
    if numbers.shape not in ((), (size,)):
        raise ParameterError(f"{name} must be a number, or {size} of them, not of shape {numbers.shape}")
    return np.broadcast_to(numbers, (size,))
