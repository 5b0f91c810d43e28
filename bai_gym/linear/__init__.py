"""Linear and logistic bandits: their environments and agents."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.linear.bandits.linear import LINKS, linear_bandit
    from bai_gym.linear.problems.linear import LinearCornerProblem, LinearSphereProblem, LogisticProblem
    from bai_gym.linear.theory.characteristic_time import linear_characteristic_time

__all__ = [
    "LINKS",
    "LinearCornerProblem",
    "LinearSphereProblem",
    "LogisticProblem",
    "linear_bandit",
    "linear_characteristic_time",
]

__getattr__, __dir__ = lazily(__name__)
