"""IndexRule: only the pulled arm's index is renewed, and that is enough."""

from __future__ import annotations

import numpy as np

from bai_gym.sampling import IndexRule
from bai_gym.statistics import FloatArray, Statistics


def index(pulls: FloatArray, means: FloatArray, variances: FloatArray) -> FloatArray:
    return means + np.array([1.0, 2.0, 3.0]) * variances - 0.1 * pulls  # a parameter for each episode


def test_index_rule_equals_recomputing_every_index() -> None:
    rng = np.random.default_rng(0)
    start = Statistics(np.full((3, 4), 2), rng.normal(size=(3, 4)), rng.random((3, 4)))
    window = start.window()
    rule = IndexRule(50, index, tie="first", rng=rng)
    rule.start(window)
    for _ in range(rule.steps):
        flat = rule.choose()
        expected = index(window.pulls, window.means, window.variances).argmax(axis=0)
        np.testing.assert_array_equal(flat, expected * 3 + np.arange(3))
        rule.update(flat, *window.add(flat, rng.normal(size=3)))
    assert len({*window.pulls.max(axis=1)}) > 1


def test_ties_go_to_the_fewest_pulls_as_they_are_now() -> None:
    window = Statistics(np.array([[2, 1, 1]]), np.zeros((1, 3)), np.zeros((1, 3))).window()
    rule = IndexRule(
        4, lambda pulls, means, variances: np.zeros(pulls.shape), tie="first", rng=np.random.default_rng(0)
    )
    rule.start(window)
    chosen = []
    for _ in range(4):
        flat = rule.choose()
        chosen.append(int(flat[0]))
        rule.update(flat, *window.add(flat, np.zeros(1)))
    assert chosen == [1, 2, 0, 1]
