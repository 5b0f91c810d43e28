"""Bounds of linear agents by hand, the edges of their domains, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.linear import bayesgap_bound, gse_glm_bound, gse_linear_bound, od_linbai_bound

MEANS = np.array([0.5, 0.75, 0.25])
exp = math.exp


def by_hand(value: Any, expected: float) -> None:
    assert value == pytest.approx(expected, rel=1e-12)


def test_gse_by_hand() -> None:
    # 2 stages of 32 pulls, d = 2: w = 8 / 32. Gap 1/4, variance 1/16: (1/16) / (2/16 x 1/4) = 2.
    means = [0.75, 0.5, 0.25, 0.0]
    by_hand(gse_linear_bound(means, 2, 64, 1 / 16), 8 * exp(-2))
    by_hand(gse_linear_bound(means, 2, 65, 1 / 16, spread=1 / 8), 8 * exp(-4))
    # eta = 4: one stage of 64 pulls.
    by_hand(gse_linear_bound(means, 2, 64, 1 / 16, 4), 8 * exp(-4))
    # w = 2 / 32, slope 1/2: (1/8)^2 / (8/4 x 1/16).
    by_hand(gse_glm_bound(means, 2, 64, 0.5), 8 * exp(-1 / 8))
    by_hand(gse_glm_bound(means, 2, 64, 0.5, norm=1 / 8), 8 * exp(-1 / 16))


def test_od_linbai_by_hand() -> None:
    # d = 3: 2 phases, m = (262 - 4 - 2) / 2 = 128. Gaps 1/2, 1/2, 1, 2: H = max(2 x 4, 3 x 1) = 8; 128 / (32 x 8).
    means = [1.0, 0.5, 0.0, -1.0]
    by_hand(od_linbai_bound(means, 3, 262), (16 / 3 + 3 * math.log2(3)) * exp(-1 / 2))
    by_hand(od_linbai_bound(means, 3, 262, 0.25), (16 / 3 + 3 * math.log2(3)) * exp(-2))
    assert np.isnan(od_linbai_bound(means, 1, 262))
    assert np.isnan(od_linbai_bound(means, 3, [6, 7])).tolist() == [True, False]


def test_bayesgap_by_hand() -> None:
    # H_0 = 4 + 4; n - K = 32, over 1/2; kappa = 2 + 6, over 2; (64 + 4) / (8 x 8).
    by_hand(bayesgap_bound([0, 1], 34, 0.5, 2.0, [1 / 2, 1 / 6]), 2 * 34 * exp(-68 / 64))
    by_hand(bayesgap_bound([0, 1], 34, squared_norms=1 / 16), 2 * 34 * exp(-1))
    # epsilon = 1: 1 + 1.
    by_hand(bayesgap_bound([0, 1], 34, squared_norms=1 / 16, epsilon=1.0), 2 * 34 * exp(-4))


# With the budget last, and the smallest budget inside the domain.
EDGES: list[tuple[Callable[[Any], Any], int]] = [
    (lambda n: gse_linear_bound(MEANS, 2, n), 4),
    (lambda n: gse_glm_bound(MEANS, 2, n, 0.1), 4),
    (lambda n: od_linbai_bound(MEANS, 2, n), 4),
    (lambda n: bayesgap_bound(MEANS, n), 4),
]


@pytest.mark.each(("bound", "least"), EDGES)
def test_edge_of_the_domain_and_decrease_beyond(bound: Callable[[Any], Any], least: int) -> None:
    values = bound(np.array([least - 1, least, 10**9]))
    assert np.isnan(values).tolist() == [True, False, False]
    assert 0 <= values[2] <= values[1] and values[2] < 1


@pytest.mark.each(
    ("call", "named"),
    [
        *((lambda bound=bound: bound(2.5), "budget") for bound, _ in EDGES),
        (lambda: gse_linear_bound(MEANS, 0, 9), "dimension"),
        (lambda: gse_linear_bound(MEANS, 2, 9, eta=1), "eta"),
        (lambda: gse_linear_bound(MEANS, 2, 9, 0.0), "noise_variance"),
        (lambda: gse_glm_bound(MEANS, 2, 9, 0.0), "least_slope"),
        (lambda: od_linbai_bound(MEANS, 4, 9), "dimension"),
        (lambda: bayesgap_bound(MEANS, 9, prior_variance=-1.0), "prior_variance"),
    ],
)
def test_parameters_are_checked(call: Callable[[], object], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        call()
