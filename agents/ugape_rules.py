"""The sampling rules of unified gap-based exploration: SELECT-ARM of Gabillon et al. (2012), Figure 2.

With widths w, U = mean + w and L = mean - w, arm k has B_k = (m-th largest U of the other arms) - L_k. J are the m arms
of smallest B; u is the arm of largest U outside J, l the arm of smallest L in J; of the two the wider is pulled.

Slots of a window are in random order where ties are broken at random, so that the first of several tied slots is a
random arm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bai_gym.agents.top_two import TopTwo
from bai_gym.sampling import ArgmaxTable, SamplingRule, StoppingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = [
    "BudgetRule",
    "Choice",
    "ConfidenceRule",
    "OneBestRule",
    "SetRule",
    "StoppingSetRule",
    "Widths",
    "select_arm",
    "wider",
]

Widths = Callable[[Statistics], FloatArray]
"""Widths ``(k, n)`` of a window of n episodes."""


class Choice(NamedTuple):
    """What SELECT-ARM finds out.

    Attributes:
        sets: ``(k, n)`` bool, J (of each bandit).
        value: ``(n,)`` the largest B in J (over all bandits).
        flat: ``(n,)`` flat positions of the arms to pull.
    """

    sets: npt.NDArray[np.bool_]
    value: FloatArray
    flat: IntArray


def select_arm(
    means: FloatArray, widths: FloatArray, m: int, num_bandits: int, tie: TieRule, rng: np.random.Generator
) -> Choice:
    """Find J, the value of J, and the arm to pull; with several bandits work in the one of largest value.

    Args:
        means: ``(k, n)`` sample means; the arms of one bandit after the other.
        widths: ``(k, n)`` half widths of the confidence intervals.
        m: Number of arms to find in each bandit, from 1 to k / num_bandits - 1.
        num_bandits: Number of bandits.
        tie: Tie rule between u and l; ``"first"``: the lower slot.
        rng: Source of randomness for it.
    """
    shape = (num_bandits, len(means) // num_bandits, means.shape[1])
    size = shape[1]
    width = widths.reshape(shape)
    upper, lower = (means + widths).reshape(shape), (means - widths).reshape(shape)
    ordered = np.partition(upper, (size - m - 1, size - m), axis=1)
    border, below = ordered[:, size - m, None], ordered[:, size - m - 1, None]
    gap = np.where(upper >= border, below, border) - lower
    sets = np.zeros(shape, dtype=bool)
    smallest = gap.argmin(axis=1)[:, None] if m == 1 else np.argsort(gap, axis=1, kind="stable")[:, :m]
    np.put_along_axis(sets, smallest, True, 1)
    values = np.where(sets, gap, -np.inf).max(axis=1)
    outside = _widest(np.where(sets, -np.inf, upper), width)
    inside = _widest(np.where(sets, -lower, -np.inf), width)
    bandits = values.argmax(axis=0)
    episodes = np.arange(shape[2])
    outside, inside = outside[bandits, episodes], inside[bandits, episodes]
    slots = wider(outside, inside, width[bandits, outside, episodes], width[bandits, inside, episodes], tie, rng)
    flat = (bandits * size + slots) * shape[2] + episodes
    return Choice(sets.reshape(means.shape), values[bandits, episodes], flat)


def _widest(values: FloatArray, widths: FloatArray) -> IntArray:
    """Return the slots of largest value; of tied ones the widest, then the first."""
    best = values == values.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, widths, -1.0).argmax(axis=1))


def wider(
    u: IntArray, other: IntArray, u_width: FloatArray, other_width: FloatArray, tie: TieRule, rng: np.random.Generator
) -> IntArray:
    """Return the one of larger width, elementwise, of two positions or slots each."""
    takes_u = u_width > other_width
    tied = np.flatnonzero(u_width == other_width)
    if tied.size:
        takes_u[tied] = rng.random(tied.size) < 0.5 if tie == "random" else u[tied] < other[tied]
    return np.where(takes_u, u, other)


class SetRule(Protocol):
    """A sampling rule that keeps the arms to recommend.

    Attributes:
        arms: ``(N, k)`` arms of the slots, or None for all in their own order.
        sets: ``(k, N)`` bool.
    """

    arms: IntArray | None

    @property
    def sets(self) -> npt.NDArray[np.bool_]:
        """The arms to recommend, by slot."""


class StoppingSetRule(StoppingRule):
    """What rules of fixed confidence have in common: an episode stops once the value of its set is below epsilon.

    Attributes:
        sets: ``(k, N)`` bool, the arms to recommend, of all episodes.
    """

    def start(self, window: Statistics) -> None:
        """Let all episodes run."""
        episodes = window.means.shape[1]
        self._window = window
        self._episodes = np.arange(episodes)
        self.running = np.ones(episodes, dtype=bool)
        self.sets: npt.NDArray[np.bool_] = np.zeros(window.means.shape, dtype=bool)

    def keep(self, columns: IntArray, window: Statistics) -> None:
        """Go on with some episodes."""
        self._window = window
        self._episodes = self._episodes[columns]
        self.running = self.running[columns]

    def take(self, sets: npt.NDArray[np.bool_], values: FloatArray, epsilon: float) -> None:
        """Take over the sets of the moment, that of the end where the value ``(n,)`` says that an episode stops."""
        running = np.flatnonzero(self.running)
        self.sets[:, self._episodes[running]] = sets[:, running]
        self.running &= values >= epsilon


@dataclass(eq=False)
class _SelectingRule(SamplingRule):
    """Pulls what SELECT-ARM says, with all widths computed anew at every step.

    Args:
        steps: Number of pulls.
        widths: All widths of a window.
        m: Number of arms to find in each bandit.
        num_bandits: Number of bandits.
        tie: Tie rule.
        rng: Source of randomness for ties.
        arms: ``(N, k)`` arms of the slots, or None.
    """

    steps: int
    widths: Widths
    _: KW_ONLY
    m: int
    num_bandits: int
    tie: TieRule
    rng: np.random.Generator
    arms: IntArray | None
    _window: Statistics = field(init=False, repr=False)

    def choose(self) -> IntArray:
        """Return what the last rewards have led to."""
        return self._choice.flat

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Find the next arm to pull."""
        self._select()

    def _select(self) -> None:
        window = self._window
        self._choice = select_arm(window.means, self.widths(window), self.m, self.num_bandits, self.tie, self.rng)


