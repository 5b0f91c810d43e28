"""Problems: distributions over bandit instances, with a fresh instance per episode or a fixed one."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.correlated.problems.automl import AutoMLProblem, automl_problem
    from bai_gym.correlated.problems.gaussian_process import GaussianProcessProblem
    from bai_gym.correlated.problems.prior import (
        PriorProblem,
        gaussian_prior_problem,
        hierarchical_prior_problem,
        linear_prior_problem,
    )
    from bai_gym.correlated.problems.traffic import TrafficProblem, traffic_problem
    from bai_gym.datasets.problems.matrices import (
        alpaca_eval_problem,
        aslib_problem,
        llm_agents_problem,
        matrix_problem,
    )
    from bai_gym.datasets.problems.movielens import MovieLensProblem, movielens_like_problem, movielens_problem
    from bai_gym.datasets.problems.open_bandit import open_bandit_problem
    from bai_gym.datasets.problems.rows import (
        RowsProblem,
        automobile_like_problem,
        automobile_problem,
        electric_motor_problem,
    )
    from bai_gym.datasets.problems.scores import ScoresProblem, llm_selection_like_problem, llm_selection_problem
    from bai_gym.linear.problems.drift import oscillating_problem, switching_problem
    from bai_gym.linear.problems.experiments import LinearManyArmsProblem, LinearMultivariateProblem
    from bai_gym.linear.problems.linear import (
        LinearCornerProblem,
        LinearSphereProblem,
        LogisticProblem,
        adaptive_problem,
        factorial_problem,
        static_problem,
    )
    from bai_gym.live.problems import function_problem
    from bai_gym.problems.base import FixedProblem, FrozenProblem, Problem
    from bai_gym.problems.bernoulli import BernoulliPriorProblem
    from bai_gym.problems.families import FAMILIES, build
    from bai_gym.problems.heterogeneous import HeterogeneousGaussianProblem
    from bai_gym.problems.info import KNOWLEDGE, ProblemInfo
    from bai_gym.problems.newsvendor import newsvendor_problem
    from bai_gym.problems.thresholding import ThresholdingProblem

__all__ = [
    "FAMILIES",
    "KNOWLEDGE",
    "AutoMLProblem",
    "BernoulliPriorProblem",
    "PriorProblem",
    "ProblemInfo",
    "FixedProblem",
    "FrozenProblem",
    "GaussianProcessProblem",
    "HeterogeneousGaussianProblem",
    "LinearCornerProblem",
    "LinearManyArmsProblem",
    "LinearMultivariateProblem",
    "LinearSphereProblem",
    "LogisticProblem",
    "MovieLensProblem",
    "Problem",
    "RowsProblem",
    "ScoresProblem",
    "ThresholdingProblem",
    "TrafficProblem",
    "adaptive_problem",
    "alpaca_eval_problem",
    "aslib_problem",
    "automobile_like_problem",
    "automl_problem",
    "automobile_problem",
    "build",
    "electric_motor_problem",
    "factorial_problem",
    "function_problem",
    "gaussian_prior_problem",
    "hierarchical_prior_problem",
    "linear_prior_problem",
    "llm_agents_problem",
    "llm_selection_like_problem",
    "llm_selection_problem",
    "matrix_problem",
    "movielens_like_problem",
    "movielens_problem",
    "newsvendor_problem",
    "open_bandit_problem",
    "oscillating_problem",
    "static_problem",
    "switching_problem",
    "traffic_problem",
]

__getattr__, __dir__ = lazily(__name__)
