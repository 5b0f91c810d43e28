"""The optimal value on Bernoulli arms with means from a Beta prior, by dynamic programming.

After t pulls the state is the number of rewards 0 and 1 of each arm. Going backwards from the last pull, the value of
such a state is the largest, over the arms to pull next, of the expected value after it (Bellman 1957, "Dynamic
Programming"; for bandits Bradt, Johnson and Karlin 1956, "On Sequential Designs for Maximizing the Sum of n
Observations"). After the last pull it is the posterior probability that the recommended arm is the best one, or its
posterior mean. Everything is exact up to rounding; the number of states is the limit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.theory.beta_arms import BetaArms, check_prior, count_nodes
from bai_gym.theory.pull_counts import (
    Parts,
    box_sizes,
    largest_box,
    least_size,
    partition_ranks,
    partitions,
    rank_table,
)
from bai_gym.validation import choice, integer, real

__all__ = ["MEMORY_LIMIT", "OBJECTIVES", "BayesSolution", "check_objective", "optimal_value", "solve_bayes"]

OBJECTIVES = ("correct", "simple_regret")
MEMORY_LIMIT = 1.0
"""Gigabytes (10^9 bytes) default memory limit of a solution."""

SAME = 1e-11  # values that differ by no more are tied: above rounding errors, and negligible even n times
KEEP_SOLVED = 4


def check_objective(objective: str) -> str:
    """Return the objective, or raise :class:`ParameterError`."""
    return choice(objective, OBJECTIVES, "objective")


@dataclass(frozen=True, eq=False)
class BayesSolution:
    """The optimal actions in all states.

    Attributes:
        num_arms: K.
        budget: n.
        value: Expected value under optimal play: the probability of a correct recommendation, or the expected mean of
            the recommended arm.
        states: Number of states in which actions are stored.
    """

    num_arms: int
    budget: int
    value: float
    states: int
    _layers: tuple[npt.NDArray[np.unsignedinteger], ...]  # by pulls: for each state the set of best actions, as bits
    _starts: tuple[IntArray, ...]  # by pulls: where the box of each partition begins
    _ranks: IntArray

    def best_actions(self, successes: IntArray, pulls: IntArray) -> BoolArray:
        """Return the optimal arms: to pull or, after the last pull, to recommend.

        Args:
            successes: ``(K, N)`` successes of each arm, arm axis first as in sampling rules.
            pulls: ``(K, N)`` pulls, of one total in all N states.

        Returns:
            ``(K, N)``, at least one True in each column.
        """
        order = np.argsort(-pulls, axis=0, kind="stable")
        parts = np.take_along_axis(pulls, order, 0)[: len(self._ranks) - 1]
        ordered = np.take_along_axis(successes, order, 0)
        total = int(pulls[:, 0].sum())
        index = np.zeros(pulls.shape[1], np.int64)
        for row, part in zip(ordered, parts, strict=False):
            index *= part + 1
            index += row
        index += self._starts[total][partition_ranks(parts, self._ranks)]
        best = self._layers[total].take(index).astype(np.int64)
        # All arms without a pull share one bit, after those of the others.
        bits = np.minimum(np.arange(len(pulls))[:, None], np.count_nonzero(parts, axis=0))
        chosen = np.empty(pulls.shape, dtype=bool)
        np.put_along_axis(chosen, order, (best >> bits & 1).astype(bool), 0)
        return chosen


def optimal_value(
    num_arms: int,
    budget: int,
    *,
    objective: str = "correct",
    alpha: float = 1.0,
    beta: float = 1.0,
    memory_limit: float = MEMORY_LIMIT,
) -> float:
    """Return the optimal value on Bernoulli arms with independent means from Beta(alpha, beta).

    It does not bound algorithms that are given knowledge of the instance, such as its true variances.

    Args:
        num_arms: K, at least 2.
        budget: n, at least 0.
        objective: ``"correct"``: the largest probability of a correct recommendation; ``"simple_regret"``: the smallest
            expected simple regret.
        alpha: Parameter of the prior, from 0.1 to 1,000; default 1, with beta = 1 the uniform prior.
        beta: The other one.
        memory_limit: Memory limit in gigabytes.

    Raises:
        ParameterError: If a parameter is out of range, or the problem is too large for the limit.
    """
    value = solve_bayes(num_arms, budget, objective, alpha, beta, memory_limit).value
    return value if objective == "correct" else BetaArms(num_arms, 0, float(alpha), float(beta)).expected_best - value


def solve_bayes(
    num_arms: int,
    budget: int,
    objective: str = "correct",
    alpha: float = 1.0,
    beta: float = 1.0,
    memory_limit: float = MEMORY_LIMIT,
) -> BayesSolution:
    """Return the optimal actions, see :func:`optimal_value` for the arguments; the last few are kept in the process.

    Raises:
        ParameterError: If a parameter is out of range, or the problem is too large for the limit.
    """
    num_arms, budget = integer(num_arms, "num_arms", least=2), integer(budget, "budget", least=0)
    check_objective(objective)
    prior = check_prior(alpha, beta)
    _check_size(num_arms, budget, *prior, memory_limit)
    return _solve(num_arms, budget, objective, *prior)


def _check_size(num_arms: int, budget: int, alpha: float, beta: float, memory_limit: float) -> None:
    """Raise :class:`ParameterError` if the computation takes more than the limit, in gigabytes."""
    limit = real(memory_limit, "memory_limit", above=0) * 1e9
    least = least_size(budget, num_arms)
    if 8 * least > limit:  # and possibly too large to count
        size = f"more than {_short(least)} states"
    else:
        states, need = _size(num_arms, budget, alpha, beta)
        if need <= limit:
            return
        size = f"{states:.3g} states, {need / 1e9:.3g} GB"
    raise ParameterError(
        f"the optimum of {num_arms} arms with budget {budget} is too large to compute ({size}; limit "
        f"{limit / 1e9:g} GB): take a smaller budget, fewer arms, or a larger memory_limit (in GB)"
    )


def _size(num_arms: int, budget: int, alpha: float, beta: float) -> tuple[int, int]:
    """Return the number of states, and the bytes that the computation needs at its peak."""
    most_parts = min(num_arms, budget)
    sizes = box_sizes(budget, most_parts)
    actions = min(most_parts + 1, num_arms)
    # Sets of actions in all states, values of two layers, the values of all actions in one box, tables at the nodes.
    sets = _bits(actions).itemsize * sum(sizes)
    largest = max(largest_box(budget, parts) for parts in range(most_parts + 1))
    tables = 8 * (budget + 1) * (budget + 2) * count_nodes(num_arms, budget, alpha, beta)
    return sum(sizes), sets + 8 * sum(sizes[-2:]) + 8 * (actions + 3) * largest + tables


def _short(number: int) -> str:
    """Return the power of ten next to an integer, which may be too large to write out."""
    return f"10^{int((number.bit_length() - 1) * math.log10(2))}"


def _bits(actions: int) -> np.dtype[np.unsignedinteger]:
    """Return the smallest type with a bit for each action."""
    return np.min_scalar_type((1 << actions) - 1)


@functools.lru_cache(maxsize=KEEP_SOLVED)
def _solve(num_arms: int, budget: int, objective: str, alpha: float, beta: float) -> BayesSolution:
    arms = BetaArms(num_arms, budget, alpha, beta)
    recommending = arms.best_probabilities if objective == "correct" else arms.means
    most_parts = min(num_arms, budget)
    sizes = box_sizes(budget, most_parts)
    layers, starts = [], []
    values: dict[Parts, FloatArray] = {}  # of the states after one pull more
    for pulls in range(budget, -1, -1):
        earlier: dict[Parts, FloatArray] = {}
        layer = np.zeros(sizes[pulls], _bits(min(most_parts + 1, num_arms)))
        begin, begins = 0, []
        for parts in partitions(pulls, most_parts):
            box = tuple(part + 1 for part in parts)
            result = recommending(parts) if pulls == budget else _pulling(parts, values, arms, num_arms)
            best = functools.reduce(np.maximum, result)
            end = begin + math.prod(box)
            target = layer[begin:end].reshape(box)
            for bit, value in enumerate(result):
                target |= (value >= best - SAME).astype(layer.dtype) << np.array(bit, layer.dtype)
            earlier[parts] = np.broadcast_to(best, box)
            begins.append(begin)
            begin = end
        layer.flags.writeable = False
        layers.append(layer)
        starts.append(np.array(begins))
        values = earlier
    return BayesSolution(
        num_arms,
        budget,
        float(values[()]),
        sum(sizes),
        tuple(reversed(layers)),
        tuple(reversed(starts)),
        rank_table(budget, most_parts),
    )


def _pulling(parts: Parts, values: Mapping[Parts, FloatArray], arms: BetaArms, num_arms: int) -> list[FloatArray]:
    """Return the expected values after one pull of each arm, and of an arm without a pull where there is one.

    Args:
        parts: Pulls before it.
        values: Boxes of the states after it.
        arms: The model.
        num_arms: K.

    Returns:
        Boxes.
    """
    values_of_arms = []
    for arm, pulls in enumerate(parts):
        # Among arms with equally many pulls, the one that gets another comes first.
        place = parts.index(pulls)
        after = (*parts[:place], pulls + 1, *parts[place:arm], *parts[arm + 1 :])
        box = np.moveaxis(values[after], place, arm)
        values_of_arms.append(_expected(box, arm, arms.success(pulls)))
    if len(parts) < num_arms:
        values_of_arms.append(_expected(values[(*parts, 1)], len(parts), arms.success(0))[..., 0])
    return values_of_arms


def _expected(box: FloatArray, axis: int, success: FloatArray) -> FloatArray:
    """Return the expectation over the next reward of the arm on that axis."""
    before = (slice(None),) * axis
    probability = success.reshape(-1, *[1] * (box.ndim - axis - 1))
    after_failure, after_success = box[(*before, slice(None, -1))], box[(*before, slice(1, None))]
    return np.asarray(after_failure + (after_success - after_failure) * probability)
