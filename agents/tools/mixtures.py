"""Evidence by mixtures of likelihood ratios, which holds at all times at once, for compiled rules.

E(x) of an arm is a nonnegative supermartingale if the arm's mean is x: the likelihood ratio of other means to x,
averaged over a prior that is fixed in advance. With N pulls, S the sum of the rewards, m their mean and rho > 0:

- Gaussian rewards of known variance v, or sigma-sub-Gaussian ones with v = sigma^2, a normal prior:
  log E(x) = N^2 (m - x)^2 / (2 v (N + rho)) - log(1 + N / rho) / 2.
- Rewards in [0, 1], the prior Beta(rho x, rho (1 - x)), centred at the mean under test: E(x) is
  B(S + rho x, N - S + rho (1 - x)) / B(rho x, rho (1 - x)) / (x^S (1 - x)^(N - S)), B the beta function.
- Gaussian rewards of unknown variance, with v the biased sample variance, u = (m - x)^2 / v and
  kappa = rho / (N + rho): log E(x) = log(kappa) / 2 + (N / 2) log((1 + u) / (1 + kappa u)).

The prior is itself a mixture: with probability 0.95 a narrow one, rho = 20, or 10 for unknown variances, for arms that
are hard to tell apart; with probability 0.05 a wide one, rho = 1, for those that a few pulls tell apart. For rewards in
[0, 1] the wide one is Beta(1/2, 1/2). E(x) is the sum of both parts with these weights.

That arm i has a larger mean than arm j is proved once log E_i(x) + log E_j(y) is large for all means x <= y. The page
docs/mixtures.md has the proofs. Sources: Robbins (1970), "Statistical Methods Related to the Law of the Iterated
Logarithm"; Lai (1976), "On Confidence Sequences"; Kaufmann and Koolen (2021), "Mixture Martingales Revisited with
Applications to Sequential Tests and Confidence Intervals"; Wang and Ramdas (2025), "Anytime-valid t-tests and
Confidence Sequences for Gaussian Means with Unknown Variance". The prior of rewards in [0, 1] is ours.
"""

from __future__ import annotations

import math

import numpy as np

from bai_gym.agents.tools.divergences import bernoulli_upper_bound
from bai_gym.statistics import FloatArray

__all__ = [
    "bounded_end_near",
    "bounded_evidence",
    "bounded_upper_end",
    "gaussian_evidence",
    "gaussian_rate",
    "log_bounded",
    "log_student",
    "student_level",
    "student_threshold",
    "student_u",
    "student_width",
]

RHO, RHO_STUDENT = 20.0, 10.0  # of the narrow prior
WIDE = 1.0  # rho of the wide one
LOG_NARROW, LOG_WIDE = math.log(0.95), math.log(0.05)  # their weights
LOG_PI, LOG_GAMMA_RHO = math.log(math.pi), math.lgamma(RHO)
EDGE = 1e-12
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
STEPS = 50


def log_weight(rho: float) -> float:
    """Return the logarithm of the weight of the prior with this rho."""
    return LOG_WIDE if rho == WIDE else LOG_NARROW


def gaussian_evidence(n: float, v: float, m: float, w: float, gap: float) -> float:
    """Return at most the least sum of log E for all x <= y, of two arms with Gaussian rewards.

    The product of two E has four terms, and is at least the largest of them, whose least value has a closed form.

    Args:
        n: Pulls of the arm of larger mean; 0: there is none, but a given number.
        v: Variance of its rewards.
        m: Pulls of the other, or 0.
        w: Variance of its rewards.
        gap: Distance of the means, or how much more it is than it must be.
    """
    largest = -math.inf
    for rho in (RHO, WIDE):
        for other in (RHO, WIDE):
            scale = v * (1.0 + rho / n) / n if n > 0.0 else 0.0
            scale += w * (1.0 + other / m) / m if m > 0.0 else 0.0
            largest = max(largest, 0.5 * gap * gap / scale - loss(n, rho) - loss(m, other))
    return largest


def loss(n: float, rho: float) -> float:
    """Return what a prior loses: its weight, and log(1 + N / rho) / 2; nothing where there is no arm."""
    return 0.5 * math.log1p(n / rho) - log_weight(rho) if n > 0.0 else 0.0


def gaussian_rate(n: float, level: float) -> float:
    """Return a b such that N (m - x)^2 / (2 v) <= b for all x with log E(x) <= level; each prior alone gives one."""
    narrow = (1.0 + RHO / n) * (level - LOG_NARROW + 0.5 * math.log1p(n / RHO))
    wide = (1.0 + WIDE / n) * (level - LOG_WIDE + 0.5 * math.log1p(n / WIDE))
    return min(narrow, wide)


