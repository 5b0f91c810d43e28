"""The proportions of pulls w* that attain the characteristic time T*, of one instance.

Written as plain functions of numbers and arrays, which sequential agents compile. With arm 1 the best and
x_a = w_a / w_1, all w_1 d(mu_1, p_a) + w_a d(mu_a, p_a) are equal at w*, to y w_1; the x_a are functions of y, and y
solves one equation, see :mod:`bai_gym.theory.characteristic_time`.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.statistics import FloatArray

__all__ = ["bernoulli_divergence", "optimal_proportions"]

SMALLEST_SQUARE = 1e-290  # of a gap: quotients of smaller ones are no floats
SAME = 1e-14  # divergences of Bernoulli arms up to this are rounding: they are differences of numbers of size 1


def optimal_proportions(
    means: FloatArray, variances: FloatArray, bernoulli: bool, beta: float, w: FloatArray, y: float
) -> float:
    """Write w* to ``w``, and return y; then T* = 1 / (y w_1). Arms that share the best mean have equal proportions.

    Newton's method for the y with F(y) = 1, F the sum over a of d(mu_1, p_a) / d(mu_a, p_a) (Garivier and Kaufmann
    2016, Theorem 5), or, for a given w_1 = beta, for the y at which the x_a sum to (1 - beta) / beta. Steps that leave
    the interval of y are replaced by its middle.

    Args:
        means: ``(K,)``; of Bernoulli arms above 0 and below 1.
        variances: ``(K,)`` positive variances of Gaussian arms; of Bernoulli arms overwritten if y is positive.
        bernoulli: Whether rewards are 0 or 1; else they are Gaussian.
        beta: Share of the best arm; 0: the optimal one.
        w: ``(K,)`` the proportions, which sum to 1; before the call the ones to start from.
        y: Value to start from, such as the last one; one outside the interval has no effect.

    Returns:
        y, positive; 0 where arms share the best mean.
    """
    best, tied = 0, 0
    for arm in range(means.size):
        best = arm if means[arm] > means[best] else best
    for arm in range(means.size):
        tied += 1 if is_same(means[best], means[arm], bernoulli) else 0
    if tied > 1:
        for arm in range(means.size):
            w[arm] = 1.0 / tied if is_same(means[best], means[arm], bernoulli) else 0.0
        return 0.0
    first = max(w[best], 1e-3)
    for arm in range(means.size):
        w[arm] /= first
    y = optimal_ratios(means, variances, bernoulli, beta, best, w, y)
    total = 1.0
    for arm in range(means.size):
        total += w[arm] if arm != best else 0.0
    for arm in range(means.size):
        w[arm] = w[arm] / total if arm != best else 1.0 / total
    return y


def is_same(first: float, other: float, bernoulli: bool) -> bool:
    """Return whether two means are equal, or so close that their divergence, at least 2 gap^2, is lost in rounding."""
    if not bernoulli:
        return first == other or (first - other) * (first - other) < SMALLEST_SQUARE
    if abs(first - other) > SAME**0.5:
        return first == other
    return bernoulli_divergence(first, other) <= SAME


def optimal_ratios(
    means: FloatArray, variances: FloatArray, bernoulli: bool, beta: float, best: int, x: FloatArray, y: float
) -> float:
    """Write the ratios x_a to ``x``, except that of the best arm, and return y; see :func:`optimal_proportions`."""
    if bernoulli and beta == 0.0 and y > 0.0:
        ratios = nearby_ratios(means, best, x, y, variances)
        if ratios > 0.0:
            return ratios
        for arm in range(means.size):
            x[arm] = 1.0
    low, high = 0.0, np.inf  # y is below all d(mu_1, mu_a)
    for arm in range(means.size):
        if arm != best and bernoulli:
            high = min(high, bernoulli_divergence(means[best], means[arm]))
        elif arm != best:
            gap = means[best] - means[arm]
            high = min(high, 0.5 * gap * gap / variances[best])
    if not low < y < high:
        y = 0.5 * high
    step = np.inf
    for _ in range(100):
        value, slope = -1.0 if beta == 0.0 else (beta - 1.0) / beta, 0.0
        for arm in range(means.size):
            if arm == best:
                continue
            if bernoulli:
                x[arm], by_y, quotient, change = bernoulli_terms(y, x[arm], means[best], means[arm])
            else:
                gap = means[best] - means[arm]
                x[arm], by_y, quotient, change = gaussian_terms(y, gap, variances[best], variances[arm])
            value += quotient if beta == 0.0 else x[arm]
            slope += change if beta == 0.0 else by_y
        if step <= 1e-8 * y:  # the error of y is the square of that, relative to y, and the ratios are those at y
            break
        low, high = (low, y) if value > 0.0 else (y, high)
        new = y - value / slope
        if not low < new < high:
            new = 0.5 * (low + high)
        step, y = abs(new - y), new
    return y


def nearby_ratios(means: FloatArray, best: int, x: FloatArray, y: float, by_y: FloatArray) -> float:
    """Write the ratios x_a of Bernoulli arms to ``x``, and return y; 0 unless the start is so near that this converges.

    Newton's method for y and all x_a at once. Near the solution that takes a third of the time of a root for each x_a
    at each y. ``by_y``, ``(K,)``, receives the derivatives of the x_a.
    """
    first = means[best]
    for _ in range(10):
        value, slope = -1.0, 0.0
        for arm in range(means.size):
            if arm == best:
                continue
            other, by_total = means[arm], 1.0 / (1.0 + x[arm])
            p = (first + x[arm] * other) * by_total
            by_variance = 1.0 / (p * (1.0 - p))  # few divisions: they take as long as logarithms
            by_p, by_q = (1.0 - p) * by_variance, p * by_variance
            of_first = first * math.log(first * by_p) + (1.0 - first) * math.log((1.0 - first) * by_q)
            of_other = other * math.log(other * by_p) + (1.0 - other) * math.log((1.0 - other) * by_q)
            by_other = 1.0 / of_other
            quotient = of_first * by_other
            by_x = ((p - first) - (p - other) * quotient) * by_variance * by_other * (other - p) * by_total
            step = (y - of_first) * by_other - x[arm]
            value += quotient + by_x * step
            slope += by_x * by_other
            x[arm] += step
            by_y[arm] = by_other
        change = -value / slope
        y += change
        least = y
        for arm in range(means.size):
            if arm != best:
                x[arm] += change * by_y[arm]
                least = min(least, x[arm])
        if not least > 0.0:
            return 0.0
        if abs(change) <= 1e-8 * y:  # the error is the square of that, as in the other search
            return y
    return 0.0


def gaussian_terms(y: float, gap: float, first: float, other: float) -> tuple[float, float, float, float]:
    """Return x_a and d(mu_1, p_a) / d(mu_a, p_a), each followed by its derivative by y.

    Args:
        y: Its value.
        gap: mu_1 - mu_a.
        first: Variance of arm 1.
        other: Variance of arm a.
    """
    rest = 0.5 * gap * gap - first * y
    x, by_y = other * y / rest, 0.5 * gap * gap * other / (rest * rest)
    return x, by_y, x * x * first / other, 2.0 * x * by_y * first / other


def bernoulli_terms(y: float, start: float, first: float, other: float) -> tuple[float, float, float, float]:
    """Return x_a and d(mu_1, p_a) / d(mu_a, p_a), each followed by its derivative by y.

    Args:
        y: Its value.
        start: x from which the search begins.
        first: mu_1.
        other: mu_a.
    """
    x = bernoulli_ratio(y, start, first, other)
    p = (first + x * other) / (1.0 + x)
    of_first, of_other = bernoulli_divergence(first, p), bernoulli_divergence(other, p)
    by_p = ((p - first) * of_other - (p - other) * of_first) / (p * (1.0 - p) * of_other * of_other)
    return x, 1.0 / of_other, of_first / of_other, by_p * (other - p) / (1.0 + x) / of_other


def bernoulli_ratio(y: float, start: float, first: float, other: float) -> float:
    """Return x_a: the root of d(mu_1, p) + x d(mu_a, p) = y with p = (mu_1 + x mu_a) / (1 + x).

    Newton's method from any start: the left side is concave in x with slope d(mu_a, p), so it stays left of the root
    from the first step on.
    """
    x = start
    for _ in range(60):
        p = (first + x * other) / (1.0 + x)
        step = (y - bernoulli_divergence(first, p)) / bernoulli_divergence(other, p) - x
        x = max(x + step, 0.0)
        if abs(step) <= 1e-10 * x:
            break
    return x


def bernoulli_divergence(p: float, q: float) -> float:
    """Return kl(p, q) for p in [0, 1] and q in (0, 1)."""
    ones = p * math.log(p / q) if p > 0.0 else 0.0
    return ones + (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else ones
