"""Functions drawn from a Gaussian process, on a grid."""

from __future__ import annotations

from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.bandits import FeatureBandit, GaussianBandit, GaussianPrior
from bai_gym.correlated.bandits import PriorBandit
from bai_gym.errors import ParameterError
from bai_gym.problems.base import Problem, arm_count
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import real

__all__ = ["GaussianProcessProblem"]

SPACING = 0.5


class GaussianProcessProblem(Problem):
    """Arms are points of a grid, and their means a function drawn from a Gaussian process.

    Arm i = 0, ..., K - 1 stands at x = i spacing, its only feature. Neighbours have similar means, so fewer pulls than
    arms can suffice. Agents that declare to know the prior are given it.

    Args:
        num_arms: K, at least 2.
        kernel: ``"exponential"`` (exp(-(x - x')^2 / length), that of the paper), ``"squared-exponential"``,
            ``"matern"`` or ``"linear"``, see :func:`bai_gym.bandits.kernel_matrix`.
        length: Its length scale, above 0.
        amplitude: Standard deviation of a mean, above 0.
        nu: Smoothness of the Matern kernel: 0.5, 1.5 or 2.5.
        noise_variance: Above 0.
        spacing: Distance between neighbours, above 0.

    Raises:
        InstanceError: Fewer than two arms.
        UnknownNameError: No such kernel.
        ParameterError: A number outside its range.

    Source: Hoffman, Shahriari and de Freitas (2014), "Exploiting correlation and budget constraints in Bayesian
    multi-armed bandit optimization", section 4 and figure 1. Its text gives the kernel and K = 10; grid and noise are
    choices of this library.
    """

    num_features = 1
    isotropic = True  # of locations only the distances matter

    def __init__(
        self,
        num_arms: int = 10,
        kernel: str = "exponential",
        length: float = 1.0,
        amplitude: float = 1.0,
        nu: float = 1.5,
        noise_variance: float = 0.1,
        spacing: float = SPACING,
    ) -> None:
        """Compute the prior."""
        self.num_arms = arm_count(num_arms, pair_bytes=24)
        self.noise_variance = real(noise_variance, "noise_variance", above=0)
        if not isinstance(kernel, str):
            raise ParameterError(f"kernel must be a name, not {kernel!r}")
        real(spacing, "spacing", above=0)
        self._kernel: dict[str, Any] = {"kernel": kernel, "length": length, "amplitude": amplitude, "nu": nu}
        self.locations = spacing * np.arange(self.num_arms, dtype=np.float64)[:, None]
        self.prior = self.prior_at(self.locations)

    def prior_at(self, points: FloatArray) -> GaussianPrior:
        """Return the prior of the function at any points ``(P, 1)``."""
        return GaussianPrior.from_kernel(points, **self._kernel)

    def between(self, steps: int) -> tuple[FloatArray, IntArray]:
        """Return points ``(P, 1)``, ``steps`` of them from each arm to the next, and which ``(K,)`` are arms."""
        at = steps * np.arange(self.num_arms)
        points = np.interp(np.arange(at[-1] + 1), at, self.locations[:, 0])
        return points[:, None], at

    @override
    def draw(self, batch: int, rng: np.random.Generator) -> PriorBandit:
        rewards = GaussianBandit(self.prior.draw(batch, rng), self.noise_variance)
        return PriorBandit(FeatureBandit(rewards, self.locations), self.prior)
