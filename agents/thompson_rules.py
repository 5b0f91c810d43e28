"""The sampling rules of Thompson sampling and of top-two Thompson sampling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bai_gym.agents.posteriors import Posterior
from bai_gym.sampling import ArgmaxTable, SamplingRule, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["ThompsonRule", "TopTwoRule"]

NONE = -1  # in place of a slot


class ThompsonRule(SamplingRule):
    """Pulls the arm of the largest draw from the posteriors.

    Args:
        steps: Number of pulls.
        model: Makes the posteriors from the window.
        tie: Tie rule; ties happen between posteriors of a single point.
        rng: Source of randomness.
    """

    def __init__(
        self, steps: int, model: Callable[[Statistics], Posterior], *, tie: TieRule, rng: np.random.Generator
    ) -> None:
        """Remember the model."""
        self.steps = steps
        self._model = model
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Compute the posteriors; every arm has had its first pulls."""
        self._window = window
        self._posterior = self._model(window)
        self._table = ArgmaxTable(np.empty(window.pulls.shape), self._tie, self._rng)

    def choose(self) -> IntArray:
        """Draw, and return the arms of the largest values."""
        self._posterior.draw(self._rng, self._table.values)
        return self._table.argmax(self._window.pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Renew the posteriors of the pulled arms."""
        self._posterior.update(flat, pulls, means, variances)


class TopTwoRule(ThompsonRule):
    """Pulls the arm I of the largest draw, or the best of a later draw in which another arm is the best.

    Draws are repeated up to ``tries`` times. The first ``PLAIN`` of them are draws of all arms. An episode that has not
    found another arm by then has a clear leader, which most arms have no chance to beat; how the remaining draws are
    made there, see :meth:`_screened`, has the same law and takes a fraction of the time.
    """

    PLAIN = 10
    SCREENED = 20  # of the remaining draws, how many are made at first

    def __init__(
        self,
        steps: int,
        model: Callable[[Statistics], Posterior],
        beta: float,
        tries: int,
        *,
        tie: TieRule,
        rng: np.random.Generator,
    ) -> None:
        """Remember beta, the probability of pulling I, and how often to draw for another arm, too."""
        super().__init__(steps, model, tie=tie, rng=rng)
        self._beta = beta
        self._tries = tries

    def choose(self) -> IntArray:
        """Draw, and draw again where the best arm is not the one to be pulled."""
        chosen = super().choose()
        batch = chosen.size
        waiting = np.flatnonzero(self._rng.random(batch) >= self._beta)
        leaders = chosen[waiting] // batch
        made = 0
        while waiting.size and made < self._tries:
            if made < self.PLAIN:
                # The fewer episodes are left, the more draws each gets at once; of these the first success counts.
                tries = min(self.PLAIN - made, self._tries - made, max(1, max(batch, 200) // (4 * waiting.size)))
                slots = self._plain(leaders, waiting, tries)
            else:
                tries = min(self._tries - made, max(self.SCREENED, made))
                slots = self._screened(leaders, waiting, tries)
            made += tries
            found = slots != NONE
            chosen[waiting[found]] = slots[found] * batch + waiting[found]
            waiting, leaders = waiting[~found], leaders[~found]
        if waiting.size:
            chosen[waiting] = self._cheapest(leaders, waiting) * batch + waiting
        return chosen

    def _plain(self, leaders: IntArray, columns: IntArray, tries: int) -> IntArray:
        """Return the largest arm of the first of some draws in which that is not the leader, or ``NONE``.

        Args:
            leaders: ``(m,)`` slots.
            columns: ``(m,)`` episodes.
            tries: How many draws.

        Returns:
            ``(m,)`` slots.
        """
        repeated = np.tile(columns, tries)
        table = ArgmaxTable(self._posterior.draw_columns(repeated, self._rng), self._tie, self._rng)
        pulls = self._window.pulls.take(repeated, axis=1) if self._tie == "first" else self._window.pulls
        best = (table.argmax(pulls) // repeated.size).reshape(tries, columns.size)
        other = best != leaders
        return np.where(other.any(axis=0), best[other.argmax(axis=0), np.arange(columns.size)], NONE)

    def _screened(self, leaders: IntArray, columns: IntArray, tries: int) -> IntArray:
        """Do the same, most of the arms being out before they are drawn.

        All draws of the leader are made first. With q_j the probability that a draw of arm j exceeds the smallest of
        them, arm j matters if the smallest of ``tries`` uniform numbers is below q_j. Only then its draws are made,
        under the condition that this is so. An upper bound of q_j rules out most arms without computing q_j.
        """
        result = np.full(columns.size, NONE)
        tied = self._tied(leaders, columns)
        if tied.any():  # what follows takes equal draws for a win of the leader
            result[tied] = self._plain(leaders[tied], columns[tied], tries)
            result[~tied] = self._screened(leaders[~tied], columns[~tied], tries)
            return result
        batch = self._window.means.shape[1]
        draws = self._posterior.draw_pairs(leaders * batch + columns, tries, self._rng)
        levels = draws.min(axis=0)
        smallest = -np.expm1(self._rng.standard_exponential((len(self._window.means), columns.size)) / -tries)
        matters = self._posterior.exceed_bound(levels, columns) > smallest
        matters[leaders, np.arange(columns.size)] = False
        slots, rows = np.nonzero(matters)
        chances = self._posterior.exceed(levels[rows], slots * batch + columns[rows])
        kept = chances > smallest[slots, rows]
        slots, rows, chances = slots[kept], rows[kept], chances[kept]
        times, pairs, values = self._exceeding(
            slots * batch + columns[rows], levels[rows], chances, smallest[matters][kept], tries
        )
        wins = values > draws[times, rows[pairs]]
        times, pairs, values = times[wins], pairs[wins], values[wins]
        order = np.lexsort((-values, times, rows[pairs]))
        episodes, first = np.unique(rows[pairs[order]], return_index=True)
        result[episodes] = slots[pairs[order[first]]]
        return result

    def _exceeding(
        self, flat: IntArray, levels: FloatArray, chances: FloatArray, smallest: FloatArray, tries: int
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Make the draws of some arms, given that each arm has one above its level.

        Args:
            flat: ``(P,)`` arms, positions ``slot * N + episode``.
            levels: ``(P,)`` the levels.
            chances: ``(P,)`` probabilities of a draw above the level.
            smallest: ``(P,)`` the smallest of ``tries`` uniform numbers for each arm, below ``chances``.
            tries: Draws of each arm.

        Returns:
            The draws above the level: their numbers, from 0 to tries - 1, their arms, from 0 to P - 1, and values.
        """
        rng, often = self._rng, chances * tries > 1.0
        # Rarely above: draws are uniform numbers below which a draw exceeds its value; few of them are looked up.
        seldom = np.flatnonzero(~often)
        uniform = rng.random((tries, seldom.size))
        uniform *= 1.0 - smallest[seldom]
        uniform += smallest[seldom]
        uniform[rng.integers(tries, size=seldom.size), np.arange(seldom.size)] = smallest[seldom]
        times, which = np.nonzero(uniform < chances[seldom])
        values = self._posterior.exceeded_with(uniform[times, which], flat[seldom[which]])
        # Often above: draws as usual, repeated for an arm that has none.
        many = np.flatnonzero(often)
        draws = self._posterior.draw_pairs(flat[many], tries, rng)
        without = np.flatnonzero(draws.max(axis=0) <= levels[many])
        while without.size:
            draws[:, without] = self._posterior.draw_pairs(flat[many[without]], tries, rng)
            without = without[draws[:, without].max(axis=0) <= levels[many[without]]]
        more_times, more_which = np.nonzero(draws > levels[many])
        return (
            np.concatenate([times, more_times]),
            np.concatenate([seldom[which], many[more_which]]),
            np.concatenate([values, draws[more_times, more_which]]),
        )

    def _tied(self, leaders: IntArray, columns: IntArray) -> npt.NDArray[np.bool_]:
        """Return where the leader's posterior and another one are the same single point."""
        certain = self._posterior.certain(columns)
        episodes = np.arange(columns.size)
        if certain is None or not certain[leaders, episodes].any():
            return np.zeros(columns.size, dtype=bool)
        means = self._window.means.take(columns, axis=1)
        same = certain & (means == means[leaders, episodes])
        return np.asarray(certain[leaders, episodes] & (np.count_nonzero(same, axis=0) > 1))

    def _cheapest(self, leaders: IntArray, columns: IntArray) -> IntArray:
        """Return the slots, in the episodes ``columns``, of the arms cheapest to confuse with ``leaders``."""
        pulls = self._window.pulls.take(columns, axis=1)
        means = self._window.means.take(columns, axis=1)
        spread = self._posterior.variances(columns) / pulls
        episodes = np.arange(columns.size)
        costs = means[leaders, episodes] - means
        costs *= costs
        costs /= spread[leaders, episodes] + spread
        costs[leaders, episodes] = np.inf
        return ArgmaxTable(-costs, self._tie, self._rng).argmax(pulls) // columns.size
