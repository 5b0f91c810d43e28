"""The characteristic time T* of best-arm identification with fixed confidence, and the optimal proportions of pulls.

Every algorithm that errs with probability at most delta takes at least kl(delta, 1 - delta) T* pulls on average
(Garivier and Kaufmann 2016, "Optimal Best Arm Identification with Fixed Confidence", Theorem 1). With arm 1 the best,

    1 / T* = max over w, a distribution over the arms, of min over arms a != 1 of w_1 d(mu_1, p_a) + w_a d(mu_a, p_a),

where p_a minimises the sum, and d is the Kullback-Leibler divergence of two rewards with these means. With
x_a = w_a / w_1 all these terms are equal at the maximum, to y w_1, and the x_a solve one equation in y: the sum over a
of d(mu_1, p_a) / d(mu_a, p_a) is 1 (section 2.2). T*_beta is the best time with a given share w_1 = beta, as top-two
algorithms have it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import InstanceError
from bai_gym.statistics import FloatArray
from bai_gym.theory.inputs import arms, confidence, spreads
from bai_gym.validation import probability

__all__ = ["bernoulli_kl", "characteristic_time", "fixed_confidence_bound", "optimal_weights"]

HALVINGS = 60  # of the interval in which y lies
STEPS = 60  # of Newton's method, at most
LEAST = 1e-12  # distance of Bernoulli means to 0 and 1


def bernoulli_kl(p: ArrayLike, q: ArrayLike) -> FloatArray:
    """Return kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)), with 0 log 0 = 0; all shapes broadcast.

    Args:
        p: Probabilities in [0, 1].
        q: Probabilities in [0, 1]; infinite where q is 0 or 1 and p is not.
    """
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(p > 0, p * np.log(p / q), 0.0)
        zeros = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return np.asarray(ones + zeros)


def characteristic_time(means: ArrayLike, variances: ArrayLike | None = None, beta: float | None = None) -> FloatArray:
    """Return T*, the pulls per unit of kl(delta, 1 - delta) that the best algorithm takes on average for small delta.

    Args:
        means: ``(..., K)`` true means.
        variances: Known variances of Gaussian rewards, positive: ``(..., K)``, or one number for all arms. None:
            Bernoulli rewards.
        beta: Share of the pulls that the best arm must have, in (0, 1); None: the optimal one.

    Returns:
        ``(...)`` times, to a relative accuracy of 1e-8 or better; infinite where two arms share the best mean.

    Raises:
        InstanceError: If there are fewer than two arms, a variance is not positive, or a Bernoulli mean not in [0, 1].
        ParameterError: If ``beta`` is not in (0, 1).

    Source: Garivier and Kaufmann (2016), Theorem 1 and section 2.2; with beta Russo (2016), section 6.
    """
    return _solve(means, variances, beta)[0]


def optimal_weights(means: ArrayLike, variances: ArrayLike | None = None, beta: float | None = None) -> FloatArray:
    """Return w*, the proportions of pulls for which T* is attained.

    Arguments and errors are those of :func:`characteristic_time`.

    Returns:
        ``(..., K)`` proportions, which sum to 1; equal ones for arms that share the best mean, and 0 for the others.
    """
    return _solve(means, variances, beta)[1]


def fixed_confidence_bound(means: ArrayLike, delta: ArrayLike, variances: ArrayLike | None = None) -> FloatArray:
    """Return kl(delta, 1 - delta) T*, which no mean number of pulls is below if the error probability is at most delta.

    Args:
        means: ``(..., K)`` true means.
        delta: Allowed error probability, in (0, 1); a number, or of the shape of the other axes. From 1/2 on the bound
            is 0.
        variances: As for :func:`characteristic_time`.

    Returns:
        ``(...)`` lower bounds on the expected number of pulls, for algorithms that are correct with probability
        1 - delta on all instances of the family.

    Source: Garivier and Kaufmann (2016), Theorem 1.
    """
    level = confidence(delta)
    divergence = np.where(level < 0.5, bernoulli_kl(level, 1.0 - level), 0.0)
    time = characteristic_time(means, variances)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(divergence > 0, divergence * time, 0.0))


def _solve(means: ArrayLike, variances: ArrayLike | None, beta: float | None) -> tuple[FloatArray, FloatArray]:
    mu = arms(means)
    share = None if beta is None else probability(beta, "beta")
    best = mu.argmax(axis=-1)[..., None]
    is_tied = np.count_nonzero(mu == mu.max(axis=-1, keepdims=True), axis=-1) > 1
    ratios: _Gaussian | _Bernoulli
    if variances is None:
        if mu.min() < 0 or mu.max() > 1:
            raise InstanceError("means of Bernoulli arms must lie in [0, 1]; give variances= for Gaussian arms")
        ratios = _Bernoulli(np.clip(mu, LEAST, 1 - LEAST), best)
    else:
        spread = np.array(np.broadcast_to(spreads(variances, mu), mu.shape))
        if (spread <= 0).any():
            raise InstanceError("variances must be positive")
        ratios = _Gaussian(mu, spread, best)
    x, y = _root(ratios, share, mu.shape)
    np.put_along_axis(x, best, 1.0, -1)
    total = x.sum(axis=-1)
    with np.errstate(divide="ignore"):
        time = np.where(is_tied, np.inf, total / y[..., 0])
    top = mu == mu.max(axis=-1, keepdims=True)
    weights = np.where(is_tied[..., None], top / top.sum(axis=-1, keepdims=True), x / total[..., None])
    return np.asarray(time), np.asarray(weights)


def _root(ratios: _Gaussian | _Bernoulli, beta: float | None, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return ``(..., K)`` ratios x_a (of the best arm: any) and ``(..., 1)`` y, by halving the interval of y."""
    low = np.zeros((*shape[:-1], 1))
    high = ratios.largest()
    goal = 1.0 if beta is None else (1.0 - beta) / beta
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        x = ratios.at(middle)
        terms = ratios.terms(x) if beta is None else x
        is_above = np.where(ratios.others, terms, 0.0).sum(axis=-1, keepdims=True) > goal
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return ratios.at(low), low


