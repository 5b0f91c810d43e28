"""The arm of the largest of values: ties."""

from __future__ import annotations

import numpy as np
from scipy.stats import chisquare

from bai_gym.agents.tools.scanning import arm_of_largest

VALUES = np.array([0.1, 0.7, -np.inf, 0.7, 0.7, 0.2])
PULLS = np.array([1.0, 5.0, 1.0, 3.0, 3.0, 1.0])


def test_random_ties_are_uniform() -> None:
    rng = np.random.default_rng(0)
    counts = np.bincount([arm_of_largest(VALUES, PULLS, 0.0, rng) for _ in range(3000)], minlength=6)
    assert set(np.flatnonzero(counts)) == {1, 3, 4}
    assert chisquare(counts[[1, 3, 4]]).pvalue > 0.001


def test_the_first_rule_takes_the_fewest_pulls_then_the_lowest_arm() -> None:
    rng = np.random.default_rng(0)
    assert arm_of_largest(VALUES, PULLS, 1.0, rng) == 3
    assert arm_of_largest(VALUES, np.ones(6), 1.0, rng) == 1
    assert arm_of_largest(np.full(3, -np.inf), np.array([2.0, 2.0, 1.0]), 1.0, rng) == 2


def test_a_single_largest_value_takes_no_random_number() -> None:
    rng = np.random.default_rng(0)
    assert [arm_of_largest(np.roll([1.0, 0.0, 0.5], shift), np.ones(3), 0.0, rng) for shift in range(3)] == [0, 1, 2]
    assert rng.random() == np.random.default_rng(0).random()
