"""Gaussian models of correlated arms: a prior over K means, and its posterior after pulls, for N runs at a time."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.bandits.gaussian_prior import GaussianPrior
    from bai_gym.bandits.kernels import KERNELS, kernel_matrix
    from bai_gym.correlated.posterior import GaussianPosterior

__all__ = ["KERNELS", "GaussianPosterior", "GaussianPrior", "kernel_matrix"]

__getattr__, __dir__ = lazily(__name__)
