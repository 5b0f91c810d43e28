"""Linear and logistic bandits: their environments and agents."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.linear.bandits.drifting import DriftingBandit
    from bai_gym.linear.bandits.linear import LINKS, linear_bandit
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
    from bai_gym.linear.theory.bounds import bayesgap_bound, gse_glm_bound, gse_linear_bound, od_linbai_bound
    from bai_gym.linear.theory.characteristic_time import LinearTime, linear_characteristic_time

__all__ = [
    "DriftingBandit",
    "LINKS",
    "LinearCornerProblem",
    "LinearManyArmsProblem",
    "LinearMultivariateProblem",
    "LinearSphereProblem",
    "LinearTime",
    "LogisticProblem",
    "adaptive_problem",
    "bayesgap_bound",
    "factorial_problem",
    "gse_glm_bound",
    "gse_linear_bound",
    "linear_bandit",
    "linear_characteristic_time",
    "od_linbai_bound",
    "oscillating_problem",
    "static_problem",
    "switching_problem",
]

__getattr__, __dir__ = lazily(__name__)
