"""SHVar: pulls in proportion to known variances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.agents import SequentialHalving, SHVar
from bai_gym.agents.elimination import shvar
from bai_gym.agents.elimination.shvar import greedy_counts, variance_index
from bai_gym.sampling import TieRule

Play = Callable[..., Any]


def counts_first(variances: list[float], pulls: int) -> list[int]:
    return greedy_counts(np.array([variances]), pulls, "first", np.random.default_rng(0))[0].tolist()


def one_by_one(variances: list[float], pulls: int) -> list[int]:
    """The pseudo-code: each pull to the largest variance / pulls; ties to the fewest pulls, then the lowest arm."""
    made = [0] * len(variances)
    for _ in range(pulls):
        index = [np.inf if count == 0 else variance / count for variance, count in zip(variances, made, strict=True)]
        best = [arm for arm in range(len(made)) if index[arm] == max(index)]
        made[min(best, key=lambda arm: (made[arm], arm))] += 1
    return made


# Values with many equal ones and zeros, and any others.
variance = st.one_of(st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0]), st.floats(1e-6, 1e6))
variances_of_arms = st.lists(variance, min_size=1, max_size=7)


@given(variances_of_arms, st.integers(0, 120))
def test_counts_are_those_of_the_greedy_loop(variances: list[float], pulls: int) -> None:
    assert counts_first(variances, pulls) == one_by_one(variances, pulls)


@given(st.lists(variances_of_arms, min_size=1, max_size=4), st.integers(0, 120), st.integers(0, 2**32 - 1))
def test_random_ties_give_counts_of_some_greedy_loop(rows: list[list[float]], pulls: int, seed: int) -> None:
    size = min(map(len, rows))
    table = np.array([row[:size] for row in rows])
    counts = greedy_counts(table, pulls, "random", np.random.default_rng(seed))
    assert (counts.sum(axis=1) == pulls).all()
    for variances, made in zip(table, counts, strict=True):
        # The last pull of each arm came before the next pull of any other: its index was at least as large.
        last = np.where(made > 1, variances / np.maximum(made - 1, 1), np.inf)
        coming = np.where(made == 0, np.inf, variances / np.maximum(made, 1))
        assert last[made > 0].min(initial=np.inf) >= coming.max() * (1 - 1e-12)
        zeros = made[variances == 0]
        if zeros.size and coming.max() == 0:
            assert np.ptp(zeros) <= 1


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.sampled_from([0.1, 1.0, 7.0]))
def test_lemma_1_exact_counts(shares: list[int], unit: float) -> None:
    # sigma_i^2 n / sum sigma^2 is an integer for every arm.
    for factor in (1, 3):
        pulls = factor * sum(shares)
        assert counts_first([unit * share for share in shares], pulls) == [factor * share for share in shares]


@pytest.mark.each(
    ("variances", "pulls", "counts"),
    [
        ([4.0, 2.0, 1.0], 7, [4, 2, 1]),
        ([4.0, 2.0, 1.0], 9, [4, 3, 2]),  # 4/4, 2/2 and 1/1 tie: the fewest pulls first, arm 2, then arm 1
        ([0.0, 3.0], 6, [1, 5]),
        ([0.0, 0.0, 5.0], 2, [1, 1, 0]),
        ([0.0, 0.0, 0.0], 7, [3, 2, 2]),  # all zero: cyclic
        ([1.0, 1.0, 1.0], 8, [3, 3, 2]),
        ([1e-3, 1e3], 5, [1, 4]),
        ([1.0, 2.0], 0, [0, 0]),
    ],
)
def test_counts_by_hand(variances: list[float], pulls: int, counts: list[int]) -> None:
    assert counts_first(variances, pulls) == counts


def test_operations_grow_like_k_log_k(monkeypatch: pytest.MonkeyPatch) -> None:
    # K pulls of the noisy arm have an index above 1, 2.5 K an index above 0.4, that of the others after their first
    # pull: so all pulls but the first ones go to the noisy arm, one after the other.
    operations = []
    for name in ("variance_index", "_pulls_above"):
        original = getattr(shvar, name)
        monkeypatch.setattr(shvar, name, lambda x, y, f=original: operations.append(max(x.size, y.size)) or f(x, y))
    for size in (64, 4096):
        operations.clear()
        counts = counts_first([size * 1.0] + [0.4] * (size - 1), 3 * size)
        assert counts == [2 * size + 1] + [1] * (size - 1)
        assert sum(operations) <= 2 * size * np.log2(size)


@pytest.mark.each(("size", "extra"), [(4, 1), (4, 2), (3, 1)])
def test_ties_are_random(size: int, extra: int) -> None:
    # Equal variances: the arms with one more pull are a random set of `extra`.
    counts = greedy_counts(np.full((20_000, size), 2.0), 5 * size + extra, "random", np.random.default_rng(0))
    assert np.ptp(counts) == 1
    subsets = np.unique(counts, axis=0, return_counts=True)[1]
    assert len(subsets) == {(4, 1): 4, (4, 2): 6, (3, 1): 3}[size, extra]
    assert chisquare(subsets).pvalue > 0.001 / 3  # level 0.001 over the three cases


def test_variance_index_orders_unpulled_then_by_variance_then_zeros() -> None:
    index = variance_index(np.array([1.0, 0.0, 4.0, 0.0, 0.0]), np.array([2, 3, 2, 1, 0]))
    assert index.argsort()[::-1].tolist() == [4, 2, 0, 3, 1]


def test_four_arms_by_hand(trace: Play) -> None:
    # Two stages of 8 pulls. Variances 1, 4, 2, 1: counts 1, 4, 2, 1, each pull to the largest variance / pulls:
    # 0 1 2 3 once; 4/1 first; then 4/2 and 2/1 tie, the fewer pulls win; 4/2; then done (4/3 > 1, but 4 pulls are left
    # to 1, and 1/1 ties with nothing).
    agent = SHVar(tie="first")
    played = trace(agent, [[1.0], [5.0], [4.0], [2.0]], 17, variances=[1.0, 4.0, 2.0, 1.0])
    assert played.arms[:8] == [0, 1, 2, 3, 1, 2, 1, 1]
    # Arms 1 and 2 stay, variances 4 and 2: 8 x 4/6 = 5.33. 1 2, 4/1, 4/2 = 2/1 -> 2, 4/2, 4/3, 4/4 = 2/2 -> 2, 4/4.
    assert played.arms[8:] == [1, 2, 1, 2, 1, 1, 2, 1]
    assert played.idle == [1] and played.recommendation == 1


def test_noise_free_arms_are_pulled_once_per_stage(trace: Play) -> None:
    played = trace(SHVar(tie="first"), [[1.0], [5.0], [4.0], [2.0]], 12, variances=[0.0, 0.0, 1.0, 0.0])
    assert played.arms == [0, 1, 2, 3, 2, 2] + [1, 2, 2, 2, 2, 2]
    assert played.recommendation == 1


def test_leftover_goes_to_the_last_stage_if_asked(trace: Play) -> None:
    played = trace(SHVar(tie="first", leftover="last"), [[1.0], [5.0], [4.0], [2.0]], 17, variances=[1.0] * 4)
    assert played.counts(4) == [2, 7, 6, 2]


@pytest.mark.slow
@pytest.mark.each("value", [1.0, 0.3, 0.0])
@pytest.mark.each("tie", ["first"])
@given(num_arms=st.integers(2, 9), extra=st.integers(0, 80))
def test_equal_variances_give_sequential_halving(
    trace: Play, value: float, tie: TieRule, num_arms: int, extra: int
) -> None:
    rewards = [[np.sin(7.0 * arm)] for arm in range(num_arms)]
    agent = SHVar(tie=tie)
    budget = agent.minimum_budget(num_arms) + extra
    one = trace(agent, rewards, budget, variances=[value] * num_arms)
    other = trace(SequentialHalving(tie=tie), rewards, budget)
    assert one == other
