"""Sequential requests: pulls decided one at a time, and the rule that decides them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bai_gym.errors import AgentError
from bai_gym.sampling.state import State, States
from bai_gym.statistics import BoolArray, FloatArray, IntArray, Statistics

__all__ = ["Outcome", "Rule", "Sequential"]

Index = Callable[[float, float, float, Any], float]
Choose = Callable[..., int]


@dataclass(frozen=True)
class Rule:
    """The rule by which a sequential agent decides each pull, as functions of one episode.

    The functions are written in plain Python at module level, and compiled before they run: they may use numbers, NumPy
    arrays, ``math`` and other such functions.

    Attributes:
        index: ``index(pulls, mean, variance, s)``: the index of an arm by its own statistics and the numbers of the
            state. The engine keeps it up to date, and knows the arm of the largest, ``e.leader``. None: there is none.
        choose: ``choose(e, s, w, rng)``: the arm to pull, given an :class:`~bai_gym.sampling.episode.Episode` and the
            numbers ``s`` and arrays ``w`` of the state. ``STOP`` ends the episode, ``WAIT`` asks for
            :attr:`Sequential.supply`. None: the arm of largest index.
        refresh: ``refresh(e, s, w, rng)``: called before the first choice, and again when as many pulls have been made
            as it returned. It may change the state, and drop arms by ``e.active[arm] = 0``; then all indices are
            computed again.
        stops: ``stops(e, s, w)``: whether the episode ends, asked before each choice.
        state: The fields of ``s`` and ``w``: a subclass of :class:`~bai_gym.sampling.state.State`.
        question: What the other functions, but for the index, receive as their last argument, such as
            :attr:`bai_gym.tasks.Task.contrasts` of a task. None: they do not.
    """

    index: Index | None = None
    choose: Choose | None = None
    refresh: Choose | None = None
    stops: Callable[..., bool] | None = None
    state: type[State] = State
    question: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        """Raise :class:`AgentError` for a rule that never chooses."""
        if self.index is None and self.choose is None:
            raise AgentError("a rule needs an index or a choice: Rule(index=...) or Rule(choose=...)")


@dataclass(frozen=True, eq=False)
class Sequential:
    """A request: pulls decided one at a time by a rule.

    Attributes:
        rule: The rule.
        steps: Pulls in each episode, at most: a rule may stop before.
        values: Initial values of fields of the rule's state, by name: numbers, ``(N,)``, or for arrays ``(L,)`` or
            ``(N, L)``; all others have their defaults. Copied.
        arms: ``(N, k)`` candidate arms, or None for all K in their own order.
        window: ``(N, k)`` statistics of the candidates to start from, and the only pulls that count as made before;
            None: all samples of the episode so far.
        tie: How exact ties are broken.
        rng: Source of randomness of the agent.
        supply: Called with ``(m,)`` numbers of the episodes that wait, the states of all, of which it may change
            theirs, and the ``(N, k)`` statistics; then the rule is called again.
        in_rounds: Whether the rule waits because it needs the rewards of all pulls so far. Where several pulls may be
            outstanding, those after that are then not chosen before these rewards have arrived.
        agent: Name, for messages.
    """

    rule: Rule
    steps: int
    tie: str
    rng: np.random.Generator
    values: Mapping[str, FloatArray | float] = field(default_factory=dict)
    arms: IntArray | None = None
    window: Statistics | None = None
    supply: Callable[[IntArray, States, Statistics], None] | None = None
    in_rounds: bool = False
    agent: str = "the agent"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of a :class:`Sequential`.

    Attributes:
        statistics: ``(N, k)`` statistics of the candidates after the last pull.
        states: The states of the rule at the end.
        stopped: ``(N,)`` bool, the episodes that the rule has ended.
        active: ``(N, k)`` bool, the candidates that the rule has not dropped.
    """

    statistics: Statistics
    states: States
    stopped: BoolArray
    active: BoolArray
