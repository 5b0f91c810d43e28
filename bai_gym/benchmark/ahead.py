"""Makes the pulls of an index rule out of their order, many at a time, with exactly the law of one after another.

Where the index of an arm depends on its own rewards alone, the order of the pulls is known without making them in
that order. Give each pull of an arm a *rank*: the smallest index that the arm has had before it. An arm of rank r
waits until no other has a larger one; then it is pulled until its index falls below r. So pulls happen in the order of
falling ranks, and the first n pulls are the n of largest rank, whatever the order in which their rewards are drawn.

Arms are therefore pulled ahead of their time, several pulls at once, until it is certain that the n pulls of largest
rank are among those made. Then the others are taken back. What is taken back depends on the pulls before it alone, and
nothing follows, so the law stays what it is. For that the last two rounds of pulls of every arm are kept.

Where arms are dropped once their index is negative, pulls of negative rank are never made, and an episode may stop
early. Stages that change the index come one after the other, each with ranks of its own.

It takes rewards for which two arms have the same index with probability 0: exact ties are not broken by a rule here.
"""

from __future__ import annotations

import threading

import numpy as np
import numpy.typing as npt

from bai_gym.bandits import Bandit
from bai_gym.sampling import IndexRule, StagedIndexRule
from bai_gym.sampling.rule import IndexFunction
from bai_gym.statistics import FloatArray, IntArray, Statistics, zeros

__all__ = ["can_go_ahead", "go_ahead", "go_ahead_in_stages"]

ROUND = 16  # pulls of an arm at once
ROUND_OF_STAGES = 12  # the same where pulls are taken back at the end of every stage
_COUNT = np.arange(1.0, ROUND + 1)[:, None]
WORTHWHILE = 3 * ROUND  # pulls per arm from which on few are taken back: at most one round of each arm, mostly
LARGE = 32_000_000  # bytes, just below the largest threshold that glibc takes on
TABLE = 65536  # entries of the tables of episodes that are played together, small enough for the cache


def can_go_ahead(rule: IndexRule | StagedIndexRule, bandit: Bandit, start: Statistics) -> bool:
    """Return whether the pulls of a rule can be made ahead of their time, and whether it pays.

    Args:
        rule: The rule.
        bandit: The instances.
        start: ``(k, N)`` the window that the rule starts from.
    """
    if isinstance(rule, StagedIndexRule) and rule.afterwards is not None:
        return False
    return bandit.continuous and rule.steps >= WORTHWHILE * len(start.pulls) and bool(start.pulls.all())


