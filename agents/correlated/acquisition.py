"""Bayesian optimization over arms: the baselines of BayesGap in Hoffman, Shahriari and de Freitas (2014)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from typing_extensions import override

from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
from bai_gym.agents.correlated.improvement import log_improvement
from bai_gym.agents.parameters import NotNegative, Probability
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["EI", "GPTS", "GPUCB", "PI", "BayesUCB"]


@dataclass(kw_only=True)
class GPUCB(GaussianProcessAgent):
    """Pulls the arm of largest posterior mean plus sqrt(beta_t) standard deviations.

    beta_t = 2 scale log(K t^2 pi^2 / (6 delta)) at the t-th pull. Minimises cumulative regret.

    Paper: Srinivas, Krause, Kakade and Seeger (2010), "Gaussian Process Optimization in the Bandit Setting: No Regret
    and Experimental Design", Algorithm 1 and Theorem 1 (from a secondary description), who divide beta by 5 in
    experiments: scale = 0.2.

    Args:
        kernel: ``"prior"`` (default): the prior of the environment; or ``"linear"``, ``"squared-exponential"``,
            ``"exponential"``, ``"matern"``, a function of features, or a covariance: the user's own model.
        length: Length scale of a named kernel, above 0; default 1.
        amplitude: Prior standard deviation of a mean, above 0; default 1.
        nu: Smoothness of the Matern kernel: 0.5, 1.5 (default) or 2.5.
        prior_mean: Prior mean of every arm; None (default): 0, or that of the environment's prior.
        noise_variance: Variance of the rewards. ``"oracle"``: the largest of the true ones. None (default): 1/4 for
            binary rewards, for others ``"oracle"``.
        output: ``"mean"`` (default): recommend the arm of largest posterior mean. ``"pulled"``: of those pulled.
        delta: Probability that bounds fail, in (0, 1); default 0.1.
        scale: Factor of beta_t, at least 0; default 1.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    delta: Probability = 0.1
    scale: NotNegative = 1.0

    name = "GP-UCB"

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest upper bound."""
        beta = 2.0 * self.scale * math.log(self.num_arms * pull**2 * math.pi**2 / (6.0 * self.delta))
        values = np.sqrt(beta * posterior.variance)
        values += posterior.mean
        return self.pull_largest(values, posterior.scale)


@dataclass(kw_only=True)
class BayesUCB(GaussianProcessAgent):
    """Pulls the arm of largest posterior quantile 1 - 1 / (t (log n)^c) at the t-th pull, t being at least 2.

    Minimises cumulative regret.

    Paper: Kaufmann, Cappe and Garivier (2012), "On Bayesian Upper Confidence Bounds for Bandit Problems", Algorithm 1
    (from a secondary description), who find c = 0 best in experiments.

    Args:
        kernel: See :class:`GPUCB`; so are the others but the last.
        length: Length scale.
        amplitude: Prior standard deviation.
        nu: Smoothness.
        prior_mean: Prior mean.
        noise_variance: Variance of the rewards.
        output: ``"mean"`` or ``"pulled"``.
        c: Exponent of log n, at least 0; default 0.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    c: NotNegative = 0.0

    name = "BayesUCB"

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest quantile."""
        # log n below 1 would make the quantile that of a negative probability.
        share = 1.0 / (max(pull, 2) * max(math.log(self.budget), 1.0) ** self.c)
        values = np.sqrt(posterior.variance)
        values *= -float(ndtri(share))
        values += posterior.mean
        return self.pull_largest(values, posterior.scale)


@dataclass(kw_only=True)
class PI(GaussianProcessAgent):
    """Pulls the arm most likely to exceed the largest posterior mean by a margin (probability of improvement).

    The margin is ``xi`` times the largest prior standard deviation; without one it would stay with the arm of largest
    mean.

    Paper: Kushner (1964), "A new method of locating the maximum point of an arbitrary multipeak curve in the presence
    of noise"; as a bandit algorithm: Hoffman, Shahriari and de Freitas (2014), section 6.1.

    Args:
        kernel: See :class:`GPUCB`; so are the others but the last.
        length: Length scale.
        amplitude: Prior standard deviation.
        nu: Smoothness.
        prior_mean: Prior mean.
        noise_variance: Variance of the rewards.
        output: ``"mean"`` or ``"pulled"``.
        xi: The margin in prior standard deviations, at least 0; default 0.01, a choice of this library.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    xi: NotNegative = 0.01

    name = "PI"

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest probability, by their normal quantiles."""
        excess, deviation = posterior.mean - target(posterior, self.xi), np.sqrt(posterior.variance)
        quantiles = np.full(excess.shape, -np.inf)
        np.divide(excess, deviation, out=quantiles, where=deviation > 0)
        return self.pull_largest(quantiles, np.ones(self.batch))


@dataclass(kw_only=True)
class EI(GaussianProcessAgent):
    """Pulls the arm that exceeds the largest posterior mean by most in expectation (expected improvement).

    Computed as a logarithm, so that arms differ however small it is.

    Paper: Mockus, Tiesis and Zilinskas (1978), "The application of Bayesian methods for seeking the extremum"; as a
    bandit algorithm: Hoffman, Shahriari and de Freitas (2014), section 6.1.

    Args:
        kernel: See :class:`GPUCB`; so are the others but the last.
        length: Length scale.
        amplitude: Prior standard deviation.
        nu: Smoothness.
        prior_mean: Prior mean.
        noise_variance: Variance of the rewards.
        output: ``"mean"`` or ``"pulled"``.
        xi: Margin by which it is to exceed, in prior standard deviations, at least 0; default 0.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    xi: NotNegative = 0.0

    name = "EI"

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest improvement, by its logarithm."""
        values = log_improvement(posterior.mean - target(posterior, self.xi), np.sqrt(posterior.variance))
        return self.pull_largest(values, np.ones(self.batch))


def target(posterior: GaussianPosterior, xi: float) -> FloatArray:
    """Return ``(N, 1)`` what is to be exceeded: the largest posterior mean, and a margin of xi prior deviations."""
    return np.asarray(posterior.mean.max(axis=1) + xi * np.sqrt(posterior.prior.scale))[:, None]


@dataclass(kw_only=True)
class GPTS(GaussianProcessAgent):
    """Draws all means from their joint posterior, and pulls the arm of the largest (Thompson sampling).

    Paper: Thompson (1933), "On the likelihood that one unknown probability exceeds another"; with correlated arms:
    Hoffman, Shahriari and de Freitas (2014), sections 4 and 6.1.

    Args:
        kernel: See :class:`GPUCB`; so are the others.
        length: Length scale.
        amplitude: Prior standard deviation.
        nu: Smoothness.
        prior_mean: Prior mean.
        noise_variance: Variance of the rewards.
        output: ``"mean"`` or ``"pulled"``.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    name = "GP-TS"
    draws = True

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the arms of largest draw."""
        return self.pull_largest(posterior.draw(self.rng), np.zeros(self.batch))
