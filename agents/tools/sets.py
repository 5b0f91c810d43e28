"""Agents that arrive at a set of arms: the protocol of UGapE and LUCB, and what their compiled rules share.

In the rules, arms are slots: the arms in random order within each bandit (under the tie rule ``"first"`` in their own
order), so that the first of several tied slots is a random arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from bai_gym.agents.base import Agent, Plan
from bai_gym.agents.sequential import first_block
from bai_gym.agents.tools.choosing import best_recommendation, shuffled_arms
from bai_gym.bandits import Bandit
from bai_gym.errors import ParameterError
from bai_gym.sampling import Engine, Episode, Rule, Sequential, columns, section, value_of
from bai_gym.statistics import ROUNDING, FloatArray, IntArray
from bai_gym.tasks import BestArm, BestOfEach, TopM
from bai_gym.validation import real

__all__ = [
    "SetAgent",
    "borders",
    "keep",
    "prefers",
    "range_doubts",
    "range_of",
    "rivals",
    "room",
    "safest",
    "smallest",
    "cut",
]

EPSILON, M, BANDITS, FIRST, OWN = range(5)  # parameters: of the task, the tie rule; then the agent's own
VALUE, KEPT, SETS = range(3)  # memory: value of the set J of the moment, that of the set kept; then the two sets
SAFEST, BOUND = SETS + 1, SETS + 2  # for one best arm, in the place of the set of the moment


@dataclass(kw_only=True)
class SetAgent(Agent):
    """Base of agents whose rule keeps a set J of m arms in each bandit, which they recommend.

    A set has a value, the smaller the better. The set after the last pull competes with the one that the rule has kept:
    it wins unless its value is larger. A rule that stops keeps its last set with a value of -inf.

    Args:
        scale: Multiplies the exploration a; at least 0, default 1, for which UGapEb has the smallest error bound.
        b: Bound of the rewards, which lie in [0, b]. Where the default is None: max over arms of mean + sigma sqrt(log
            n), which takes knowledge of the range.
        output: ``"best"`` (default): recommend the set whose value was smallest over time, as published. ``"last"``:
            the set at the end.
        refresh: Pulls between estimates of the complexity; None (default): two per arm. 1: at every pull, which is more
            expensive and changes little.
        delta: Allowed error probability, in (0, 1). Default 0.1.
        c: Exploration parameter, positive. Default 1/2, for which Theorem 2 holds; with the widths of the forms with V
            default 1, as in Maurer and Pontil (2009), Theorem 4.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma. This holds for
            Gaussian rewards, with sigma the largest standard deviation.

    Attributes:
        rule: How each pull is decided; set by :meth:`begin`, as are the parameters.
        parameters: ``(N, P)``, see :meth:`set_parameters`.
        first_pulls: First pulls of each arm.
    """

    tasks: ClassVar[frozenset[str]] = frozenset({BestArm.name, TopM.name, BestOfEach.name})
    anytime: ClassVar[bool] = False  # the set depends on the rule, too
    first_pulls: ClassVar[int] = 1

    def minimum_budget(self, num_arms: int) -> int:
        """Return the first pulls of all arms."""
        return self.first_pulls * num_arms

    def set_rule(self, rule: Rule, *parameters: FloatArray | float) -> None:
        """Set the rule and its own parameters, which come after those of the task."""
        task = self.task
        shared = task.epsilon, task.m, task.num_bandits, float(self.tie == "first")
        self.rule, self.parameters = rule, columns(self.batch, *shared, *parameters)

    def plan(self) -> Plan:
        """Make the first pulls, follow the rule, and recommend the set that it has kept, or the last one."""
        first = min(self.first_pulls * self.num_arms, self.budget)
        if first:
            yield first_block(self, first)
        if first == self.budget:
            return best_recommendation(self.statistics, self.task, self.tie, self.rng)
        m, bandits = self.task.m, self.task.num_bandits
        size = self.num_arms // bandits
        slots = shuffled_arms(self.batch * bandits, size, self.tie, self.rng).reshape(self.batch, bandits, size)
        slots = slots + size * shuffled_arms(self.batch, bandits, self.tie, self.rng)[:, :, None]
        request = Sequential(
            self.rule,
            self.budget - first,
            self.parameters,
            self.tie,
            self.rng,
            memory=SETS + 2 * m * bandits + 1 + 2 * size,
            arms=slots.reshape(self.batch, self.num_arms),
            agent=self.name,
        )
        played = yield request
        end = Engine(
            replace(request, parameters=played.parameters), played.statistics, self.budget, None, variances=True
        )
        end.choose()
        kept, last = played.memory, end.outcome.memory
        memory = np.where(kept[:, [KEPT]] <= last[:, [VALUE]], kept, last)
        chosen = memory[:, SETS : SETS + m * bandits].astype(np.int64).reshape(self.batch, bandits, m)
        return self._recommended(np.take_along_axis(slots, chosen, 2))

    @property
    def unmet_assumptions(self) -> Callable[[Bandit], tuple[str, ...]] | None:
        """Returns a note if the confidence guarantee does not cover the rewards of a bandit; None without one."""
        return partial(range_doubts, self) if self.stops else None

    def _recommended(self, arms: IntArray) -> IntArray:
        """Return ``(N, M, m)`` arms, bandits in any order, in the form of the task."""
        if isinstance(self.task, TopM):
            sets = np.zeros((self.batch, self.num_arms), np.int64)
            np.put_along_axis(sets, arms[:, 0], 1, 1)
            return sets
        if isinstance(self.task, BestOfEach):
            return np.asarray(np.sort(arms[:, :, 0]) % (self.num_arms // self.task.num_bandits))
        return arms[:, 0, 0]


def range_doubts(agent: Agent, bandit: Bandit) -> tuple[str, ...]:
    """Return a note if a confidence guarantee for rewards in [0, b], or sub-Gaussian ones, does not cover a bandit's.

    Args:
        agent: The agent, with a parameter ``b``, and perhaps ``sigma``.
        bandit: The instances.
    """
    low, high = bandit.limits()
    b, sigma = getattr(agent, "b", None), getattr(agent, "sigma", None)
    if sigma is not None and bandit.scale() > sigma * (1.0 + ROUNDING):
        return (f"{agent.name}: its confidence is proved for {sigma:g}-sub-Gaussian rewards, and these need not be",)
    if sigma is not None or (b is not None and low >= 0.0 and high <= b):
        return ()
    way = "; give it sigma=" if hasattr(agent, "sigma") else ""
    kind = "unbounded" if np.isinf(high - low) else f"in [{low:.4g}, {high:.4g}]"
    return (f"{agent.name}: its confidence is proved for rewards in [0, {b:g}], and these are {kind}{way}",)


def range_of(b: float, sigma: float | None, agent: str) -> float:
    """Return b, or 2 sigma: Hoeffding's inequality takes rewards in [0, b] for (b / 2)-sub-Gaussian ones.

    Raises:
        ParameterError: If both are given, or one is no positive number.
    """
    real(b, f"b of {agent}", above=0)
    if sigma is None:
        return b
    real(sigma, f"sigma of {agent}", above=0)
    if b != 1.0:
        raise ParameterError(
            f"{agent} takes b or sigma, not both: b for rewards in [0, b], sigma for sub-Gaussian ones"
        )
    return 2.0 * sigma


def room(e: Episode) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the arrays that a rule writes to: the current sets J, and two values for each arm of one bandit.

    The sets follow one another, with room for one slot more.
    """
    sets = int(e.parameters[M] * e.parameters[BANDITS])
    size = e.pulls.size // int(e.parameters[BANDITS])
    at = SETS + 2 * sets + 1
    m = e.memory
    return section(m, SETS + sets, sets + 1), section(m, at, size), section(m, at + size, size)


