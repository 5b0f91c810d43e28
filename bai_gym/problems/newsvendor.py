"""The newsvendor: how much to order before the demand is known, a problem of simulation optimisation.

An order of q costs c per unit; what is demanded sells at p, the rest at s. With demand D the profit is
p min(D, q) + s max(q - D, 0) - c q. Demand has the Burr distribution of type XII, P(D > x) = (1 + x^a)^(-k). The best
order is the quantile of D at (p - c) / (p - s), here ((1 / 2)^(-1 / k) - 1)^(1 / a) = 0.188. Prices and parameters are
those of the continuous newsvendor of SimOpt (https://github.com/simopt-admin/simopt).
"""

from __future__ import annotations

import numpy as np

from bai_gym.bandits import EmpiricalBandit, SampleTable
from bai_gym.errors import ParameterError
from bai_gym.parallel import check_memory
from bai_gym.problems.base import FixedProblem, arm_count
from bai_gym.statistics import FloatArray
from bai_gym.validation import integer

__all__ = ["newsvendor_problem", "newsvendor_profits"]

COST, PRICE, SALVAGE = 5.0, 9.0, 1.0  # per unit: c, p, s
SHAPE, POWER = 2.0, 20.0  # of demand: a, k
ORDERS = (0.1, 0.3)  # the smallest and the largest


def newsvendor_profits(orders: FloatArray, demands: FloatArray) -> FloatArray:
    """Return the profit of every order in every replication.

    Args:
        orders: ``(K,)`` quantities, at least 0.
        demands: ``(Q,)`` demands, at least 0.

    Returns:
        ``(K, Q)``: all orders meet the same demands, which are common random numbers.
    """
    sold = np.minimum(orders[:, None], demands)
    return (PRICE - SALVAGE) * sold - (COST - SALVAGE) * orders[:, None]


def newsvendor_problem(num_arms: int = 8, num_replications: int = 10_000) -> FixedProblem:
    """Return the problem of finding the order with the largest expected profit; a pull simulates a day.

    Arms are orders, evenly spaced from 0.1 to 0.3. The cost of a unit is 5; it sells at 9 if it is demanded, else at 1.
    Demand has the Burr distribution of type XII with parameters 2 and 20, cut into replications that are equally
    likely: the quantiles at (i + 1/2) / Q. A pull draws one of them, with replacement. So the true means are known
    exactly; with 10,000 replications they differ from those of the continuous distribution by less than 1e-6. The best
    of all orders is 0.188. Rewards are profits, real numbers; the larger the order, the noisier.

    Args:
        num_arms: K, at least 2.
        num_replications: Q, the number of different demands, at least 1.

    Raises:
        InstanceError: Fewer than two arms.
        ParameterError: Fewer than one replication, or more than fit into memory.

    Source: The continuous newsvendor of SimOpt, https://github.com/simopt-admin/simopt (simopt/models/cntnv.py), whose
    prices and distribution of demand these are.
    """
    arms, days = arm_count(num_arms), integer(num_replications, "num_replications", least=1)
    check_memory(arms, 24 * days, "num_arms x num_replications", ParameterError)
    orders = np.linspace(*ORDERS, arms)
    share = (np.arange(days) + 0.5) / days
    demands = ((1.0 - share) ** (-1.0 / POWER) - 1.0) ** (1.0 / SHAPE)
    table = SampleTable.of(newsvendor_profits(orders, demands).reshape(-1), np.arange(arms + 1) * days)
    names = tuple(f"order {order:.3f}" for order in orders)
    return FixedProblem(EmpiricalBandit(table, np.arange(arms)[None, :]), arm_names=names)
