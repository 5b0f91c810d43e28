"""Bounds by hand, the edges of their domains, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from bai_gym.errors import ParameterError
from bai_gym.theory import (
    BOUNDS,
    THRESHOLD_BOUNDS,
    apt_bound,
    augucb_bound,
    bayesgap_bound,
    best_arm_h1,
    csar_bound,
    gape_bound,
    gape_v_bound,
    gaps,
    gse_glm_bound,
    gse_linear_bound,
    od_linbai_bound,
    sequential_halving_bound,
    shadavar_bound,
    shvar_bound,
    successive_rejects_bound,
    ucb_e_bound,
    ucbev_bound,
    ugape_complexity,
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


def test_shvar_with_whole_allocations_by_hand() -> None:
    # Equal variances 2: 4 x 2 stages x 8; n = 64.
    by_hand(shvar_bound([1, 0, 0, 0], 2.0, 64, theorem=3), 4 * exp(-1))
    # One stage: shares 1/4 and 3/4 of 8 are whole, of 6 they are not. Exponent 8 / (4 x 4).
    by_hand(shvar_bound([1, 0], [1, 3], 8, theorem=3), 2 * exp(-0.5))
    assert np.isnan(shvar_bound([1, 0], [1, 3], 6, theorem=3))
    # 12 pulls a stage: 6, 2, 2, 2; then 9, 3. Exponent 24 / (4 x 2 x 6). Six pulls: 3, 1, 1, 1, but then 4.5, 1.5.
    by_hand(shvar_bound([0, 0, 0, 1], [1, 1, 1, 3], 24, theorem=3), 4 * exp(-0.5))
    assert np.isnan(shvar_bound([0, 0, 0, 1], [1, 1, 1, 3], 12, theorem=3))


@pytest.mark.each(
    ("means", "variances", "budget"),
    [
        ([1, 0, 0], 1.0, 36),  # three arms
        ([1, 0, 0, 0], 1.0, 65),  # two stages of 32.5
        ([1, 0, 0, 0], 1.0, 68),  # 8.5 pulls
        ([1, 0], [0, 1], 8),  # no pull at all of the first
        (range(32), [1] * 31 + [2], 5 * 33),  # more arms than are looked at
    ],
)
def test_shvar_with_whole_allocations_has_a_small_domain(means: Any, variances: Any, budget: int) -> None:
    assert np.isnan(shvar_bound(means, variances, budget, theorem=3))


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4), st.integers(1, 50))
def test_theorem_3_is_sharper_than_theorem_4(means: list[float], pulls: int) -> None:
    three, four = (shvar_bound(means, 0.5, 8 * pulls, theorem=theorem) for theorem in (3, 4))
    assert three <= four


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
    by_hand(ucb_e_bound(MEANS, 1299, 12.5), 2 * 1299 * 3 * exp(-1))


def test_gape_by_hand() -> None:
    # a = 4/9 x 5184 / 36 = 64. b = 2 multiplies H by 4. Two bandits: H = 72, 6 first pulls, a = 4/9 x 5181 / 72.
    by_hand(gape_bound(MEANS, 5187), 2 * 3 * 5187 * exp(-1))
    by_hand(gape_bound(MEANS, 5187, 2.0), 2 * 3 * 5187 * exp(-1 / 4))
    by_hand(gape_bound(MEANS, 5187, a=32.0), 2 * 3 * 5187 * exp(-1 / 2))
    by_hand(gape_bound([*MEANS, *MEANS], 5190, num_bandits=2), 2 * 6 * 5190 * exp(-1 / 2))


def test_gape_v_by_hand() -> None:
    # H = (2^2 + 4^2) / (1/4) = 80, see test_complexity; a = 8/9 x 40960 / 80 = 4096 / 9.
    means, variances = [0.5, 1.0], [0.0, 2.25]
    by_hand(gape_v_bound(means, variances, 40964, 1.5), 6 * 2 * 40964 * exp(-1))
    by_hand(gape_v_bound(means, variances, 40964, 1.5, 2048 / 9), 6 * 2 * 40964 * exp(-1 / 2))


def test_ugapeb_by_hand() -> None:
    # H_0 = 4 x 36 = 144 for m = 1 and for m = 2; a = 288 / (4 x 144) = 1/2.
    by_hand(ugapeb_bound(MEANS, 291), 2 * 3 * 291 * exp(-1))
    by_hand(ugapeb_bound(MEANS, 291, 2), 2 * 3 * 291 * exp(-1))
    by_hand(ugapeb_bound(MEANS, 291, b=2.0), 2 * 3 * 291 * exp(-1 / 4))
    by_hand(ugapeb_bound(MEANS, 291, a=0.25), 2 * 3 * 291 * exp(-1 / 2))
    # epsilon = 4: H = 3 / 16; 4 pulls: a = 1 / (3/4).
    by_hand(ugapeb_bound(MEANS, 4, epsilon=4.0), 2 * 3 * 4 * exp(-8 / 3))


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=5),
    st.floats(1e-6, 0.9),
    st.sampled_from([0.05, 0.3, 5.0]),
    st.data(),
)
def test_ugapec_stops_at_the_smallest_budget_that_is_enough(
    means: list[float], delta: float, epsilon: float, data: st.DataObject
) -> None:
    size, m = len(means), data.draw(st.integers(1, len(means) - 1))
    complexity = ugape_complexity(means, m, epsilon)

    def enough(n: float) -> bool:
        return bool(size + 2 * complexity * np.log(4 * size * (n - 1) ** 3 / delta) <= n * (1 + 1e-12))

    n = float(ugapec_sample_complexity(means, delta, m, epsilon))
    assert n == round(n) >= size
    assert enough(n)
    assert not any(enough(fewer) for fewer in np.linspace(size, n - 1, 50).round())


def test_ugapec_by_hand() -> None:
    # epsilon = 4: H = 3/16. delta = 12 / e^3: 3 + 3/8 (3 + 3 log(n - 1)) is 5.68 at n = 5, and 5.94 at n = 6.
    assert ugapec_sample_complexity(MEANS, 12 / exp(3), epsilon=4.0) == 6.0
    assert ugapec_sample_complexity([1.0, 1.0], [0.1, 0.5]).tolist() == [math.inf, math.inf]


def test_thresholding_bounds_by_hand() -> None:
    # Gaps 1/2, sigma 1/3: H_1 = H_2 = 16, H_sigma = 32, squared 64; see test_thresholding.
    means, variances, tau = [0.75, 0.75, -0.25, 0.75], 1 / 9, 0.25
    by_hand(augucb_bound(means, variances, tau, 4096 * 32), 16 * 4096 * 32 * exp(-1 / math.log(4 * math.log(4))))
    by_hand(ucbev_bound(means, variances, tau, 8 + 512 * 32), 24 * 16392 * exp(-1))
    by_hand(ucbev_bound(means, variances, tau, 8 + 512 * 32, squared=True), 24 * 16392 * exp(-1 / 2))
    by_hand(apt_bound(means, tau, 1024), (4 * (math.log(1024) + 1)) ** 2 * exp(-1))
    by_hand(apt_bound(means, tau, 1024, proxy=0.25), (4 * (math.log(1024) + 1)) ** 2 * exp(-4))
    by_hand(apt_bound(means, tau, 1024, 0.5), (4 * (math.log(1024) + 1)) ** 2 * exp(-4))
    by_hand(csar_bound(means, tau, 4 + 72 * 16), 16 * exp(-1 / math.log(4)))


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


@pytest.mark.each("signal", [1.0, 3.0, 6.0, 10.0])
def test_the_printed_bound_of_gse_is_wrong(signal: float) -> None:
    # Two arms, 1 and -1, d = 1: the estimate of theta has variance sigma^2 / n, and the gap is 2 theta.
    error = norm.cdf(-signal / 2)
    gap = signal / math.sqrt(64)
    printed = 4 * exp(-64 * gap**2 / 4)
    assert error <= gse_linear_bound([gap / 2, -gap / 2], 1, 64)
    assert (error > printed) == (signal >= 6)


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


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=9), st.integers(10, 5000))
def test_the_simplified_bounds_of_azizi_et_al_are_larger(means: list[float], n: int) -> None:
    gap = gaps(np.array(means)).min()
    size, d = len(means), 3
    assert bayesgap_bound(means, n) <= size * n * exp(-n * gap**2 / (32 * size)) * (1 + 1e-9)
    simple = (4 * size / d + 3 * math.log2(d)) * exp((d**2 - n) * gap**2 / (32 * d * 2))
    assert od_linbai_bound(means, d, n) <= simple * (1 + 1e-9)


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
    "GSE": (lambda n: gse_linear_bound(MEANS, 2, n), 4),
    "GSE, GLM": (lambda n: gse_glm_bound(MEANS, 2, n, 0.1), 4),
    "OD-LinBAI": (lambda n: od_linbai_bound(MEANS, 2, n), 4),
    "BayesGap": (lambda n: bayesgap_bound(MEANS, n), 4),
}


@pytest.mark.each("name", EDGES)
def test_edge_of_the_domain_and_decrease_beyond(name: str) -> None:
    bound, least = EDGES[name]
    values = bound(np.array([least - 1, least, 10**9]))
    assert np.isnan(values).tolist() == [True, False, False]
    assert 0 <= values[2] <= values[1]
    assert values[2] < 1


def test_explorations_beyond_the_theory_have_no_bound() -> None:
    # The largest a: 25/36 x 1296 / 36 = 25; 4/9 x 1296 / 36 = 16; 1296 / (4 x 144) = 2.25.
    for bound, most in ((ucb_e_bound, 25.0), (gape_bound, 16.0), (ugapeb_bound, 2.25)):
        inside = np.isfinite(bound(MEANS, 1299, a=np.array([0.0, most, most + 1e-6])))  # type: ignore[operator]
        assert inside.tolist() == [True, True, False]


@pytest.mark.each("name", EDGES)
@pytest.mark.each("budget", [0, -3, 2.5, 10.0])
def test_budgets_are_checked(name: str, budget: float) -> None:
    with pytest.raises(ParameterError, match="budget"):
        EDGES[name][0](budget)


@pytest.mark.each(
    ("call", "named"),
    [
        *((lambda a=a: gape_v_bound(MEANS, 0.1, 100, a=a), "a") for a in (-1.0, math.nan, math.inf)),
        *((lambda d=d: shadavar_bound(MEANS, 1.0, 100, d), "delta") for d in (0.0, 1.0, -0.1, math.nan)),
        *((lambda d=d: ugapec_sample_complexity(MEANS, d), "delta") for d in (0.0, 1.0)),
        (lambda: shvar_bound(MEANS, 1.0, 9, theorem=5), "theorem"),
        (lambda: gape_bound(MEANS, 9, 0.0), "b"),
        (lambda: ugapeb_bound(MEANS, 9, 3), "m"),
        (lambda: ugapeb_bound(MEANS, 9, epsilon=-1.0), "epsilon"),
        (lambda: gape_v_bound(MEANS, [-1.0, 0.0, 0.0], 9), "variances"),
        (lambda: gse_linear_bound(MEANS, 0, 9), "dimension"),
        (lambda: gse_linear_bound(MEANS, 2, 9, eta=1), "eta"),
        (lambda: gse_linear_bound(MEANS, 2, 9, 0.0), "noise_variance"),
        (lambda: gse_glm_bound(MEANS, 2, 9, 0.0), "least_slope"),
        (lambda: od_linbai_bound(MEANS, 4, 9), "dimension"),
        (lambda: bayesgap_bound(MEANS, 9, prior_variance=-1.0), "prior_variance"),
        (lambda: apt_bound(MEANS, 0.5, 9, proxy=0.0), "proxy"),
        (lambda: csar_bound(MEANS, math.inf, 9), "threshold"),
        (lambda: successive_rejects_bound([[0.5], [0.4]], 9), "at least 2"),
    ],
)
def test_parameters_are_checked(call: Call, named: str) -> None:
    with pytest.raises(ParameterError, match=rf"\b{named}\b"):
        call()


def test_augucb_needs_four_arms() -> None:
    assert np.isnan(augucb_bound(MEANS, 0.1, 0.4, 1000))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.25)), min_size=4, max_size=7).map(np.array),
    st.integers(1, 10**6),
    st.data(),
)
def test_bounds_do_not_depend_on_the_order_of_the_arms(arms: np.ndarray, budget: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(arms))))
    means, variances = arms.T
    for bound in BOUNDS.values():
        one, other = bound(means, variances, budget), bound(means[order], variances[order], budget)
        np.testing.assert_allclose(one, other, rtol=1e-9)
    for bound in THRESHOLD_BOUNDS.values():
        one, other = bound(means, variances, 0.3, budget), bound(means[order], variances[order], 0.3, budget)
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_instances_and_budgets_are_broadcast() -> None:
    instances = np.stack([MEANS, 2 * MEANS])
    budgets = np.array([[100], [1000], [10000]])
    for name, bound in BOUNDS.items():
        values = bound(instances, np.full(3, 0.1), budgets)
        assert values.shape == (3, 2), name
        single = [[bound(means, 0.1, int(n)) for means in instances] for (n,) in budgets]
        np.testing.assert_array_equal(values, single)
    assert shvar_bound(instances, 0.1, budgets, theorem=3).shape == (3, 2)


@pytest.mark.each("name", [*BOUNDS, *THRESHOLD_BOUNDS])
def test_the_table_says_where_each_bound_is_from(name: str) -> None:
    bound = {**BOUNDS, **THRESHOLD_BOUNDS}[name]
    assert "(20" in bound.citation and "\n" not in bound.citation
    assert bound.rewards in ("[0, 1]", "Gaussian")


def test_ties_leave_useless_bounds() -> None:
    tied = [0.5, 0.5, 0.25]
    for name, bound in BOUNDS.items():
        if name != "SHAdaVar":
            assert bound(tied, 0.1, 10**6) >= 1, name
    assert best_arm_h1(tied) == math.inf
