"""Exact blocks: the outcomes of requests, drawn directly from the exact distribution of their statistics."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import numpy as np
from typing_extensions import override

from bai_gym.bandits import Bandit
from bai_gym.bandits.draws import Draws
from bai_gym.benchmark.merged import MergedStatistics
from bai_gym.costs import spent_on
from bai_gym.errors import AgentError
from bai_gym.rounds import Rounds
from bai_gym.sampling import (
    Block,
    Current,
    Engine,
    Outcome,
    Part,
    Plan,
    Request,
    Sequential,
    Start,
    check_money,
    check_priced_request,
    check_request,
    execute,
)
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Blocks", "PricedBlocks", "delayed"]


class Blocks:
    """Plays requests by exact blocks, see :func:`bai_gym.sampling.execute`.

    Args:
        bandit: The instances.
        merged: Their statistics at the start, and the budget.
        rng: Source of the rewards.
        unequal: Whether episodes that have ended may have no pulls in a block.

    Attributes:
        merged: The statistics of whole requests.
        seen: The same and, during a request, those after each of its parts.
    """

    def __init__(
        self,
        bandit: Bandit,
        merged: MergedStatistics,
        rng: np.random.Generator,
        *,
        unequal: bool = False,
    ) -> None:
        """Start before the first pull."""
        self.merged, self.seen = merged, Current(merged)
        self._bandit, self._rng, self._unequal = bandit, rng, unequal
        self._budget = merged["remaining"].flat[0]
        self._earlier = int(merged.pulls[0].sum())
        self._engine: Engine
        self._draws: Draws | None
        self._made: Statistics  # by the parts of a block

    def play(self, asked: object) -> Generator[None, None, Statistics | Outcome]:
        """Draw the outcome of a request; that of a part is the outcome of the request so far.

        Raises:
            AgentError: If the request is impossible.
        """
        yield from ()  # nothing is needed from outside
        part = asked if isinstance(asked, Part) else Part(*self._checked(asked))
        request, then = part.whole, self.merged if part.last else self.merged.copy()
        outcome: Statistics | Outcome
        if isinstance(request, Block):
            outcome = self._block(part, request)
            then.add(request.arms, outcome)
        else:
            outcome = self._sequential(part, request)
            if request.window is None:
                then.set(request.arms, outcome.statistics)
            else:
                then.add(request.arms, outcome.statistics, request.window)
        then.spend(self._spent(part))
        self.seen.now = then
        return outcome

    def _checked(self, asked: object) -> tuple[Request, int]:
        """Return a request, and its pulls in every episode (at most)."""
        batch, num_arms = self._bandit.batch, self._bandit.num_arms
        return check_request(asked, batch, num_arms, self.merged.left, unequal=self._unequal)

    def _spent(self, part: Part) -> Any:
        """Return what a request has taken from the budget so far: its pulls."""
        rule_ended = part.last and isinstance(part.whole, Sequential)
        return self._engine.steps_made if rule_ended else part.end

    def _pulls_made(self) -> int:
        """Return the pulls before a rule, in every episode."""
        return int(self._budget - self.merged.left) + self._earlier

    def _block(self, part: Part, block: Block) -> Statistics:
        """Pull a block, or what a part has of it."""
        bandit, variances = self._bandit, self.merged.has_variances
        counts, order = (block.counts, block.order) if part.pulls is None else part.pulls
        made = bandit.pull_block(counts, self._rng, arms=block.arms, variances=variances, order=order)
        if part.pulls is None:
            return made
        if part.first:
            self._made = Statistics.zeros(counts.shape)
        self._made.merge(*made.flat(), variances=variances)
        return self._made

    def _sequential(self, part: Part, request: Sequential) -> Outcome:
        """Let a rule decide the pulls of a request, or of a part."""
        merged, bandit, arms = self.merged, self._bandit, request.arms
        if part.first:
            begin = request.window
            if begin is None:
                begin = merged.statistics if arms is None else merged.statistics.take(arms)
            self._engine = Engine(request, begin, self._pulls_made(), bandit.features, variances=merged.has_variances)
            self._draws = bandit.draws()

        def pull(rows: IntArray, slots: IntArray) -> FloatArray:
            named = slots if arms is None else arms[rows, slots]
            return bandit.pull(rows * bandit.num_arms + named, self._rng)

        self._engine.advance(self._draws, self._rng, part.end, pull)
        return self._engine.outcome


class PricedBlocks(Blocks):
    """The same where arms have costs and the budget is money: episodes may make different numbers of pulls.

    Args:
        bandit: The instances.
        merged: Their statistics at the start, and the money.
        rng: Source of the rewards.
        costs: ``(K,)`` costs of the arms.
    """

    def __init__(self, bandit: Bandit, merged: MergedStatistics, rng: np.random.Generator, costs: FloatArray) -> None:
        """Start before the first pull."""
        super().__init__(bandit, merged, rng)
        self._costs = costs

    @override
    def _checked(self, asked: object) -> tuple[Request, int]:
        batch, num_arms, left = self._bandit.batch, self._bandit.num_arms, self.merged.left[:, 0]
        request = check_priced_request(asked, batch, num_arms, left, self._costs, self._budget)
        return request, 0 if isinstance(request, Block) else request.steps

    @override
    def _spent(self, part: Part) -> FloatArray:
        """Return the ``(N,)`` money."""
        if isinstance(block := part.whole, Block):
            return spent_on(block.counts, self._costs if block.arms is None else self._costs[block.arms])
        spent = spent_on(self.merged.pulls - self._before, self._costs)
        check_money(spent, self.merged.left[:, 0], self._budget)
        return spent

    @override
    def _pulls_made(self) -> int:
        self._before = self.merged.pulls
        totals = self._before.sum(axis=1)
        if (totals != totals[0]).any():
            raise AgentError("a sequential request needs equally many pulls before it in every episode of a batch")
        return int(totals[0])


def delayed(begin: Start, rounds: Rounds) -> Start:
    """Return a plan of rounds whose rewards arrive late, for a source that gives them at once: an adapter.

    Args:
        begin: Starts the plan, whose blocks are rounds, as :func:`bai_gym.sampling.late` makes them; it is executed by
            :class:`Blocks`.
        rounds: When rewards arrive.
    """

    def started(seen: Any) -> Plan:
        arrived, under_way = seen.now.copy(), deque[Statistics]()

        def play(asked: Block | Part) -> Generator[Block | Part, Statistics, Statistics]:
            made = yield asked
            outcome = Statistics.zeros(made.pulls.shape)
            arrived.spend(arrived.left - seen.now.left)
            if isinstance(asked, Part) and not asked.last:
                return outcome
            under_way.append(made)
            while under_way and (arrived.left == 0 or len(under_way) > rounds.delay):
                made = under_way.popleft()
                arrived.add(None, made)
                outcome.merge(*made.flat())
            return outcome

        return (yield from execute(begin(arrived), play))

    return started
