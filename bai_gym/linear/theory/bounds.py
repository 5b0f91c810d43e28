"""Bounds on the error probability of agents with a model on features: GSE, OD-LinBAI and BayesGap."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.statistics import FloatArray
from bai_gym.theory.complexity import gaps, hardness, ugape_complexity
from bai_gym.theory.inputs import arms, budgets
from bai_gym.validation import array, integer

__all__ = ["bayesgap_bound", "gse_glm_bound", "gse_linear_bound", "od_linbai_bound"]


def gse_linear_bound(
    means: ArrayLike,
    dimension: int,
    budget: ArrayLike,
    noise_variance: ArrayLike = 1.0,
    eta: int = 2,
    spread: ArrayLike | None = None,
) -> FloatArray:
    """Return 2 eta s exp(-D^2 / (2 sigma^2 w)) for GSE in a linear model, with s stages and smallest gap D.

    w is the largest ||x_i - x_1||^2 in the norm of V^-1, over arms i and stages, x_1 being the best arm and V the sum
    of x x^T over the pulls of the stage. An optimal design of n_t = floor(n / s) pulls has ||x||^2 <= d / n_t, hence w
    <= 4 d / n_t and the bound 2 eta s exp(-n_t D^2 / (8 sigma^2 d)).

    Theorem 4.1 prints a 4 in the place of that 8, (3), because its proof takes ||x_i - x_1||^2 for at most 2 max
    ||x||^2, where it can be 4 max ||x||^2. That is false: with two arms 1 and -1 in one dimension, the probability of
    error is Phi(-sqrt(n) D / (2 sigma)), which is 1.35e-3 at sqrt(n) D / sigma = 6, where (3) is 4 exp(-9) = 4.9e-4.
    With a given w its (2) has a 4 in the place of the 2; the proof gives the 2.

    Args:
        means: ``(..., K)`` true means.
        dimension: d, the rank of the features.
        budget: n, ``(...)`` or one number.
        noise_variance: sigma^2, the variance (proxy) of the sub-Gaussian noise, positive.
        eta: One in eta arms is kept in each stage, at least 2.
        spread: w, ``(...)`` or one number, positive; None: that of an exactly G-optimal design, without rounding.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN where a stage has fewer than d pulls, so that V is singular.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Azizi, Kveton and Ghavamzadeh (2022), Theorem 4.1 and appendix A, corrected.
    """
    mu, n = arms(means), budgets(budget)
    integer(dimension, "dimension", least=1)
    stages = _stages(mu.shape[-1], integer(eta, "eta", least=2))
    pulls = n // stages
    inside = pulls >= dimension
    width = 4.0 * dimension / np.maximum(pulls, 1) if spread is None else array(spread, "spread", above=0)
    exponent = gaps(mu).min(axis=-1) ** 2 / (2.0 * array(noise_variance, "noise_variance", above=0) * width)
    with np.errstate(under="ignore"):
        return np.where(inside, 2.0 * eta * stages * np.exp(-exponent), np.nan)


def gse_glm_bound(
    scores: ArrayLike,
    dimension: int,
    budget: ArrayLike,
    least_slope: ArrayLike,
    noise_variance: ArrayLike = 0.25,
    eta: int = 2,
    norm: ArrayLike | None = None,
) -> FloatArray:
    """Return 2 eta s exp(-D^2 c^2 / (8 sigma^2 w)) for GSE in a generalised linear model, with s stages.

    w is the largest ||x_i||^2 in the norm of V^-1, over arms and stages; an optimal design of floor(n / s) pulls has
    w = d / floor(n / s). D is the smallest gap of x^T theta, before the mean function h.

    Args:
        scores: ``(..., K)`` true x^T theta, not the means h(x^T theta).
        dimension: d, the rank of the features.
        budget: n, ``(...)`` or one number.
        least_slope: c, positive: the smallest derivative of h between the true and the estimated scores.
        noise_variance: sigma^2, the variance proxy of the rewards, positive; 1/4 (default) for rewards in [0, 1].
        eta: One in eta arms is kept in each stage, at least 2.
        norm: w, ``(...)`` or one number, positive; None: that of an exactly G-optimal design, without rounding.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN where a stage has fewer than d pulls, so that V is singular.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Azizi, Kveton and Ghavamzadeh (2022), Theorem 5.1.
    """
    mu, n = arms(scores), budgets(budget)
    integer(dimension, "dimension", least=1)
    stages = _stages(mu.shape[-1], integer(eta, "eta", least=2))
    pulls = n // stages
    width = dimension / np.maximum(pulls, 1) if norm is None else array(norm, "norm", above=0)
    signal = gaps(mu).min(axis=-1) * array(least_slope, "least_slope", above=0)
    exponent = signal**2 / (8.0 * array(noise_variance, "noise_variance", above=0) * width)
    with np.errstate(under="ignore"):
        return np.where(pulls >= dimension, 2.0 * eta * stages * np.exp(-exponent), np.nan)


def od_linbai_bound(means: ArrayLike, dimension: int, budget: ArrayLike, noise_variance: ArrayLike = 1.0) -> FloatArray:
    """Return (4K/d + 3 log2 d) exp(-m / (32 sigma^2 H)) for OD-LinBAI, H the maximum of i / gap_(i)^2 over i in 2..d.

    m = (n - min(K, d (d + 1) / 2) - the sum of ceil(d / 2^r) over r = 1..R-1) / R with R = ceil(log2 d) phases. As m >=
    (n - d^2) / R and H <= d / D^2, it is at most the (4K/d + 3 log2 d) exp((d^2 - n) D^2 / (32 d R)) that Azizi et al.
    (2022) compare with.

    Args:
        means: ``(..., K)`` true means.
        dimension: d, the rank of the features, in 1..K.
        budget: n, ``(...)`` or one number.
        noise_variance: sigma^2, the variance proxy of the noise, positive; 1 (default) in the theorem.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN where m is not positive, and for d = 1, where there is no phase.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Yang and Tan (2022), Theorem 2, as in Azizi et al. (2022), appendix D.3.
    """
    mu, n = arms(means), budgets(budget)
    size = mu.shape[-1]
    rank = integer(dimension, "dimension", least=1, most=size)
    phases = (rank - 1).bit_length()
    later = sum(-(-rank // 2**phase) for phase in range(1, phases))
    pulls = (n - min(size, rank * (rank + 1) // 2) - later) / max(phases, 1)
    # Ascending gaps: the best arm's own comes first, and equals the second.
    terms = hardness(np.sort(gaps(mu), axis=-1)[..., :rank]) * np.arange(1, rank + 1)
    scale = 32.0 * array(noise_variance, "noise_variance", above=0) * terms.max(axis=-1)
    with np.errstate(under="ignore", over="ignore"):
        bound = (4.0 * size / rank + 3.0 * np.log2(rank)) * np.exp(-pulls / scale)
    return np.where((pulls > 0) & (rank > 1), bound, np.nan)


def bayesgap_bound(
    means: ArrayLike,
    budget: ArrayLike,
    noise_variance: ArrayLike = 1.0,
    prior_variance: ArrayLike = 1.0,
    squared_norms: ArrayLike = 1.0,
    epsilon: float = 0.0,
) -> FloatArray:
    """Return K n exp(-beta^2 / 2) with beta^2 = ((n - K) / sigma^2 + kappa / eta^2) / (4 H_epsilon), for BayesGap.

    It bounds the probability that the simple regret is above epsilon, for means drawn from the agent's prior, and an
    agent that is given the true H_epsilon (it usually estimates it) and has pulled every arm (as the proof supposes).
    With epsilon = 0 (the theorem asks for more, the proof does not), sigma = eta = 1 and norms of at most 1 it is at
    most the K n exp(-n D^2 / (32 K)) that Azizi et al. (2022) compare with.

    Args:
        means: ``(..., K)`` true means.
        budget: n, ``(...)`` or one number.
        noise_variance: sigma^2 of Gaussian rewards, positive.
        prior_variance: eta^2, positive: the prior of the parameter is N(0, eta^2 I).
        squared_norms: ``(..., K)`` ||x||^2 of the features, that is the diagonal of the kernel, or one number;
            positive. kappa is the sum of their inverses.
        epsilon: Simple regret that is allowed, at least 0.

    Returns:
        ``(...)`` bounds, not clipped to 1; NaN for n <= K.

    Raises:
        ParameterError: If an argument is malformed.

    Source: Hoffman, Shahriari and de Freitas (2014), Theorem 1.
    """
    mu, n = arms(means), budgets(budget)
    size = mu.shape[-1]
    norms = array(squared_norms, "squared_norms", above=0)
    kappa = (1.0 / np.broadcast_to(norms, (*norms.shape[:-1], size))).sum(axis=-1)
    noise, prior = array(noise_variance, "noise_variance", above=0), array(prior_variance, "prior_variance", above=0)
    precision = (n - size) / noise + kappa / prior
    with np.errstate(under="ignore"):
        bound = size * n * np.exp(-precision / (8.0 * ugape_complexity(mu, 1, epsilon)))
    return np.where(n > size, bound, np.nan)


def _stages(size: int, eta: int) -> int:
    """Return the number of divisions of K arms by eta, rounding up, until one is left."""
    stages = 0
    while size > 1:
        size, stages = -(-size // eta), stages + 1
    return stages