@dataclass(eq=False, kw_only=True)
class BudgetRule(_SelectingRule):
    """UGapEb: for a fixed number of pulls.

    Args:
        keep_best: Whether the J of smallest value is recommended, not the last one.

    Attributes:
        sets: ``(k, N)`` bool, the arms to recommend.
    """

    keep_best: bool

    def start(self, window: Statistics) -> None:
        """Find the first arm to pull."""
        self._window = window
        self._best = np.full(window.means.shape[1], np.inf)
        self.sets: npt.NDArray[np.bool_] = np.zeros(window.means.shape, dtype=bool)
        self._select()

    def _select(self) -> None:
        super()._select()
        if self.keep_best:
            better = np.flatnonzero(self._choice.value < self._best)
            self._best[better] = self._choice.value[better]
            self.sets[:, better] = self._choice.sets[:, better]
        else:
            self.sets = self._choice.sets


@dataclass(eq=False, kw_only=True)
class ConfidenceRule(_SelectingRule, StoppingSetRule):
    """UGapEc: until the value of J is below epsilon.

    Args:
        epsilon: At least 0.
    """

    epsilon: float

    def start(self, window: Statistics) -> None:
        """Find the first arm to pull, where any is needed."""
        super().start(window)
        self._select()

    def keep(self, columns: IntArray, window: Statistics) -> None:
        """Go on with some episodes."""
        super().keep(columns, window)
        old, episodes = self._choice, np.arange(columns.size)
        slots = old.flat // old.flat.size
        flat = slots[columns] * columns.size + episodes
        self._choice = Choice(old.sets[:, columns], old.value[columns], flat)

    def _select(self) -> None:
        super()._select()
        self.take(self._choice.sets, self._choice.value, self.epsilon)


