"""Exact blocks: the outcomes of requests, drawn directly from the exact distribution of their statistics."""

from __future__ import annotations

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.bandits.draws import Draws, draws_of
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.sampling import Block, Current, Engine, Outcome, Part, Sequential, checked
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Blocks"]


class Blocks:
    """Plays requests by exact blocks, see :func:`bai_gym.sampling.execute`.

    Args:
        bandit: The instances.
        merged: Their statistics at the start, and the budget.
        rng: Source of the rewards.

    Attributes:
        merged: The statistics of whole requests.
        seen: The same and, during a request, those after each of its parts.
    """

    def __init__(
        self,
        bandit: Bandit,
        merged: MergedStatistics,
        rng: np.random.Generator,
    ) -> None:
        """Start before the first pull."""
        self.merged, self.seen = merged, Current(merged)
        self._bandit, self._rng = bandit, rng
        self._before: IntArray  # pulls before a rule
        self._engine: Engine
        self._draws: Draws | None
        self._made: Statistics  # by the parts of a block

    def play(self, asked: object) -> Statistics | Outcome:
        """Draw the outcome of a request; that of a part is the outcome of the request so far.

        Raises:
            AgentError: If the request is impossible.
        """
        merged, bandit = self.merged, self._bandit
        part = checked(asked, bandit.batch, bandit.num_arms, merged.left, merged.funds)
        request, then, spent = part.whole, merged if part.last else merged.copy(), part.end
        outcome: Statistics | Outcome
        if isinstance(request, Block):
            counts = request.counts if part.pulls is None else part.pulls
            variances = merged.has_variances
            outcome = bandit.pull_block(counts, self._rng, arms=request.arms, variances=variances)
            if part.pulls is not None:
                outcome = self._since_first(part, outcome)
            then.add(request.arms, outcome)
        else:
            outcome = self._sequential(part, request)
            if request.window is None:
                then.set(request.arms, outcome.statistics)
            else:
                then.add(request.arms, outcome.statistics, request.window)
            if part.last:
                spent = merged.funds.charge(merged.pulls - self._before, None, merged.left)
        then.spend(spent)
        self.seen.now = then
        return outcome

    def _since_first(self, part: Part, made: Statistics) -> Statistics:
        """Return the outcome of a block so far: the pulls of a part, with those of the parts before it."""
        if part.first:
            self._made = Statistics.zeros(made.pulls.shape)
        self._made.merge(*made.flat(), variances=self.merged.has_variances)
        return self._made

    def _sequential(self, part: Part, request: Sequential) -> Outcome:
        """Let a rule decide the pulls of a request, or of a part."""
        merged, bandit, arms = self.merged, self._bandit, request.arms
        if part.first:
            begin = request.window
            if begin is None:
                begin = merged.statistics if arms is None else merged.statistics.take(arms)
            self._before = merged.pulls
            totals = self._before.sum(axis=1) - merged.before
            made = merged.funds.pulls_made(merged.left, totals) + merged.before
            self._engine = Engine(request, begin, made, bandit.features, variances=merged.has_variances)
            self._draws = draws_of(bandit)

        def pull(rows: IntArray, slots: IntArray) -> FloatArray:
            named = slots if arms is None else arms[rows, slots]
            return bandit.pull(rows * bandit.num_arms + named, self._rng)

        self._engine.advance(self._draws, self._rng, part.end, pull)
        return self._engine.outcome
