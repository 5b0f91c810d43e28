"""Comparisons worked by hand, beside those in test_result.py."""

from __future__ import annotations

import numpy as np

from bai_gym.analysis.pulls import compare_pulls
from bai_gym.results.comparison import against_fewest


def test_each_agent_against_the_one_with_the_fewest() -> None:
    pulls = {
        ("A", "E", 90): [50, 60, 70],
        ("B", "E", 90): [30, 40, 90],
        ("C", "E", 90): [20, 50, 60],
        ("D", "E", 90): [20, 50],  # other runs
        ("A", "fixed", 90): [90, 90, 90],
        ("B", "fixed", 90): [90, 90, 90],
    }
    found = against_fewest({key: np.array(values) for key, values in pulls.items() if key[0] != "D"})
    assert [(row.agent, row.reference, row.env, row.budget) for row in found] == [
        ("B", "C", "E", 90),
        ("A", "C", "E", 90),
    ]
    assert found[1].test == compare_pulls([50, 60, 70], [20, 50, 60])
    every = against_fewest({key: np.array(values) for key, values in pulls.items()})
    assert every == []  # the fewest has other runs than all others
