"""The action encoding: which arm is pulled, whether the episode stops, and what is recommended."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bai_gym.errors import ParameterError
from bai_gym.statistics import BoolArray, FloatArray, IntArray
from bai_gym.tasks import Task, TopM

__all__ = ["DecodedActions", "ActionEncoding"]


class DecodedActions(NamedTuple):
    """N decoded actions.

    Attributes:
        arms: ``(N,)`` arms to pull; meaningless where the episode stops.
        stops: ``(N,)`` whether the episode stops, or None with a fixed budget, which decides it.
        recommendations: ``(N,)`` or ``(N, ...)`` recommendations, not yet checked; meaningless where none is due.
    """

    arms: IntArray
    stops: BoolArray | None
    recommendations: IntArray


class ActionEncoding:
    """Encodes and decodes actions; their spaces are in :mod:`bai_gym.envs.spaces`.

    Args:
        num_arms: K.
        task: What to recommend.
        fixed_confidence: Whether an action can end the episode: with fixed confidence, and where arms have costs.

    Attributes:
        masked: Whether the actions that are allowed depend on whether the recommendation is due, see :meth:`mask`.
    """

    def __init__(self, num_arms: int, task: Task, *, fixed_confidence: bool) -> None:
        """Compute the shape of an action."""
        self.num_arms = num_arms
        self.task = task
        self.fixed_confidence = fixed_confidence
        self._one_number = task.one_number
        answers = task.sizes(num_arms)[0] if task.one_number else 1
        self._values = num_arms + answers * fixed_confidence
        if task.one_number and not fixed_confidence:
            self._values = max(num_arms, answers)
        self.masked = task.answer != "arm" and not fixed_confidence
        self.shape: tuple[int, ...] = () if self._one_number else (1 + len(task.sizes(num_arms)),)

    def read(self, actions: Any, batch: int) -> DecodedActions:
        """Decode actions.

        Args:
            actions: ``(N,)`` or ``(N, 1 + recommendation)`` integers.
            batch: N.

        Raises:
            ParameterError: Wrong shape or type, or an arm that does not exist. The recommendations are checked by the
                task when they are due.
        """
        try:
            array = np.asarray(actions)
        except ValueError:  # lists of unequal lengths
            array = np.empty(0)
        shape = (batch, *self.shape)
        if array.shape != shape or array.dtype.kind not in "iu":
            raise ParameterError(f"actions must be {self._describe_batch(batch)}")
        array = array if array.dtype == np.int64 else array.astype(np.int64)  # uint64 + int64 would be float64
        first = array if self._one_number else array[:, 0]
        if first.min() < 0 or first.max() >= self._values:
            raise ParameterError(f"an action is not an arm; {self._allowed()}")
        if not self.fixed_confidence:
            return DecodedActions(first, None, array if self._one_number else array[:, 1:])
        if self._one_number:
            return DecodedActions(first, first >= self.num_arms, first - self.num_arms)
        return DecodedActions(first, first == self.num_arms, array[:, 1:])

    def check_pulls(self, arms: Any) -> None:
        """Raise :class:`ParameterError` if a number is one that may be recommended, and of no arm."""
        if self.masked and np.max(arms, initial=0) >= self.num_arms:
            raise ParameterError(f"action {np.max(arms)} is not an arm, and a pull is due; {self._allowed()}")

    def mask(self, due: BoolArray) -> npt.NDArray[np.int8]:
        """Return ``(..., n)`` ones for the actions that are allowed next, of n; for ``info["action_mask"]``.

        Args:
            due: ``(...)`` whether the recommendation is due.
        """
        allowed = np.where(due, self.task.sizes(self.num_arms)[0], self.num_arms)
        return (np.arange(self._values) < allowed[..., None]).astype(np.int8)

    def masks(self, due: BoolArray, affordable: BoolArray) -> BoolArray:
        """Return ``(N, n)`` which actions are allowed next, for maskable policies: the values of all entries in a row.

        Args:
            due: ``(N,)`` whether the recommendation is due.
            affordable: ``(N, K)`` whether what is left pays for each arm.
        """
        if self.masked:
            return self.mask(due).astype(bool)
        others = 0 if self._one_number else sum(self.task.sizes(self.num_arms))
        allowed = np.ones((len(due), self._values + others), bool)
        allowed[:, : self.num_arms] = affordable
        return allowed

    def pull(self, arms: IntArray) -> IntArray:
        """Return the actions that pull the given arms, ``(N,)`` -> ``(N,)`` or ``(N, 1 + recommendation)``."""
        if self._one_number:
            return arms
        actions = np.zeros((arms.size, *self.shape), np.int64)
        actions[:, 0] = arms
        return actions

    def recommend(self, recommendations: IntArray) -> IntArray:
        """Return the actions that (stop and) recommend."""
        if self._one_number:
            return recommendations + self.num_arms if self.fixed_confidence else recommendations
        first = np.full((len(recommendations), 1), self.num_arms if self.fixed_confidence else 0)
        return np.concatenate([first, recommendations], axis=-1)

    def completed(self, actions: IntArray, means: FloatArray, remaining: IntArray) -> IntArray:
        """Return actions in which every set that is due has m arms, see :meth:`bai_gym.tasks.TopM.completed`.

        Args:
            actions: ``(N, ...)``; those of other tasks stay unchanged.
            means: ``(N, K)`` sample means.
            remaining: ``(N, 1)`` pulls left.
        """
        if not isinstance(self.task, TopM):
            return actions
        due = actions[:, 0] == self.num_arms if self.fixed_confidence else remaining[:, 0] == 0
        actions = np.array(actions)
        actions[due, 1:] = self.task.completed(actions[due, 1:], means[due])
        return actions

    def _allowed(self) -> str:
        arms = f"arms are numbered 0 to {self.num_arms - 1}"
        if not self.fixed_confidence:
            return arms
        if self._one_number:
            answer = self.task.answer
            return f"{arms}, and {self.num_arms} + {answer} stops and recommends that {answer}"
        return f"{arms}, and {self.num_arms} stops"

    def describe(self) -> str:
        """Describe the action of one episode, for messages."""
        if self._one_number:
            stops = f" (from {self.num_arms} on: stop and recommend)" if self.fixed_confidence else ""
            return f"one arm, an integer from 0 to {self._values - 1}{stops}"
        return (
            f"{self.shape[0]} integers: the arm to pull (0 to {self.num_arms - 1}"
            f"{f', {self.num_arms} stops' if self.fixed_confidence else ''}), then the recommendation"
        )

    def _describe_batch(self, batch: int) -> str:
        if self._one_number:
            return f"{batch} integer{'s' * (batch > 1)}, one arm per episode"
        return (
            f"{batch} x {self.shape[0]} integers: for each episode the arm to pull, then the recommendation "
            f"({self.shape[0] - 1} entries, read when it is due)"
        )
