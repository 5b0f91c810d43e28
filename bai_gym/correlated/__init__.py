"""Arms with a known normal prior, such as Gaussian processes, and its posterior after pulls."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
    from bai_gym.correlated.bandits import PriorBandit
    from bai_gym.correlated.data.signals import Signals, read_signals, traffic_like
    from bai_gym.correlated.posterior import GaussianPosterior
    from bai_gym.correlated.problems.gaussian_process import GaussianProcessProblem

__all__ = [
    "GaussianPosterior",
    "GaussianProcessAgent",
    "GaussianProcessProblem",
    "PriorBandit",
    "Signals",
    "read_signals",
    "traffic_like",
]

__getattr__, __dir__ = lazily(__name__)
