"""SHVar: pulls in proportion to known variances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.agents import SHVar
from bai_gym.agents.elimination.shvar import greedy_counts, variance_index

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


@given(st.lists(variance, min_size=1, max_size=7), st.integers(0, 120))
def test_counts_are_those_of_the_greedy_loop(variances: list[float], pulls: int) -> None:
    assert counts_first(variances, pulls) == one_by_one(variances, pulls)


@pytest.mark.each(
    ("variances", "pulls", "counts"),
    [
        ([4.0, 2.0, 1.0], 7, [4, 2, 1]),
        ([4.0, 2.0, 1.0], 9, [4, 3, 2]),  # 4/4, 2/2 and 1/1 tie: the fewest pulls first, arm 2, then arm 1
        ([0.0, 0.0, 0.0], 7, [3, 2, 2]),  # all zero: cyclic
        ([5e-324, 5e-324], 30, [15, 15]),  # the smallest float, half of which is 0
    ],
)
def test_counts_by_hand(variances: list[float], pulls: int, counts: list[int]) -> None:
    assert counts_first(variances, pulls) == counts


def test_ties_are_random() -> None:
    # Equal variances: the arms with one more pull are a random pair.
    counts = greedy_counts(np.full((20_000, 4), 2.0), 22, "random", np.random.default_rng(0))
    assert np.ptp(counts) == 1
    subsets = np.unique(counts, axis=0, return_counts=True)[1]
    assert len(subsets) == 6 and chisquare(subsets).pvalue > 0.001


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