def log_student(n: FloatArray, u: FloatArray) -> FloatArray:
    """Return log E(x) for Gaussian rewards of unknown variance.

    Args:
        n: Pulls, of any shape.
        u: (m - x)^2 / v with the biased sample variance v, of the same shape; may be infinite.
    """
    parts = []
    for rho in (RHO_STUDENT, WIDE):
        kappa = rho / (n + rho)
        with np.errstate(invalid="ignore"):
            ratio = np.where(np.isinf(u), 1.0 / kappa, (1.0 + u) / (1.0 + kappa * u))
        parts.append(log_weight(rho) + 0.5 * np.log(kappa) + 0.5 * n * np.log(ratio))
    return np.asarray(np.logaddexp(*parts))


def student_width(n: float, v: float, level: float) -> float:
    """Return half of a width of an interval around the mean with all x with log E(x) <= level; it may be infinite.

    Args:
        n: Pulls.
        v: Biased sample variance.
        level: The level.
    """
    return math.sqrt(v * student_u(n, level))


def student_u(n: float, level: float) -> float:
    """Return the square of :func:`student_width` for variance 1."""
    narrow = largest_u(n, level - LOG_NARROW + 0.5 * math.log1p(n / RHO_STUDENT), RHO_STUDENT)
    wide = largest_u(n, level - LOG_WIDE + 0.5 * math.log1p(n / WIDE), WIDE)
    return min(narrow, wide)


def student_level(level: float) -> float:
    """Return L with (1 + L) exp(-L) = exp(-level), the most that the sum of two independent suprema can exceed L."""
    root = level + 1.0
    for _ in range(100):
        root = level + math.log1p(root)
    return root


def student_threshold(n: float, m: float, level: float) -> float:
    """Return the threshold for the likelihood ratio of two arms of unknown variances, with n and m pulls; 0: no arm.

    It bounds (n / 2) log(1 + u_i) + (m / 2) log(1 + u_j) where the sum of log E is at most ``level``. So does each pair
    of priors, and the least bound is returned.
    """
    least = math.inf
    for rho in (RHO_STUDENT, WIDE):
        for other in (RHO_STUDENT, WIDE):
            bound = level + loss(n, rho) + loss(m, other)
            least = min(least, max(student_reach(n, bound, rho), student_reach(m, bound, other)))
    return least


def student_reach(n: float, bound: float, rho: float) -> float:
    """Return (N / 2) log(1 + u) of the u of :func:`largest_u`; infinite if there is none, 0 without an arm."""
    return 0.0 if n == 0.0 else 0.5 * n * math.log1p(largest_u(n, bound, rho))


def largest_u(n: float, bound: float, rho: float) -> float:
    """Return the u with log E(x) + log(1 + N / rho) / 2 = bound, E of one prior; infinite if all u have less."""
    kappa = rho / (n + rho)
    ratio = math.exp(min(2.0 * bound / n, 700.0))
    return (ratio - 1.0) / (1.0 - kappa * ratio) if kappa * ratio < 1.0 else math.inf


def log_bounded(n: float, total: float, x: float) -> float:
    """Return log E(x) of an arm with rewards in [0, 1], a convex function of x.

    Where the part of the narrow prior is not convex, when the rewards, or 1 minus the rewards, sum to between 0 and 1,
    it is that of the wide prior alone, and so less than the sum.

    Args:
        n: Pulls.
        total: Sum of the rewards.
        x: Mean under test, in (0, 1).
    """
    wide, of_all = gammas(n, total)
    return log_bounded_at(n, total, x, wide, of_all)


def gammas(n: float, total: float) -> tuple[float, float]:
    """Return what :func:`log_bounded` has of an arm whatever x is, for where it is computed for several x."""
    wide = math.lgamma(whole(total) + 0.5) + math.lgamma(whole(n - total) + 0.5) - math.lgamma(n + 1.0) - LOG_PI
    return wide, math.lgamma(n + RHO)


def log_bounded_at(n: float, total: float, x: float, wide: float, of_all: float) -> float:
    """Return :func:`log_bounded`, with the numbers of :func:`gammas`."""
    ones, zeros = whole(total), whole(n - total)
    likelihood = ones * math.log(x) + zeros * math.log1p(-x)
    wide += LOG_WIDE - likelihood
    if not has_both_priors(n, total):
        return wide
    a, b = RHO * x, RHO * (1.0 - x)
    narrow = math.lgamma(ones + a) + math.lgamma(zeros + b) - of_all
    narrow += LOG_GAMMA_RHO - math.lgamma(a) - math.lgamma(b)
    narrow += LOG_NARROW - likelihood
    return max(narrow, wide) + math.log1p(math.exp(-abs(narrow - wide)))


def has_both_priors(n: float, total: float) -> bool:
    """Return whether :func:`log_bounded` is that of both priors: no sum of rewards, or of 1 less them, is in (0, 1)."""
    ones, zeros = whole(total), whole(n - total)
    return not (0.0 < ones < 1.0 or 0.0 < zeros < 1.0)


