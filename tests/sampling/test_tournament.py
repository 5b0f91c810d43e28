"""Tournaments: the largest value after any changes, ties by the stated rule, uniformly where that is random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from bai_gym.sampling import Tournament, is_shared, leader, leader_without, renew, top, value_of
from bai_gym.sampling.tournament import fill, nodes, renew_pulled

RNG = np.random.default_rng(0)


def tournament(values: list[float], pulls: list[int] | None = None) -> Tournament:
    """A tournament over some values; with pulls, by the tie rule "first"."""
    size = nodes(len(values))
    tree = Tournament(np.zeros(size), np.zeros(size))
    tree.value[size // 2 : size // 2 + len(values)] = values
    first = pulls is not None
    fill(tree, np.array(pulls if first else [0] * len(values), float), int(first), RNG)
    return tree


VALUES = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf])


@given(st.lists(VALUES, min_size=2, max_size=37), st.lists(st.tuples(st.integers(0, 36), VALUES), max_size=20))
def test_the_leader_has_the_largest_value(values: list[float], changes: list[tuple[int, float]]) -> None:
    tree, now = tournament(values), list(values)
    for arm, value in [(0, values[0]), *changes]:
        now[arm % len(now)] = value
        renew(tree, arm % len(now), value, RNG)
        assert top(tree) == max(now)
        assert now[leader(tree)] == max(now)
        for other in range(len(now)):
            assert value_of(tree, other) == now[other]
            rest = [value for place, value in enumerate(now) if place != other]
            found = leader_without(tree, other, RNG)
            if max(rest) > -math.inf:  # else a place without an arm may be found
                assert found != other and now[found] == max(rest)
                if now[other] > max(rest):
                    assert is_shared(tree, found, other) == (rest.count(max(rest)) > 1)


@given(st.lists(st.tuples(VALUES, st.integers(0, 3)), min_size=2, max_size=20), st.data())
def test_the_first_rule_takes_the_fewest_pulls_then_the_lowest_arm(arms: list[tuple[float, int]], data: object) -> None:
    values, pulls = [value for value, _ in arms], [times for _, times in arms]
    tree = tournament(values, pulls)
    for _ in range(10):
        best = max(values)
        arm = min(range(len(arms)), key=lambda k: (values[k] != best, pulls[k], k))
        assert leader(tree) == arm
        rest = [k for k in range(len(arms)) if k != arm]
        second = min(rest, key=lambda k: (values[k] != max(values[j] for j in rest), pulls[k], k))
        assert leader_without(tree, arm, RNG) == second
        pulls[arm] += 1
        values[arm] = values[(arm + 1) % len(arms)]
        renew_pulled(tree, arm, values[arm], pulls[arm], 1, RNG)


@pytest.mark.parametrize("arms", [3, 8, 13])
@pytest.mark.parametrize("level", [1.5, math.inf])
def test_random_ties_are_uniform(arms: int, level: float) -> None:
    tied = [0, 1, arms - 1]
    tree = tournament([level if arm in tied else 1.0 for arm in range(arms)])
    counts = {"all": np.zeros(arms), "without": np.zeros(arms)}
    for _ in range(6000):
        found = leader(tree)
        counts["all"][found] += 1
        counts["without"][leader_without(tree, tied[0], RNG)] += 1
        renew(tree, found, level, RNG)  # as a pull that changes nothing would
    assert counts["all"].sum() == counts["all"][tied].sum() == 6000
    assert chisquare(counts["all"][tied]).pvalue > 1e-4
    assert chisquare(counts["without"][tied[1:]]).pvalue > 1e-4


def test_a_tie_is_broken_uniformly_whatever_happened_to_the_others() -> None:
    # Arms 0 to 3 are tied; the leader leaves, comes back, and is then as likely as the others to lead.
    counts = np.zeros(4)
    for _ in range(8000):
        tree = tournament([1.0, 1.0, 1.0, 1.0, 0.0])
        first = leader(tree)
        renew(tree, first, 0.5, RNG)
        renew(tree, first, 1.0, RNG)
        counts[(leader(tree) - first) % 4] += 1
    assert chisquare(counts).pvalue > 1e-4
