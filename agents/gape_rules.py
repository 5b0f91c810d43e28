"""The sampling rules of gap-based exploration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bai_gym.agents.top_two import TopTwo
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics
from bai_gym.theory import top_gaps

__all__ = ["AdaptiveGapRule", "GapRule", "ManyBanditsRule", "gap_rule"]


class GapRule(SamplingRule):
    """Pulls the arm of largest B = -gap + width, where the width depends on the arm's own statistics.

    Every gap changes when the best mean does, yet the choice needs little: adding the best mean to all B changes no
    comparison and leaves mean + width for all arms but the best, for which it leaves second-best mean + width. So a
    step touches the pulled arm's entry, that of the best arm, and the two best means.
    """

    def __init__(
        self,
        steps: int,
        width: Callable[[FloatArray, FloatArray], FloatArray],
        *,
        tie: TieRule,
        rng: np.random.Generator,
    ) -> None:
        """Remember the width, a function of pulls and variances, elementwise."""
        self.steps = steps
        self._width = width
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Compute all widths and find the two best means; every arm has been pulled."""
        self._pulls = window.pulls
        self._means = window.means.reshape(-1)
        widths = np.ascontiguousarray(self._width(window.pulls, window.variances))
        self._widths = widths.reshape(-1)
        self._table = ArgmaxTable(window.means + widths, self._tie, self._rng)
        self._top = TopTwo(window.means)
        self._set_first()

    def choose(self) -> IntArray:
        """Return the arms of largest B."""
        return self._table.argmax(self._pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arm and of the best one, and the two best means."""
        widths = self._width(pulls, variances)
        self._widths[flat] = widths
        self._table.flat[flat] = means + widths
        old = self._top.update(flat, means)
        self._table.flat[old] = self._means[old] + self._widths[old]
        self._set_first()

    @property
    def values(self) -> FloatArray:
        """``(k, N)`` mean + width, with the second-best mean for the best arm: B up to the best mean."""
        return self._table.values

    @property
    def best_mean(self) -> FloatArray:
        """``(N,)`` largest means."""
        return self._top.first_value

    def _set_first(self) -> None:
        first = self._top.first
        self._table.flat[first] = self._top.second_value + self._widths[first]


class ManyBanditsRule(SamplingRule):
    """Pulls the arm of largest B over all arms of several bandits, computing every B at every step."""

    def __init__(
        self, steps: int, index: Callable[[Statistics], FloatArray], *, tie: TieRule, rng: np.random.Generator
    ) -> None:
        """Remember the index, a function of the window."""
        self.steps = steps
        self._index = index
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Keep the window."""
        self._window = window
        self._table = ArgmaxTable(np.empty(window.means.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Compute all B and return the arms of the largest."""
        self._table.values[...] = self._index(self._window)
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Do nothing: the window has been updated."""


def gap_rule(
    steps: int,
    width: Callable[[FloatArray, FloatArray], FloatArray],
    num_bandits: int,
    *,
    tie: TieRule,
    rng: np.random.Generator,
) -> SamplingRule:
    """Return the rule that pulls the arm of largest B = -gap + width, for one bandit or several."""
    if num_bandits == 1:
        return GapRule(steps, width, tie=tie, rng=rng)

    def index(window: Statistics) -> FloatArray:
        return width(window.pulls, window.variances) - top_gaps(window.means.T, 1, num_bandits).T

    return ManyBanditsRule(steps, index, tie=tie, rng=rng)


class AdaptiveGapRule(SamplingRule):
    """Pulls the arm of largest B = -gap + width, where the width depends on an estimate of the complexity H.

    H, and with it every B, may change with every reward. What an arm contributes of its own is kept in tables, of which
    a step renews one entry per episode; for the rest a step is a few operations on all arms.

    H increases the estimated gaps by a margin m. The table of a :class:`GapRule` whose width is -m holds mean - m
    (second-best mean - m for the best arm). Then best mean - table is gap + m, and table + m + width is B up to the
    best mean, which changes no comparison.
    """

    def __init__(
        self,
        steps: int,
        margin: Callable[[FloatArray], FloatArray],
        terms: Callable[[FloatArray, FloatArray], FloatArray],
        index: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None],
        *,
        tie: TieRule,
        rng: np.random.Generator,
    ) -> None:
        """Remember the three functions.

        Args:
            steps: Number of pulls.
            margin: m, a function of pulls, elementwise.
            terms: ``(terms, ...)`` quantities that ``index`` needs, a function of pulls and variances, elementwise.
            index: Called with gap + m (which it may overwrite), the table mean - m, the terms, and the array that it
                sets to B up to a constant of the episode; all but the terms ``(k, N)``.
            tie: Tie rule.
            rng: Source of randomness for ties.
        """
        self.steps = steps
        self._terms_of = terms
        self._index = index
        self._tie: TieRule = tie
        self._rng = rng
        self._gaps = GapRule(steps, lambda pulls, variances: -margin(pulls), tie=tie, rng=rng)

    def start(self, window: Statistics) -> None:
        """Fill the tables; every arm has been pulled."""
        self._pulls = window.pulls
        self._gaps.start(window)
        self._terms = np.ascontiguousarray(self._terms_of(window.pulls, window.variances))
        self._flat_terms = self._terms.reshape(len(self._terms), -1)
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)
        self._upper = np.empty(window.pulls.shape)

    def choose(self) -> IntArray:
        """Compute all indices and return the arms of the largest."""
        best = self._gaps.best_mean
        # Raised by the last digits, so that a margin lost in rounding does not make a divisor of 0.
        np.subtract(best + 2.0 * np.spacing(np.abs(best)), self._gaps.values, out=self._upper)
        self._index(self._upper, self._gaps.values, self._terms, self._table.values)
        return self._table.argmax(self._pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the entries of the pulled arms."""
        self._gaps.update(flat, pulls, means, variances)
        self._flat_terms[:, flat] = self._terms_of(pulls, variances)
