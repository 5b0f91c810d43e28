"""The budget of a study: pulls, or money that pulls cost."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.benchmark.protocol import Traits
from bai_gym.common.budget import TOLERANCE, Costs, check_budget, check_costs, common_cost
from bai_gym.errors import BudgetError
from bai_gym.live.items import Items
from bai_gym.statistics import FloatArray
from bai_gym.validation import real

__all__ = ["Funds"]


@dataclass
class Funds:
    """A budget, and what has been spent of it.

    Attributes:
        total: Pulls, or money.
        pulls: How many pulls it pays for, at most; of agents that must plan with a number of pulls, whichever arms they
            choose.
        costs: ``(K,)`` costs of the arms; None: the budget counts pulls.
        priced: Whether the agent plans with the money.
        most: Pulls that are handed out at most, whatever they cost.
        spent: What the pulls have cost; of those outstanding, what they are expected to cost.
    """

    total: float
    pulls: int
    costs: FloatArray | None
    priced: bool
    most: int
    spent: float = 0.0

    @classmethod
    def of(
        cls,
        budget: Any,
        costs: Mapping[str, float] | Sequence[float] | None,
        names: Sequence[str],
        player: Any,
        items: Items | None,
    ) -> Funds:
        """Check a budget.

        Args:
            budget: Pulls; with costs, money.
            costs: Cost of a pull of each arm, in order or by name; None: the budget counts pulls.
            names: Names of the arms.
            player: The agent.
            items: What all arms are played on, each once; None: there are none.

        Raises:
            BudgetError: If it is no such budget, or exceeds one pull of each arm on each item.
            ParameterError: If costs are not one positive number for each arm.
        """
        checked = check_costs(costs, len(names), names)
        on_items = sys.maxsize if items is None else len(items) * len(names)
        if checked is None:
            pulls = check_budget(budget)
            funds = cls(pulls, pulls, None, priced=False, most=pulls)
        else:
            prices = np.array(checked)
            total = real(budget, "budget", above=0, error=BudgetError)
            traits = Traits.of(player)
            priced = traits.uses_costs and common_cost(prices) is None
            least = prices.min() if priced or traits.starts_from_earlier else prices.max()
            # With TOLERANCE ten pulls at a cost of 0.1 are affordable with 1.0.
            pulls = min(check_budget(math.floor(total / float(least) * (1.0 + TOLERANCE))), on_items)
            # Where the agent plans with it, the money alone ends the study: pulls may turn out cheaper than expected.
            funds = cls(total, pulls, prices, priced, most=on_items if priced else pulls)
        if items is not None:
            most = on_items if funds.costs is None else len(items) * float(funds.costs.sum())
            if funds.total > most * (1.0 + TOLERANCE):
                raise BudgetError(
                    f"budget {funds.total:g} is more than {len(names)} arms can use on {len(items)} items, each once: "
                    f"give {most:g} or less, or more items"
                )
        return funds

    @override
    def __str__(self) -> str:
        """Return the total, in words."""
        return f"{self.total} pulls" if self.costs is None else f"{self.total:g}"

    @property
    def planned(self) -> tuple[float, Costs | None]:
        """What the agent is told: the budget that it plans with, and the costs of the arms if that is money."""
        if self.priced and self.costs is not None:
            return self.total, tuple(self.costs.tolist())
        return self.pulls, None

    @property
    def short(self) -> bool:
        """Whether a rule that takes account of costs may have ended because a pull was too expensive."""
        return self.priced and self.costs is not None and self.total - self.spent < float(self.costs.max())

    def unspent(self) -> Funds:
        """Return the same budget, of which nothing has been spent."""
        return replace(self, spent=0.0)

    def price(self, arm: int) -> float:
        """Return what a pull of an arm is expected to cost."""
        return 1.0 if self.costs is None else float(self.costs[arm])

    def affords(self, arm: int) -> bool:
        """Return whether a pull of an arm costs no more than what is left."""
        return self.spent + self.price(arm) <= self.total * (1.0 + TOLERANCE)

    def spend(self, arm: int) -> None:
        """Pay what a pull of an arm is expected to cost."""
        self.spent += self.price(arm)

    def settle(self, arm: int, cost: float | None) -> None:
        """Take account of what a pull has cost; None: what was expected."""
        if cost is not None:
            self.spent += cost - self.price(arm)
