"""Agents that arrive at a set of arms: the protocol of UGapE and LUCB, and what their rules share.

In the rules, arms are slots: the arms in random order within each bandit (under the tie rule ``"first"`` in their own
order), so that the first of several tied slots is a random arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.agents.base import Plan
from bai_gym.agents.sequential import SequentialAgent, first_block
from bai_gym.agents.tools.batches import BatchState
from bai_gym.agents.tools.choosing import best_recommendation, shuffled_arms
from bai_gym.agents.tools.ranges import range_assumptions, range_of
from bai_gym.bandits import Bandit
from bai_gym.sampling import TO_FIRST, Engine, Episode, PerArm, Values, Vector
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks import BestArm, BestOfEach, TopM

__all__ = ["SetAgent", "SetState", "keep", "prefers", "rivals", "smallest"]


class SetState(BatchState):
    """What rules share that look for the m best arms of each bandit."""

    epsilon: float  # accuracy of the task
    m: int  # size of a set
    bandits: int = 1  # number of bandits, which have equally many arms
    value: float  # value of the current sets J
    kept_value: float = np.inf  # value of the sets kept
    sets: Vector  # the slots in the current sets, one bandit after another
    kept: Vector  # the slots in the sets kept
    width: PerArm  # width of each interval
    upper: PerArm  # U
    lower: PerArm  # L
    index: PerArm  # by which J is chosen: the smallest


@dataclass(kw_only=True)
class SetAgent(SequentialAgent):
    """Base of agents whose rule keeps a set J of m arms in each bandit, which they recommend.

    A set has a value, the smaller the better. The set after the last pull competes with the one that the rule has kept:
    it wins if its value is smaller. A rule that stops keeps its last set with a value of -inf.

    Args:
        scale: Multiplies the exploration a; at least 0, default 1, for which UGapEb has the smallest error bound.
        b: Length of an interval that contains the rewards. Where the default is None: that of bounded rewards; others
            count as in an interval of length 1 with a fixed budget, and with fixed confidence for Gaussian ones of
            unknown variances. ``"oracle"``, the default where the complexity is given, too: max over arms of mean +
            sigma sqrt(log n).
        output: ``"best"`` (default): recommend the set whose value was smallest over time, as published. ``"last"``:
            the set at the end.
        refresh: Pulls between estimates of the complexity; None (default): two per arm. 1: at every pull, which is more
            expensive and changes little.
        delta: Allowed error probability, in (0, 1). Default 0.1.
        c: Exploration parameter, positive. Default 1/2, for which Theorem 2 holds; with the widths of the forms with V
            default 1, as in Maurer and Pontil (2009), Theorem 4.
        sigma: In place of ``b``, for rewards that are sigma-sub-Gaussian: ``b`` is then 2 sigma. This holds for
            Gaussian rewards, with sigma the largest standard deviation.
        batch_size: Pulls between two looks at whether to stop, at least 1, the default.
    """

    tasks = frozenset({BestArm.name, TopM.name, BestOfEach.name})
    anytime = False  # the set depends on the rule, too

    def task_values(self) -> Values:
        """Return the values of the state that the task gives."""
        m, bandits = self.task.m, self.task.num_bandits
        sets = np.zeros(m * bandits)
        return {"epsilon": self.task.epsilon, "m": m, "bandits": bandits, "sets": sets, "kept": sets}

    def stopping_values(self: Any) -> Values:
        """Return the values of the state by which an agent stops: of its batch size and, if there is one, threshold."""
        values: Values = {"batch_size": self.batch_size}
        threshold = getattr(self, "threshold", None)
        if threshold is not None:
            values["mixed"] = threshold == "mixture"
            if not values["mixed"]:
                range_of(self)  # which the paper's widths need
        return values

    @override
    def plan(self) -> Plan:
        """Make the first pulls, follow the rule, and recommend the set that it has kept, or the last one."""
        first = min(self.first_pulls * self.num_arms, self.budget)
        if first:
            yield first_block(self, first)
        if first == self.budget:
            return best_recommendation(self.statistics, self.task, self.tie, self.rng)
        bandits = self.task.num_bandits
        size = self.num_arms // bandits
        slots = shuffled_arms(self.batch * bandits, size, self.tie, self.rng).reshape(self.batch, bandits, size)
        slots = slots + size * shuffled_arms(self.batch, bandits, self.tie, self.rng)[:, :, None]
        request = self.sequential(self.budget - first, arms=slots.reshape(self.batch, self.num_arms))
        outcome = yield request
        final = replace(request, values=outcome.states.values())
        end = Engine(final, outcome.statistics, self.budget, None, variances=True)
        end.choose()
        states, last = outcome.states, end.outcome.states
        chosen = np.where((states["kept_value"] <= last["value"])[:, None], states["kept"], last["sets"])
        places = chosen.astype(np.int64).reshape(self.batch, bandits, self.task.m)
        return self._recommended(np.take_along_axis(slots, places, 2))

    @property
    def unmet_assumptions(self) -> Callable[[Bandit], tuple[str, ...]] | None:
        """Returns a note if the confidence guarantee does not cover the rewards of a bandit; None without one."""
        return partial(range_assumptions, self) if self.stops else None

    def _recommended(self, arms: IntArray) -> IntArray:
        """Return ``(N, M, m)`` arms, bandits in any order, in the form of the task."""
        if isinstance(self.task, TopM):
            sets = np.zeros((self.batch, self.num_arms), np.int64)
            np.put_along_axis(sets, arms[:, 0], 1, 1)
            return sets
        if isinstance(self.task, BestOfEach):
            return np.asarray(np.sort(arms[:, :, 0]) % (self.num_arms // self.task.num_bandits))
        return arms[:, 0, 0]


def keep(s: SetState, w: SetState, value: float) -> None:
    """Keep the current sets, with a value."""
    s.kept_value = value
    for place in range(s.m * s.bandits):
        w.kept[place] = w.sets[place]


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


def rivals(s: SetState, w: SetState, start: int, size: int) -> tuple[float, int, int]:
    """Set J of a bandit to its m slots of smallest index, and find the two arms on either side of the border.

    Args:
        s: The numbers of the state.
        w: Its arrays, with widths, U, L and finite indices of the arms.
        start: First slot of the bandit.
        size: Number of its arms.

    Returns:
        The largest index in J, the slot u of largest U outside J, and the slot l of smallest L in J; of tied ones the
        widest.
    """
    index, upper, lower, width = w.index, w.upper, w.lower, w.width
    chosen = w.sets[start // size * s.m : start // size * s.m + s.m]
    smallest(index[start : start + size], s.m, chosen)
    value = index[start + int(chosen[s.m - 1])]
    for place in range(s.m):
        index[start + int(chosen[place])] = np.inf
    u = low = -1
    for k in range(start, start + size):
        if index[k] == np.inf:
            if low < 0 or lower[k] < lower[low] or (lower[k] == lower[low] and width[k] > width[low]):
                low = k
        elif u < 0 or upper[k] > upper[u] or (upper[k] == upper[u] and width[k] > width[u]):
            u = k
    return value, u, low


def prefers(e: Episode, u: int, low: int, rng: np.random.Generator) -> bool:
    """Return whether u is pulled where both widths are equal: the lower slot, or either, by the tie rule."""
    return u < low if e.tie == TO_FIRST else rng.random() < 0.5
