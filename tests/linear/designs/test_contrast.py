"""Designs for the difference of two arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from bai_gym.linear.designs import contrast, project, solve_contrasts

EDGE = [[0.0, 2.0], [1.0, -1.0], [-2.0, -2.0], [-1.0, 2.0]]


def contrast_weights(features: Any, first: int, second: int) -> np.ndarray:
    """Return the weights of two arms of one instance, which must be found."""
    coordinates = project(np.array(features, float)[None]).coordinates
    weights, solved = solve_contrasts(coordinates, *(np.array([number]) for number in (0, first, second)))
    assert solved.all()
    return weights[0]


def least_sum(x: np.ndarray, y: np.ndarray) -> float:
    """The least sum of absolute values, by a linear program of its own."""
    found = linprog(np.ones(2 * len(x)), A_eq=np.hstack([x.T, -x.T]), b_eq=y, bounds=(0, None), method="highs")
    assert found.status == 0
    return float(found.fun)


def check(x: np.ndarray, i: int, j: int) -> np.ndarray:
    w = contrast_weights(x, i, j)
    np.testing.assert_allclose(w @ x, x[i] - x[j], atol=1e-7 * max(1.0, np.abs(x).max()))
    assert np.abs(w).sum() == pytest.approx(least_sum(x, x[i] - x[j]), rel=2e-6, abs=1e-7)
    np.testing.assert_allclose(contrast_weights(x, j, i), -w, atol=1e-6)
    return w


def test_by_hand() -> None:
    # Unit vectors: the two arms themselves.
    assert contrast_weights(np.eye(4), 2, 0).tolist() == [-1.0, 0.0, 1.0, 0.0]
    # (1, 0) - (1, 0.1) = -0.02 (0, 5): the third arm alone.
    np.testing.assert_allclose(contrast_weights([[1.0, 0], [1.0, 0.1], [0, 5.0]], 0, 1), [0, 0, -0.02], atol=1e-12)
    # On a line: 1 - 2 = -1 is -1/4 of the arm 4.
    np.testing.assert_allclose(contrast_weights([[1.0], [2.0], [4.0]], 0, 1), [0, 0, -0.25], atol=1e-12)
    # The same arm twice, and no arm at all.
    assert contrast_weights([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]], 0, 1).tolist() == [0.0, 0.0, 0.0]
    assert contrast_weights(np.eye(2), 1, 1).tolist() == [0.0, 0.0]
    assert contrast_weights(np.zeros((3, 2)), 0, 1).tolist() == [0.0, 0.0, 0.0]


def test_of_several_the_most_even() -> None:
    # Copies of an arm share its weight, a copy with the other sign too.
    x = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [0.0, -1.0]]
    np.testing.assert_allclose(contrast_weights(x, 0, 1), [1, -1 / 3, -1 / 3, 1 / 3], atol=1e-9)
    # (0.6, -0.4) lies on the line through (1, 0.1) and (0.2, -0.9): x_3 - x_0 = -2 x_2 = x_3 - x_0, and all between. Of
    # (-a, -2 + 2 a, a) the sum of squares is least at a = 2/3.
    x = [[1.0, 0.1], [0.7, 0.6], [0.6, -0.4], [-0.2, 0.9]]
    np.testing.assert_allclose(contrast_weights(x, 3, 0), [-2 / 3, 0, -2 / 3, 2 / 3], atol=1e-9)
    # (-1, 3) = (0.5 - 3 b) x_0 - b x_2 + (1 + 2 b) x_3. The sum of squares is least at b = -1 / 28, but for b < 0 the
    # sum of absolute values is not 1.5.
    np.testing.assert_allclose(contrast_weights(EDGE, 0, 1), [0.5, 0, 0, 1], atol=1e-9)


entries = st.integers(-2, 2)


@given(st.data())
def test_arms_of_small_whole_numbers(data: Any) -> None:
    # Full of copies, of arms on a line, of ties and of lost ranks.
    arms, dimension = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 4))
    rows = st.lists(st.lists(entries, min_size=dimension, max_size=dimension), min_size=arms, max_size=arms)
    x = np.array(data.draw(rows), float)
    i, j = data.draw(st.integers(0, arms - 1)), data.draw(st.integers(0, arms - 1))
    w = check(x, i, j)
    # The order of the arms and the coordinates do not matter.
    order = np.array(data.draw(st.permutations(range(arms))))
    other = contrast_weights(x[order], int(np.argsort(order)[i]), int(np.argsort(order)[j]))
    np.testing.assert_allclose(other, w[order], atol=1e-6)
    skew = np.eye(dimension) + np.triu(np.full((dimension, dimension), 0.5), 1)
    np.testing.assert_allclose(contrast_weights(x @ skew, i, j), w, atol=1e-6)


def test_a_batch_is_its_instances() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((4, 12, 5))
    rows, i, j = np.array([0, 1, 2, 3, 1]), np.array([0, 1, 2, 3, 5]), np.array([5, 0, 7, 4, 6])
    batch, solved = solve_contrasts(project(x).coordinates, rows, i, j)
    assert batch.shape == (5, 12) and solved.all()
    for n, row in enumerate(rows):
        np.testing.assert_allclose(batch[n], contrast_weights(x[row], i[n], j[n]), atol=1e-12)


def test_more_problems_than_are_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    x = project(np.random.default_rng(4).standard_normal((50, 9, 4))).coordinates
    rows, first = np.arange(50), np.zeros(50, np.int64)
    at_once, _ = solve_contrasts(x, rows, first, first + 1)
    monkeypatch.setattr(contrast, "AT_ONCE", 100)
    np.testing.assert_array_equal(solve_contrasts(x, rows, first, first + 1)[0], at_once)


def test_what_has_no_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(5).standard_normal((9, 4))
    monkeypatch.setattr(contrast, "PIVOTS", 0)
    found = project(x[None]).coordinates
    weights, solved = solve_contrasts(found, np.array([0]), np.array([0]), np.array([1]))
    assert not solved.any() and not weights.any()


def test_wrong_sums_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    monkeypatch.setattr(contrast, "_most_even", lambda x, wanted, sides, vertex: 2.0 * vertex)
    weights, solved = solve_contrasts(project(x[None]).coordinates, np.array([0]), np.array([0]), np.array([1]))
    assert not solved.any() and not weights.any()


def test_a_vertex_will_do_where_the_most_even_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr(contrast, "nnls", fails)
    w = contrast_weights(EDGE, 0, 1)
    np.testing.assert_allclose(w @ EDGE, [-1.0, 3.0], atol=1e-9)
    assert np.abs(w).sum() == pytest.approx(1.5) and np.count_nonzero(w) == 2
