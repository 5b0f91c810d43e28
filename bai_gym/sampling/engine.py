"""Plays the rule of a sequential agent: whole episodes in compiled code, or one step of a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bai_gym.bandits.table import ArmTable
from bai_gym.errors import AgentError
from bai_gym.sampling import player
from bai_gym.sampling.compiler import compile_rule, compiled_player, no_index, nothing
from bai_gym.sampling.episode import (
    ARMS,
    DUE,
    END,
    FEATURES,
    HEADER,
    LINE,
    LOST,
    MADE,
    NODES,
    PULLED,
    RUNNING,
    STATE,
    STOP,
    STOPPED,
    TIE,
    TO_FIRST,
    TREE,
    WAIT,
    WAITING,
    WIDTH,
    episode,
    int_width,
    lines,
    numbers_of,
)
from bai_gym.sampling.sequential import Outcome, Rule, Sequential, pull_leader
from bai_gym.sampling.state import State, States, sizes_of
from bai_gym.sampling.tournament import nodes
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["Engine"]


class Engine:
    """N episodes of a :class:`Sequential` request.

    Args:
        request: The request.
        statistics: ``(N, k)`` statistics of the candidates at the start.
        made: Pulls made in every episode so far; with a window, only those of the window count.
        features: ``(N, K, d)`` features of all arms; None: there are none.
        variances: Whether variances are kept.
    """

    def __init__(
        self, request: Sequential, statistics: Statistics, made: int, features: FloatArray | None, *, variances: bool
    ) -> None:
        """Lay out the rows of the episodes."""
        self._request, rule = request, request.rule
        batch, arms = statistics.pulls.shape
        made = made if request.window is None else int(request.window.pulls[0].sum())
        size = nodes(arms) if rule.index is not None else 2
        sizes = sizes_of(rule.state, request.values, arms, request.agent)
        ends = lines(len(rule.state.numbers)) + np.cumsum([lines(size) for size in sizes], dtype=np.int64)
        sections = np.array([[end - lines(size), size] for end, size in zip(ends, sizes, strict=True)], np.int64)
        width = lines(arms)
        at = LINE + 4 * width
        tree = at + (int(ends[-1]) if sizes else lines(len(rule.state.numbers)))
        self._floats = _rows(batch, lines(tree + 2 * size))
        self._ints = np.zeros((batch, int_width(arms, len(sizes))), np.int64)
        self._features = _features(features, request.arms, arms)
        head = self._ints[:, :HEADER]
        head[:, [ARMS, WIDTH, TREE, NODES]] = arms, width, tree, size
        head[:, FEATURES] = self._features.shape[2]
        head[:, [MADE, DUE, PULLED, END]] = made, made, -1, made + request.steps
        head[:, TIE] = TO_FIRST if request.tie == "first" else 0
        self._ints[:, HEADER : HEADER + arms] = 1
        self._ints[:, HEADER + arms :] = sections.ravel()
        self._stats = self._floats[:, LINE:at].reshape(batch, 4, width)[:, :, :arms]  # a view
        exact = statistics.sums
        whole = np.rint(exact)
        # Sums of whole rewards are whole, up to rounding in the means.
        sums = np.where(np.abs(exact - whole) <= 1e-9 * np.maximum(statistics.pulls, 1), whole, exact)
        for place, values in enumerate((statistics.pulls, statistics.means, statistics.variances, sums)):
            self._stats[:, place] = values
        self._states = States(rule.state, self._floats[:, at:tree], sections)
        for name, value in {**rule.state.defaults, **request.values}.items():
            _set(self._states[name], value, name, request.agent)
        self._has = (
            player.INDEXED * (rule.index is not None)
            | player.CHOOSES * (rule.choose is not None or rule.stops is not None)
            | player.REFRESHES * (rule.refresh is not None)
            | player.ONLY_DROPS * rule.only_drops
            | player.VARIANCES * variances
        )
        functions = compile_rule(rule, request.agent)
        self._player: Any = player if functions is None else compiled_player()
        self._compiled = functions is not None
        self._functions = functions or _uncompiled(rule)

    @property
    def _state(self) -> tuple[Any, ...]:
        return self._floats, self._ints, self._features, self._request.rng, *self._functions, self._has

    def advance(
        self,
        table: ArmTable | None,
        rng: np.random.Generator,
        steps: int,
        pull: Callable[[IntArray, IntArray], FloatArray],
    ) -> None:
        """Play until every episode has made a number of pulls since the start of the request, or has stopped.

        Args:
            table: All K arms, as compiled code draws from them; None: draw by ``pull``, in all episodes at a time.
            rng: Source of the rewards.
            steps: Pulls since the start.
            pull: Returns the ``(m,)`` rewards of ``(m,)`` slots of ``(m,)`` episodes.
        """
        until = int(self._ints[0, END]) - self._request.steps + steps
        if table is not None and self._compiled:
            arms = table.take(self._request.arms)
            while True:
                self._player.play(*arms, rng, *self._state, np.ones(5 * player.LANES), until)
                if not self._supply():
                    return
        while (self._ints[~self.stopped, MADE] < until).any():
            slots = self.choose()
            rows = np.flatnonzero(slots >= 0)
            rewards = np.zeros(slots.size)
            rewards[rows] = pull(rows, slots[rows])
            self.update(slots, rewards)

    def choose(self, *, supply: bool = True) -> IntArray:
        """Return the ``(N,)`` slots to pull next, ``STOP`` where the episode has ended.

        Args:
            supply: Whether episodes that wait are supplied; if not, ``WAIT`` is returned for them.
        """
        chosen = np.full(len(self._ints), WAIT)
        while True:
            with np.errstate(all="ignore"):
                self._player.choose_all(chosen, *self._state)
            if not (supply and self._supply()):
                return chosen

    def update(self, slots: IntArray, rewards: FloatArray) -> None:
        """Record ``(N,)`` rewards of the nonnegative slots."""
        indices, _, _ = self._functions
        with np.errstate(all="ignore"):
            self._player.update_all(slots, rewards, *self._state[:4], indices, self._has)

    def _supply(self) -> bool:
        """Supply waiting episodes; return whether there are any."""
        states = self._ints[:, STATE]
        if (states == LOST).any():
            arm, arms = self._ints[states == LOST, PULLED][0], self._stats.shape[2]
            chooser = getattr(self._request.rule.choose, "__qualname__", "choose")
            raise AgentError(f"{chooser} of {self._request.agent} chose arm {arm}; arms are numbered 0 to {arms - 1}")
        waiting = np.flatnonzero(states == WAITING)
        if waiting.size == 0:
            return False
        if self._request.supply is None:
            raise AgentError(f"choose of {self._request.agent} returned WAIT, and its request has no supply")
        self._request.supply(waiting, self._states, self.statistics)
        self._ints[waiting, STATE] = RUNNING
        return True

    @property
    def steps_made(self) -> int:
        """The most pulls that an episode has made since the start of the request."""
        return int(self._ints[:, MADE].max()) - int(self._ints[0, END]) + self._request.steps

    @property
    def statistics(self) -> Statistics:
        """``(N, k)`` statistics of the candidates, as copies."""
        pulls, means, variances = (self._stats[:, place].copy() for place in range(3))
        return Statistics(pulls.astype(np.int64), means, variances)

    @property
    def stopped(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """``(N,)`` bool: the episodes that the rule has ended."""
        return np.asarray(self._ints[:, STATE] == STOPPED)

    @property
    def active(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """``(N, k)`` bool: the arms that the rule has not dropped."""
        arms = self._stats.shape[2]
        return np.asarray(self._ints[:, HEADER : HEADER + arms] == 1)

    def state(self) -> tuple[FloatArray, IntArray]:
        """Return the rows of the episodes as copies, for :meth:`restore`; the generator is not part of them."""
        return self._floats.copy(), self._ints.copy()

    def restore(self, state: tuple[FloatArray, IntArray]) -> None:
        """Go back to an earlier state."""
        self._floats[...], self._ints[...] = state

    @property
    def outcome(self) -> Outcome:
        """The pulls so far."""
        return Outcome(self.statistics, self._states.copy(), self.stopped, self.active)


def _set(field: FloatArray, value: FloatArray | float, name: str, agent: str) -> None:
    """Set a field of all states to its initial value.

    Raises:
        AgentError: If the shapes do not agree.
    """
    try:
        field[...] = value
    except ValueError:
        raise AgentError(f"{name} of {agent} has the shape {np.shape(value)}, which is not {field.shape}") from None


def _rows(number: int, width: int) -> FloatArray:
    """Return rows of zeros, a multiple of a cache line wide, that begin with one."""
    numbers = np.zeros(number * width + LINE)
    start = -(numbers.ctypes.data // 8) % LINE
    return numbers[start : start + number * width].reshape(number, width)


def _features(features: FloatArray | None, arms: IntArray | None, k: int) -> FloatArray:
    """Return ``(N, k, d)`` features of the candidates, or ``(1, k, d)`` where all episodes have the same."""
    if features is None:
        return np.zeros((1, k, 0))
    if arms is not None:
        return np.ascontiguousarray(np.take_along_axis(features, arms[:, :, None], axis=1))
    same = features.strides[0] == 0 or len(features) == 1
    return np.ascontiguousarray(features[:1] if same else features)


def _uncompiled(rule: Rule) -> tuple[Any, Any, Any]:
    """Return the functions of a rule as the player calls them."""

    def state(f: FloatArray, q: IntArray) -> State:
        return rule.state(numbers_of(f, q), q[HEADER + q[ARMS] :].reshape(-1, 2))

    def indices(number: int, pulls: Any, means: Any, variances: Any, found: Any, p: Any, step: int) -> int:
        s = rule.state(p, np.zeros((0, 2), np.int64))
        for k in range(number):
            found[k] = (rule.index or no_index)(pulls[k], means[k], variances[k], s)
        return 0

    def choose(f: Any, q: Any, x: Any, rng: np.random.Generator) -> int:
        e, s = episode(f, q, x), state(f, q)
        if rule.stops is not None and rule.stops(e, s):
            return STOP
        return int((rule.choose or pull_leader)(e, s, rng))

    def refresh(f: Any, q: Any, x: Any, rng: np.random.Generator) -> int:
        return int((rule.refresh or nothing)(episode(f, q, x), state(f, q), rng))

    return indices, choose, refresh
