"""Before an experiment: how large a budget it needs, and which agent to use."""

from bai_gym.planning.advice import Advice, advise
from bai_gym.planning.budget import BudgetPlan, Plans, plan
from bai_gym.planning.goals import Goal, Measurement

__all__ = ["Advice", "BudgetPlan", "Goal", "Measurement", "Plans", "advise", "plan"]
