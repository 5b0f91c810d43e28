"""The random numbers under which agents know the arms: nothing can be won without a pull."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bai_gym.bandits import ArrangedBandit, Bandit
from bai_gym.statistics import AnyArray, FloatArray, IntArray, Statistics
from bai_gym.tasks import Task

__all__ = ["Numbering"]

_T = TypeVar("_T")


@dataclass(slots=True, eq=False)
class Numbering:
    """How N episodes number their arms: the number i of an episode stands for arm ``arms[episode, i]`` of its instance.

    Attributes:
        arms: ``(N, K)``.
        candidates: ``(N, K_Z)`` the same of candidates, where they are what is recommended; else None.
        rotation: ``(N, d, d)`` orthogonal matrices by which features, and candidates, are multiplied; else None.
    """

    arms: IntArray
    candidates: IntArray | None = None
    rotation: FloatArray | None = None

    @classmethod
    def draw(
        cls, task: Task, batch: int, num_arms: int, dimension: int | None, rng: np.random.Generator, *, shuffle: bool
    ) -> Numbering:
        """Draw the numbers of N episodes.

        Args:
            task: What is to be recommended.
            batch: N.
            num_arms: K.
            dimension: d of the features, where they are rotated.
            rng: Source of randomness.
            shuffle: Whether arms and candidates have random numbers.
        """
        if shuffle:
            arms, candidates = task.draw_orders(batch, num_arms, rng)
        else:
            sizes = num_arms, *(() if task.answer == "arm" else task.sizes(num_arms))
            arms, candidates, *_ = (*(np.tile(np.arange(size), (batch, 1)) for size in sizes), None)
        return cls(arms, candidates, None if dimension is None else _rotations(batch, dimension, rng))

    def select(self, rows: IntArray | slice) -> Numbering:
        """Return the numbering of some of the episodes."""
        parts = (None if array is None else array[rows] for array in (self.arms, self.candidates, self.rotation))
        return Numbering(*parts)  # type: ignore[arg-type]

    def replace(self, rows: IntArray, other: Numbering) -> None:
        """Replace the numbering of the given episodes by that of others, in order."""
        for name in ("arms", "candidates", "rotation"):
            if (array := getattr(self, name)) is not None:
                array[rows] = getattr(other, name)

    def arrange(self, bandit: Bandit) -> Bandit:
        """Return the instances with their arms numbered so."""
        arranged = getattr(bandit, "arranged", None)  # of arms with several metrics, and of duels
        if arranged is not None:
            return arranged(self.arms, self.candidates)  # type: ignore[no-any-return]
        return ArrangedBandit(bandit, self.arms, self.rotation)

    def start(self, statistics: Statistics) -> Statistics:
        """Return ``(1, K)`` statistics of rewards that came before, as each episode numbers the arms, ``(N, K)``."""
        return Statistics(
            statistics.pulls[0][self.arms], statistics.means[0][self.arms], statistics.variances[0][self.arms]
        )

    @property
    def answers(self) -> IntArray:
        """``(N, K)`` or ``(N, K_Z)`` what the numbers in recommendations stand for."""
        return self.arms if self.candidates is None else self.candidates

    def listed(self, task: Task, recommendation: IntArray) -> IntArray:
        """Return recommendations ``(N, ...)`` in the numbers of the instance."""
        return task.renumbered(recommendation, self.answers)

    def shown(self, task: Task, recommendation: IntArray) -> IntArray:
        """Return recommendations ``(N, ...)``, given in the numbers of the instance, in those of the episodes."""
        return task.renumbered(recommendation, self.answers.argsort(axis=1))

    def back(self, values: AnyArray) -> AnyArray:
        """Return ``(N, K, ...)`` values of arms in the order of the instance."""
        listed = np.empty_like(values)
        listed[np.arange(len(listed))[:, None], self.arms] = values
        return listed

    def constants(self, task: Task, costs: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Return what observations show of the task and of costs, arrays ``(N, ...)``.

        Args:
            task: The task.
            costs: ``(K,)`` arrays by their keys, as the problem lists them.
        """
        made = {key: array[self.arms] for key, array in costs.items()}
        if task.constants:
            episodes = range(len(self.arms))
            shown = [self.select(slice(row, row + 1)).task_of_one(task).constants for row in episodes]
            made |= {key: np.stack([one[key] for one in shown]) for key in task.constants}
        return made

    def of_one(self, values: Sequence[_T] | None) -> tuple[_T, ...] | None:
        """Return values of arms, such as costs or names, as the only episode numbers them."""
        return None if values is None else tuple(values[arm] for arm in self.arms[0].tolist())

    def task_of_one(self, task: Task) -> Task:
        """Return the task of the only episode, as its agent knows it."""
        answers, rotation = (None if array is None else array[0] for array in (self.candidates, self.rotation))
        return task.arranged(self.arms[0], answers, rotation)


def _rotations(batch: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Return ``(N, d, d)`` uniformly random orthogonal matrices.

    Source: Mezzadri (2007), "How to Generate Random Matrices from the Classical Compact Groups", section 5.
    """
    q, r = np.linalg.qr(rng.standard_normal((batch, dimension, dimension)))
    return np.asarray(q * np.sign(np.einsum("nii->ni", r))[:, None, :])
