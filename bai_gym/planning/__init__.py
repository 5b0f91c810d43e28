"""Before an experiment: how large a budget it needs, and which agent to use."""

from typing import TYPE_CHECKING

from bai_gym.common.lazy import lazily

if TYPE_CHECKING:
    from bai_gym.planning.advice import Advice, advise
    from bai_gym.planning.budget import BudgetPlan, Plans, plan
    from bai_gym.planning.goals import Measurement

__all__ = [
    "Advice",
    "BudgetPlan",
    "Measurement",
    "Plans",
    "advise",
    "plan",
]

__getattr__, __dir__ = lazily(__name__)