class OneBestRule(SamplingRule):
    """UGapEb for one best arm of one bandit, where the width of an arm depends on its own statistics alone.

    B_k is the largest U less L_k, but for the arm of largest U the second-largest U less its L. So J is the arm of
    largest L, where to the L of the arm of largest U the difference of the two largest U is added. A step touches the
    pulled arm, the two largest U and the arm that has the largest. Exact ties of U are told apart by the width where
    they concern the two alone.
    """

    def __init__(
        self,
        steps: int,
        widths: Widths,
        width: Callable[[FloatArray, FloatArray], FloatArray],
        *,
        keep_best: bool,
        refresh: int | None,
        tie: TieRule,
        rng: np.random.Generator,
        arms: IntArray | None,
    ) -> None:
        """Remember how widths are computed.

        Args:
            steps: Number of pulls.
            widths: All widths of a window, computed anew.
            width: Widths from pulls and variances, elementwise; the same as at the last call of ``widths``.
            keep_best: Whether the J of smallest value is recommended, not the last one.
            refresh: Pulls after which all widths are computed anew; None: never.
            tie: Tie rule.
            rng: Source of randomness for ties.
            arms: ``(N, k)`` arms of the slots, or None.
        """
        self.steps = steps
        self.arms = arms
        self._all_widths = widths
        self._width = width
        self._keep_best = keep_best
        self._refresh = refresh
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Fill the tables."""
        self._window = window
        self._made = 0
        self._best = np.full(window.means.shape[1], np.inf)
        self._set = np.zeros(window.means.shape[1], np.int64)
        self._fill()

    def choose(self) -> IntArray:
        """Return what the last rewards have led to."""
        return self._flat

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arms."""
        self._made += 1
        if self._refresh is not None and self._made % self._refresh == 0:
            self._fill()
            return
        widths = self._width(pulls, variances)
        upper, lower = means + widths, means - widths
        self._widths[flat] = widths
        self._upper[flat] = upper
        self._table.flat[flat] = lower
        np.copyto(self._first_lower, lower, where=flat == self._top.first)
        old = self._top.update(flat, upper)
        if old.size:
            episodes = old % flat.size
            self._table.flat[old] = self._first_lower[episodes]
            self._first_lower[episodes] = self._table.flat[self._top.first[episodes]]
        self._select()

    @property
    def sets(self) -> npt.NDArray[np.bool_]:
        """``(k, N)`` bool, the arms to recommend."""
        sets = np.zeros(self._window.means.shape, dtype=bool)
        sets.reshape(-1)[self._set] = True
        return sets

    def _fill(self) -> None:
        window = self._window
        widths = self._all_widths(window)
        upper, lower = window.means + widths, window.means - widths
        self._widths, self._upper = widths.reshape(-1), upper.reshape(-1)
        self._table = ArgmaxTable(lower, self._tie, self._rng)
        self._top = TopTwo(upper)
        self._first_lower = self._table.flat[self._top.first]
        self._select()

    def _select(self) -> None:
        top = self._top
        self._table.flat[top.first] = self._first_lower + (top.first_value - top.second_value)
        inside = self._table.argmax(self._window.pulls)
        value = top.first_value - self._table.top
        outside = np.where(inside == top.first, top.second, top.first)
        tied = np.flatnonzero((top.first_value == top.second_value) & (inside != top.first) & (inside != top.second))
        if tied.size:  # of two largest U the wider one
            first, second = top.first[tied], top.second[tied]
            outside[tied] = np.where(self._widths[second] > self._widths[first], second, first)
        self._flat = wider(outside, inside, self._widths[outside], self._widths[inside], self._tie, self._rng)
        if self._keep_best:
            better = value < self._best
            np.copyto(self._best, value, where=better)
            np.copyto(self._set, inside, where=better)
        else:
            self._set = inside
