"""PI-BAI: shares of the budget that follow from the prior alone, or from the first pulls of a sampler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import ndtri, softmax
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.bayesian.rho import SMALLEST, Belief, value
from bai_gym.agents.correlated.normal_prior import PriorAgent, independent, posterior_covariance
from bai_gym.agents.correlated.warm_up import SAMPLERS, warm_up
from bai_gym.agents.parameters import Count
from bai_gym.agents.tools.choosing import largest_remainders
from bai_gym.bandits import GaussianPrior
from bai_gym.errors import ParameterError
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import FloatArray
from bai_gym.validation import choice, real

__all__ = ["PIBAI", "best_weights", "error_bound"]

DIGITS = 9  # of weights: equal ones must not differ by rounding
STEPS = 200  # of the search for weights, at most
SAMPLES = 1024, 4096  # by which the value of dependent arms is averaged: in the search, and to improve what it found

Loss = Callable[[FloatArray], tuple[float, FloatArray]]
"""Of ``(K,)`` real pulls: a value to be small, and its ``(K,)`` derivatives by the logarithms of the pulls."""


@dataclass(kw_only=True)
class PIBAI(PriorAgent):
    """Chooses weights of the arms from the prior, pulls by them, and recommends the arm of largest posterior mean.

    Nothing depends on rewards until the end, so all pulls can be made at the same time; unless the weights are the
    shares of a sampler in a warm-up.

    Paper: Nguyen, Aouali, György and Vernade (2025), "Prior-Dependent Allocations for Bayesian Fixed-Budget Best-Arm
    Identification in Structured Bandits" (AISTATS, arXiv 2402.05878), Algorithm 1. Differences: the default weights are
    this library's; counts are rounded by largest remainders, where the authors' code draws them or rounds down; the
    samples of the warm-up are kept, which that code discards.

    Args:
        weights: What the weights are best for. ``"value"`` (default): the largest expected mean of the recommended arm,
            which is the smallest Bayes simple regret. ``"bound"``: the smallest bound on the error probability,
            :func:`error_bound`. ``"mixed"``: the authors' mixture of those with the favourites of the prior.
            ``"A-optimal"``, ``"D-optimal"``: the smallest sum of posterior variances, and the smallest determinant of
            the posterior covariance. ``"uniform"``: equal weights. ``"TS"``, ``"T3C"``, ``"TSTCI"``: the shares of the
            pulls in a warm-up by Thompson sampling, or by a top-two rule, see :mod:`bai_gym.agents.correlated.warm_up`.
        alpha: Share of the bound in ``"mixed"``, from 0 to 1; default 0.5.
        warm_up: Pulls of the warm-up, at least 1; the whole budget where that is less. None (default): 2 K for
            independent means, K for dependent ones.
        discard: If True, recommend without the samples of the warm-up, as the authors' code does; default False.
        prior_mean: See :class:`bai_gym.agents.correlated.normal_prior.PriorAgent`.
        prior_sd: See there.
        sigma: See there.

    Knows the prior unless it is given, and the variances if ``sigma`` is the oracle's.
    """

    weights: str = "value"
    alpha: float = 0.5
    warm_up: Count | None = None
    discard: bool = False

    name = "PI-BAI"

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 1: an arm without a pull is judged by its prior."""
        return 1

    @override
    def begin(self, info: ProblemInfo) -> None:
        super().begin(info)
        choice(self.weights, (*LOSSES, "mixed", "uniform", *SAMPLERS), f"weights of {self.name}")
        real(self.alpha, f"alpha of {self.name}", least=0, most=1)
        self._favour = self.prior.mean[0] * self.prior.variance[0]
        if self.weights == "mixed" and (self._favour.min() < 0.0 or self._favour.max() == 0.0):
            raise ParameterError(
                f"weights='mixed' of {self.name} is for prior means of at least 0, not all of them 0: take 'value'"
            )

    @property
    def shares(self) -> FloatArray:
        """``(N, K)`` weights from the prior, chosen once for all episodes of the same noise, when first needed."""
        distinct, which = np.unique(self.noise, axis=0, return_inverse=True)
        return np.stack([self._shares(noise) for noise in distinct])[which.reshape(-1)]

    @property
    def warm_up_pulls(self) -> int:
        """Pulls of the warm-up: 0 where the weights follow from the prior alone."""
        if self.weights not in SAMPLERS:
            return 0
        usual = 2 * self.num_arms if independent(self.prior) else self.num_arms
        return min(self.budget, usual if self.warm_up is None else self.warm_up)

    @override
    def plan(self) -> Plan:
        """Make all pulls in one request, after those of the warm-up if there is one."""
        first, rng = self.warm_up_pulls, None if self.tie == "first" else self.rng
        counts = np.zeros((self.batch, self.num_arms), np.int64)
        shares = (yield from warm_up(self, self.weights, first)) / first if first else self.shares
        if left := self.budget - first:
            counts = largest_remainders(shares / shares.sum(axis=1, keepdims=True) * left, left, rng)
        statistics = yield Block(counts)
        return self.best_posterior(statistics if self.discard else self.statistics)

    def _shares(self, noise: FloatArray) -> FloatArray:
        """Return ``(K,)`` weights for arms with ``(K,)`` variances of their rewards."""
        if self.weights == "uniform":
            return np.full(self.num_arms, 1.0 / self.num_arms)
        goal = "bound" if self.weights == "mixed" else self.weights
        prior = self.prior.mean.tobytes(), self.prior.covariance.tobytes()
        shares = chosen_weights(goal, self.budget, *prior, noise.tobytes())
        if self.weights == "mixed":
            shares = self.alpha * shares + (1.0 - self.alpha) * self._favour / np.linalg.norm(self._favour)
        shares = np.round(shares / shares.sum(), DIGITS)
        return np.asarray(shares / shares.sum())


