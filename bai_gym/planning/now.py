"""Deciding now: recommending the arm that earlier results favour, without pulls. More pulls must improve on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent
from bai_gym.agents.sequential import recommend_best
from bai_gym.problems import Problem
from bai_gym.statistics import Observation
from bai_gym.tasks import TASKS

__all__ = ["BASELINE", "NOW", "DecideNow", "favourite", "row_name"]

NOW, BASELINE = "decide now", "Uniform"


@dataclass(kw_only=True)
class DecideNow(Agent):
    """Pulls no arm, and recommends the one of largest mean in the earlier results (or the best few)."""

    name = NOW
    uses_variances = False
    tasks = frozenset(TASKS)
    uses_costs = True
    stops = True
    anytime = True

    @override
    def minimum_budget(self, num_arms: int) -> int:
        """Return 0."""
        return 0

    @override
    def allocate(self, observation: Observation) -> None:
        """Stop."""

    recommend = recommend_best


def favourite(problem: Problem) -> str | None:
    """Return the arm of largest mean in the earlier results, by its name or as ``arm 3``; None where there are none."""
    if problem.earlier is None:
        return None
    arm = int(np.argmax(problem.earlier.means))
    return problem.arm_names[arm] if problem.arm_names else f"arm {arm}"


def row_name(agent: str, winner: str | None) -> str:
    """Return the name of an agent in a table; with earlier results, uniform allocation says what it does with them."""
    return f"collect equally, then decide ({agent})" if winner is not None and agent == BASELINE else agent
