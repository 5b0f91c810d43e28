"""The index of arms: the largest after any changes, ties by the stated rule, uniformly where that is random."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.sampling import Index, arm_of_largest_index, second_of_largest_index, set_index

RNG = np.random.default_rng(0)
VALUES = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf])


def index_of(values: list[float]) -> Index:
    blocks = -(-len(values) // 8)
    index = Index(np.full(8 * blocks, -np.inf), np.full(blocks, -np.inf))
    for arm, value in enumerate(values):
        set_index(index, arm, value)
    return index


@given(st.lists(VALUES, min_size=2, max_size=37), st.lists(st.tuples(st.integers(0, 36), VALUES), max_size=20))
def test_the_leader_has_the_largest_index(values: list[float], changes: list[tuple[int, float]]) -> None:
    index, now = index_of(values), list(values)
    for arm, value in [(0, values[0]), *changes]:
        now[arm % len(now)] = value
        set_index(index, arm % len(now), value)
        first = arm_of_largest_index(index, np.zeros(len(now)), 0, RNG)
        assert now[first] == max(now)
        rest = [value for place, value in enumerate(now) if place != first]
        second = second_of_largest_index(index, first)
        if max(rest) > -math.inf:
            assert second == -1 if rest.count(max(rest)) > 1 else now[second] == max(rest) and second != first
        assert index.value[: len(now)].tolist() == now  # nothing has changed


def test_random_ties_are_uniform_within_a_block_and_across_blocks() -> None:
    for arms in (3, 8, 13):
        tied = [0, 1, arms - 1]
        for level in (1.5, math.inf):
            index = index_of([level if arm in tied else 1.0 for arm in range(arms)])
            counts = np.zeros(arms)
            for _ in range(6000):
                counts[arm_of_largest_index(index, np.zeros(arms), 0, RNG)] += 1
            assert counts[tied].sum() == 6000
            assert chisquare(counts[tied]).pvalue > 1e-4, (arms, level)


def test_an_index_that_is_no_number_ends_nothing() -> None:
    for to_first in (0, 1):
        index = index_of([math.nan] * 11)
        assert 0 <= arm_of_largest_index(index, np.zeros(11), to_first, RNG) < 11
        assert arm_of_largest_index(index_of([-math.inf] * 11), np.zeros(11), to_first, RNG) < 11
