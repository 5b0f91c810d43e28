"""Posterior distributions of the mean of an arm, for families of rewards, and the arm of the largest draw."""

from __future__ import annotations

import numpy as np

from bai_gym.agents.tools.scanning import arm_of_largest
from bai_gym.agents.tools.variances import average_variance, floored
from bai_gym.sampling import Episode, PerArm, State

__all__ = [
    "BERNOULLI",
    "GAUSSIAN",
    "STUDENT",
    "Posteriors",
    "RewardFamily",
    "another_arm_of_largest_draw",
    "arm_of_largest_draw",
    "draw_means",
    "pool_variances",
]

GAUSSIAN, BERNOULLI, STUDENT = range(3)


class RewardFamily(State):
    """The family of the rewards, with what is known about them."""

    family: int  # GAUSSIAN of known variances, BERNOULLI, or STUDENT for Gaussian rewards of unknown variances
    variances: PerArm  # known variances of a reward, for GAUSSIAN
    pooled: float  # average sample variance, from which an arm of equal rewards has a part, for STUDENT


def pool_variances(e: Episode, s: RewardFamily) -> None:
    """Compute the average sample variance where the family needs it; call it before each choice."""
    if s.family == STUDENT:
        s.pooled = average_variance(e)


class Posteriors(RewardFamily):
    """What :func:`arm_of_largest_draw` uses."""

    draw: PerArm  # draws from the posteriors


def draw_means(e: Episode, s: Posteriors, w: Posteriors, rng: np.random.Generator) -> None:
    """Draw the mean of each arm from its posterior.

    The prior is flat (in mean and log variance), for Bernoulli rewards uniform. Each family has a loop of its own: a
    test of it in one loop would take longer than a normal draw.
    """
    if s.family == GAUSSIAN:
        for arm in range(e.num_arms):
            w.draw[arm] = e.mean[arm] + np.sqrt(w.variances[arm] / e.pulls[arm]) * rng.standard_normal()
    elif s.family == STUDENT:
        for arm in range(e.num_arms):
            scale = np.sqrt(floored(e.pulls[arm], e.variance[arm], s.pooled) / e.pulls[arm])
            w.draw[arm] = e.mean[arm] + scale * rng.standard_t(e.pulls[arm] - 1.0)
    else:
        for arm in range(e.num_arms):
            ones = rng.standard_gamma(1.0 + e.pulls[arm] * e.mean[arm])
            w.draw[arm] = ones / (ones + rng.standard_gamma(1.0 + e.pulls[arm] * (1.0 - e.mean[arm])))


def arm_of_largest_draw(e: Episode, s: Posteriors, w: Posteriors, rng: np.random.Generator) -> int:
    """Draw the mean of each arm from its posterior, and return the arm of the largest draw."""
    draw_means(e, s, w, rng)
    return arm_of_largest(w.draw, e, rng)


def another_arm_of_largest_draw(
    e: Episode, s: Posteriors, w: Posteriors, best: int, tries: int, rng: np.random.Generator
) -> int:
    """Draw again until another arm than ``best`` has the largest draw, and return it; ``best`` after so many tries."""
    for _ in range(tries):
        other = arm_of_largest_draw(e, s, w, rng)
        if other != best:
            return other
    return best
