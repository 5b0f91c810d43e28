"""The cells of a matrix of scores as arms: an agent chooses the item on which it plays a row, and recommends a row.

A pull reads a cell, whose score is always the same. So the order in which a row is played on its items is up to the
agent, which knows the items by their numbers, random ones in each episode, and nothing else of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from typing_extensions import override

from bai_gym.bandits import FiniteBandit, FinitePopulations, SampleTable
from bai_gym.data.matrix import ScoreMatrix
from bai_gym.errors import ParameterError
from bai_gym.problems.base import FixedProblem
from bai_gym.statistics import FloatArray, IntArray
from bai_gym.tasks.base import BestOne
from bai_gym.validation import integer

__all__ = ["BestRow", "cells_problem"]


def cells_problem(matrix: ScoreMatrix, missing: str) -> FixedProblem:
    """Return the problem whose arms are the cells of a matrix, row after row, and that asks for the best row.

    Args:
        matrix: The scores.
        missing: What is done about missing cells, a key of :data:`bai_gym.data.MISSING`.
    """
    used = matrix.complete(missing)
    scores = used.scores.reshape(-1)
    table = SampleTable.of(scores, np.arange(scores.size + 1), used.rewards)
    cells = FiniteBandit(FinitePopulations.of(table), np.arange(scores.size)[None, :])
    return FixedProblem(cells, matrix.notes(missing), task=BestRow(len(used.names)))


class BestRow(BestOne):
    """Recommend the row with the largest mean of a matrix whose cells are the arms.

    Arm i Q + j is the cell of row i and item j of M rows and Q items. The simple regret of a row is the mean of the
    best row minus its own.

    Args:
        rows: M, at least 2.
    """

    name = "best-row"
    answer = "row"
    entry = "row"

    def __init__(self, rows: int) -> None:
        """Check the number of rows."""
        super().__init__()
        self.rows = integer(rows, "rows", least=2)

    @override
    def check_arms(self, num_arms: int) -> None:
        """Raise :class:`ParameterError` unless rows are equally long."""
        if num_arms % self.rows:
            raise ParameterError(f"{num_arms} arms are no cells of {self.rows} rows of equal length")

    @override
    def describe(self) -> str:
        return f"the best of {self.rows} rows{self._accuracy()}"

    @override
    def sizes(self, num_arms: int) -> tuple[int, ...]:
        """Return M, once."""
        return (self.rows,)

    @override
    def form(self, batch: int, num_arms: int) -> str:
        return f"{batch} integer(s), one row per episode"

    @override
    def means(self, means: FloatArray) -> FloatArray:
        """Return the means of the rows, from those of the cells: ``(..., K)`` -> ``(..., M)``."""
        return np.asarray(means.reshape(*means.shape[:-1], self.rows, -1).mean(axis=-1))

    @override
    def arms(self, recommendation: IntArray, num_arms: int) -> tuple[int, ...]:
        """Return the cells of the row."""
        return tuple(np.arange(num_arms).reshape(self.rows, -1)[recommendation].tolist())

    @override
    def of_arms(self, arms: Sequence[int], num_arms: int) -> IntArray:
        """Return the row of the cells."""
        return np.array(arms[0] * self.rows // num_arms)

    @override
    def draw_orders(self, batch: int, num_arms: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the cells of rows and items in random orders, and the order of the rows, ``(N, M)``."""
        items = num_arms // self.rows
        row, item = (rng.random((batch, size)).argsort(axis=1) for size in (self.rows, items))
        return (row[:, :, None] * items + item[:, None, :]).reshape(batch, -1), row
