"""The Gaussian bandits with heterogeneous variances of Lalitha et al. (2023), section 5.1."""

from __future__ import annotations

import numpy as np
from typing_extensions import override

from bai_gym.bandits import GaussianBandit
from bai_gym.problems.base import Problem, arm_count
from bai_gym.statistics import FloatArray
from bai_gym.validation import flag

__all__ = ["HeterogeneousGaussianProblem", "draw_moments"]

MEAN_NOISE = 0.05  # standard deviation of the perturbation of a mean
VARIANCE_FACTORS = (0.5, 1.5)  # range of the uniform factor on a variance


class HeterogeneousGaussianProblem(Problem):
    """Means decrease as 1 - sqrt((i-1)/K); every second arm is noisy, with a variance that grows with its mean.

    Arm i = 1..K has mean 1 - sqrt((i-1)/K) + N(0, 0.05^2), and variance 0.1, or 0.9 mean^2 + 0.1 for the noisy half
    (with the unperturbed mean), times Uniform(0.5, 1.5).

    The text of the paper makes the arms of even i noisy, so that the best arm is a quiet one. Its figures show the
    opposite: with quiet best arms plain sequential halving beats SHVar, while counting the arms from 0 (the best arm is
    noisy) gives the paper's order and levels. So the figures' version is the default.

    Args:
        num_arms: K, at least 2.
        noisy_best: True for instances consistent with the paper's figures, False for its literal text.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: If ``noisy_best`` is neither True nor False.

    Source: Lalitha et al. (2023), "Fixed-Budget Best-Arm Identification with Heterogeneous Reward Variances",
    section 5.1.
    """

    def __init__(self, num_arms: int = 64, *, noisy_best: bool = True) -> None:
        """Check the number of arms."""
        self.num_arms = arm_count(num_arms)
        self.noisy_best = flag(noisy_best, "noisy_best")

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> GaussianBandit:
        """Return freshly perturbed instances."""
        return GaussianBandit(*draw_moments(batch, self.num_arms, rng, noisy_best=self.noisy_best))


def draw_moments(
    batch: int, num_arms: int, rng: np.random.Generator, *, noisy_best: bool
) -> tuple[FloatArray, FloatArray]:
    """Return perturbed means and variances, each ``(batch, num_arms)``."""
    position = np.arange(num_arms)
    base = 1.0 - np.sqrt(position / num_arms)
    noisy = position % 2 == (0 if noisy_best else 1)
    variance = np.where(noisy, 0.9 * base**2 + 0.1, 0.1)
    means = base + MEAN_NOISE * rng.standard_normal((batch, num_arms))
    return means, variance * rng.uniform(*VARIANCE_FACTORS, size=(batch, num_arms))
