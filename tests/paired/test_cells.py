"""The cells of a matrix as arms: the task by hand, and what an agent finds that names them."""

from __future__ import annotations

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.paired import BestRow


def test_the_best_row_by_hand() -> None:
    task, means = BestRow(2), np.array([[0.0, 1.0, 0.5, 1.0, 1.0, 0.25], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    assert task.correct_recommendation(means).tolist() == [1, 0]  # the first of two equal rows
    np.testing.assert_allclose(task.simple_regret(means, np.array([0, 1])), [0.25, 0.0])
    assert task.correct(means, np.array([0, 1])).tolist() == [False, True]
    assert task.sizes(6) == (2,) and task.arms(np.array(1), 6) == (3, 4, 5)
    assert task.of_arms([3, 4, 5], 6) == 1 and task.first_arm(np.array([1, 0]), 6).tolist() == [3, 0]
    assert task.describe() == "the best of 2 rows" and repr(task) == "BestRow(rows=2)"
    with pytest.raises(ParameterError, match="7 arms are no cells of 2 rows"):
        task.check_arms(7)
    with pytest.raises(ParameterError, match="rows must be"):
        BestRow(1)


def test_rows_and_items_are_shuffled_but_cells_stay_in_their_rows() -> None:
    cells, rows = BestRow(3).draw_orders(200, 12, np.random.default_rng(0))
    table = cells.reshape(200, 3, 4)
    assert (table // 4 == rows[:, :, None]).all()  # a row of cells is a row of the matrix
    assert (table % 4 == table[:, :1] % 4).all()  # and all rows have their items in the same order
    assert len({tuple(row) for row in rows.tolist()}) == 6 and len({tuple(row) for row in table[:, 0] % 4}) == 24
