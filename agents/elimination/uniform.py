"""Uniform allocation: the baseline that every method has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import in_random_order
from bai_gym.agents.tools.choosing import best_recommendation, pulls_of_an_arm
from bai_gym.agents.tools.halving import every_arm
from bai_gym.agents.tools.spending import buys, check_split, shares
from bai_gym.problems import ProblemInfo
from bai_gym.sampling import Block
from bai_gym.statistics import IntArray, Observation, Statistics
from bai_gym.tasks import TASKS, Task
from bai_gym.validation import choice

__all__ = ["Uniform"]


@dataclass(kw_only=True)
class Uniform(Agent):
    """Pulls all arms equally often and recommends the one of largest sample mean (or the best few, or one per bandit).

    Args:
        mode: ``"cycle"`` (default): round-robin in random order, so that pulls differ by at most one. ``"random"``:
            every pull goes to an arm drawn uniformly.
        costs: Where arms have different costs: ``"equal"`` (default): equally many pulls of all arms, or ``"sqrt"``:
            in proportion to 1 / sqrt(cost). ``mode="random"`` takes no account of costs.
        cap: ``"budget"`` (default): all pulls are made. ``"items"``, with ``mode="cycle"``: where rewards are those of
            a number of items, drawn without replacement, no arm is pulled more often than there are items.

    Requires no oracle knowledge. Minimum budget: K.
    """

    mode: Literal["cycle", "random"] = "cycle"
    costs: str = "equal"
    cap: str = "budget"

    name = "Uniform"
    uses_variances = False
    tasks = frozenset(TASKS)
    anytime = True
    quick = True

    @property
    @override
    def uses_costs(self) -> bool:  # type: ignore[override]
        return self.mode == "cycle"

    @override
    def plays(self, task: Task | type[Task]) -> bool:
        """Return True: it recommends what would be correct if the sample means were the true ones."""
        return True

    @override
    def begin(self, info: ProblemInfo) -> None:
        check_split(self.costs, self.name)
        self.most = pulls_of_an_arm(self.cap, info, self.name)
        if self.mode == "random":
            choice(self.cap, ("budget",), f"cap of {self.name} with mode='random'")

    @override
    def plan(self) -> Plan:
        """Spend the whole budget in one request."""
        if self.mode == "random":
            # Blocks end at checkpoints, for within a block the order of the pulls is not random.
            for pulls in np.diff([*self.checkpoints, self.budget], prepend=0):
                yield Block(self.rng.multinomial(pulls, np.full(self.num_arms, 1.0 / self.num_arms), size=self.batch))
        else:
            (everything,) = shares(self, stages=1)
            counts = buys(self, everything, every_arm(self), split=self.costs, most=self.most)
            yield in_random_order(self, counts)
        return self.recommend(self._seen)

    @override
    def recommend(self, observation: Observation) -> IntArray:
        """Return the recommendation of largest means.

        Ties go to the arm of more pulls; where arms have costs, to none, since that would be the cheapest one.
        """
        statistics = Statistics.of(observation)
        statistics.pulls = self.funds.tie_pulls(statistics.pulls)
        return best_recommendation(statistics, self.task, self.tie, self.rng)
