"""Makes the pulls of an index rule out of their order, many at a time, with exactly the law of one after another.

Where the index of an arm depends on its own rewards alone, the order of the pulls is known without making them in
that order. Give each pull of an arm a *rank*: the smallest index that the arm has had before it. An arm of rank r
waits until no other has a larger one; then it is pulled until its index falls below r. So pulls happen in the order of
falling ranks, and the first n pulls are the n of largest rank, whatever the order in which their rewards are drawn.

Arms are therefore pulled ahead of their time, several pulls at once, until it is certain that the n pulls of largest
rank are among those made. Then the others are taken back. What is taken back depends on the pulls before it alone, and
nothing follows, so the law stays what it is. For that the last two rounds of pulls of every arm are kept.

It takes rewards for which two arms have the same index with probability 0: exact ties are not broken by a rule here.
"""

from __future__ import annotations

import numpy as np

from bai_gym.bandits import Bandit
from bai_gym.sampling import IndexRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["can_go_ahead", "go_ahead"]

ROUND = 12  # pulls of an arm at once
_COUNT = np.arange(1.0, ROUND + 1)[:, None]
WORTHWHILE = 4 * ROUND  # pulls per arm from which on few are taken back: at most one round of each arm, mostly
TABLE = 65536  # entries of the tables of episodes that are played together, small enough for the cache


def can_go_ahead(rule: IndexRule, bandit: Bandit, start: Statistics) -> bool:
    """Return whether the pulls of a rule can be made ahead of their time, and whether it pays.

    Args:
        rule: A rule that does not read variances.
        bandit: The instances.
        start: ``(k, N)`` the window that the rule starts from.
    """
    return bandit.continuous and rule.steps >= WORTHWHILE * len(start.pulls) and bool(start.pulls.all())