class _Gaussian:
    """Gaussian arms: with the sum c of w_1 and w_a, each over its variance, p_a has a closed form."""

    def __init__(self, mu: FloatArray, variances: FloatArray, best: np.ndarray) -> None:
        self.others = np.arange(mu.shape[-1]) != best
        self.first = np.take_along_axis(variances, best, -1)
        self.variances = variances
        self.half_square = (np.take_along_axis(mu, best, -1) - mu) ** 2 / 2

    def largest(self) -> FloatArray:
        """Return the smallest d(mu_1, mu_a), which y is below."""
        return np.asarray(np.where(self.others, self.half_square, np.inf).min(axis=-1, keepdims=True) / self.first)

    def at(self, y: FloatArray) -> FloatArray:
        """Return x_a for a value of y."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.others, self.variances * y / (self.half_square - self.first * y), 0.0)

    def terms(self, x: FloatArray) -> FloatArray:
        """Return d(mu_1, p_a) / d(mu_a, p_a)."""
        with np.errstate(invalid="ignore"):
            return x**2 * self.first / self.variances


class _Bernoulli:
    """Bernoulli arms: p_a = (mu_1 + x mu_a) / (1 + x), and Newton's method finds x."""

    def __init__(self, mu: FloatArray, best: np.ndarray) -> None:
        self.others = np.arange(mu.shape[-1]) != best
        self.first = np.take_along_axis(mu, best, -1)
        self.mu = np.where(self.others, mu, self.first / 2)  # any other mean in the place of the best

    def largest(self) -> FloatArray:
        """Return the smallest d(mu_1, mu_a), which y is below."""
        divergences = np.where(self.others, bernoulli_kl(self.first, self.mu), np.inf)
        return np.asarray(divergences.min(axis=-1, keepdims=True))

    def divergences(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return d(mu_1, p_a) and d(mu_a, p_a)."""
        p = (self.first + x * self.mu) / (1 + x)
        return bernoulli_kl(self.first, p), bernoulli_kl(self.mu, p)

    def at(self, y: FloatArray) -> FloatArray:
        """Return x_a for a value of y: where d(mu_1, p_a) + x d(mu_a, p_a), concave in x with slope d(mu_a, p_a), is y.

        Newton's method from the left of the root stays there.
        """
        x = np.zeros(self.mu.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(STEPS):
                first, other = self.divergences(x)
                step = np.where(other > 0, (y - first - x * other) / other, 0.0)
                x = np.maximum(x + step, 0.0)
                if not (np.abs(step) > 1e-10 * x).any():  # the error after this step is the square
                    break
        return x

    def terms(self, x: FloatArray) -> FloatArray:
        """Return d(mu_1, p_a) / d(mu_a, p_a)."""
        first, other = self.divergences(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(other > 0, first / other, np.inf)
