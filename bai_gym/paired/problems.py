"""Problems of arms that are played on the same items, from a matrix of scores."""

from __future__ import annotations

import numpy as np

from bai_gym.data.matrix import ScoreMatrix
from bai_gym.paired.bandits.finite import PairedFiniteBandit
from bai_gym.problems.base import FixedProblem

__all__ = ["paired_problem"]


def paired_problem(
    matrix: ScoreMatrix, missing: str, notes: tuple[str, ...] = (), *, replace: bool = False
) -> FixedProblem:
    """Return the problem whose arms are those of a matrix, all played on its items in the same order.

    Args:
        matrix: The scores.
        missing: What is done about missing cells, a key of :data:`bai_gym.data.MISSING`.
        notes: Further sentences for every report.
        replace: Whether an item may come again before all others.
    """
    used = matrix.complete(missing)
    bandit = PairedFiniteBandit(used.scores.T, np.arange(len(used.names))[None, :], replace=replace, kind=used.rewards)
    return FixedProblem(bandit, (*notes, *matrix.notes(missing)), used.names)
