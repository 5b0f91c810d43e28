"""Bandit models: N instances of K arms, arm axis last.

A model holds the true means and variances and draws rewards from the exact distribution. Budgets, agents and Gymnasium
are defined elsewhere.
"""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.bandits.arranged import ArrangedBandit
    from bai_gym.bandits.base import Bandit
    from bai_gym.bandits.bernoulli import BernoulliBandit
    from bai_gym.bandits.empirical import EmpiricalBandit, SampleTable
    from bai_gym.bandits.features import FeatureBandit
    from bai_gym.bandits.finite import FiniteBandit, FinitePopulations
    from bai_gym.bandits.gaussian import GaussianBandit
    from bai_gym.bandits.gaussian_prior import GaussianPrior
    from bai_gym.bandits.kernels import KERNELS, kernel_matrix
    from bai_gym.bandits.poisson import PoissonBandit

__all__ = [
    "KERNELS",
    "ArrangedBandit",
    "Bandit",
    "BernoulliBandit",
    "EmpiricalBandit",
    "FeatureBandit",
    "FiniteBandit",
    "FinitePopulations",
    "GaussianBandit",
    "GaussianPrior",
    "PoissonBandit",
    "SampleTable",
    "kernel_matrix",
]

__getattr__, __dir__ = lazily(__name__)
