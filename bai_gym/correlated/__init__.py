"""Arms with a known normal prior, such as Gaussian processes, and its posterior after pulls."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.agents.correlated.gaussian_process import GaussianProcessAgent
    from bai_gym.correlated.bandits import PriorBandit
    from bai_gym.correlated.data.regression import RegressionTable, regression_table
    from bai_gym.correlated.data.signals import Signals, read_signals, traffic_like
    from bai_gym.correlated.posterior import GaussianPosterior
    from bai_gym.correlated.problems.automl import AutoMLProblem, automl_problem
    from bai_gym.correlated.problems.gaussian_process import GaussianProcessProblem
    from bai_gym.correlated.problems.prior import (
        PriorProblem,
        gaussian_prior_problem,
        hierarchical_prior_problem,
        linear_prior_problem,
    )
    from bai_gym.correlated.problems.traffic import TrafficProblem, traffic_problem

__all__ = [
    "AutoMLProblem",
    "GaussianPosterior",
    "GaussianProcessAgent",
    "GaussianProcessProblem",
    "PriorBandit",
    "PriorProblem",
    "RegressionTable",
    "Signals",
    "TrafficProblem",
    "automl_problem",
    "gaussian_prior_problem",
    "hierarchical_prior_problem",
    "linear_prior_problem",
    "read_signals",
    "regression_table",
    "traffic_like",
    "traffic_problem",
]

__getattr__, __dir__ = lazily(__name__)