@lru_cache(maxsize=16)
def chosen_weights(goal: str, budget: int, mean: bytes, covariance: bytes, noise: bytes) -> FloatArray:
    """Return the ``(K,)`` weights of smallest loss; the same ones are asked for by every batch of episodes.

    The search starts from equal weights, and from weights that fall with the distance of an arm's largest likely mean
    from the largest one.

    Args:
        goal: A key of :data:`LOSSES`.
        budget: Number of pulls.
        mean: Of the prior, the bytes of ``(K,)`` floats.
        covariance: Of the prior, likewise ``(K, K)``.
        noise: Variances of the rewards, likewise ``(K,)``.
    """
    centre = np.frombuffer(mean)
    prior = GaussianPrior(np.frombuffer(covariance).reshape(len(centre), -1), centre)
    loss = partial(LOSSES[goal], prior, np.frombuffer(noise))
    deviation = np.sqrt(prior.variance[0])
    likely = centre + 2.0 * deviation
    starts = [np.zeros(len(centre)), (likely - likely.max()) / max(deviation.max(), SMALLEST)]
    if goal != "value" or independent(prior):
        return best_weights(loss, budget, starts)
    for size in SAMPLES:
        loss = partial(sampled_value, prior, np.frombuffer(noise), **samples(prior, size))
        weights = best_weights(loss, budget, starts)
        starts = [np.log(np.maximum(weights, SMALLEST))]
    return weights


def best_weights(loss: Loss, budget: int, starts: Sequence[FloatArray]) -> FloatArray:
    """Return the ``(K,)`` weights of smallest loss for ``budget`` pulls, by L-BFGS on their logarithms.

    Args:
        loss: A function of the pulls.
        budget: Their number.
        starts: Logarithms of the weights to start from, ``(K,)`` each; the best result counts.
    """

    def of_logits(logits: FloatArray) -> tuple[float, FloatArray]:
        shares = softmax(logits)
        losses, slope = loss(budget * shares)
        return losses, slope - shares * slope.sum()

    options = {"maxiter": STEPS, "ftol": 1e-12, "gtol": 1e-9}
    ends = [minimize(of_logits, start, jac=True, method="L-BFGS-B", options=options) for start in starts]
    return np.asarray(softmax(min(ends, key=lambda end: end.fun).x))


def samples(prior: GaussianPrior, size: int) -> dict[str, FloatArray]:
    """Return evenly spread samples for :func:`sampled_value`, and their mirror images.

    Args:
        prior: One distribution of the K means.
        size: How many without the images, a power of 2.
    """
    from scipy.stats.qmc import Sobol  # slow to import

    factor = prior.factor[0][:, ::-1]  # the directions of most variance first, which the sequence covers best
    rank = factor.shape[1]
    # The second 2^m points of an unscrambled Sobol sequence: as evenly spread as the first, and without the origin.
    points = ndtri(Sobol(rank + prior.num_arms, scramble=False).random(2 * size)[size:])
    points = np.vstack([points, -points])
    return {"centred": points[:, :rank] @ factor.T, "errors": points[:, rank:]}


