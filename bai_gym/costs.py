"""Costs of pulls: what a pull of each arm costs, and how many pulls some money pays for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from bai_gym.errors import BudgetError, ParameterError
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.validation import array, real

__all__ = ["TOLERANCE", "Costs", "check_costs", "check_money", "common_cost", "pulls_for", "spent_on"]

TOLERANCE = 1e-9
"""Share of the budget by which the cost of a pull may exceed the money left: rounding of sums of costs."""

Costs = tuple[float, ...]
"""Costs of one pull of each arm, positive, in the unit of the budget."""


def check_costs(costs: object, num_arms: int, names: Sequence[str] | None = None) -> Costs | None:
    """Return the costs of the arms; None stays None: every pull costs 1.

    Args:
        costs: In the order of the arms, or by their names.
        num_arms: K.
        names: Names of the arms; None: ``"0"`` to ``"K-1"``.

    Raises:
        ParameterError: If they are not one positive number for each arm.
    """
    if costs is None:
        return None
    if isinstance(costs, Mapping):
        names = names or tuple(map(str, range(num_arms)))
        missing = next((name for name in names if name not in costs), None)
        unknown = next((name for name in costs if name not in names), None)
        if missing is not None or unknown is not None:
            what = f"no cost of arm {missing!r}" if missing is not None else f"a cost of {unknown!r}, which is no arm"
            raise ParameterError(f"costs must be one for each arm, and there is {what}")
        costs = [costs[name] for name in names]
    numbers = array(costs, "costs", above=0)
    if numbers.shape != (num_arms,):
        raise ParameterError(
            f"costs must be {num_arms} numbers, one for each arm, not an array of shape {numbers.shape}"
        )
    return tuple(numbers.tolist())


def check_money(budget: object, costs: Costs) -> float:
    """Return a budget in money, which pays for at least one pull of every arm.

    Raises:
        BudgetError: If it does not, or is not a positive number.
    """
    money = real(budget, "budget", above=0, error=BudgetError)
    if money < max(costs) * (1.0 - TOLERANCE):
        raise BudgetError(
            f"the budget must pay for a pull of every arm: {money:g} is less than the cost {max(costs):g}"
        )
    return money


def common_cost(costs: Costs | FloatArray) -> float | None:
    """Return the cost of a pull if it is the same for all arms, else None."""
    return float(costs[0]) if min(costs) == max(costs) else None


def pulls_for(money: float, cost: float, budget: float) -> int:
    """Return how many pulls of a cost some money pays for; ``budget`` is the money at the start of the episode."""
    return math.floor((money + TOLERANCE * budget) / cost)


def spent_on(pulls: IntArray, costs: FloatArray) -> FloatArray:
    """Return the money that pulls have cost: ``(..., k)`` pulls, and costs that broadcast to them -> ``(...)``."""
    total: FloatArray = (pulls * costs).sum(axis=-1)
    return total
