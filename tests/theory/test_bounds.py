"""Bounds by hand, the edges of their domains, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.errors import ParameterError
from bai_gym.theory import (
    BOUNDS,
    apt_bound,
    augucb_bound,
    best_arm_h1,
    csar_bound,
    gape_bound,
    gape_v_bound,
    sequential_halving_bound,
    shadavar_bound,
    shvar_bound,
    successive_rejects_bound,
    ucb_e_bound,
    ucbev_bound,
    ugapeb_bound,
    ugapec_sample_complexity,
)

MEANS = np.array([0.5, 0.75, 0.25])  # gaps 1/4, 1/4, 1/2; H_1 = 36, H_2 = 32
exp = math.exp


def by_hand(value: Any, expected: float) -> None:
    assert value == pytest.approx(expected, rel=1e-12)


def test_sequential_halving_by_hand() -> None:
    # K = 3: 2 stages; 8 x 2 x 32 = 512. K = 4, gaps 1: H_2 = 4; 8 x 2 x 4 = 64.
    by_hand(sequential_halving_bound(MEANS, 1024), 6 * exp(-2))
    by_hand(sequential_halving_bound([1, 0, 0, 0], 32), 6 * exp(-0.5))


def test_shvar_by_hand() -> None:
    # K = 4: 2 stages of 32, 8 for each arm; less one, 7. Gap 1, largest variance 2: 7 / 8. n = 65 leaves 1 unspent.
    means, variances = [1, 0, 0, 0], [2, 1, 1, 0]
    by_hand(shvar_bound(means, variances, 64), 4 * exp(-7 / 8))
    by_hand(shvar_bound(means, variances, 65), 4 * exp(-7 / 8))
    # K = 3 has 2 stages too: 36 / 2 / 3 - 1 = 5, gap 1/4, variance 1/64: 5 / 16 / (1 / 16).
    by_hand(shvar_bound(MEANS, 1 / 64, 36), 4 * exp(-5))


def test_shadavar_by_hand() -> None:
    # delta = exp(-9). K = 2: 102 pulls per arm, r = 100, sqrt(q/r) = 0.3: alpha = (1 - 0.6) / (1 + 0.6 + 0.18).
    # Largest variance 25.25 = 101 / 4, gap 1: the exponent is alpha.
    alpha, delta = 0.4 / 1.78, exp(-9)
    by_hand(shadavar_bound([1, 0], [1, 25.25], 204, delta), 2 * exp(-alpha) + 2 * 2 * 204 * delta)
    # K = 4: two stages of 408, again 102 for each arm.
    by_hand(shadavar_bound([1, 0, 0, 0], 25.25, 816, delta), 4 * exp(-alpha) + 2 * 4 * 816 * delta)


def test_shadavar_outside_its_domain() -> None:
    assert np.isnan(shadavar_bound([1, 0], 1.0, 10 ** np.arange(1, 9))).all()  # delta 0.05 is above 1 / (K n)
    # r = 36 = 4 q: alpha would be 0. One pull more per arm is inside.
    assert np.isnan(shadavar_bound([1, 0], 1.0, [76, 78], exp(-9))).tolist() == [True, False]


def test_successive_rejects_by_hand() -> None:
    # logbar(3) = 1/2 + 1/2 + 1/3 = 4/3; n - K = 128; 128 / (4/3 x 32) = 3.
    by_hand(successive_rejects_bound(MEANS, 131), 3 * exp(-3))


def test_ucb_e_by_hand() -> None:
    # a = 25/36 x 1296 / 36 = 25; 2 x 25 / 25 = 2.
    by_hand(ucb_e_bound(MEANS, 1299), 2 * 1299 * 3 * exp(-2))


def test_gape_by_hand() -> None:
    # a = 4/9 x 5184 / 36 = 64.
    by_hand(gape_bound(MEANS, 5187), 2 * 3 * 5187 * exp(-1))


def test_gape_v_by_hand() -> None:
    # Gap 3/4: roots 0 + 2 and 3/2 + 5/2, H = (2^2 + 4^2) / (9/16) = 320 / 9; a = 8/9 x 20480 / (320 / 9) = 512.
    by_hand(gape_v_bound([0.0, 0.75], [0.0, 2.25], 20484), 6 * 2 * 20484 * exp(-9 / 8))


def test_ugapeb_by_hand() -> None:
    # H_0 = 4 x 36 = 144; a = 288 / (4 x 144) = 1/2.
    by_hand(ugapeb_bound(MEANS, 291), 2 * 3 * 291 * exp(-1))


def test_ugapec_by_hand() -> None:
    # epsilon = 4: H = 3/16. delta = 12 / e^3: 3 + 3/8 (3 + 3 log(n - 1)) is 5.68 at n = 5, and 5.94 at n = 6.
    assert ugapec_sample_complexity(MEANS, 12 / exp(3), epsilon=4.0) == 6.0
    assert ugapec_sample_complexity([1.0, 1.0], [0.1, 0.5]).tolist() == [math.inf, math.inf]


def test_thresholding_bounds_by_hand() -> None:
    # Gaps 1/2, sigma 1/3: H_1 = H_2 = 16, H_sigma = 32, squared 64; see test_thresholding.
    means, variances, tau = [0.75, 0.75, -0.25, 0.75], 1 / 9, 0.25
    by_hand(augucb_bound(means, variances, tau, 4096 * 32), 16 * 4096 * 32 * exp(-1 / math.log(4 * math.log(4))))
    by_hand(ucbev_bound(means, variances, tau, 8 + 512 * 32), 24 * 16392 * exp(-1))
    by_hand(apt_bound(means, tau, 1024), (4 * (math.log(1024) + 1)) ** 2 * exp(-1))
    by_hand(csar_bound(means, tau, 4 + 72 * 16), 16 * exp(-1 / math.log(4)))


Call = Callable[..., Any]
# With the budget last, and the smallest budget inside the domain for the three arms of MEANS.
EDGES: dict[str, tuple[Call, int]] = {
    "SH": (lambda n: sequential_halving_bound(MEANS, n), 6),
    "SHVar": (lambda n: shvar_bound(MEANS, 1.0, n), 6),
    "SR": (lambda n: successive_rejects_bound(MEANS, n), 4),
    "UCB-E": (lambda n: ucb_e_bound(MEANS, n), 3),
    "GapE": (lambda n: gape_bound(MEANS, n), 3),
    "GapE-V": (lambda n: gape_v_bound(MEANS, 0.1, n), 6),
    "UGapEb": (lambda n: ugapeb_bound(MEANS, n), 3),
    "AugUCB": (lambda n: augucb_bound([*MEANS, 0.9], 0.1, 0.4, n), 4),
    "UCBEV-T": (lambda n: ucbev_bound(MEANS, 0.1, 0.4, n), 6),
    "APT": (lambda n: apt_bound(MEANS, 0.4, n), 6),
    "CSAR": (lambda n: csar_bound(MEANS, 0.4, n), 4),
}


@pytest.mark.each("name", EDGES)
def test_edge_of_the_domain_and_decrease_beyond(name: str) -> None:
    bound, least = EDGES[name]
    values = bound(np.array([least - 1, least, 10**9]))
    assert np.isnan(values).tolist() == [True, False, False]
    assert 0 <= values[2] <= values[1]
    assert values[2] < 1
    for budget in (0, -3, 2.5, 10.0):
        with pytest.raises(ParameterError, match="budget"):
            bound(budget)


@pytest.mark.each(
    ("call", "named"),
    [
        (lambda: shadavar_bound(MEANS, 1.0, 100, 1.0), "delta"),
        (lambda: ugapec_sample_complexity(MEANS, 1.0), "delta"),
        (lambda: gape_v_bound(MEANS, [-1.0, 0.0, 0.0], 9), "variances"),
        (lambda: csar_bound(MEANS, math.inf, 9), "threshold"),
        (lambda: successive_rejects_bound([[0.5], [0.4]], 9), "at least 2"),
    ],
)
def test_parameters_are_checked(call: Call, named: str) -> None:
    with pytest.raises(ParameterError, match=rf"\b{named}\b"):
        call()


def test_instances_and_budgets_are_broadcast() -> None:
    instances = np.stack([MEANS, 2 * MEANS])
    budgets = np.array([[100], [1000], [10000]])
    for name, bound in BOUNDS.items():
        values = bound(instances, np.full(3, 0.1), budgets)
        assert values.shape == (3, 2), name
        single = [[bound(means, 0.1, int(n)) for means in instances] for (n,) in budgets]
        np.testing.assert_array_equal(values, single)


def test_ties_leave_useless_bounds() -> None:
    tied = [0.5, 0.5, 0.25]
    for name, bound in BOUNDS.items():
        if name != "SHAdaVar":
            assert bound(tied, 0.1, 10**6) >= 1, name
    assert best_arm_h1(tied) == math.inf