def error_bound(prior: GaussianPrior, noise: FloatArray, pulls: FloatArray) -> tuple[float, FloatArray]:
    """Return a bound on the error probability, and its derivatives by the logarithms of the pulls.

    The difference of two means has the prior variance a and, after the pulls, the posterior variance b, which does not
    depend on rewards. With prior means that differ by d, the posterior means have the wrong order with probability at
    most exp(-d^2 / (2 a)) sqrt(b / a) / 2; the bound is the sum over pairs. For independent means and equal noise it is
    a quarter of what the authors' code computes.

    Args:
        prior: One distribution of the K means.
        noise: ``(K,)`` variances of the rewards.
        pulls: ``(K,)`` real numbers of pulls, at least 0.
    """
    before, after = prior.covariance[0], posterior_covariance(prior.covariance[0], pulls / noise)
    a, b = of_differences(before), of_differences(after)
    rows, columns = np.nonzero(np.triu(a > SMALLEST * prior.scale[0], 1))
    a, b = a[rows, columns], np.maximum(b[rows, columns], SMALLEST * a[rows, columns])
    d = prior.mean[0, rows] - prior.mean[0, columns]
    terms = 0.5 * np.exp(-(d**2) / (2.0 * a)) * np.sqrt(b / a)
    rate = np.zeros(after.shape)  # of the bound by b
    rate[rows, columns] = rate[columns, rows] = terms / (2.0 * b)
    # b of a pair (i, j) falls with the precision of arm k at the rate (S_ki - S_kj)^2, S the posterior covariance.
    falls = after**2 @ rate.sum(axis=1) - ((after @ rate) * after).sum(axis=1)
    return float(terms.sum()), -pulls / noise * falls


def of_differences(covariance: FloatArray) -> FloatArray:
    """Return the ``(K, K)`` variances of the differences of two means."""
    variance = np.diag(covariance)
    return np.asarray(variance[:, None] + variance - 2.0 * covariance)


def total_variance(prior: GaussianPrior, noise: FloatArray, pulls: FloatArray) -> tuple[float, FloatArray]:
    """Return the logarithm of the sum of the posterior variances and its derivatives, as :func:`error_bound`."""
    after = posterior_covariance(prior.covariance[0], pulls / noise)
    total = max(float(np.trace(after)), np.finfo(np.float64).tiny)
    return math.log(total), -pulls / noise * (after**2).sum(axis=0) / total


def log_determinant(prior: GaussianPrior, noise: FloatArray, pulls: FloatArray) -> tuple[float, FloatArray]:
    """Return log det of the posterior covariance, less that of the prior, and its derivatives."""
    covariance, root = prior.covariance[0], np.sqrt(pulls / noise)
    inner = np.eye(len(root)) + root[:, None] * covariance * root
    after = posterior_covariance(covariance, pulls / noise)
    return -float(np.linalg.slogdet(inner)[1]), -pulls / noise * np.diag(after)


def expected_value(prior: GaussianPrior, noise: FloatArray, pulls: FloatArray) -> tuple[float, FloatArray]:
    """Return minus the expected largest posterior mean of independent arms, and its derivatives."""
    variance = np.maximum(prior.variance, SMALLEST * prior.scale)
    result, slope = value(Belief(prior.mean, variance, noise[None]), pulls[None])
    unit = np.sqrt(prior.scale[0]) or 1.0
    return -float(result[0]) / unit, -slope[0] / unit


def sampled_value(
    prior: GaussianPrior, noise: FloatArray, pulls: FloatArray, centred: FloatArray, errors: FloatArray
) -> tuple[float, FloatArray]:
    """Return :func:`expected_value` of dependent arms, an average over samples.

    Sample means of the precision r^2 = pulls / noise change the posterior means by q = C R u, with
    (I + R C R) u = R x + e: x the true means less the prior ones, e standard normal, R = diag(r). Of the arm that wins,
    with c its row of C and v from (I + R C R) v = R c, the change has the derivative u (c - C R v) + v (x - q) by r.

    Args:
        prior: One distribution of the K means.
        noise: ``(K,)`` variances of the rewards.
        pulls: ``(K,)`` real numbers of pulls.
        centred: ``(S, K)`` samples of x.
        errors: ``(S, K)`` samples of e.
    """
    covariance, root = prior.covariance[0], np.sqrt(pulls / noise)
    inverse = np.linalg.inv(np.eye(len(root)) + root[:, None] * covariance * root)
    gain = covariance * root
    u = (centred * root + errors) @ inverse
    change = u @ gain.T
    winner = (prior.mean + change).argmax(axis=1)
    influence = gain @ inverse  # row i is v of a winner i
    slopes = u * (covariance - influence @ gain.T)[winner] + influence[winner] * (centred - change)
    unit = np.sqrt(prior.scale[0]) or 1.0
    best = prior.mean[0, winner] + change[np.arange(len(winner)), winner]
    return -float(best.mean()) / unit, -0.5 * root * slopes.mean(axis=0) / unit


LOSSES = {
    "value": expected_value,
    "bound": error_bound,
    "A-optimal": total_variance,
    "D-optimal": log_determinant,
}
