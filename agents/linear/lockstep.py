"""Several plans as one: groups of episodes with different schedules pull in lockstep."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from bai_gym.agents.base import Plan
from bai_gym.agents.tools.choosing import spread_evenly
from bai_gym.errors import AgentError
from bai_gym.sampling import Block, TieRule, execute
from bai_gym.statistics import IntArray, Statistics

__all__ = ["grouped", "in_lockstep"]


class _Group:
    """One plan, its episodes, and what is left of the block that it waits for."""

    def __init__(self, rows: IntArray, plan: Plan, num_arms: int) -> None:
        self.rows = rows
        self.recommendation: IntArray | None = None  # what the plan has returned, once it has ended
        self.pulls = 0  # that each episode has left of the block
        self._made: Statistics  # of the block, of all K arms
        self._left: IntArray
        self._shape = rows.size, num_arms
        self._played = self._play_out(plan)
        next(self._played, None)

    def _play_out(self, plan: Plan) -> Generator[None, None, None]:
        self.recommendation = yield from execute(plan, self._play)

    def _play(self, request: object) -> Generator[None, None, Statistics]:
        """Wait until all pulls of a block have been made."""
        if not isinstance(request, Block):
            raise AgentError("plans that run in lockstep may ask for blocks only")
        self._made = Statistics.zeros(self._shape)
        self._left = request.counts.copy()
        if request.arms is not None:
            self._left = np.zeros(self._shape, np.int64)
            np.put_along_axis(self._left, request.arms, request.counts, axis=-1)
        self.pulls = int(self._left[0].sum())
        if self.pulls:
            yield
        return self._made if request.arms is None else self._made.take(request.arms)

    def take(self, pulls: int) -> IntArray:
        """Return counts of as many of the pulls that are left: those of the first arms."""
        before = np.cumsum(self._left, axis=-1) - self._left
        return np.asarray(np.clip(pulls - before, 0, self._left))

    def update(self, part: Statistics) -> None:
        """Add the ``(m, K)`` statistics of pulls that have been made; where none is left, continue the plan."""
        self._made.merge(*part.flat())
        self._left -= part.pulls
        self.pulls -= int(part.pulls[0].sum())
        if self.pulls == 0:
            next(self._played, None)


def in_lockstep(
    groups: Sequence[tuple[IntArray, Plan]], batch: int, num_arms: int, tie: TieRule, rng: np.random.Generator
) -> Plan:
    """Yield blocks that serve all groups, each of which sees its own blocks and outcomes; return all recommendations.

    Pulls of a block are independent, so it may be made in parts: each joint block is as long as the shortest part that
    a group still waits for. If a group ends before the others, its episodes make further pulls that are ignored, shared
    equally among the arms; once all have ended, the rest of the budget is not spent.

    Args:
        groups: The ``(m,)`` episodes of each group, and its plan, which may yield blocks only: of these episodes,
            equally many pulls in each. It returns their ``(m,)`` recommendations.
        batch: N, the number of all episodes; every one is in one group.
        num_arms: K.
        tie: How ignored pulls are shared.
        rng: Source of randomness.

    Raises:
        AgentError: If a plan yields anything but a block.
    """
    if len(groups) == 1:
        return (yield from groups[0][1])
    parts = [_Group(rows, plan, num_arms) for rows, plan in groups]
    while any(part.pulls for part in parts):
        pulls = min(part.pulls for part in parts if part.pulls)
        counts = np.empty((batch, num_arms), np.int64)
        running = [part for part in parts if part.pulls]
        for part in parts:
            idle = not part.pulls
            counts[part.rows] = spread_evenly(part.rows.size, num_arms, pulls, tie, rng) if idle else part.take(pulls)
        statistics = yield Block(counts)
        for part in running:
            rows = part.rows
            part.update(Statistics(statistics.pulls[rows], statistics.means[rows], statistics.variances[rows]))
    recommendations = np.empty(batch, np.int64)
    for part in parts:
        recommendations[part.rows] = np.asarray(part.recommendation)
    return recommendations


def grouped(keys: IntArray) -> list[tuple[int, IntArray]]:
    """Return the different ones of ``(N,)`` keys, ascending, each with the ``(m,)`` episodes that have it."""
    return [(int(key), np.flatnonzero(keys == key)) for key in np.unique(keys)]