def go_ahead(rule: IndexRule, bandit: Bandit, start: Statistics, rng: np.random.Generator) -> Statistics:
    """Make the pulls of a rule.

    Args:
        rule: What to do.
        bandit: The N instances.
        start: ``(N, k)`` the statistics that the rule starts from.
        rng: Source of the rewards.

    Returns:
        ``(N, k)`` statistics after the last pull, without variances.
    """
    episodes, arms = start.pulls.shape
    positions = (
        np.arange(episodes * arms).reshape(start.pulls.shape) if rule.arms is None else bandit.positions(rule.arms)
    )
    together = max(1, TABLE // arms)
    end = start.copy()
    for first in range(0, episodes, together):
        rows = slice(first, first + together)
        part = Statistics(start.pulls[rows], start.means[rows], start.variances[rows])
        tables = _Tables(rule, bandit, positions[rows], part, rows)
        tables.play(rng)
        end.pulls[rows], end.means[rows] = tables.first()
    return end


class _Tables:
    """Arms of some episodes, ``(n, k)``, each with what it takes to pull it ahead of its time."""

    def __init__(self, rule: IndexRule, bandit: Bandit, positions: IntArray, start: Statistics, rows: slice) -> None:
        self._rule = rule
        self._bandit = bandit
        self._positions = positions.reshape(-1)
        self._parameters = tuple(parameter[rows] for parameter in rule.parameters)
        columns = tuple(parameter[:, None] for parameter in self._parameters)
        self._arms = start.pulls.shape[1]
        self._start = start
        self._pulls = start.pulls.astype(np.float64).reshape(-1)
        self._sums = start.sums.reshape(-1)
        self._ranks: FloatArray = rule.index(start.pulls.astype(np.float64), start.means, start.variances, *columns)
        self._before = np.full(start.pulls.shape, np.inf)  # the rank before the last round
        self._made = np.zeros(len(start.pulls), np.int64)
        # Of the last two rounds of every arm, in no order: the rank of each pull, and the sum after it.
        self._side = np.zeros(self._sums.size, np.int64)
        self._kept_ranks = np.full((2 * self._sums.size, ROUND), np.inf)
        self._kept_sums = np.zeros((2 * self._sums.size, ROUND))

    def play(self, rng: np.random.Generator) -> None:
        """Pull until the wanted pulls are among those made."""
        levels = np.full(len(self._made), np.inf)
        live = np.arange(len(self._made))
        share = np.full(self._arms, 1.0 / self._arms)
        while live.size:
            every = live.size == len(self._made)
            ranks = self._ranks if every else self._ranks.take(live, axis=0)
            before = self._before if every else self._before.take(live, axis=0)
            top = ranks.max(axis=1)
            # Arms take turns: all above a level are pulled until none is. So a round has many of them.
            level = levels[live]
            level = np.where(top <= level, ranks @ share, level)
            levels[live] = level
            due = ranks > level[:, None]
            due &= before >= top[:, None]  # the pulls that this makes the arm forget are in their turn already
            due |= ranks == top[:, None]
            chosen = np.flatnonzero(due)
            rows = chosen // self._arms
            if not every:
                chosen += (live - np.arange(live.size)).take(rows) * self._arms
                rows = live.take(rows)
            self._pull(chosen, rows, rng)
            live = self._unfinished(live)

    def _unfinished(self, live: IntArray) -> IntArray:
        """Return the episodes with fewer pulls than wanted of at least the rank of any that has not been made."""
        close = live[self._made[live] >= self._rule.steps]
        if not close.size:
            return live
        top = self._ranks.take(close, axis=0).max(axis=1)
        kept = self._kept_ranks.reshape(len(self._made), -1).take(close, axis=0)
        in_turn = self._made[close] - np.count_nonzero(kept < top[:, None], axis=1)
        finished = np.zeros(len(self._made), dtype=bool)
        finished[close] = in_turn >= self._rule.steps
        return live[~finished[live]]

    def _pull(self, chosen: IntArray, rows: IntArray, rng: np.random.Generator) -> None:
        """Make a round of pulls of the arms at the chosen positions, which are in the given rows."""
        sums = self._bandit.pull_often(self._positions.take(chosen), ROUND, rng)
        sums[0] += self._sums.take(chosen)
        for pull in range(1, ROUND):  # faster than accumulate, which goes along the first axis one by one
            sums[pull] += sums[pull - 1]
        pulls = _COUNT + self._pulls.take(chosen)
        means = sums / pulls
        index = self._rule.index(pulls, means, means, *(parameter.take(rows) for parameter in self._parameters))
        ranks = means
        ranks[0] = self._ranks.reshape(-1).take(chosen)
        for pull in range(1, ROUND):
            np.minimum(ranks[pull - 1], index[pull - 1], out=ranks[pull])
        self._before.reshape(-1)[chosen] = ranks[0]
        self._ranks.reshape(-1)[chosen] = np.minimum(ranks[-1], index[-1])
        self._pulls[chosen] = pulls[-1]
        self._sums[chosen] = sums[-1]
        self._made += ROUND * np.bincount(rows, minlength=self._made.size)
        side = 1 - self._side.take(chosen)
        self._side[chosen] = side
        side += 2 * chosen
        self._kept_ranks[side] = ranks.T
        self._kept_sums[side] = sums.T

    def first(self) -> tuple[IntArray, FloatArray]:
        """Return ``(n, k)`` pulls and means after the wanted pulls, those of largest rank."""
        shape = self._ranks.shape
        excess = self._made - self._rule.steps
        kept = self._kept_ranks.reshape(*shape, 2 * ROUND)
        border = np.sort(kept.reshape(len(kept), -1), axis=1)[np.arange(len(kept)), np.maximum(excess - 1, 0)]
        border[excess == 0] = -np.inf
        back = np.count_nonzero(kept < border[:, None, None], axis=-1)
        # Pulls of one rank are those of one arm, made while its index had risen; the last of them are taken back.
        level = np.count_nonzero(kept == border[:, None, None], axis=-1)
        missing = (excess - back.sum(axis=1))[:, None]
        back += np.clip(missing - (level.cumsum(axis=1) - level), 0, level)
        pulls = self._pulls.reshape(shape).astype(np.int64) - back
        # The sum after the last pull that stays: the newer round is at the side of the arm.
        flat = back.reshape(-1)
        newer = flat < ROUND
        side = 2 * np.arange(flat.size) + np.where(newer, self._side, 1 - self._side)
        sums = self._kept_sums[side, ROUND - 1 - np.where(newer, flat, flat - ROUND)].reshape(shape)
        return pulls, np.where(pulls == self._start.pulls, self._start.means, sums / pulls)
