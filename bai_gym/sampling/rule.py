"""Sampling rules: phases of an algorithm in which every pull is decided after the previous reward.

A rule works on a *window*: statistics of k candidate arms in N episodes, arm axis first ``(k, N)`` (see
:mod:`bai_gym.sampling.argmax`). Whoever drives the rule (the runner's fast path, or an agent's ``act`` in a Gymnasium
loop) draws the rewards and keeps the window, so the same rule serves both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bai_gym.errors import AgentError
from bai_gym.sampling.argmax import ArgmaxTable, TieRule
from bai_gym.statistics import FloatArray, IntArray, Statistics

__all__ = ["IndexFunction", "IndexRule", "SamplingRule", "StoppingRule"]

IndexFunction = Callable[..., FloatArray]
"""Index values from pulls (as floats), means, variances and parameters, elementwise, as a new array.

Called with ``(k, N)`` tables, with the ``(N,)`` pulled arms, or with other arrays that broadcast.
"""


class SamplingRule(ABC):
    """Chooses one arm per episode and step, for a fixed number of steps.

    Attributes:
        steps: Number of pulls that the rule makes in each episode.
        arms: ``(N, k)`` candidate arms, or None for all K in their own order.
        window: ``(N, k)`` statistics of the candidates to start from, or None for all samples of the episode so far.
    """

    steps: int
    arms: IntArray | None = None
    window: Statistics | None = None
    answer: Statistics | None = None

    @property
    def outcome(self) -> Statistics:
        """``(N, k)`` statistics of the window after the last pull.

        Raises:
            AgentError: If the pulls have not been made.
        """
        if self.answer is None:
            raise AgentError("the outcome of a rule is known once its pulls have been made, at the next allocate")
        return self.answer

    def first_window(self, statistics: Callable[[], Statistics]) -> Statistics:
        """Return the window to start from, ``(k, N)``, for whoever drives the rule.

        Args:
            statistics: Gives the ``(N, K)`` statistics of all samples so far; called only where they are needed.
        """
        if self.window is not None:
            return self.window.window()
        start = statistics()
        return (start if self.arms is None else start.take(self.arms)).window()

    @abstractmethod
    def start(self, window: Statistics) -> None:
        """Prepare for the first choice.

        Args:
            window: ``(k, N)`` statistics, pulls as floats, updated in place by the caller after each reward; keep a
                reference.
        """

    def still_active(self) -> npt.NDArray[np.bool_] | None:
        """Return ``(k, N)`` which candidates may be pulled from now on, where the rule drops some; None: all.

        For those who watch an episode, between two pulls.
        """
        return None

    @abstractmethod
    def choose(self) -> IntArray:
        """Return ``(N,)`` flat positions ``slot * N + episode`` of the arms to pull next."""

    @abstractmethod
    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Take in the rewards of the last choice.

        Args:
            flat: ``(N,)`` what :meth:`choose` returned.
            pulls: ``(N,)`` pulls of those arms, in the window, after the reward.
            means: ``(N,)`` their means.
            variances: ``(N,)`` their variances.
        """


class StoppingRule(SamplingRule):
    """A rule that also decides in each episode when to stop; always an agent's last request.

    ``steps`` is then a cap. Episodes that have stopped stay in the window until they are dropped: what is chosen and
    updated for them has no effect.

    Attributes:
        running: ``(n,)`` bool: which episodes of the window want another pull; set by :meth:`start` and :meth:`update`.
    """

    running: npt.NDArray[np.bool_]

    @abstractmethod
    def keep(self, columns: IntArray, window: Statistics) -> None:
        """Go on with some episodes alone.

        Args:
            columns: ``(m,)`` which columns of the window are kept, in order.
            window: ``(k, m)`` their statistics, the window from now on.
        """


class IndexRule(SamplingRule):
    """Pulls the arm of largest index, where the index of an arm depends on its own statistics alone.

    Only the pulled arm's index is recomputed, so a step costs one maximum over k arms and a dozen operations on
    arrays of N.

    Attributes:
        index: The index.
        parameters: ``(N,)`` arrays, further arguments of it.
    """

    def __init__(
        self,
        steps: int,
        index: IndexFunction,
        *parameters: FloatArray,
        tie: TieRule,
        rng: np.random.Generator,
        arms: IntArray | None = None,
        window: Statistics | None = None,
    ) -> None:
        """Remember the index function, its ``(N,)`` parameters and the tie rule."""
        self.steps = steps
        self.index = index
        self.parameters = parameters
        self.arms = arms
        self.window = window
        self._tie: TieRule = tie
        self._rng = rng

    def start(self, window: Statistics) -> None:
        """Compute all indices once."""
        self._pulls = window.pulls
        index = self.index(window.pulls, window.means, window.variances, *self.parameters)
        self._table = ArgmaxTable(index, self._tie, self._rng)

    def choose(self) -> IntArray:
        """Return the arms of largest index."""
        return self._table.argmax(self._pulls)

    def update(self, flat: IntArray, pulls: FloatArray, means: FloatArray, variances: FloatArray) -> None:
        """Recompute the index of the pulled arms."""
        self._table.flat[flat] = self.index(pulls, means, variances, *self.parameters)
