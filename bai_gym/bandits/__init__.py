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
    from bai_gym.bandits.poisson import PoissonBandit
    from bai_gym.correlated.bandits import PriorBandit
    from bai_gym.linear.bandits.drifting import DriftingBandit
    from bai_gym.linear.bandits.linear import LINKS, linear_bandit
    from bai_gym.live.bandits import FunctionBandit
    from bai_gym.paired.bandits.base import PairedBandit
    from bai_gym.paired.bandits.differences import PairStatistics
    from bai_gym.paired.bandits.finite import PairedFiniteBandit
    from bai_gym.paired.bandits.gaussian import PairedGaussianBandit

__all__ = [
    "LINKS",
    "ArrangedBandit",
    "Bandit",
    "BernoulliBandit",
    "DriftingBandit",
    "EmpiricalBandit",
    "FeatureBandit",
    "FiniteBandit",
    "FinitePopulations",
    "FunctionBandit",
    "GaussianBandit",
    "PairStatistics",
    "PairedBandit",
    "PairedFiniteBandit",
    "PairedGaussianBandit",
    "PoissonBandit",
    "PriorBandit",
    "SampleTable",
    "linear_bandit",
]

__getattr__, __dir__ = lazily(__name__)
