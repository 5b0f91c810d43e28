"""Complexities by hand, and their properties."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from bai_gym.errors import BaiGymError, BudgetError, InstanceError, ParameterError
from bai_gym.theory import (
    best_arm_h1,
    best_arm_h2,
    gape_complexity,
    gape_v_complexity,
    gaps,
    reward_bound,
    top_gaps,
    ugape_complexity,
    ugape_v_complexity,
)

MEANS = np.array([0.5, 0.75, 0.25])


def test_gaps_by_hand() -> None:
    assert gaps(MEANS).tolist() == [0.25, 0.25, 0.5]
    assert gaps(np.array([[1.0, 1.0, 0.0], [3.0, 1.0, 2.0]])).tolist() == [[0.0, 0.0, 1.0], [1.0, 2.0, 1.0]]
    assert gaps(np.array([2.0, 5.0])).tolist() == [3.0, 3.0]


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


def test_reward_bound_by_hand() -> None:
    # log(e^4) = 4, so b = max(0.5 + 2 x 1, 2 + 2 x 0.1) = 2.5, with the budget rounded: 55 = e^4.007.
    value = reward_bound(np.array([[0.5, 2.0]]), np.array([[1.0, 0.01]]), 55)
    assert value == pytest.approx([0.5 + math.sqrt(math.log(55))], rel=1e-15)
    assert reward_bound(np.array([0.5, 2.0]), np.array([1.0, 0.01]), 1) == 2.0


def test_h1_and_h2_by_hand() -> None:
    # Gaps 0.25, 0.25, 0.5. H_1 = 16 + 16 + 4. H_2 = max(1 x 16, 2 x 16, 3 x 4).
    assert best_arm_h1(MEANS) == 36.0
    assert best_arm_h2(MEANS) == 32.0
    assert best_arm_h2(np.stack([MEANS, 2 * MEANS, [1, 1, 0]])).tolist() == [32.0, 8.0, math.inf]


def test_top_gaps_by_hand() -> None:
    # In order 0.75, 0.5, 0.25; with m = 2 the border is between 0.5 and 0.25.
    assert top_gaps(MEANS, 2).tolist() == [0.25, 0.5, 0.25]
    assert top_gaps([3.0, 1.0, 2.0, 1.0], 2).tolist() == [2.0, 1.0, 1.0, 1.0]
    assert top_gaps([3.0, 2.0, 2.0, 1.0], 2).tolist() == [1.0, 0.0, 0.0, 1.0]


def test_ugape_complexity_by_hand() -> None:
    # m = 1, epsilon = 1/4: (gap + epsilon) / 2 = 1/4, 1/4, 3/8; so 16 + 16 + 64/9. b = 3: times 9.
    assert ugape_complexity(MEANS, epsilon=0.25) == pytest.approx(32 + 64 / 9, rel=1e-12)
    assert ugape_complexity(MEANS, epsilon=0.25, b=3.0) == pytest.approx(288 + 64, rel=1e-12)
    # m = 2: gaps 1/4, 1/2, 1/4; 4 (16 + 4 + 16). Large epsilon: K / epsilon^2.
    assert ugape_complexity(MEANS, 2) == 144.0
    assert ugape_complexity(MEANS, 2, 4.0) == 3 / 16


def test_ugape_v_complexity_by_hand() -> None:
    # Gaps 1/2, so g = 1/4; b = 12/7: (7/3) b g = 1. Variance 0: 0 + 1; variance 9/16: 3/4 + 5/4 = 2. (1 + 4) / (1/16).
    assert ugape_v_complexity([0.5, 1.0], [0.0, 0.5625], b=12 / 7) == pytest.approx(80, rel=1e-12)
    # epsilon = 1: g = max(3/4, 1) = 1; b = 3/7: (7/3) b g = 1; the same roots. 1 + 4.
    assert ugape_v_complexity([0.5, 1.0], [0.0, 0.5625], epsilon=1.0, b=3 / 7) == pytest.approx(5.0, rel=1e-12)
    assert ugape_v_complexity([1.0, 1.0], 0.0) == math.inf


def test_bandits_side_by_side_add_up() -> None:
    two = np.concatenate([MEANS, 2 * MEANS])
    variances = np.linspace(0, 1, 6)
    one, other = slice(3), slice(3, 6)
    assert gaps(two, 2).tolist() == [0.25, 0.25, 0.5, 0.5, 0.5, 1.0]
    assert gape_complexity(two, np.array(1.0), 2) == 36 + 9
    assert ugape_complexity(two, 2, num_bandits=2) == 144 + 36
    b = np.array(2.0)
    whole = gape_v_complexity(two, variances, b, 2), ugape_v_complexity(two, variances, 2, 0.1, 2.0, 2)
    parts = [
        (gape_v_complexity(two[p], variances[p], b), ugape_v_complexity(two[p], variances[p], 2, 0.1, 2.0))
        for p in (one, other)
    ]
    np.testing.assert_allclose(whole, np.sum(parts, axis=0), rtol=1e-12)


@pytest.mark.each(
    ("call", "error", "named"),
    [
        *((partial(top_gaps, np.arange(6.0), 1, n), ParameterError, "(num_)?bandits") for n in (0, 4, 6, 2.0)),
        *((partial(ugape_complexity, MEANS, m), ParameterError, "m") for m in (0, 3, 1.5)),
        *((partial(ugape_v_complexity, MEANS, 1.0, 1, e), ParameterError, "epsilon") for e in (-0.1, math.inf)),
        *(
            (partial(best_arm_h1, means), ParameterError, "means")
            for means in ([0.5], [0.5, math.nan], ["high", "low"])
        ),
        *((partial(ugape_v_complexity, MEANS, v), InstanceError, "variances") for v in (-1.0, [1.0, 1.0], math.inf)),
        (lambda: ugape_complexity(MEANS, b=0.0), ParameterError, "b"),
        (lambda: reward_bound(MEANS, MEANS, 0), BudgetError, "budget"),
    ],
)
def test_arguments_are_checked(call: Callable[[], object], error: type[BaiGymError], named: str) -> None:
    with pytest.raises(error, match=rf"\b{named}\b"):
        call()
