"""Matrices of scores with missing cells."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.data import ScoreMatrix
from bai_gym.errors import DataError, ParameterError
from bai_gym.rewards import REAL, Rewards

NAN = float("nan")
SMALL = ScoreMatrix(
    ("a", "b", "c"), np.array([[1.0, 0, 0, 1], [1, 1, 1, NAN], [0, 0, 1, 1]]), Rewards("binary"), np.array([1.0, 2, 3])
)


def test_each_way_with_missing_cells() -> None:
    items, arms, zero = (SMALL.complete(missing) for missing in ("items", "arms", "zero"))
    assert items.scores.tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 1]] and items.names == SMALL.names
    assert arms.scores.tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]] and arms.names == ("a", "c")
    assert arms.prices is not None and arms.prices.tolist() == [1, 3]
    assert zero.scores[1].tolist() == [1, 1, 1, 0]
    assert [matrix.best() for matrix in (SMALL, items, arms, zero)] == [("b",), ("b",), ("a", "c"), ("b",)]
    assert SMALL.missing == 1 and np.isnan(SMALL.scores).sum() == 1  # the matrix itself has not changed


def test_notes_say_what_was_left_out_and_when_the_best_arm_depends_on_it() -> None:
    count, depends = SMALL.notes("arms")
    assert "1 of 12 scores" in count and "2 of 3 arms and 4 of 4 items" in count
    assert "'items' b;" in depends and "'arms' a or c;" in depends
    assert SMALL.complete().notes() == ()
    clear = ScoreMatrix(("a", "b"), np.array([[1.0, 1, NAN, 1], [0, 1, 0, 0]]), Rewards("binary"))
    assert len(clear.notes()) == 1  # one arm is complete, so that leaving out arms is impossible; the others agree


def test_what_cannot_be_done_about_missing_cells() -> None:
    with pytest.raises(ParameterError, match="missing"):
        SMALL.complete("mean")
    for missing, scores, rewards in (
        ("items", [[1.0, NAN], [NAN, 1.0]], REAL),
        ("arms", [[1.0, 2.0], [NAN, 1.0]], REAL),
        ("zero", [[1.5, 2.0], [NAN, 1.0]], Rewards("bounded", 1, 2)),
    ):
        with pytest.raises(DataError, match=f"missing='{missing}'"):
            ScoreMatrix(("a", "b"), np.array(scores), rewards).complete(missing)
