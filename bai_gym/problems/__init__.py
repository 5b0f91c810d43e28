"""Problems: distributions over bandit instances, with a fresh instance per episode or a fixed one."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.problems.base import FixedProblem, FrozenProblem, Problem
    from bai_gym.problems.bernoulli import BernoulliPriorProblem
    from bai_gym.problems.families import FAMILIES, build
    from bai_gym.problems.heterogeneous import HeterogeneousGaussianProblem
    from bai_gym.problems.info import KNOWLEDGE, ProblemInfo
    from bai_gym.problems.thresholding import ThresholdingProblem

__all__ = [
    "BernoulliPriorProblem",
    "FAMILIES",
    "FixedProblem",
    "FrozenProblem",
    "HeterogeneousGaussianProblem",
    "KNOWLEDGE",
    "Problem",
    "ProblemInfo",
    "ThresholdingProblem",
    "build",
]

__getattr__, __dir__ = lazily(__name__)
