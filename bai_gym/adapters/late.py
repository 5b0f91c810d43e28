"""Plays an agent that expects every reward before its next pull where rewards arrive late, round by round.

The agent's plan becomes a plan of one block per round. Where the agent decides before some rewards have arrived, their
pulls count, with rewards at the mean of those of the arm that have arrived: the hallucinated observations of Desautels,
Krause and Burdick (2014). When the rewards arrive they replace the assumed
ones: in the statistics that the agent reads, and in the state of its rule. Only rewards that have arrived end an
episode.

The rewards of a round arrive as statistics of each arm. A rule, which learns reward by reward, receives rewards with
the same mean and variance in their place. An agent whose requests are whole rounds plays as if there were no adapter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import override

from bai_gym.common.rounds import Rounds
from bai_gym.envs.actions import ActionEncoding
from bai_gym.problems import ProblemInfo
from bai_gym.rewards import Rewards
from bai_gym.sampling.block import Block
from bai_gym.sampling.engine import Engine
from bai_gym.sampling.episode import STOP
from bai_gym.sampling.plans import Plan, Start, execute
from bai_gym.sampling.requests import Part, check_request
from bai_gym.sampling.sequential import Outcome, Sequential
from bai_gym.sampling.stepper import Stepper
from bai_gym.statistics import AnyArray, BoolArray, FloatArray, IntArray, Observation, Statistics

__all__ = ["acting", "delayed", "late", "stepper_of", "with_assumed"]


def late(begin: Start, rounds: Rounds, rewards: Rewards) -> Start:
    """Return a plan of blocks, each of which is a round, from one that expects every reward at once: an adapter.

    Where rewards arrive at once, the plan is the same.

    The outcome of a block is the statistics of the rewards that have arrived since the previous one, and the
    observation is that of the rewards that have arrived. Where a rule has ended an episode, blocks have no pulls of it.

    Args:
        begin: Starts the plan.
        rounds: When rewards arrive.
        rewards: The kind of rewards.
    """
    if not rounds.late:
        return begin
    return lambda seen: _LatePlan(begin, seen, rounds, rewards).play()


def delayed(begin: Start, rounds: Rounds) -> Start:
    """Return a plan of rounds whose rewards arrive late, for a source that gives them at once: an adapter.

    Args:
        begin: Starts the plan, whose blocks are rounds, as :func:`late` makes them; it is executed by
            :class:`bai_gym.benchmark.blocks.Blocks`.
        rounds: When rewards arrive. Where they arrive at once, the plan is the same.
    """
    if not rounds.late:
        return begin

    def started(seen: Any) -> Plan:
        arrived, under_way = seen.now.copy(), deque[Statistics]()

        def play(asked: Part) -> Generator[Part, Statistics, Statistics]:
            made = yield asked
            outcome = Statistics.zeros(made.pulls.shape)
            arrived.spend(arrived.left - seen.now.left)
            if not asked.last:
                return outcome
            under_way.append(made)
            while under_way and (arrived.left == 0 or len(under_way) > rounds.delay):
                made = under_way.popleft()
                arrived.add(None, made)
                outcome.merge(*made.flat())
            return outcome

        return (yield from execute(begin(arrived), play))

    return started


def stepper_of(agent: Any, encoding: ActionEncoding, info: ProblemInfo) -> Stepper:
    """Return what plays an agent that has been reset, one pull per step, whenever rewards arrive.

    Args:
        agent: The agent.
        encoding: The action encoding.
        info: What the agent has received at its reset.
    """
    return Stepper(agent, encoding, partial(late, rounds=info.rounds, rewards=info.rewards))


def acting(agent: Any, info: ProblemInfo) -> Callable[[Observation], Any]:
    """Return the ``act`` of an agent that has been reset, as it plays where rewards arrive late.

    An agent that knows of pulls whose rewards are pending declares ``reads_pending = True``. For any other they count,
    see :func:`with_assumed`.
    """
    act: Callable[[Observation], Any] = agent.act
    if not info.rounds.late or getattr(agent, "reads_pending", False):
        return act
    return lambda observation: act(with_assumed(observation, info.rewards))


def with_assumed(observation: Observation, rewards: Rewards) -> dict[str, AnyArray]:
    """Return an observation in which pending pulls count, for agents that only have ``act``.

    Args:
        observation: Has ``pending``.
        rewards: The kind of rewards.
    """
    pulls, means = _assume(observation["pulls"], observation["means"], observation["pending"], rewards)
    return {**{name: observation[name] for name in observation if name != "pending"}, "pulls": pulls, "means": means}


class _Parcel(NamedTuple):
    """Rewards that have arrived together: those of the pulls from ``begin`` to ``end`` (excluded)."""

    begin: int
    end: int
    statistics: Statistics


class _View(Mapping[str, AnyArray]):
    """The observation as the agent sees it: pulls whose rewards are pending count, too."""

    def __init__(self, seen: Observation, pending: IntArray, rewards: Rewards) -> None:
        self._seen, self._pending, self._rewards = seen, pending, rewards
        self.unsent = 0  # pulls that the agent has requested, and the observation does not know of

    @override
    def __getitem__(self, key: str) -> AnyArray:
        if key in ("pulls", "means"):
            return _assume(self._seen["pulls"], self._seen["means"], self._pending, self._rewards)[key == "means"]
        return np.asarray(self._seen[key] - self.unsent) if key == "remaining" else self._seen[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return (name for name in self._seen if name != "pending")

    @override
    def __len__(self) -> int:
        return sum(1 for _ in self)


class _LatePlan:
    """The state of :func:`late`."""

    def __init__(self, begin: Start, seen: Observation, rounds: Rounds, rewards: Rewards) -> None:
        self._begin, self._seen, self._rounds, self._rewards = begin, seen, rounds, rewards
        self._budget = int(seen["remaining"].flat[0])
        shape = seen["pulls"].shape
        self._pending: IntArray = np.zeros(shape, np.int64)
        self._view = _View(seen, self._pending, rewards)
        self._round: IntArray = np.zeros(shape, np.int64)  # pulls of the current round so far
        self._made = self._arrived = 0  # pulls of an episode that has not ended, and rewards

    def play(self) -> Plan:
        """Yield rounds, and return the agent's recommendation."""
        recommendation = yield from execute(self._begin(self._view), self._play)
        if self._round.any():
            yield _round(self._round)
        return recommendation

    def _play(self, asked: object) -> Generator[Part, Statistics, Statistics | Outcome]:
        """Yield the rounds of a request, and return its outcome."""
        batch, num_arms = self._pending.shape
        request, pulls = check_request(asked, batch, num_arms, self._budget - self._made)
        if isinstance(request, Block):
            return (yield from self._block(request, pulls))
        return (yield from self._sequential(request))

    def _pull(self, flat: IntArray, counts: IntArray | int, pulls: int) -> Generator[Part, Statistics, _Parcel | None]:
        """Make pulls of the arms at flat positions in the current round; at its end, return the rewards that arrive."""
        self._round.reshape(-1)[flat] += counts
        self._pending.reshape(-1)[flat] += counts
        self._made += pulls
        self._view.unsent += pulls
        if self._made % self._rounds.batch_size and self._made < self._budget:
            return None
        made, self._round, self._view.unsent = self._round, np.zeros_like(self._round), 0
        statistics = yield _round(made)
        begin, self._arrived = self._arrived, self._rounds.arrived(self._made, self._budget)
        np.maximum(self._pending - statistics.pulls, 0, out=self._pending)  # where it has ended, it may have idle pulls
        return _Parcel(begin, self._arrived, statistics) if self._arrived > begin else None

    def _block(self, block: Block, pulls: int) -> Generator[Part, Statistics, Statistics]:
        """Make the pulls of a block, and return their statistics."""
        made = Statistics.zeros(self._pending.shape)
        pending: deque[tuple[int, IntArray]] = deque()
        ends = range(self._rounds.left(self._made, self._budget), pulls, self._rounds.batch_size)
        for counts in block.parts(ends) if pulls else ():
            part = _of_all(counts, block.arms, made.pulls.shape)
            pending.append((self._made, part))
            flat = np.flatnonzero(part)
            parcel = yield from self._pull(flat, part.take(flat), int(counts[0].sum()))
            while parcel and pending and pending[0][0] < parcel.end:
                made.merge(*_part(parcel.statistics, pending.popleft()[1], self._rewards).flat())
        if pending:
            requested = _of_all(block.counts, block.arms, made.pulls.shape)
            means = np.where(made.pulls > 0, made.means, self._view["means"])
            made = Statistics(
                requested, _rounded(means, requested, requested > made.pulls, self._rewards), made.variances
            )
        return made if block.arms is None else made.take(block.arms)

    def _sequential(self, request: Sequential) -> Generator[Part, Statistics, Outcome]:
        """Let a rule decide the pulls of each round in advance, and then learn their rewards."""
        begin, older, first = Statistics.of(self._seen).copy(), self._pending.copy(), self._made
        engine = self._engine(request, begin, older)
        exact, base = not older.any() or request.window is not None, engine.state()
        shape = engine.active.shape
        arms = np.broadcast_to(np.arange(shape[1]), shape) if request.arms is None else request.arms
        pending: deque[IntArray] = deque()  # slots of the pulls whose rewards have not arrived
        stopped, rows = np.zeros(len(older), bool), np.arange(len(older))
        parcel: _Parcel | None = None
        replay = True
        while self._made - first < request.steps:
            slots = engine.choose()
            if replay:
                stopped |= slots == STOP
                if stopped.all():
                    break
                assumed = _StandIns(np.take_along_axis(self._view["means"], arms, 1), None, None, self._rewards)
                for past in pending:
                    engine.update(past := np.where(stopped, STOP, past), assumed.next(past))
                    slots = engine.choose()
            if ((slots < 0) & ~stopped).any():  # it would stop, or end, with the assumed rewards
                fewest = np.where(engine.active, engine.statistics.pulls, np.iinfo(np.int64).max).argmin(axis=1)
                slots = np.where(slots < 0, fewest, slots)
            slots = np.where(stopped, STOP, slots)
            engine.update(slots, assumed.next(slots))
            pending.append(slots)
            there = rows[~stopped]
            parcel = yield from self._pull(there * older.shape[1] + arms[there, slots[there]], 1, 1)
            replay = parcel is not None
            if parcel is None:
                continue
            own = [pending.popleft() for _ in range(max(parcel.end - max(parcel.begin, first), 0))]
            made = np.zeros(shape, np.int64)
            for slots in own:
                made[rows[slots >= 0], slots[slots >= 0]] += 1
            known = parcel.statistics
            if exact:
                engine.restore(base)
            else:  # the rewards of older requests come first
                others = _part(known, known.pulls - _of_all(made, request.arms, older.shape), self._rewards)
                known = known.since(others)
                begin.merge(*others.flat())
                older -= others.pulls
                exact = not older.any()
                engine = self._engine(request, begin, older)
            known = known.take(arms)
            told = _StandIns(known.means, known.variances, made, self._rewards)
            for slots in own:
                engine.choose()  # some rules learn the last reward when they choose
                engine.update(slots := np.where(stopped, STOP, slots), told.next(slots))
            base = engine.state()
        if stopped.all():
            engine.restore(base)
        return replace(engine.outcome, stopped=stopped)

    def _engine(self, request: Sequential, arrived: Statistics, pending: IntArray) -> Engine:
        """Return the rule at the start of its request, given what was pending then and has arrived since."""
        window = request.window
        if window is None:
            window = Statistics(*_assume(arrived.pulls, arrived.means, pending, self._rewards), arrived.variances)
            window = window if request.arms is None else window.take(request.arms)
        made = int((arrived.pulls + pending).sum(axis=1).max())
        return Engine(request, window, made, self._seen.get("features"), variances="variances" in self._seen)


