"""BayesGap: gap-based exploration with the posterior of correlated arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
from bai_gym.agents.tools.choosing import largest
from bai_gym.correlated.posterior import GaussianPosterior
from bai_gym.problems import ProblemInfo
from bai_gym.statistics import FloatArray, IntArray

__all__ = ["BayesGap"]

DEVIATIONS = 3.0  # within which the means are taken to lie when the complexity is estimated


class Pair(NamedTuple):
    """The two arms of which one is pulled.

    Attributes:
        best: ``(N,)`` J, the arms of smallest gap index.
        rival: ``(N,)`` j, the arms of largest upper bound among the others.
    """

    best: IntArray
    rival: IntArray


@dataclass(kw_only=True)
class BayesGap(GaussianProcessAgent):
    """Pulls the less certain of two arms: the one that is surely least bad, and the one most likely to beat it.

    U and L are the posterior mean plus and minus beta standard deviations, and B_k is the largest U of the other arms
    less L_k. J has the smallest B, and j the largest U of the others. Recommended is the J whose B was smallest over
    time, after the last pull too. beta^2 = ((n - K) / s^2 + sum 1 / C_kk) / (4 H), with C the prior covariance and H
    the sum of 1 / max((gap + epsilon) / 2, epsilon)^2, where each gap is the largest that means within three posterior
    standard deviations allow.

    Paper: Hoffman, Shahriari and de Freitas (2014), "Exploiting correlation and budget constraints in Bayesian
    multi-armed bandit optimization", Algorithm 1 (its line 3 prints argmin where the text has argmax) and equation 9,
    after UGapEb. Choices of this library: beta is at least 1 (n < K would make its square negative); an arm's gap
    counts both ways, to the best other arm and from it (or that of an arm clearly the best would be below 0); arms of
    prior variance 0 are left out of the sum.

    Args:
        kernel: ``"prior"`` (default): the prior of the environment; or ``"linear"``, ``"squared-exponential"``,
            ``"exponential"``, ``"matern"``, a function of features, or a covariance: the user's own model.
        length: Length scale of a named kernel, above 0; default 1.
        amplitude: Prior standard deviation of a mean (eta), above 0; default 1.
        nu: Smoothness of the Matern kernel: 0.5, 1.5 (default) or 2.5.
        prior_mean: Prior mean of every arm; None (default): 0, or that of the environment's prior.
        noise_variance: Variance of the rewards. ``"oracle"``: the largest of the true ones. None (default): 1/4 for
            binary rewards, for others ``"oracle"``.
        output: ``"best"`` (default): as published. ``"last"``: J at the end. ``"mean"``: the arm of largest posterior
            mean.

    Knows the prior unless ``kernel`` is given, and the variances if ``noise_variance`` is the oracle's.
    """

    output: str = "best"

    name = "BayesGap"
    anytime = False
    outputs = ("best", "last", "mean")

    @override
    def begin(self, info: ProblemInfo) -> None:
        """Note what the prior says, too."""
        super().begin(info)
        self._smallest = np.full(self.batch, np.inf)
        self._kept = np.zeros(self.batch, np.int64)
        self._episodes = np.arange(self.batch)
        variance = self.prior.variance
        inverse = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
        self._known = inverse.sum(axis=1)

    @override
    def choose(self, posterior: GaussianPosterior, pull: int) -> IntArray:
        """Return the one of J and j that is less certain."""
        pair = self.leading_pair(posterior)
        rows, variance = self._episodes, posterior.variance
        two = np.stack([pair.best, pair.rival], axis=1)
        pulls = posterior.pulls[rows[:, None], two]
        if self.tie == "first":
            pulls = pulls * self.num_arms + two  # of equally often pulled arms the lower number
        slots = largest(variance[rows[:, None], two], self._slack(posterior), pulls, self.tie, self.rng)
        return np.asarray(two[rows, slots])

    @override
    def recommended_arm(self, posterior: GaussianPosterior) -> IntArray:
        """Return the J of smallest gap index, or the arm that ``output`` selects."""
        if self.output == "mean":
            return super().recommended_arm(posterior)
        pair = self.leading_pair(posterior)
        return pair.best if self.output == "last" else self._kept

    def _slack(self, posterior: GaussianPosterior) -> FloatArray:
        """Return ``(N,)`` the scale of rounding in variances, which come from the prior ones by subtraction.

        With ``SLACK`` of :mod:`bai_gym.agents.tools.choosing` it makes 1e-15 of the largest prior variance.
        """
        return np.broadcast_to(1e-6 * self.prior.scale, (self.batch,))

    def leading_pair(self, posterior: GaussianPosterior) -> Pair:
        """Find J and j, and compare J with the best set so far."""
        mean, deviation = posterior.mean, np.sqrt(posterior.variance)
        width = self.beta(posterior, mean, deviation)[:, None] * deviation
        upper = mean + width
        index = _largest_other(upper)
        index -= mean
        index += width
        scale = posterior.scale
        best = largest(-index, scale, posterior.pulls, self.tie, self.rng)
        value = index[self._episodes, best]
        upper[self._episodes, best] = -np.inf
        rival = largest(upper, scale, posterior.pulls, self.tie, self.rng)
        better = value < self._smallest
        np.copyto(self._smallest, value, where=better)
        np.copyto(self._kept, best, where=better)
        return Pair(best, rival)

    def beta(self, posterior: GaussianPosterior, mean: FloatArray, deviation: FloatArray) -> FloatArray:
        """Return ``(N,)`` the width of U and L in posterior standard deviations."""
        epsilon = self.task.epsilon
        spread = DEVIATIONS * deviation
        high, low = mean + spread, mean - spread
        gaps = np.maximum(_largest_other(high) - low, high - _largest_other(low))
        hardness = np.maximum(0.5 * (gaps + epsilon), epsilon)
        with np.errstate(divide="ignore", over="ignore"):  # where nothing is uncertain, beta is 1
            complexity = (1.0 / (hardness * hardness)).sum(axis=1)
        free = (self.budget - self.num_arms) / posterior.noise
        return np.asarray(np.sqrt(np.maximum((free + self._known) / (4.0 * complexity), 1.0)))


def _largest_other(values: FloatArray) -> FloatArray:
    """Return, for each arm of ``(N, K)``, the largest value of another arm."""
    rows = np.arange(len(values))
    first = values.argmax(axis=1)
    top = values[rows, first]
    values[rows, first] = -np.inf
    second = values.max(axis=1)
    values[rows, first] = top
    result = np.repeat(top[:, None], values.shape[1], axis=1)
    result[rows, first] = second
    return result