def go_ahead(
    rule: IndexRule, bandit: Bandit, start: Statistics, rng: np.random.Generator, *, variances: bool = False
) -> Statistics:
    """Make the pulls of a rule.

    Args:
        rule: What to do.
        bandit: The N instances.
        start: ``(N, k)`` the statistics that the rule starts from.
        rng: Source of the rewards.
        variances: Whether variances are computed, and given to the index.

    Returns:
        ``(N, k)`` statistics after the last pull; without ``variances``, those are 0.
    """
    episodes, arms = start.pulls.shape
    positions = (
        np.arange(episodes * arms).reshape(start.pulls.shape) if rule.arms is None else bandit.positions(rule.arms)
    )
    together = max(1, TABLE // arms)
    end, memory = start.copy(), _Memory.of(min(together, episodes) * arms)
    for first in range(0, episodes, together):
        rows = slice(first, first + together)
        part = Statistics(start.pulls[rows], start.means[rows], start.variances[rows])
        parameters = tuple(parameter[rows] for parameter in rule.parameters)
        steps = np.full(len(part.pulls), rule.steps)
        tables = _Tables(rule.index, parameters, bandit, positions[rows], part, steps, memory, variances=variances)
        tables.play(rng)
        end.pulls[rows], end.means[rows], spread = tables.first()
        if variances:
            end.variances[rows] = spread
    return end


def go_ahead_in_stages(
    rule: StagedIndexRule, bandit: Bandit, start: Statistics, rng: np.random.Generator
) -> Statistics:
    """Make the pulls of a rule that drops arms, of which an episode may have fewer than the rule has steps.

    Args:
        rule: What to do.
        bandit: The N instances.
        start: ``(N, K)`` the statistics that the rule starts from.
        rng: Source of the rewards.

    Returns:
        ``(N, K)`` statistics after the last pull.
    """
    episodes, arms = start.pulls.shape
    together = max(1, TABLE // arms)
    end, memory = start.copy(), _Memory.of(min(together, episodes) * arms)
    positions = np.arange(episodes * arms).reshape(start.pulls.shape)
    for first in range(0, episodes, together):
        rows = slice(first, first + together)
        part = Statistics(start.pulls[rows], start.means[rows], start.variances[rows])
        done = _play_stages(rule, bandit, positions[rows], part, memory, rng)
        end.pulls[rows], end.means[rows], end.variances[rows] = done.pulls, done.means, done.variances
    return end


def _play_stages(
    rule: StagedIndexRule,
    bandit: Bandit,
    positions: IntArray,
    start: Statistics,
    memory: _Memory,
    rng: np.random.Generator,
) -> Statistics:
    now = start.copy()
    episodes, arms = start.pulls.shape
    made = start.pulls.sum(axis=1)
    limit = made + rule.steps
    rows = np.arange(episodes)
    active = np.ones((episodes, arms), dtype=bool)
    ends = limit
    if rule.lengths.size:
        ends = np.minimum(limit, arms * rule.lengths[0])
    for stage, factor in enumerate(rule.factors):
        factors = np.full(rows.size, factor)
        steps = np.maximum(ends - made[rows], 1)  # a stage has a pull even where its end has passed before it begins
        part = Statistics(now.pulls[rows], now.means[rows], now.variances[rows])
        ranks = rule.index(part.pulls.astype(np.float64), part.means, part.variances, factors[:, None])
        ranks[~active[rows]] = -np.inf
        lost = np.flatnonzero(ranks.max(axis=1) < 0.0)
        if lost.size:  # the new stage has made all indices negative: arms are dropped after a pull
            chosen = lost * arms + ranks[lost].argmax(axis=1)
            part.add(chosen, bandit.pull(positions[rows].take(chosen), rng))
            pulls, means, variances = (a.take(chosen) for a in (part.pulls, part.means, part.variances))
            ranks[lost] = -np.inf
            ranks.reshape(-1)[chosen] = rule.index(pulls.astype(np.float64), means, variances, factors[lost])
            steps[lost] -= 1
        ready = np.flatnonzero((ranks.max(axis=1) >= 0.0) & (steps > 0))
        if ready.size:
            kept = Statistics(part.pulls[ready], part.means[ready], part.variances[ready])
            tables = _Tables(
                rule.index,
                (factors[ready],),
                bandit,
                positions[rows[ready]],
                kept,
                steps[ready],
                memory,
                variances=True,
                floor=0.0,
                ranks=ranks[ready],
                by_deviations=rule.by_deviations,
            )
            tables.play(rng)
            part.pulls[ready], part.means[ready], part.variances[ready] = tables.first()
        now.pulls[rows], now.means[rows], now.variances[rows] = part.pulls, part.means, part.variances
        made[rows] = part.pulls.sum(axis=1)
        index = rule.index(part.pulls.astype(np.float64), part.means, part.variances, factors[:, None])
        active[rows] &= (ranks > -np.inf) & (index >= 0.0)
        rows = rows[active[rows].any(axis=1) & (made[rows] < limit[rows])]
        if not rows.size:
            break
        if stage + 1 < rule.lengths.size:
            ends = np.minimum(limit[rows], made[rows] + active[rows].sum(axis=1) * rule.lengths[stage + 1])
        else:
            ends = limit[rows]
    return now


class _Memory:
    """What is kept of the last two rounds of every arm: for many tables one after the other, since new memory is dear.

    Args:
        arms: Arms of the largest table.

    Attributes:
        ranks: ``(2 arms, pulls of a round)``, flat: the rank of each pull. The two rounds of an arm are in no order.
        rewards: Of the same form: what each pull paid, less the origin of the arm.
    """

    _last = threading.local()

    def __init__(self, arms: int) -> None:
        self.ranks: FloatArray = np.zeros(2 * arms * ROUND)
        self.rewards: FloatArray = np.zeros(2 * arms * ROUND)

    @classmethod
    def of(cls, arms: int) -> _Memory:
        """Return the memory of this thread, for at least so many arms."""
        last: _Memory | None = getattr(cls._last, "memory", None)
        if last is None or last.ranks.size < 2 * arms * ROUND:
            last = cls._last.memory = cls(arms)
            # The C library gives large arrays back to the system at once, where to get new ones takes as long as to
            # fill them. What counts as large in glibc is the largest that was ever freed: free one.
            np.empty(LARGE, np.uint8)
        return last


class _Tables:
    """Arms of some episodes, ``(n, k)``, each with what it takes to pull it ahead of its time.

    Args:
        index: The index.
        parameters: ``(n,)`` arrays, further arguments of it.
        bandit: The instances.
        positions: ``(n, k)`` positions of the arms in it.
        start: ``(n, k)`` statistics to start from.
        steps: ``(n,)`` pulls to make.
        memory: Where the last rounds are kept.
        variances: Whether variances are computed, and given to the index.
        floor: Pulls of a smaller rank are not made, so that there may be fewer of them than steps.
        ranks: ``(n, k)`` ranks to start from, -inf for arms that are not to be pulled; None: the index of each arm.
        by_deviations: See :class:`bai_gym.sampling.StagedIndexRule`.
    """

    def __init__(
        self,
        index: IndexFunction,
        parameters: tuple[FloatArray, ...],
        bandit: Bandit,
        positions: IntArray,
        start: Statistics,
        steps: IntArray,
        memory: _Memory,
        *,
        variances: bool,
        floor: float = -np.inf,
        ranks: FloatArray | None = None,
        by_deviations: IndexFunction | None = None,
    ) -> None:
        self._index = index
        self._by_deviations = by_deviations
        self._parameters = parameters
        self._bandit = bandit
        self._positions = positions.reshape(-1)
        self._steps = steps
        self._floor = floor
        self._arms = start.pulls.shape[1]
        self._start = start
        self._pulls = start.pulls.astype(np.float64).reshape(-1)
        # With variances, sums are those of the distances to the mean at the start, and squares are theirs.
        self._origin = start.means.reshape(-1) if variances else None
        self._sums = np.zeros(self._pulls.size) if variances else start.sums.reshape(-1)
        self._squares = (start.variances * np.maximum(start.pulls - 1, 0)).reshape(-1)
        if ranks is None:
            columns = tuple(parameter[:, None] for parameter in parameters)
            ranks = index(start.pulls.astype(np.float64), start.means, start.variances, *columns)
        self._ranks: FloatArray = ranks
        self._before = np.full(start.pulls.shape, np.inf)  # the rank before the last round
        self._made = np.zeros(len(start.pulls), np.int64)
        self._look_at = steps.copy()  # pulls from which on an episode may be finished
        self._side = np.zeros(self._sums.size, np.int64)  # which of the two rounds kept of an arm is the newer one
        self._round = ROUND if floor == -np.inf else ROUND_OF_STAGES
        kept = 2 * self._sums.size * self._round
        self._kept_ranks = memory.ranks[:kept].reshape(-1, self._round)
        self._kept_ranks.fill(np.inf)  # no pull is to be taken back
        self._kept_rewards = memory.rewards[:kept].reshape(-1, self._round)

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
            reached = np.flatnonzero(top <= levels[live])
            if reached.size:
                levels[live[reached]] = self._middle(ranks if reached.size == live.size else ranks[reached], share)
            due = ranks >= np.minimum(levels[live], top)[:, None]
            due &= before >= top[:, None]  # the pulls that this makes the arm forget are in their turn already
            chosen = np.flatnonzero(due)
            rows = chosen // self._arms
            if not every:
                chosen += (live - np.arange(live.size)).take(rows) * self._arms
                rows = live.take(rows)
            self._pull(chosen, rows, rng)
            live = self._unfinished(live)

    def _middle(self, ranks: FloatArray, share: FloatArray) -> FloatArray:
        """Return the mean rank of the arms that may be pulled."""
        if self._floor == -np.inf:
            return np.asarray(ranks @ share)
        open_ = ranks >= self._floor
        return np.asarray(np.where(open_, ranks, 0.0).sum(axis=1) / open_.sum(axis=1))

    def _unfinished(self, live: IntArray) -> IntArray:
        """Return the episodes with fewer pulls than wanted of at least the rank of any that has not been made."""
        finished = np.zeros(len(self._made), dtype=bool)
        if self._floor > -np.inf:
            finished[live] = self._ranks.take(live, axis=0).max(axis=1) < self._floor
        close = live[self._made[live] >= self._look_at[live]]
        if close.size:
            top = self._ranks.take(close, axis=0).max(axis=1)
            kept = self._kept_ranks.reshape(len(self._made), -1).take(close, axis=0)
            missing = self._steps[close] - self._made[close] + np.count_nonzero(kept < top[:, None], axis=1)
            finished[close] |= missing <= 0
            # To look is dear. A pull that is missing may have been made, and only have to wait for others.
            self._look_at[close] = self._made[close] + np.maximum(missing // 4, 1)
        return live[~finished[live]]

    def _pull(self, chosen: IntArray, rows: IntArray, rng: np.random.Generator) -> None:
        """Make a round of pulls of the arms at the chosen positions, which are in the given rows."""
        sums = self._bandit.pull_often(self._positions.take(chosen), self._round, rng)
        if self._origin is not None:
            sums -= self._origin.take(chosen)
        side = 1 - self._side.take(chosen)
        self._side[chosen] = side
        side += 2 * chosen
        self._kept_rewards[side] = sums.T
        squares = sums
        if self._origin is not None:
            squares = sums * sums
            squares[0] += self._squares.take(chosen)
        sums[0] += self._sums.take(chosen)
        for pull in range(1, self._round):  # faster than accumulate, which goes along the first axis one by one
            sums[pull] += sums[pull - 1]
            if self._origin is not None:
                squares[pull] += squares[pull - 1]
        pulls = _COUNT[: self._round] + self._pulls.take(chosen)
        means = sums / pulls
        variances = means
        if self._origin is not None:
            variances = sums * means
            np.subtract(squares, variances, out=variances)
            np.maximum(variances, 0.0, out=variances)
            if self._by_deviations is None:
                variances /= pulls - 1.0
            means += self._origin.take(chosen)
        compute = self._by_deviations or self._index
        index = compute(pulls, means, variances, *(parameter.take(rows) for parameter in self._parameters))
        ranks = means
        ranks[0] = self._ranks.reshape(-1).take(chosen)
        for pull in range(1, self._round):
            np.minimum(ranks[pull - 1], index[pull - 1], out=ranks[pull])
        self._before.reshape(-1)[chosen] = ranks[0]
        self._ranks.reshape(-1)[chosen] = np.minimum(ranks[-1], index[-1])
        self._pulls[chosen] = pulls[-1]
        self._sums[chosen] = sums[-1]
        self._made += self._round * np.bincount(rows, minlength=self._made.size)
        self._kept_ranks[side] = ranks.T
        if self._origin is not None:
            self._squares[chosen] = squares[-1]

    def first(self) -> tuple[IntArray, FloatArray, npt.NDArray[np.float64]]:
        """Return ``(n, k)`` pulls, means and variances after the wanted pulls, those of largest rank."""
        shape = self._ranks.shape
        excess = self._made - self._steps
        kept = self._kept_ranks.reshape(*shape, 2 * self._round)
        border = np.full(len(kept), -np.inf)
        for row in np.flatnonzero(excess > 0).tolist():  # to sort all rows at once would take longer
            border[row] = np.partition(kept[row], excess[row] - 1, axis=None)[excess[row] - 1]
        border = np.maximum(border, self._floor)
        back = np.count_nonzero(kept < border[:, None, None], axis=-1)
        # Pulls of one rank are those of one arm, made while its index had risen; the last of them are taken back.
        level = np.count_nonzero(kept == border[:, None, None], axis=-1)
        missing = np.maximum(excess - back.sum(axis=1), 0)[:, None]
        back += np.clip(missing - (level.cumsum(axis=1) - level), 0, level)
        pulls = self._pulls.reshape(shape).astype(np.int64) - back
        # The last pulls of the newer round go first, then those of the older one.
        flat = back.reshape(-1)
        arm, place = np.arange(flat.size), np.arange(self._round)
        sums, squares = self._sums.copy(), self._squares.copy()
        for side, taken in (
            (self._side, np.minimum(flat, self._round)),
            (1 - self._side, np.maximum(flat - self._round, 0)),
        ):
            some = np.flatnonzero(taken)
            rewards = self._kept_rewards[(2 * arm + side)[some]]
            rewards *= place >= self._round - taken[some, None]
            sums[some] -= rewards.sum(axis=1)
            if self._origin is not None:
                rewards *= rewards
                squares[some] -= rewards.sum(axis=1)
        means = sums.reshape(shape) / pulls
        untouched = pulls == self._start.pulls
        if self._origin is None:
            return pulls, np.where(untouched, self._start.means, means), zeros(shape)
        spread = squares.reshape(shape) - pulls * means**2
        spread = np.maximum(spread, 0.0) / np.maximum(pulls - 1, 1)
        means += self._origin.reshape(shape)
        return (
            pulls,
            np.where(untouched, self._start.means, means),
            np.where(untouched, self._start.variances, spread),
        )
