"""Plays the rule of a sequential agent: whole episodes in compiled code, or one step of a batch at a time."""

from __future__ import annotations

import math
import os
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bai_gym.bandits.draws import Draws, naming
from bai_gym.errors import AgentError, BaiGymError
from bai_gym.sampling import index, loops
from bai_gym.sampling.compiler import Loops, NotCompiledError, can_compile, compile_loops
from bai_gym.sampling.episode import TO_FIRST, WAIT
from bai_gym.sampling.sequential import Outcome, Rule, Sequential
from bai_gym.sampling.state import State, initial_states
from bai_gym.statistics import BoolArray, FloatArray, IntArray, Statistics

__all__ = ["Engine"]

COMPILED_FROM = 40_000  # below, plain Python has ended before a loop is compiled; results are the same bit for bit
NOT_COMPILED: set[tuple[Rule, str]] = set()  # rules that cannot be compiled, of which there has been a warning


class Engine:
    """N episodes of a :class:`Sequential` request.

    Args:
        request: The request.
        statistics: ``(N, k)`` statistics of the candidates at the start.
        made: Pulls made in every episode so far; with a window, only those of the window count.
        features: ``(N, K, d)`` features of all arms; None: there are none.
        variances: Whether variances are kept.

    Raises:
        AgentError: If the index of the rule raises or does not return a number, or an initial value has no field or
            not its shape.
    """

    def __init__(
        self, request: Sequential, statistics: Statistics, made: int, features: FloatArray | None, *, variances: bool
    ) -> None:
        """Lay out the episodes."""
        self._request, rule = request, request.rule
        with _naming_line(rule, request.agent):
            _check_index(rule.index, rule.state, request.agent)
        batch, arms = statistics.pulls.shape
        made = made if request.window is None else int(request.window.pulls[0].sum())
        exact = statistics.sums
        whole = np.rint(exact)
        # Sums of whole rewards are whole, up to rounding in the means.
        sums = np.where(np.abs(exact - whole) <= 1e-9 * np.maximum(statistics.pulls, 1), whole, exact)
        given = (statistics.pulls, statistics.means, statistics.variances, sums)
        self._pulls, self._means, self._variances, self._sums = (np.array(x, np.float64, order="C") for x in given)
        self._active = np.ones((batch, arms), np.int8)
        self._features = _features(features, request.arms, arms)
        blocks = 0 if rule.index is None else -(-arms // index.BLOCK)
        self._indices, self._largest = np.full((batch, index.BLOCK * blocks), -np.inf), np.zeros((batch, blocks))
        self._progress = np.tile([made, made, -1, loops.RUNNING], (batch, 1))
        self._last = np.zeros(batch)
        self._end = made + request.steps
        self._keeps_variances = variances
        self._states = initial_states(rule.state, request.values, batch, arms, request.agent)
        work = (
            batch * request.steps * arms * max(self._features.shape[2], 1)
        )  # pulls, and what a rule may read for each
        self._plain = work < COMPILED_FROM or not can_compile() or (rule, request.agent) in NOT_COMPILED
        self._loops: dict[str, Loops] = {}

    @property
    def _arguments(self) -> tuple[Any, ...]:
        """What every loop receives, see :data:`bai_gym.sampling.loops.ARGUMENTS`."""
        numbers = self._states.numbers
        return (
            *(self._pulls, self._means, self._variances, self._sums, self._active, self._features),
            *(self._indices, self._largest, self._progress, self._last),
            numbers.view(np.recarray) if self._plain else numbers,
            tuple(self._states.arrays.values()) or (np.zeros((len(self._last), 0)),),
            *(self._end, TO_FIRST if self._request.tie == "first" else 0, self._request.rng, self._keeps_variances),
        )

    def advance(
        self,
        draws: Draws | None,
        rng: np.random.Generator,
        steps: int,
        pull: Callable[[IntArray, IntArray], FloatArray],
    ) -> None:
        """Play until every episode has made a number of pulls since the start of the request, or has stopped.

        Args:
            draws: How the loop draws rewards of all K arms; None: draw by ``pull``, in all episodes at a time.
            rng: Source of the rewards.
            steps: Pulls since the start.
            pull: Returns the ``(m,)`` rewards of ``(m,)`` slots of ``(m,)`` episodes.
        """
        until = self._end - self._request.steps + steps
        if draws is not None:
            arms = () if (drawn := _drawn(draws, self._request.arms)) is None else (drawn,)
            while True:
                with naming(draws):
                    self._call("play", tuple(draws.arms), *arms, rng, until, draws=draws)
                if not self._supply():
                    return
        while (self._progress[~self.stopped, loops.MADE] < until).any():
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
        chosen = np.full(len(self._last), WAIT)
        while True:
            self._call("choose_all", chosen)
            if not (supply and self._supply()):
                return chosen

    def update(self, slots: IntArray, rewards: FloatArray) -> None:
        """Record ``(N,)`` rewards of the nonnegative slots."""
        self._call("update_all", slots, rewards)

    def _call(self, name: str, *arguments: Any, draws: Draws | None = None) -> None:
        """Call a loop; as plain Python, where it cannot be compiled.

        Raises:
            AgentError: If a function of the rule raises, with the line.
        """
        rule, agent = self._request.rule, self._request.agent
        if not self._plain:
            try:
                return self._loops_with(draws).call(name, *arguments, *self._arguments)
            except NotCompiledError as error:
                self._plain = True
                self._loops.clear()
                NOT_COMPILED.add((rule, agent))
                why = f"{error.function} of {agent} cannot be compiled ({error})"
            self._try_choice()  # a mistake that Python does not run either is reported as such
            warnings.warn(
                f"{why}: it runs uncompiled, slowly; use numbers, NumPy arrays, math and plain functions of module "
                "level only",
                stacklevel=2,
            )
        with _naming_line(rule, agent):
            self._loops_with(draws).call(name, *arguments, *self._arguments)

    def _try_choice(self) -> None:
        """Let the rule choose once as plain Python, and forget the choice."""
        before, random = self.state(), self._request.rng.bit_generator.state
        self._call("choose_all", np.full(len(self._last), WAIT))
        self.restore(before)
        self._request.rng.bit_generator.state = random

    def _loops_with(self, draws: Draws | None) -> Loops:
        """Return the loops, found once: what they are depends on all that the rule refers to."""
        kind = "steps" if draws is None else "play"
        if kind not in self._loops:
            request = self._request
            has_arms = request.arms is not None or (draws is not None and draws.order is not None)
            self._loops[kind] = loops_of(request.rule, request.agent, draws, has_arms, plain=self._plain)
        return self._loops[kind]

    def _supply(self) -> bool:
        """Supply waiting episodes; return whether there are any."""
        states = self._progress[:, loops.STATE]
        if (states == loops.LOST).any():
            arm, arms = self._progress[states == loops.LOST, loops.PULLED][0], self._pulls.shape[1]
            chooser = getattr(self._request.rule.choose, "__qualname__", "choose")
            raise AgentError(f"{chooser} of {self._request.agent} chose arm {arm}; arms are numbered 0 to {arms - 1}")
        waiting = np.flatnonzero(states == loops.WAITING)
        if waiting.size == 0:
            return False
        if self._request.supply is None:
            raise AgentError(f"choose of {self._request.agent} returned WAIT, and its request has no supply")
        self._request.supply(waiting, self._states, self.statistics)
        self._progress[waiting, loops.STATE] = loops.RUNNING
        return True

    @property
    def statistics(self) -> Statistics:
        """``(N, k)`` statistics of the candidates, as copies."""
        return Statistics(self._pulls.astype(np.int64), self._means.copy(), self._variances.copy())

    @property
    def stopped(self) -> BoolArray:
        """``(N,)`` bool: the episodes that the rule has ended."""
        return np.asarray(self._progress[:, loops.STATE] == loops.STOPPED)

    @property
    def active(self) -> BoolArray:
        """``(N, k)`` bool: the arms that the rule has not dropped."""
        return np.asarray(self._active == 1)

    @property
    def _changing(self) -> tuple[np.ndarray, ...]:
        statistics = (self._pulls, self._means, self._variances, self._sums)
        own = (self._active, self._indices, self._largest, self._progress, self._last)
        arrays = self._states.arrays
        kept = (arrays[name] for name, kind in self._request.rule.state.arrays.items() if kind != "scratch")
        return (*statistics, *own, self._states.numbers, *kept)

    def state(self) -> tuple[np.ndarray, ...]:
        """Return the episodes as copies, for :meth:`restore`; the generator is not part of them."""
        return tuple(array.copy() for array in self._changing)

    def restore(self, state: tuple[np.ndarray, ...], rows: Any = slice(None)) -> None:
        """Go back to an earlier state, in some episodes or in all."""
        for array, kept in zip(self._changing, state, strict=True):
            array[rows] = kept[rows]

    @property
    def outcome(self) -> Outcome:
        """The pulls so far."""
        return Outcome(self.statistics, self._states.copy(), self.stopped, self.active)


def _drawn(draws: Draws, arms: IntArray | None) -> IntArray | None:
    """Return the ``(N, k)`` arms that are drawn from for the candidates; None: all, in their own order."""
    if arms is None or draws.order is None:
        return draws.order if arms is None else arms
    return np.take_along_axis(draws.order, arms, -1)


def loops_of(rule: Rule, agent: str, draws: Draws | None, has_arms: bool, *, plain: bool = False) -> Loops:
    """Return the loop that plays a rule with a kind of arms, or without arms those of single steps.

    Raises:
        NotCompiledError: If a function refers to something that has no content to compare.
    """
    functions = {name: getattr(rule, name) for name in ("index", "choose", "refresh", "stops", "question")}
    functions = {name: function for name, function in functions.items() if function is not None}
    if rule.index is not None:
        functions |= {function.__name__: function for function in (index.arm_of_largest_index, index.largest_of_block)}
    if draws is None:
        return compile_loops(loops.steps(rule), functions, f"the steps of {agent}", plain=plain)
    text = loops.player(rule, draws.arms._fields, has_arms=has_arms)
    return compile_loops(text, {**functions, "draw": draws.draw}, f"the loop of {agent}", plain=plain)


@contextmanager
def _naming_line(rule: Rule, agent: str) -> Iterator[None]:
    """Let an error of a function of a rule begin with the line that raised it."""
    try:
        yield
    except (BaiGymError, MemoryError):
        raise
    except Exception as error:
        codes = [getattr(part, "__code__", None) for part in (rule.index, rule.choose, rule.refresh, rule.stops)]
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code not in codes:
            own = own.tb_next
        if own is None:
            raise
        path = own.tb_frame.f_code.co_filename
        line = [step for step in traceback.extract_tb(own) if step.filename == path][-1]
        file = os.path.basename(path) if os.path.exists(path) else "its cell"
        raise AgentError(
            f"line {line.lineno} of {file}: `{line.line}` in {line.name} of {agent} raised "
            f"{type(error).__name__}: {error}"
        ) from error.with_traceback(own)


def _check_index(function: Callable[..., Any] | None, kind: type[State], agent: str) -> None:
    """Try an index once.

    Raises:
        AgentError: If it returns anything but a number.
    """
    if function is None:
        return
    s, _ = kind.of(**dict.fromkeys(kind.numbers, 1))
    with np.errstate(all="ignore"):
        try:
            value = function(2.0, 0.5, 0.25, s)
        except (ArithmeticError, ValueError, IndexError):  # outside its range, which is the rule's own business
            return
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:  # in its own code
                raise
            raise AgentError(f"{_named(function, agent)}: {error}") from None
    if not isinstance(value, int | float | np.number) or isinstance(value, bool) or math.isnan(float(value)):
        shown = " ".join(repr(value).split())[:60]
        raise AgentError(f"{_named(function, agent)} must return a number, not {shown}")


def _named(function: Callable[..., Any], agent: str) -> str:
    called = getattr(function, "__qualname__", repr(function))
    return f"{called}(pulls, mean, variance, s), the index of {agent},"


def _features(features: FloatArray | None, arms: IntArray | None, k: int) -> FloatArray:
    """Return ``(N, k, d)`` features of the candidates, or ``(1, k, d)`` where all episodes have the same."""
    if features is None:
        return np.zeros((1, k, 0))
    if arms is not None:
        return np.ascontiguousarray(np.take_along_axis(features, arms[:, :, None], axis=1))
    same = features.strides[0] == 0 or len(features) == 1
    return np.require(features[:1] if same else features, requirements=["C", "W"])  # one type of array to Numba
