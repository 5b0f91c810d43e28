"""UCB1 with the most pulled arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bai_gym.agents.bounds.ucb1 import UCB1
from bai_gym.agents.tools.choosing import most_pulled
from bai_gym.statistics import Statistics

Play = Callable[..., Any]


@pytest.mark.parametrize(
    ("pulls", "means", "best"),
    [
        ([3, 5, 4], [0.9, 0.1, 0.5], 1),
        ([4, 5, 5], [0.9, 0.1, 0.5], 2),  # ties go to the larger mean
        ([5, 5, 5], [0.2, 0.7, 0.7], 1),  # then to the lowest number
        ([0, 2, 2], [0.0, -3.0, -1.0], 2),
        ([6, 6, 3], [0.2 + 0.4 / 3, 1 / 3, 0.0], 0),
    ],
)
def test_most_pulled_by_hand(pulls: list[int], means: list[float], best: int) -> None:
    statistics = Statistics(np.array([pulls]), np.array([means]), np.zeros((1, 3)))
    assert most_pulled(statistics, "first", np.random.default_rng(0)).tolist() == [best]


@pytest.mark.each("plain", [True, False])
def test_ucb1_by_hand(trace: Play, plain: bool) -> None:
    # Means 1 and 0, widths sqrt(2 log t / T). t = 2: widths 1.18: 2.18, 1.18. t = 3: 1 + 1.05 (2), 0 + 1.48 (1).
    # t = 4: 1 + 0.96 (3), 1.67. t = 5: 1 + 0.90 (4), 1.79. t = 6: 1 + 0.85 (5), 1.893 against 1.847: arm 1.
    played = trace(UCB1(tie="first", plain=plain), [[1.0], [0.0]], 8)
    assert played.arms == [0, 1, 0, 0, 0, 0, 1, 0]
    assert played.recommendation == 0


def test_the_most_pulled_arm_is_recommended_not_the_best_mean(trace: Play) -> None:
    # Arm 0 pays 1 once, then 0 once: mean 1/2 after two pulls; arm 1 pays 0.45 and is pulled more often.
    rewards = [[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.45]]
    played = trace(UCB1(tie="first", b=0.3), rewards, 12)
    counts = played.counts(2)
    mean = np.mean(rewards[0][: counts[0]])
    assert played.recommendation == int(counts[1] > counts[0])
    assert counts[1] > counts[0] and mean != 0.45