def bounded_upper_end(n: float, mean: float, level: float) -> float:
    """Return the largest x with log E(x) <= level, for rewards in [0, 1].

    It is beyond the x of the largest likelihood ratio, N d(mean, x) = level. The root of the convex function is found
    between two points by secants, halving the value of an end that stays (the Illinois method). An end within 1e-12 of
    1 is 1: a point halfway there would be rounded to 1, where the likelihood of a reward below 1 has no logarithm.
    """
    low = bernoulli_upper_bound(mean, level / n)
    if 1.0 - low <= EDGE:
        return 1.0
    step = max(low - mean, EDGE)
    high = min(low + step, 0.5 * (1.0 + low))
    below, above = log_bounded(n, n * mean, low) - level, log_bounded(n, n * mean, high) - level
    while above < 0.0 and 1.0 - high > EDGE:
        low, below, step = high, above, 2.0 * step
        high = min(low + step, 0.5 * (1.0 + low))
        above = log_bounded(n, n * mean, high) - level
    if above < 0.0:
        return 1.0
    for _ in range(60):
        x = high - above * (high - low) / (above - below)
        value = log_bounded(n, n * mean, x) - level
        if value < 0.0:
            low, below, above = x, value, 0.5 * above
        else:
            high, above, below = x, value, 0.5 * below
        if high - low <= 1e-12 or abs(value) <= 1e-10:
            break
    return high if value < 0.0 else x


def bounded_end_near(n: float, mean: float, level: float, start: float) -> float:
    """Return the x of :func:`bounded_upper_end`, by secants from a start near it, such as the end one pull before.

    The convex function is negative at the mean, so any root above the mean is the one. Where secants leave (mean, 1) or
    do not converge, all is searched. The first slope is that of the narrow prior, with log(z - 1/2) for the digamma
    function. A secant's root has an error of the order of the product of those of its points: it is not checked again.
    """
    if not mean < start < 1.0 - EDGE:
        return bounded_upper_end(n, mean, level)
    wide, of_all = gammas(n, n * mean)
    x, value = start, log_bounded_at(n, n * mean, start, wide, of_all) - level
    a, b = max(RHO * x - 0.5, 0.5), max(RHO * (1.0 - x) - 0.5, 0.5)
    slope = n * (x - mean) / (x * (1.0 - x)) + RHO * math.log((n * mean + a) * b / (a * (n * (1.0 - mean) + b)))
    for step in range(8):
        new = x - value / slope if slope > 0.0 else mean
        if not mean < new < 1.0 - EDGE:
            break
        if (step > 0 and abs(value) <= 1e-6) or abs(new - x) <= EDGE:
            return new
        other = log_bounded_at(n, n * mean, new, wide, of_all) - level
        slope, x, value = (other - value) / (new - x), new, other
    return bounded_upper_end(n, mean, level)


def whole(total: float) -> float:
    """Return a sum of rewards, without the rounding error of an integer."""
    nearest = math.floor(total + 0.5)
    return nearest if abs(total - nearest) <= 1e-9 * (1.0 + nearest) else total


def bounded_evidence(n: float, mean: float, m: float, other: float, offset: float, enough: float) -> float:
    """Return the least sum of log E(x) and log E(x - offset) for all x that are no larger, of rewards in [0, 1].

    The minimum of the convex function is at the border, between the minima of the two parts. A bound from above is
    returned instead where that bound is below ``enough``; -inf where the minima may be in the wrong order.

    Args:
        n: Pulls of the arm of larger mean; 0: there is none, and the other one is compared with -offset.
        mean: Its sample mean.
        m: Pulls of the other; 0: there is none, and the first is compared with the offset.
        other: Its sample mean.
        offset: By how much more the mean of the first arm is to be larger.
        enough: Value that matters.
    """
    if n == 0.0 or m == 0.0:
        pulls, own, border = (n, mean, offset) if m == 0.0 else (m, other, -offset)
        return falling(pulls, own, border) if EDGE < border < 1.0 - EDGE else math.inf
    one, two = n * mean, m * other
    low, high = max(EDGE, EDGE + offset), min(1.0 - EDGE, 1.0 - EDGE + offset)
    if low >= high:  # no two means are that far apart
        return math.inf if offset < 0.0 else -math.inf
    x = min(max((one + m * (other + offset)) / (n + m), low), high)
    bound = log_bounded(n, one, x) + log_bounded(m, two, x - offset)
    if bound < enough:
        return bound
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left = log_bounded(n, one, left) + log_bounded(m, two, left - offset)
    at_right = log_bounded(n, one, right) + log_bounded(m, two, right - offset)
    for _ in range(STEPS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = log_bounded(n, one, left) + log_bounded(m, two, left - offset)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = log_bounded(n, one, right) + log_bounded(m, two, right - offset)
    x = 0.5 * (low + high)
    is_ordered = falling(n, mean, x) > -math.inf and falling(m, other, x - offset) > -math.inf
    return min(bound, at_left, at_right) if is_ordered and other + offset < x < mean else -math.inf


def falling(n: float, mean: float, x: float) -> float:
    """Return log E(x) of rewards in [0, 1], the least one for means beyond x, or -inf if their minimum may be there."""
    value = log_bounded(n, n * mean, x)
    return value if value >= log_bounded(n, n * mean, min(max(mean, EDGE), 1.0 - EDGE)) else -math.inf
