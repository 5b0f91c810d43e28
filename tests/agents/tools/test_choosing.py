"""Choices that agents share: ties, borders, and exact numbers of arms."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.agents.tools.choosing import (
    above_threshold,
    best_mean,
    best_recommendation,
    keep_best,
    random_subset,
    spread_evenly,
    systematic,
)
from bai_gym.sampling import TieRule
from bai_gym.statistics import Statistics
from bai_gym.tasks import TopM

LEVEL = 0.001
RUNS = 20_000
rules = st.sampled_from(["random", "first"])


def statistics(pulls: list[int], means: list[float], runs: int = 1) -> Statistics:
    shape = (runs, 1)
    return Statistics(np.tile(pulls, shape), np.tile(means, shape), np.zeros((runs, len(pulls))))


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.each(
    ("pulls", "means", "best"),
    [
        ([3, 3, 3], [0.1, 0.7, 0.3], 1),
        ([3, 5, 4], [0.7, 0.7, 0.7], 1),  # ties go to more pulls
        ([5, 5, 5], [0.2, 0.7, 0.7], 1),  # then to the lowest number
        ([0, 2, 1], [0.0, -3.0, -1.0], 2),  # an arm without a pull has no mean
        ([0, 0, 0], [0.0, 0.0, 0.0], 0),
        ([3, 6, 6], [0.2 + 0.4 / 3, 1 / 3, 0.0], 1),  # 0.33333333333333337 and 1/3 are tied
    ],
)
def test_best_mean_by_hand(pulls: list[int], means: list[float], best: int) -> None:
    assert best_mean(statistics(pulls, means), "first", generator()).tolist() == [best]


@pytest.mark.each(
    ("pulls", "means", "tied"),
    [
        ([4, 4, 4, 4], [1.0, 2.0, 2.0, 2.0], [1, 2, 3]),
        ([1, 4, 4, 4], [2.0, 2.0, 0.0, 2.0], [1, 3]),
        ([0] * 4, [0.0] * 4, [0, 1, 2, 3]),
    ],
)
def test_best_mean_is_uniform_among_ties_of_equal_pulls(pulls: list[int], means: list[float], tied: list[int]) -> None:
    counts = np.bincount(best_mean(statistics(pulls, means, RUNS), "random", generator()), minlength=4)
    assert counts[tied].sum() == RUNS
    assert chisquare(counts[tied]).pvalue > LEVEL / 3


@pytest.mark.each(
    ("values", "size", "kept"),
    [
        ([0.1, 0.9, 0.5, 0.7], 2, [1, 3]),
        ([0.5, 0.9, 0.5, 0.5], 3, [0, 1, 2]),
        ([0.5, 0.5], 1, [0]),
        ([-np.inf, -np.inf, 0.0], 2, [0, 2]),
        ([-np.inf, -np.inf], 1, [0]),
        ([3.0, 2.0, 1.0], 3, [0, 1, 2]),
        ([2.0, 1.0, 2.0, 1.0, 1.0], 4, [0, 1, 2, 3]),
    ],
)
def test_keep_best_by_hand(values: list[float], size: int, kept: list[int]) -> None:
    mask = keep_best(np.array([values, values]), size, "first", generator())
    assert [np.flatnonzero(row).tolist() for row in mask] == [kept, kept]


def test_keep_best_is_uniform_among_the_subsets_of_ties() -> None:
    values = np.tile([1.0, 5.0, 1.0, 1.0, 1.0, 0.0], (RUNS, 1))
    mask = keep_best(values, 3, "random", generator())
    subsets = Counter(tuple(np.flatnonzero(row).tolist()) for row in mask)
    assert len(subsets) == 6  # two of four, with arm 1
    assert chisquare(list(subsets.values())).pvalue > LEVEL


def test_random_subsets_are_uniform() -> None:
    mask = random_subset(RUNS, 4, 2, "random", generator())
    subsets = Counter(tuple(np.flatnonzero(row).tolist()) for row in mask)
    assert {len(subset) for subset in subsets} == {2} and len(subsets) == 6
    assert chisquare(list(subsets.values())).pvalue > LEVEL


@given(st.integers(1, 5), st.integers(1, 9), st.integers(0, 60), rules)
def test_spread_evenly_differs_by_one_at_most(batch: int, columns: int, pulls: int, tie: TieRule) -> None:
    counts = spread_evenly(batch, columns, pulls, tie, generator())
    assert counts.shape == (batch, columns) and counts.dtype == np.int64
    assert (counts.sum(axis=1) == pulls).all()
    assert np.ptp(counts, axis=1).max() <= 1
    if tie == "first":
        assert (np.diff(counts, axis=1) <= 0).all()


def test_whole_counts_have_the_sum_that_rounding_misses() -> None:
    assert np.cumsum(np.full(10, 0.1))[-1] < 1.0
    assert systematic(np.full((1, 10), 0.1), 1, np.zeros((1, 1))).sum() == 1


def test_means_reach_a_threshold_up_to_rounding() -> None:
    running = Statistics.zeros((1, 3))
    for rewards in ([0.1, 0.3, 0.2], [0.3, 0.1, 0.1], [0.2, 0.2, 0.2]):  # in any order the mean of arms 0 and 1 is 0.2
        running.add(np.arange(3), np.array(rewards))
    assert above_threshold(running, 0.2).tolist() == [[1, 1, 0]]
    assert running.means.max() != 0.2 or running.means[0].min() != 0.2
    unseen = Statistics(np.array([[0, 1]]), np.zeros((1, 2)), np.zeros((1, 2)))
    assert above_threshold(unseen, -1.0).tolist() == [[0, 1]]  # an arm without a pull is left out
    assert above_threshold(unseen, 0.0).tolist() == [[0, 1]]
    assert above_threshold(unseen, 1e-300).tolist() == [[0, 0]]


def test_of_arms_tied_at_the_border_of_a_set_those_with_more_pulls_are_in() -> None:
    seen = statistics([1, 1, 3, 2], [0.9, 0.5, 0.5, 0.5])
    assert best_recommendation(seen, TopM(2), "first", generator()).tolist() == [[1, 0, 1, 0]]
    assert best_recommendation(seen, TopM(3), "first", generator()).tolist() == [[1, 0, 1, 1]]
