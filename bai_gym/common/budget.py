"""Budgets of pulls and of money: what is left of one, what it pays for, and what pulls cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.errors import AgentError, BudgetError, ParameterError
from bai_gym.statistics import ROUNDING, AnyArray, BoolArray, FloatArray, IntArray, Observation
from bai_gym.validation import array, integer, real

__all__ = ["PULLS", "TOLERANCE", "Budget", "Costs", "Money", "check_budget", "check_costs", "common_cost", "pulls_for"]

TOLERANCE = 1e-9
"""Share of the budget by which the cost of a pull may exceed the money left: rounding of sums of costs."""

Costs = tuple[float, ...]
"""Costs of one pull of each arm, positive, in the unit of the budget."""


class Budget:
    """A budget of pulls, each of which costs 1; :class:`Money` is the other kind.

    What is left of it stands elsewhere: in the observations of N episodes, ``(N, 1)``. Episodes that play side by side
    make equally many pulls, so one number may stand for all of them.

    Args:
        total: Pulls of an episode.

    Attributes:
        costs: Costs of a pull of each arm; None: the budget counts pulls.
        dtype: Of what is left.
        facts: What every observation holds of the budget, by name, arrays ``(K,)``; read-only.
        cheapest: The smallest cost of a pull; None where pulls are counted.
        may_remain: Whether an action can end an episode while some of it is left.
    """

    costs: Costs | None = None
    dtype: Any = np.int64
    facts: Mapping[str, FloatArray] = {}
    cheapest: float | None = None
    may_remain: bool = False

    def __init__(self, total: Any) -> None:
        """Keep the total."""
        self.total = total

    @staticmethod
    def of(total: Any, costs: Costs | None) -> Budget:
        """Return a budget of money where arms have costs, else one of pulls."""
        return Budget(total) if costs is None else Money(total, costs)

    @staticmethod
    def given(budget: Any) -> Budget:
        """Return a budget; a number is one of pulls."""
        return budget if isinstance(budget, Budget) else Budget(budget)

    @staticmethod
    def observed(observation: Observation) -> Budget:
        """Return the budget of episodes from their first observation, arrays ``(N, ...)``."""
        costs = observation.get("costs")
        return Budget.of(observation["remaining"].max().item(), None if costs is None else tuple(costs[0].tolist()))

    @property
    def most_pulls(self) -> int:
        """The largest number of pulls that an episode can have."""
        return int(self.total)

    @property
    def mean_pulls(self) -> int:
        """How many pulls it pays for at the mean cost."""
        return int(self.total)

    def in_pulls(self) -> Budget:
        """Return the budget of pulls that it is where all pulls cost the same; else this one."""
        return self

    def observe(self, observation: Observation) -> Observation:
        """Return an observation, arrays ``(N, ...)``, as one of the budget :meth:`in_pulls`."""
        return observation

    def price(self, arms: Any) -> Any:
        """Return what a pull of each of these arms costs, or 1 for all."""
        return 1

    def pulls_left(self, left: AnyArray) -> IntArray:
        """Return how many pulls what is left pays for at most: of the cheapest arm."""
        return left

    def safe_pulls(self, left: Any) -> int:
        """Return how many pulls of any arms leave enough for one more of any arm, or nothing at all."""
        return int(left)

    def affordable(self, left: AnyArray, shown: Observation) -> BoolArray:
        """Return ``(N, K)`` whether what is left, ``(N, 1)``, pays for each arm where a pull is due; or ``(N, 1)``."""
        return np.ones(left.shape, bool)

    def check_affordable(self, left: AnyArray, rows: Any, arms: Any, shown: Observation) -> None:
        """Raise :class:`BudgetError` unless :meth:`pay` can take the pulls; one that is left pays for any arm."""

    def pay(self, left: AnyArray, rows: Any, flat: Any, shown: Observation) -> Any:
        """Take a pull of one arm in each of some episodes from what is left, and return what it costs there.

        Args:
            left: ``(N, 1)`` what is left in all episodes, changed in place.
            rows: The episodes.
            flat: The positions ``episode * K + arm`` of the arms.
            shown: The :attr:`facts` as the observations have them, ``(N, K)``.
        """
        left[rows, 0] -= 1
        return 1

    def rest(self, left: AnyArray) -> dict[str, AnyArray]:
        """Return what the last info of episodes says of ``(R,)`` rests of the budget."""
        return {}

    def spend(self, left: Any, amount: Any) -> Any:
        """Return what is left after spending an amount, see :meth:`charge`."""
        return left - amount

    def charge(self, counts: IntArray, arms: IntArray | None, left: Any) -> Any:
        """Return what pulls that a rule has made cost in every episode, see :meth:`check_counts`.

        Raises:
            AgentError: If that is more than was left; a rule does not exceed its steps.
        """
        return int(counts.sum(axis=-1).max())

    def surcharge(self, arm: int, paid: float | None) -> float:
        """Return by how much a pull for which something was paid was more expensive than expected."""
        return 0

    def check_counts(self, counts: IntArray, arms: IntArray | None, left: Any) -> Any:
        """Return what a block costs in every episode.

        Args:
            counts: ``(N, k)`` pulls.
            arms: Candidates ``(N, k)``; None: all arms.
            left: What is left in every episode.

        Raises:
            AgentError: If it costs more than is left, or episodes have different numbers of pulls.
        """
        if counts.max() > left:  # before they are summed, which might overflow
            raise AgentError(f"the agent asked for {counts.max()} pulls with {left} left of the budget")
        totals = counts.sum(axis=-1)
        total = int(totals[0])
        if (totals != total).any():
            raise AgentError("the agent must ask for equally many pulls in every episode of a batch")
        return self.check_steps(total, left)

    def check_steps(self, steps: int, left: Any) -> int:
        """Return a number of steps of a rule.

        Raises:
            AgentError: If they are known to cost more than is left.
        """
        if steps > left:
            raise AgentError(f"the agent asked for {steps} pulls with {left} left of the budget")
        return steps

    def pulls_made(self, left: Any, totals: IntArray) -> int:
        """Return the pulls made in every episode.

        Args:
            left: What is left of the budget.
            totals: ``(N,)`` pulls of each episode.

        Raises:
            AgentError: If the episodes play side by side no longer.
        """
        return int(self.total - left)

    def is_used_up(self, pulls: IntArray) -> BoolArray:
        """Return in which episodes ``(R, K)`` pulls have left no more than the largest cost: ``(R,)`` bool."""
        return np.asarray(pulls.sum(axis=-1) >= self.total)

    def tie_pulls(self, pulls: IntArray) -> IntArray:
        """Return ``(N, K)`` numbers of which the larger one breaks a tie of means: the pulls."""
        return pulls

    def check_agent(self, name: str, uses_costs: bool) -> None:
        """Raise :class:`AgentError` unless the agent takes account of the costs that arms have."""

    def check_least(self, least: int, name: str, num_arms: int, *, allow_small: bool) -> None:
        """Raise :class:`BudgetError` if the budget is below the minimum of an agent.

        Args:
            least: The minimum, in pulls; of money times the mean cost.
            name: The agent's.
            num_arms: K.
            allow_small: Whether fewer pulls are allowed.
        """
        if self.total < least and not allow_small:
            raise BudgetError(
                f"budget {self.total} is below the minimum of {name} for {num_arms} arms: "
                f"give at least {least}, or make the agent with allow_small_budget=True"
            )


class Money(Budget):
    """A budget of money; episodes may make different numbers of pulls.

    Args:
        total: Money of an episode.
        costs: Cost of a pull of each of K arms.

    Attributes:
        prices: ``(K,)`` the same, read-only.
    """

    dtype = np.float64
    may_remain = True

    def __init__(self, total: float, costs: Costs) -> None:
        """Keep both."""
        super().__init__(total)
        self.costs = costs
        self.prices: FloatArray = np.array(costs)
        self.prices.flags.writeable = False
        self.facts = {"costs": self.prices}
        self.cheapest = float(min(costs))
        self._slack = TOLERANCE * total

    @property
    @override
    def most_pulls(self) -> int:
        return pulls_for(self.total, self.prices.min(), self.total)

    @property
    @override
    def mean_pulls(self) -> int:
        return int(self.total / self.prices.mean() * (1.0 + ROUNDING))

    @override
    def in_pulls(self) -> Budget:
        return self if common_cost(self.prices) is None else Budget(self.most_pulls)

    @override
    def observe(self, observation: Observation) -> Observation:
        if common_cost(self.prices) is None:
            return observation
        own = {name: value for name, value in observation.items() if name not in self.facts}
        return {**own, "remaining": self.pulls_left(observation["remaining"])}

    @override
    def price(self, arms: Any) -> Any:
        return self.prices[arms]

    @override
    def pulls_left(self, left: AnyArray) -> IntArray:
        pulls: IntArray = np.floor((left + self._slack) / self.prices.min()).astype(np.int64)
        return pulls

    @override
    def safe_pulls(self, left: Any) -> int:
        return max(int(left / self.prices.max()) - 1, 0)

    @override
    def affordable(self, left: AnyArray, shown: Observation) -> BoolArray:
        return np.asarray(shown["costs"] <= left + self._slack)

    @override
    def check_affordable(self, left: AnyArray, rows: Any, arms: Any, shown: Observation) -> None:
        lacking = np.flatnonzero(shown["costs"][rows, arms] > left[rows, 0] + self._slack)
        if lacking.size:
            row, arm = np.atleast_1d(rows)[lacking[0]], np.atleast_1d(arms)[lacking[0]]
            raise BudgetError(
                f"a pull of arm {arm} costs {shown['costs'][row, arm]:g}, and {left[row, 0]:g} is left: pull a cheaper "
                "arm, or recommend"
            )

    @override
    def pay(self, left: AnyArray, rows: Any, flat: Any, shown: Observation) -> Any:
        prices = shown["costs"].take(flat)
        left[rows, 0] = self.spend(left[rows, 0], prices)
        return prices

    @override
    def rest(self, left: AnyArray) -> dict[str, AnyArray]:
        return {"unspent": left}

    @override
    def spend(self, left: Any, amount: Any) -> Any:
        return np.maximum(left - amount, 0.0)

    @override
    def charge(self, counts: IntArray, arms: IntArray | None, left: Any) -> Any:
        amount = (counts * (self.prices if arms is None else self.prices[arms])).sum(axis=-1, keepdims=True)
        before = np.broadcast_to(left, amount.shape)
        worst = (amount - before).argmax()
        if amount.flat[worst] > before.flat[worst] + self._slack:
            raise AgentError(
                f"the agent asked for pulls that cost {amount.flat[worst]:g} with {before.flat[worst]:g} left of the "
                "budget"
            )
        return amount

    @override
    def surcharge(self, arm: int, paid: float | None) -> float:
        return 0.0 if paid is None else paid - float(self.prices[arm])

    @override
    def check_counts(self, counts: IntArray, arms: IntArray | None, left: Any) -> Any:
        return self.charge(counts, arms, left)

    @override
    def check_steps(self, steps: int, left: Any) -> int:
        return steps  # what they cost is known when they have been made

    @override
    def pulls_made(self, left: Any, totals: IntArray) -> int:
        if (totals != totals[0]).any():
            raise AgentError("a sequential request needs equally many pulls before it in every episode of a batch")
        return int(totals[0])

    @override
    def is_used_up(self, pulls: IntArray) -> BoolArray:
        return np.asarray(self.total - pulls @ self.prices < self.prices.max() - self._slack)

    @override
    def tie_pulls(self, pulls: IntArray) -> IntArray:
        return np.minimum(pulls, 1)  # none has precedence: the arm of more pulls would be the cheapest

    @override
    def check_agent(self, name: str, uses_costs: bool) -> None:
        if not uses_costs:
            raise AgentError(
                f"{name} takes no account of costs, and a pull costs from {self.prices.min():g} to "
                f"{self.prices.max():g} here: choose an agent that does (uses_costs = True), such as SH with "
                "cap='budget', or leave costs out"
            )

    @override
    def check_least(self, least: int, name: str, num_arms: int, *, allow_small: bool) -> None:
        money = least * float(self.prices.mean())
        if self.total < money * (1.0 - TOLERANCE):
            raise BudgetError(
                f"budget {self.total:g} is below the minimum of {name} for these costs: give at least {money:g}"
            )


PULLS = Budget(0)
"""What pulls cost, whatever the budget."""


def check_budget(budget: object, costs: Costs | None = None) -> Any:
    """Return a budget: an int, of pulls, or where arms have costs a float, of money.

    Raises:
        BudgetError: If it is not an integer of at least 1 (and at most 2^53, up to which floats count exactly); of
            money, if it does not pay for at least one pull of every arm, or is no positive number.
    """
    if costs is None:
        rule = "an integer number of pulls, at least 1 (and at most 2^53)"
        return integer(budget, "budget", least=1, most=2**53, rule=rule, error=BudgetError)
    money = real(budget, "budget", above=0, error=BudgetError)
    if money < max(costs) * (1.0 - TOLERANCE):
        raise BudgetError(
            f"the budget must pay for a pull of every arm: {money:g} is less than the cost {max(costs):g}"
        )
    return money


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


def common_cost(costs: Costs | FloatArray) -> float | None:
    """Return the cost of a pull if it is the same for all arms, else None."""
    return float(costs[0]) if min(costs) == max(costs) else None


def pulls_for(money: float, cost: float, budget: float) -> int:
    """Return how many pulls of a cost some money pays for; ``budget`` is the money at the start of the episode."""
    return math.floor((money + TOLERANCE * budget) / cost)