def _round(counts: IntArray) -> Part:
    """Return a round as a request that needs no check: episodes that have ended have no pulls."""
    return Part(Block(counts), int(counts.sum(axis=1).max()))


class _StandIns:
    """Rewards that have given means and variances, in place of those of which nothing else is known.

    Args:
        means: ``(N, k)`` means.
        variances: ``(N, k)`` unbiased variances; None: 0.
        counts: ``(N, k)`` how many rewards of each arm have them; None: any number, all near the mean.
        rewards: The kind of rewards, which they keep.
    """

    def __init__(
        self, means: FloatArray, variances: FloatArray | None, counts: IntArray | None, rewards: Rewards
    ) -> None:
        self._means, self._rewards = means, rewards
        self._place: IntArray = np.zeros(means.shape, np.int64)
        self._last: IntArray = np.zeros(means.shape, np.int64) if counts is None else counts - 1
        self._spread: FloatArray = np.zeros(means.shape)
        if variances is not None and counts is not None:
            pairs = np.maximum(counts // 2, 1)
            spread = np.sqrt(variances * np.maximum(counts - 1, 0) / (2 * pairs))
            self._spread = np.minimum(spread, np.minimum(means - rewards.low, rewards.high - means))

    def next(self, slots: IntArray) -> FloatArray:
        """Return the next reward of the ``(N,)`` slots; 0 for negative ones."""
        rows = np.arange(slots.size)
        mean, place = self._means[rows, slots], self._place[rows, slots]
        self._place[rows, slots] = place + 1
        if self._rewards.kind == "binary":  # ones at equal distances
            found = np.floor(mean * (place + 1) + 0.5) - np.floor(mean * place + 0.5)
        else:  # in pairs around the mean; the last of an odd number is the mean
            sign = np.where(place % 2 == 1, -1.0, np.where(place == self._last[rows, slots], 0.0, 1.0))
            found = mean + sign * self._spread[rows, slots]
        return np.where(slots < 0, 0.0, found)


def _assume(pulls: IntArray, means: FloatArray, pending: IntArray, rewards: Rewards) -> tuple[IntArray, FloatArray]:
    """Return ``(..., K)`` pulls and means in which pending pulls count.

    Their rewards are near the mean of the arm. An arm of which no reward has arrived is assumed to be an average one.
    """
    made = pulls.sum(axis=-1, keepdims=True)
    middle = 0.5 * (rewards.low + rewards.high) if np.isfinite(rewards.width) else 0.0
    average = np.where(made > 0, (pulls * means).sum(axis=-1, keepdims=True) / np.maximum(made, 1), middle)
    assumed = np.where((pulls == 0) & (pending > 0), average, means)
    return pulls + pending, _rounded(assumed, pulls + pending, pending > 0, rewards)


def _rounded(means: FloatArray, pulls: IntArray, where: BoolArray, rewards: Rewards) -> FloatArray:
    """Return means that rewards of the kind can have: sums of zeros and ones are whole."""
    if rewards.kind != "binary":
        return means
    return np.where(where, np.rint(means * pulls) / np.maximum(pulls, 1), means)


def _of_all(counts: IntArray, arms: IntArray | None, shape: tuple[int, ...]) -> IntArray:
    """Return ``(N, k)`` counts of candidates as ``(N, K)`` counts of all arms."""
    if arms is None:
        return counts
    full = np.zeros(shape, np.int64)
    np.put_along_axis(full, arms, counts, axis=1)
    return full


def _part(parcel: Statistics, counts: IntArray, rewards: Rewards) -> Statistics:
    """Return so many of the rewards of each arm in a parcel, which are not told apart."""
    means = np.where(counts > 0, parcel.means, 0.0)
    return Statistics(counts, _rounded(means, counts, counts < parcel.pulls, rewards), parcel.variances)
