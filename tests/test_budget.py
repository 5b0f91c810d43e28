"""Budgets of pulls and of money: what they pay for, and that money where every pull costs 1 is a budget of pulls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bai_gym import agents
from bai_gym.agents.tools.rejects import Schedule
from bai_gym.agents.tools.spending import buys, shares
from bai_gym.bandits import GaussianBandit
from bai_gym.benchmark.rollout import play_blocks
from bai_gym.common.budget import Budget, Money
from bai_gym.errors import AgentError, BudgetError
from bai_gym.problems import ProblemInfo

MONEY = Money(10.0, (3.0, 1.0, 2.0))
COUNTS = np.array([[1, 2, 0], [2, 0, 2]])


def test_a_budget_of_money_by_hand() -> None:
    assert (MONEY.most_pulls, MONEY.mean_pulls) == (10, 5)
    cost = MONEY.check_counts(COUNTS, None, 10.0)
    assert cost.tolist() == [[5.0], [10.0]] and MONEY.spend(10.0, cost).tolist() == [[5.0], [0.0]]
    assert MONEY.charge(COUNTS[:, :2], np.array([[2, 0], [1, 2]]), 10.0).tolist() == [[8.0], [2.0]]
    with pytest.raises(AgentError, match="cost 10 with 9.5 left"):
        MONEY.check_counts(COUNTS, None, np.array([[5.0], [9.5]]))
    # Less than the largest cost is left after 5 and 10, not after 7.
    assert MONEY.is_used_up(np.array([[1, 2, 0], [2, 0, 2], [2, 1, 0], [0, 8, 0]])).tolist() == [
        False,
        True,
        False,
        True,
    ]
    left, shown = np.array([[2.0], [5.0]]), {"costs": np.array([[1.0, 3.0, 2.0], MONEY.costs])}
    MONEY.check_affordable(left, [0, 1], [2, 0], shown)
    with pytest.raises(BudgetError, match="arm 1 costs 3, and 2 is left"):  # as the first episode knows arm 0
        MONEY.check_affordable(left, [0, 1], [1, 2], shown)
    assert MONEY.pay(left, [0, 1], [2, 3], shown).tolist() == [2.0, 3.0]
    assert left.tolist() == [[0.0], [2.0]] and MONEY.pulls_left(left).tolist() == [[0], [2]]
    assert MONEY.tie_pulls(np.array([[8, 0, 2]])).tolist() == [[1, 0, 1]]  # or cheap arms would win ties of means
    assert MONEY.surcharge(0, 3.5) == 0.5 and MONEY.surcharge(0, None) == 0.0


def test_a_budget_of_pulls_by_hand() -> None:
    pulls, equal = Budget(10), np.array([[2, 1], [0, 3]])
    assert (pulls.most_pulls, pulls.mean_pulls, pulls.in_pulls() is pulls) == (10, 10, True)
    assert pulls.charge(equal, None, 3) == pulls.check_counts(equal, None, 3) == 3
    assert pulls.spend(10, 3) == 7 and pulls.pulls_made(7, equal) == 3
    with pytest.raises(AgentError, match="3 pulls with 2 left"):
        pulls.check_counts(equal, None, 2)
    with pytest.raises(AgentError, match="equally many"):
        pulls.check_counts(np.array([[1, 1], [1, 0]]), None, 9)
    left = np.array([[4], [5]])
    assert pulls.pay(left, slice(None), [1, 2], {}) == 1 and left.tolist() == [[3], [4]]


def test_money_is_a_budget_of_pulls_where_all_cost_the_same() -> None:
    same = Money(1.0, (0.1, 0.1, 0.1)).in_pulls()  # ten pulls, although 0.1 is rounded
    assert (same.total, same.costs) == (10, None) and MONEY.in_pulls() is MONEY
    seen = {"pulls": COUNTS, "remaining": np.array([[0.6], [1.0]]), "costs": np.full((2, 3), 0.1)}
    own = Budget.observed(seen).observe(seen)
    assert own["remaining"].tolist() == [[6], [10]] and "costs" not in own
    different = {**seen, "costs": np.array([[3.0, 1.0, 2.0]])}
    assert Budget.observed(different).observe(different) is different


def ready(name: str, info: ProblemInfo, **parameters: Any) -> Any:
    agent = agents.make(name, tie="first", **parameters)
    agent.reset(info, np.random.default_rng(0))
    agent.start({"remaining": np.full((info.batch, 1), info.budget)})
    return agent


def test_what_shares_buy() -> None:
    agent = ready("SH", ProblemInfo(3, 11))
    arms = np.array([[0, 1, 2]])
    assert list(shares(agent, 3)) == [3, 3, 3] and list(shares(agent, 3, "last")) == [3, 3, 5]
    assert buys(agent, 5, arms).tolist() == [[2, 2, 1]]
    assert buys(agent, 5, arms, rounding="equal").tolist() == [[1, 1, 1]]
    assert buys(agent, 5, arms, most=1).tolist() == [[1, 1, 1]]
    agent = ready("SH", ProblemInfo(3, 24.0, costs=(3.0, 1.0, 2.0)))
    first = next(iter(shares(agent, 2)))
    assert first.tolist() == [12.0] and buys(agent, first, arms).tolist() == [[2, 2, 2]]
    assert buys(agent, first, arms[:, :2]).tolist() == [[3, 3]]
    assert buys(agent, first, arms, most=1).tolist() == [[1, 1, 1]]


def test_a_priced_schedule_of_rejects_keeps_to_the_items() -> None:
    agent = ready("SR", ProblemInfo(3, 60.0, costs=(1.0, 2.0, 3.0)))
    arms = np.array([[0, 1, 2]])
    # 60 / (2 x 4/3) / 3 = 7.5 pulls of each.
    assert Schedule(agent).counts(arms).tolist() == [[7, 7, 7]]
    capped = Schedule(agent, most=5)
    assert capped.counts(arms).tolist() == [[5, 5, 5]] and capped.counts(arms[:, :2]).tolist() == [[0, 0]]


def test_the_unit_of_money_does_not_matter() -> None:
    for name in ("SH", "SR", "Uniform", "OCBA"):
        pulls = []
        for unit in (1.0, 2.0**-10):
            info = ProblemInfo(3, 100.0 * unit, 20, costs=(3.0 * unit, unit, 2.0 * unit))
            agent, bandit = agents.make(name), GaussianBandit(np.tile([0.5, 0.2, 0.0], (20, 1)), np.ones((20, 3)))
            agent.reset(info, np.random.default_rng(1))
            pulls.append(play_blocks(agent, bandit, info.funds, np.random.default_rng(2)).pulls.tolist())
        assert pulls[0] == pulls[1], name


def test_parameters_that_count_pulls_are_refused_where_arms_have_costs() -> None:
    info = ProblemInfo(2, 100.0, costs=(1.0, 2.0))
    for name, parameters in (("Uniform", {"mode": "random"}), ("SH", {"cap": "items"}), ("SH-Reuse", {"cap": "items"})):
        with pytest.raises(AgentError, match="no account of costs"):
            agents.make(name, **parameters).reset(info)
