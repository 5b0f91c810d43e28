"""Complexities by hand, and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bai_gym.errors import BudgetError
from bai_gym.theory import gape_complexity, gape_v_complexity, gaps, reward_bound

MEANS = np.array([0.5, 0.75, 0.25])
means_of_arms = st.lists(st.floats(-10, 10), min_size=2, max_size=7).map(np.array)


def test_gaps_by_hand() -> None:
    assert gaps(MEANS).tolist() == [0.25, 0.25, 0.5]
    assert gaps(np.array([[1.0, 1.0, 0.0], [3.0, 1.0, 2.0]])).tolist() == [[0.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    assert gaps(np.array([2.0, 5.0])).tolist() == [3.0, 3.0]


@given(means_of_arms)
def test_gaps_are_distances_to_the_best_other_arm(means: np.ndarray) -> None:
    expected = [abs(np.delete(means, arm).max() - mean) for arm, mean in enumerate(means)]
    np.testing.assert_array_equal(gaps(means), expected)


def test_gape_complexity_by_hand() -> None:
    # 1/0.25^2 + 1/0.25^2 + 1/0.5^2 = 36, times b^2.
    assert gape_complexity(MEANS, np.array(1.0)) == 36.0
    batch = gape_complexity(np.stack([MEANS, 2 * MEANS]), np.array([2.0, 2.0]))
    assert batch.tolist() == [144.0, 36.0]


def test_gape_v_complexity_by_hand() -> None:
    # Two arms, gap 0.5, b 1.5: (16/3) b gap = 4. Sigma 0: root 2. Sigma^2 = 2.25: 1.5 + 2.5 = 4.
    value = gape_v_complexity(np.array([0.5, 1.0]), np.array([0.0, 2.25]), np.array(1.5))
    assert value == pytest.approx((2**2 + 4**2) / 0.5**2, rel=1e-14)


def test_shared_best_mean_is_infinitely_hard() -> None:
    tied = np.array([[1.0, 1.0, 0.0]])
    assert gape_complexity(tied, np.ones(1)).tolist() == [math.inf]
    assert gape_v_complexity(tied, np.zeros((1, 3)), np.ones(1)).tolist() == [math.inf]


@given(means_of_arms, st.floats(0.1, 10))
def test_complexities_do_not_depend_on_the_order_of_the_arms(means: np.ndarray, b: float) -> None:
    order = np.arange(means.size)[::-1]
    variances = np.linspace(0, 2, means.size)
    bound = np.array(b)
    assert gape_complexity(means, bound) == pytest.approx(gape_complexity(means[order], bound), rel=1e-12)
    assert gape_v_complexity(means, variances, bound) == pytest.approx(
        gape_v_complexity(means[order], variances[order], bound), rel=1e-12
    )


def test_reward_bound_by_hand() -> None:
    # log(e^4) = 4, so b = max(0.5 + 2 x 1, 2 + 2 x 0.1) = 2.5, with the budget rounded: 55 = e^4.007.
    value = reward_bound(np.array([[0.5, 2.0]]), np.array([[1.0, 0.01]]), 55)
    assert value == pytest.approx([0.5 + math.sqrt(math.log(55))], rel=1e-15)
    assert reward_bound(np.array([0.5, 2.0]), np.array([1.0, 0.01]), 1) == 2.0


def test_reward_bound_needs_a_budget() -> None:
    with pytest.raises(BudgetError, match="budget must be at least 1, not 0"):
        reward_bound(MEANS, MEANS, 0)
