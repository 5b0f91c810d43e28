"""The characteristic time T* of pure exploration with fixed confidence, and the optimal proportions of pulls.

Every algorithm that errs with probability at most delta takes at least kl(delta, 1 - delta) T* pulls on average
(Garivier and Kaufmann 2016, "Optimal Best Arm Identification with Fixed Confidence", Theorem 1). For the best arm,
arm 1,

    1 / T* = max over w, a distribution over the arms, of min over arms a != 1 of w_1 d(mu_1, p_a) + w_a d(mu_a, p_a),

where p_a minimises the sum, and d is the Kullback-Leibler divergence of two rewards with these means. With
x_a = w_a / w_1 all these terms are equal at the maximum, to y w_1, and the x_a solve one equation in y: the sum over a
of d(mu_1, p_a) / d(mu_a, p_a) is 1 (section 2.2). T*_beta is the best time with a given share w_1 = beta, as top-two
algorithms have it. Other tasks: :mod:`bai_gym.theory.contrast_time`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bai_gym.errors import InstanceError, ParameterError
from bai_gym.statistics import FloatArray
from bai_gym.tasks import BestArm, Task
from bai_gym.theory.contrast_time import contrast_time
from bai_gym.theory.inputs import arms, confidence, spreads
from bai_gym.theory.proportions import optimal_proportions
from bai_gym.validation import probability

__all__ = ["bernoulli_kl", "characteristic_time", "fixed_confidence_bound", "optimal_weights"]

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


def characteristic_time(
    means: ArrayLike, variances: ArrayLike | None = None, beta: float | None = None, *, task: Task | None = None
) -> FloatArray:
    """Return T*, the pulls per unit of kl(delta, 1 - delta) that the best algorithm takes on average for small delta.

    It is that of the contrasts of the answer at these means. Where others are right, too, or a contrast alone cannot
    make it wrong, algorithms that need less are conceivable: see :meth:`bai_gym.tasks.Task.decisive`.

    Args:
        means: ``(..., K)`` true means.
        variances: Known variances of Gaussian rewards, positive: ``(..., K)``, or one number for all arms. None:
            Bernoulli rewards.
        beta: Share of the pulls that the best arm must have, in (0, 1); None: the optimal one.
        task: What is to be found; None: the best arm.

    Returns:
        ``(...)`` times, to a relative accuracy of 1e-8 or better for the best arm, 1e-6 for other tasks; infinite where
        a contrast does not hold, such as two arms that share the best mean.

    Raises:
        InstanceError: If there are fewer than two arms, a variance is not positive, or a Bernoulli mean not in [0, 1].
        ParameterError: If ``beta`` is not in (0, 1), or given for another task; or if the task states no contrasts.

    Source: Garivier and Kaufmann (2016), Theorem 1 and section 2.2; with beta Russo (2016), section 6.
    """
    return _solve(means, variances, beta, task)[0]


def optimal_weights(
    means: ArrayLike, variances: ArrayLike | None = None, beta: float | None = None, *, task: Task | None = None
) -> FloatArray:
    """Return w*, the proportions of pulls for which T* is attained.

    Arguments and errors are those of :func:`characteristic_time`.

    Returns:
        ``(..., K)`` proportions, which sum to 1; where the time is infinite, equal ones for the arms whose contrasts do
        not hold, such as those that share the best mean, and 0 for the others.
    """
    return _solve(means, variances, beta, task)[1]


def fixed_confidence_bound(
    means: ArrayLike, delta: ArrayLike, variances: ArrayLike | None = None, *, task: Task | None = None
) -> FloatArray:
    """Return kl(delta, 1 - delta) T*, which no mean number of pulls is below if the error probability is at most delta.

    Args:
        means: ``(..., K)`` true means.
        delta: Allowed error probability, in (0, 1); a number, or of the shape of the other axes. From 1/2 on the bound
            is 0.
        variances: As for :func:`characteristic_time`.
        task: What is to be found; None: the best arm. T* is that of its decisive contrasts; without any, as where
            several recommendations are right, the bound is 0.

    Returns:
        ``(...)`` lower bounds on the expected number of pulls, for algorithms that are correct with probability
        1 - delta on all instances of the family.

    Source: Garivier and Kaufmann (2016), Theorem 1.
    """
    level = confidence(delta)
    divergence = np.where(level < 0.5, bernoulli_kl(level, 1.0 - level), 0.0)
    time = _solve(means, variances, None, task, decisive=True)[0]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(divergence > 0, divergence * time, 0.0))


def _solve(
    means: ArrayLike, variances: ArrayLike | None, beta: float | None, task: Task | None, decisive: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return ``(...)`` times and ``(..., K)`` proportions; of decisive contrasts only, if that is set."""
    mu = arms(means)
    best_arm = task is None or (type(task) is BestArm and task.epsilon == 0.0)
    share = 0.0 if beta is None else probability(beta, "beta")
    if share and not best_arm:
        raise ParameterError("beta is the share of the best arm: leave it out for other tasks")
    spread = np.ones(mu.shape)
    if variances is None:
        if mu.min() < 0 or mu.max() > 1:
            raise InstanceError("means of Bernoulli arms must lie in [0, 1]; give variances= for Gaussian arms")
        mu = np.clip(mu, LEAST, 1 - LEAST)
    else:
        spread = spread * spreads(variances, mu)
        if (spread <= 0).any():
            raise InstanceError("variances must be positive")
    times, weights = np.full(mu.shape[:-1], np.inf), np.full(mu.shape, 1.0 / mu.shape[-1])
    for row in np.ndindex(times.shape):
        if task is not None and not best_arm:
            task.check_arms(mu.shape[-1])
            c = task.contrasts_at(mu[row])
            c = c.at(task.decisive(mu[row], c)) if decisive else c
            times[row], weights[row] = contrast_time(mu[row], None if variances is None else spread[row], c)
            continue
        y = optimal_proportions(mu[row], spread[row], variances is None, share, weights[row], 0.0)
        if y > 0.0:
            times[row] = 1.0 / (y * weights[row][mu[row].argmax()])
    return times, weights