def cut(e: Episode, start: int, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return pulls, means and variances of the bandit that starts at an arm."""
    return section(e.pulls, start, size), section(e.mean, start, size), section(e.variance, start, size)


def keep(e: Episode, value: float) -> None:
    """Keep the current sets, with a value."""
    sets = int(e.parameters[M] * e.parameters[BANDITS])
    e.memory[KEPT] = value
    for place in range(SETS, SETS + sets):
        e.memory[place] = e.memory[place + sets]


def smallest(values: FloatArray, count: int, slots: FloatArray) -> None:
    """Write the slots of the smallest values, in their order; of tied ones the first."""
    last = np.inf  # the largest value among them
    for slot in range(values.size):
        value = values[slot]
        if value >= last and slot >= count:
            continue
        place = min(slot, count - 1)
        while place > 0 and value < values[int(slots[place - 1])]:
            slots[place] = slots[place - 1]
            place -= 1
        slots[place] = slot
        last = values[int(slots[min(slot, count - 1)])]


def borders(negative: FloatArray, m: int, slots: FloatArray) -> tuple[float, float]:
    """Return the m-th largest of values, and the next, given minus the values."""
    smallest(negative, m + 1, slots)
    return -negative[int(slots[m - 1])], -negative[int(slots[m])]


def rivals(
    e: Episode, start: int, m: int, chosen: FloatArray, width: FloatArray, index: FloatArray
) -> tuple[float, int, int]:
    """Find J, the m slots of smallest index, in the bandit that starts at an arm.

    Returns the largest index in J, the slot of largest U outside J, and that of smallest L in J; of tied ones the
    widest. ``index``, finite before, is U outside J and -L in J afterwards.
    """
    smallest(index, m, chosen)
    value = index[int(chosen[m - 1])]
    for place in range(m):
        index[int(chosen[place])] = np.inf
    outside = inside = -1
    mean = section(e.mean, start, width.size)
    for slot in range(width.size):
        is_in = index[slot] == np.inf
        index[slot] = width[slot] - mean[slot] if is_in else width[slot] + mean[slot]
        best = inside if is_in else outside
        larger = best < 0 or index[slot] > index[best]
        if larger or (index[slot] == index[best] and width[slot] > width[best]):
            inside, outside = (slot, outside) if is_in else (inside, slot)
    return value, outside, inside


def prefers(p: FloatArray, u: int, low: int, rng: np.random.Generator) -> bool:
    """Return whether u is pulled where both widths are equal: the lower slot, or either, by the tie rule."""
    return u < low if p[FIRST] > 0.0 else rng.random() < 0.5


def safest(e: Episode) -> int:
    """Return the arm of largest L, for one best arm; the rule's index is U.

    The memory has it as it was before the last pull, and a bound on the L of all others, which an arm that becomes the
    safest exceeds. All arms are looked through only when the safest arm falls below the bound, or that is infinite.
    """
    arm, pulled = int(e.memory[SAFEST]), max(e.pulled, 0)
    largest, other = 2.0 * e.mean[arm] - value_of(e.first, arm), 2.0 * e.mean[pulled] - value_of(e.first, pulled)
    other = -np.inf if pulled == arm else other
    bound = max(e.memory[BOUND], min(largest, other))
    arm = pulled if other > largest else arm
    if max(largest, other) < bound or e.pulled < 0:
        largest = bound = -np.inf
        for k in range(e.pulls.size):
            other = 2.0 * e.mean[k] - value_of(e.first, k)
            bound = max(bound, min(other, largest))
            arm = k if other > largest else arm
            largest = max(largest, other)
    e.memory[SAFEST], e.memory[BOUND] = arm, bound
    return arm
